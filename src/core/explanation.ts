import type { CapabilityValue, ErrorRecord, FinalState, Need, RateLimit, TaskState } from '../model/index.js';
import { show } from '../model/show.js';

/** A dependency that is still awaited. */
export interface AwaitedDependency {
  readonly task: string;
  readonly state: TaskState;
}

/** So many units that an attempt holds; an abandoned one keeps them until it settles. */
export interface Holder {
  /** `id#n` */
  readonly attempt: string;
  readonly amount: number;
  readonly abandoned: boolean;
}

/** Something that keeps a ready task from being claimed. */
export type Obstacle =
  /** It is back after a restart, and no handler of this name has been defined yet. */
  | { readonly kind: 'handler'; readonly type: string }
  | { readonly kind: 'paused'; /** `undefined` where it is the whole scheduler. */ readonly channel?: string }
  | {
      /** The function `admit` holds all starts back. */
      readonly kind: 'admit';
      /** Until it is asked again, if nothing changes before. */
      readonly remainingMs: number;
    }
  | {
      readonly kind: 'resource';
      readonly resource: string;
      readonly needs: number;
      readonly capacity: number;
      readonly free: number;
      readonly lacks: number;
      /** Units that are kept for other tasks, and for which; left out where there are none. */
      readonly kept?: number;
      readonly keptFor?: readonly string[];
      readonly heldBy: readonly Holder[];
    }
  | {
      readonly kind: 'limit';
      readonly scope: 'global' | 'type' | 'channel';
      /** The type or the channel; empty for the global limit. */
      readonly key: string;
      readonly limit: number;
      readonly filledBy: readonly Holder[];
    }
  | {
      /** It costs more tokens than there are. */
      readonly kind: 'rate';
      readonly scope: 'resource' | 'type';
      readonly key: string;
      readonly cost: number;
      /** Below zero after a debt. */
      readonly tokens: number;
      readonly rate: RateLimit;
      /** Until there are enough, if nobody else takes any; `Infinity` when it costs more than the burst, or what is left. */
      readonly remainingMs: number;
      /** Tokens that are kept for other tasks, and for which; left out where there are none. */
      readonly kept?: number;
      readonly keptFor?: readonly string[];
    }
  | {
      /** Nothing that uses the resource starts before the moment that was asked for. */
      readonly kind: 'retryAfter';
      readonly resource: string;
      readonly remainingMs: number;
    }
  | {
      /** No worker that is attached would take it. */
      readonly kind: 'worker';
      readonly workers: number;
      /** What none of them offers; empty where each thing is offered by some, but all of them by none. */
      readonly missing: readonly (readonly [name: string, value: CapabilityValue])[];
    }
  | {
      /** Every worker that would take it is busy. */
      readonly kind: 'slots';
      readonly workers: readonly BusyWorker[];
    };

/** A worker without a free slot. */
export interface BusyWorker {
  readonly id: string;
  readonly running: number;
  readonly slots: number;
  /** Slots that are kept for tasks that others make way for; left out where there are none. */
  readonly kept?: number;
}

/** Where a ready task stands. */
export type Standing =
  | { readonly kind: 'position'; /** From 1 on. */ readonly position: number; readonly of: number }
  | { readonly kind: 'chance'; /** Of the next draw, from 0 to 1. */ readonly chance: number }
  /** A strategy of the user's own chooses; its choice is not foretold. */
  | { readonly kind: 'chosen'; readonly strategy: string };

/** Why a task does not run, or since when it does, or how it has ended. */
export type Explanation = { readonly task: string } & (
  | {
      /** It waits to be let in, as too many are pending. */
      readonly kind: 'outside';
      /** From 1 on, among those that wait to be let in. */
      readonly position: number;
      readonly of: number;
      readonly pending: number;
      readonly maxPending: number;
    }
  | {
      readonly kind: 'waiting';
      readonly dependencies: readonly AwaitedDependency[];
      /** `id#n` where it is an attempt that waits, by `waitFor`. */
      readonly attempt?: string;
      /** What that attempt keeps meanwhile. */
      readonly keeps?: readonly Need[];
    }
  | { readonly kind: 'delayed'; /** Epoch milliseconds. */ readonly until: number }
  | {
      readonly kind: 'backoff';
      /** Monotonic. */
      readonly until: number;
      readonly remainingMs: number;
      readonly attempts: number;
      readonly error: ErrorRecord | undefined;
    }
  | {
      readonly kind: 'ready';
      /** The attempt, `id#n`, that goes on once it is claimed, after a wait for another task. */
      readonly attempt?: string;
      /**
       * What is kept for it: a slot of this worker while others make way, until then at the latest (monotonic); without a
       * worker it has the reservation of all it needs.
       */
      readonly room?: { readonly worker?: string; readonly until: number };
      /** Empty when the next claim may take it. */
      readonly obstacles: readonly Obstacle[];
      /** `undefined` in a paused channel, where nobody is ordered. */
      readonly standing: Standing | undefined;
    }
  | {
      readonly kind: 'running';
      readonly attempt: string;
      readonly worker: string;
      /** Epoch milliseconds. */
      readonly since: number;
      /** Monotonic time by which it should have made way for a more urgent task, if it was asked to. */
      readonly stopBy?: number;
    }
  | { readonly kind: 'final'; readonly state: FinalState; readonly error: ErrorRecord | undefined }
);

/** So many are named before the rest is only counted. */
const NAMED = 5;

const ENDINGS: Readonly<Record<FinalState, string>> = {
  completed: 'has completed',
  failed: 'has failed',
  cancelled: 'was cancelled',
  skipped: 'was skipped',
};

/** An explanation as one paragraph, safe to print whatever the ids are. */
export function describeExplanation(explanation: Explanation): string {
  const task = `Task ${show(explanation.task)}`;
  switch (explanation.kind) {
    case 'outside': {
      const { position, of, pending, maxPending } = explanation;
      return `${task} is number ${position} of ${of} that wait to be added: ${pending} of ${maxPending} are pending.`;
    }
    case 'waiting':
      return `${task} waits ${describeWait(explanation)}${list(explanation.dependencies.map(describeDependency))}.`;
    case 'delayed':
      return `${task} does not start before ${moment(explanation.until)}.`;
    case 'backoff':
      return (
        `${task} is tried again in ${explanation.remainingMs} ms, after attempt ${explanation.attempts} ` +
        `failed${describeError(explanation.error)}.`
      );
    case 'ready':
      return [
        `${task} ${describeObstacles(explanation.obstacles, explanation.attempt)}.`,
        describeRoom(explanation.room),
        describeStanding(explanation.standing),
      ]
        .filter((sentence) => sentence !== '')
        .join(' ');
    case 'running':
      return (
        `${task} runs as ${show(explanation.attempt)} on worker ${show(explanation.worker)} ` +
        `since ${moment(explanation.since)}${explanation.stopBy === undefined ? '' : ', and was asked to make way'}.`
      );
    case 'final':
      return `${task} ${ENDINGS[explanation.state]}${describeError(explanation.error)}.`;
  }
}

function describeWait({ attempt, keeps = [] }: Extract<Explanation, { kind: 'waiting' }>): string {
  if (attempt === undefined) return 'for ';
  const kept = keeps.map(({ resource, amount }) => `${amount} of ${show(resource)}`);
  return `as ${show(attempt)}, which keeps ${kept.length === 0 ? 'nothing' : list(kept)}, for `;
}

function describeDependency({ task, state }: AwaitedDependency): string {
  return `${show(task)} (${state})`;
}

function describeError(error: ErrorRecord | undefined): string {
  return error === undefined ? '' : `: ${error.name}, ${show(error.message)}`;
}

function describeObstacles(obstacles: readonly Obstacle[], attempt: string | undefined): string {
  const is = attempt === undefined ? 'is ready' : `is ready to go on as ${show(attempt)}`;
  if (obstacles.length === 0) return `${is} and may start at the next claim`;
  return `${is}, but ${obstacles.map(describeObstacle).join('; ')}`;
}

function describeObstacle(obstacle: Obstacle): string {
  switch (obstacle.kind) {
    case 'paused':
      return obstacle.channel === undefined
        ? 'the scheduler is paused'
        : `its channel ${show(obstacle.channel)} is paused`;
    case 'admit':
      return `\`admit\` holds starts back, and is asked again in ${obstacle.remainingMs} ms at the latest`;
    case 'handler':
      return `no handler is defined for ${show(obstacle.type)} yet`;
    case 'resource': {
      const { resource, needs, free, lacks, heldBy } = obstacle;
      const numbers = `needs ${needs}, free ${free}${describeKept(obstacle)}`;
      return `it lacks ${lacks} of ${show(resource)} (${numbers}), ${holders('held', heldBy)}`;
    }
    case 'limit': {
      const { scope, key, limit, filledBy } = obstacle;
      const name = scope === 'global' ? 'the global limit' : `the limit of ${scope} ${show(key)}`;
      return `${name} of ${limit} is reached, ${holders('filled', filledBy)}`;
    }
    case 'rate': {
      const { scope, key, cost, tokens, remainingMs } = obstacle;
      const wait = remainingMs === Infinity ? 'not enough at any time' : `enough in ${remainingMs} ms`;
      const there = `${tokens}${describeKept(obstacle)}`;
      return `it costs ${cost} of the rate of ${scope} ${show(key)}, of which there is ${there}: ${wait}`;
    }
    case 'retryAfter':
      return `${show(obstacle.resource)} asked for a pause of another ${obstacle.remainingMs} ms`;
    case 'worker':
      return describeNoWorker(obstacle.workers, obstacle.missing);
    case 'slots': {
      return `no slot is free: ${list(obstacle.workers.map(describeBusy))}`;
    }
  }
}

function describeBusy({ id, running, slots, kept }: BusyWorker): string {
  return `${show(id)} (${running} of ${slots}${kept === undefined ? '' : `, ${kept} kept for others`})`;
}

function describeNoWorker(workers: number, missing: readonly (readonly [string, CapabilityValue])[]): string {
  if (workers === 0) return 'there is no worker';
  if (missing.length === 0) return 'no worker takes tasks like it';
  return `no worker offers ${list(missing.map(([name, value]) => `${show(name)} = ${show(value)}`))}`;
}

function holders(verb: string, by: readonly Holder[]): string {
  if (by.length === 0) return `${verb} by nobody`;
  return `${verb} by ${list(by.map(({ attempt, abandoned }) => `${show(attempt)}${abandoned ? ' (abandoned)' : ''}`))}`;
}

function describeStanding(standing: Standing | undefined): string {
  switch (standing?.kind) {
    case undefined:
      return '';
    case 'position':
      return `It is number ${standing.position} of ${standing.of} ready tasks.`;
    case 'chance':
      return `Its chance in the next draw is ${(100 * standing.chance).toPrecision(3)} %.`;
    case 'chosen':
      return `Strategy ${show(standing.strategy)} chooses for itself.`;
  }
}

function list(items: readonly string[]): string {
  const named = items.slice(0, NAMED).join(', ');
  return items.length > NAMED ? `${named} and ${items.length - NAMED} more` : named;
}

function moment(epochMs: number): string {
  // Beyond this a date has no ISO form.
  return Math.abs(epochMs) <= 8.64e15 ? new Date(epochMs).toISOString() : `${epochMs} ms`;
}

function describeRoom(room: { readonly worker?: string } | undefined): string {
  if (room === undefined) return '';
  return room.worker === undefined ? 'What becomes free of what it needs is kept for it.' : 'Others make way for it.';
}

function describeKept({ kept }: { readonly kept?: number }): string {
  return kept === undefined ? '' : `, kept for others ${kept}`;
}
