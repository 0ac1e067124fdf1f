import { isDeepStrictEqual } from 'node:util';
import type { Core } from '../../src/core/index.js';
import { isFinal, type Fact } from '../../src/model/index.js';
import { entriesOf, replayed, type Left } from './left.js';
import { linesOf, type Line } from './side-file.js';
import { endsOf, type Job } from './work.js';

/*
 * What must hold whenever a process has died: each function gives what is wrong, one sentence each.
 */

/** Everything that was seen so far, and what the store holds now. */
export interface Scene {
  readonly lines: readonly Line[];
  readonly left: Left;
  /** The state that snapshot and tail make; `undefined` before there was any. */
  readonly core: Core | undefined;
  /** All records from the first, also those that a snapshot has replaced. */
  readonly journal: readonly string[];
  readonly facts: readonly Fact[];
}

/** Puts together what is looked at. */
export function sceneOf(lines: readonly Line[], left: Left): Scene {
  // Who comes next goes on behind what was kept: so of several that were offered with a number, the last one counts.
  const offered = new Map(linesOf(lines, 'offered').map(({ sequence, body }) => [sequence, body]));
  const journal = Array.from({ length: left.sequence }, (_, at) => offered.get(at + 1) ?? '[]');
  const facts = journal.flatMap(entriesOf).filter((entry): entry is Fact => entry.kind !== ('begun' as string));
  return { lines, left, core: replayed(left.snapshot, left.tail.values()), journal, facts };
}

/** What a dead process, and those before it, must not have done or lost. */
export function wrongIn(scene: Scene): readonly string[] {
  return [
    ...linesOf(scene.lines, 'wrong').map(({ what }) => what),
    ...lost(scene),
    ...toldTooEarly(scene),
    ...endedTwice(scene),
    ...startedUnkept(scene),
    ...staleStarts(scene),
    ...outOfOrder(scene),
    ...lostCheckpoints(scene),
    ...otherStates(scene),
  ];
}

/** G1: what was acknowledged is there. */
function lost({ lines, core }: Scene): string[] {
  return linesOf(lines, 'accepted')
    .filter(({ id }) => core?.state.table.byId(id) === undefined)
    .map(({ id }) => `G1 "${id}" was acknowledged, and is lost`);
}

/** G2: an end that was told is kept, and stays. */
function toldTooEarly({ lines, core }: Scene): string[] {
  return linesOf(lines, 'ended').flatMap(({ id, state, value, by }) => {
    const task = core?.state.table.byId(id);
    if (task?.state !== state) return [`G2 the ${by} told that "${id}" has ${state}, and it is ${String(task?.state)}`];
    if (value === undefined || isDeepStrictEqual(task.value, value)) return [];
    return [`G2 the ${by} told of "${id}" another result than is kept`];
  });
}

const ENDS: ReadonlySet<string> = new Set(['task.completed', 'task.failed', 'task.cancelled', 'task.skipped']);

/** G2: each task ends once; a listener hears of it at most once, in whatever process it is. */
function endedTwice({ lines, facts }: Scene): string[] {
  const ends = facts.filter((fact) => ENDS.has(fact.kind)) as Extract<Fact, { kind: 'task.completed' }>[];
  const events = linesOf(lines, 'ended').filter(({ by }) => by === 'event');
  return [
    ...twice(ends.map(({ task }) => task)).map((id) => `G2 the journal has two ends of "${id}"`),
    ...twice(events.map(({ id }) => id)).map((id) => `G2 the end of "${id}" was told twice`),
  ];
}

function twice(names: readonly string[]): string[] {
  return names.filter((name, at) => names.indexOf(name) !== at);
}

/** G3: nothing starts that is not kept to have been granted, and each attempt starts once. */
function startedUnkept({ lines, facts }: Scene): string[] {
  const granted = facts.flatMap((fact) =>
    fact.kind === 'attempt.started' ? [`${fact.task} ${fact.epoch} ${fact.attempt}`] : [],
  );
  const known = new Set(granted);
  const started = linesOf(lines, 'started').map(({ id, epoch, attempt }) => `${id} ${epoch} ${attempt}`);
  return [
    ...started.filter((name) => !known.has(name)).map((name) => `G3 it started, and nothing says so: ${name}`),
    ...twice(granted).map((name) => `G3 it was granted twice: ${name}`),
    ...twice(started).map((name) => `G3 it started twice: ${name}`),
  ];
}

/** G3: the fencing token of a start is larger than those before it of the same task, and its epoch than those of dead processes. */
function staleStarts({ lines }: Scene): string[] {
  const wrong: string[] = [];
  const latest = new Map<string, { readonly epoch: number; readonly attempt: number }>();
  /** Of all starts before this process, and of its own. */
  let [former, own] = [0, 0];
  for (const line of lines) {
    if (line.said === 'born') former = Math.max(former, own);
    if (line.said !== 'started') continue;
    const { id, epoch, attempt } = line;
    own = Math.max(own, epoch);
    const before = latest.get(id);
    if (epoch <= former) wrong.push(`G3 "${id}" started in epoch ${epoch}, which is over`);
    const grows = before === undefined || epoch > before.epoch || (epoch === before.epoch && attempt > before.attempt);
    if (!grows || attempt <= (before?.attempt ?? 0)) {
      wrong.push(`G3 "${id}" started as ${epoch}/${attempt} after ${before?.epoch}/${before?.attempt}`);
    }
    latest.set(id, line);
  }
  return wrong;
}

/** G6: what comes after others starts when they have ended, in the journal and before our eyes. */
function outOfOrder({ lines, facts }: Scene): string[] {
  const after = new Map<string, readonly string[]>();
  const ended = new Set<string>();
  const completed = new Set<string>();
  const wrong: string[] = [];
  for (const fact of facts) {
    if (fact.kind === 'task.submitted')
      after.set(
        fact.task,
        fact.after.map(({ task }) => task),
      );
    if (ENDS.has(fact.kind)) ended.add((fact as { readonly task: string }).task);
    if (fact.kind === 'task.completed') completed.add(fact.task);
    if (fact.kind !== 'attempt.started') continue;
    const early = after.get(fact.task)?.find((id) => !ended.has(id));
    if (early !== undefined) wrong.push(`G6 the journal has a start of "${fact.task}" before the end of "${early}"`);
  }
  const returned = new Set<string>();
  for (const line of lines) {
    if (line.said === 'returned') returned.add(line.id);
    if (line.said !== 'started') continue;
    const early = after.get(line.id)?.find((id) => completed.has(id) && !returned.has(id));
    if (early !== undefined) wrong.push(`G6 "${line.id}" started before "${early}" had returned`);
  }
  return wrong;
}

/** G1: an attempt goes on where the one before had come to, as far as that was kept. */
function lostCheckpoints({ lines, facts }: Scene): string[] {
  const reached = new Map<string, unknown>();
  const expected = new Map<string, unknown>();
  for (const fact of facts) {
    if (fact.kind === 'task.checkpointed') reached.set(fact.task, fact.checkpoint);
    if (fact.kind === 'attempt.started') expected.set(`${fact.task} ${fact.attempt}`, reached.get(fact.task));
  }
  return linesOf(lines, 'started')
    .filter(({ id, attempt, resumed }) => !isDeepStrictEqual(expected.get(`${id} ${attempt}`), resumed))
    .map(({ id, attempt }) => `G1 "${id}" began attempt ${attempt} elsewhere than the one before had come to`);
}

/** G8: the store has the records that it was given, and snapshot and tail make the same state as the whole journal, over and over. */
function otherStates({ left, core, journal }: Scene): string[] {
  const wrong = [...left.tail]
    .filter(([sequence, body]) => journal[sequence - 1] !== body)
    .map(([sequence]) => `G8 record ${sequence} is not what was given to the store`);
  if (core === undefined) return journal.length === 0 ? wrong : [...wrong, 'G8 there are records, and no state'];
  const state = plain(core);
  const whole = replayed(undefined, journal);
  if (!isDeepStrictEqual(whole && plain(whole), state)) wrong.push('G8 snapshot and tail make another state');
  const again = replayed(left.snapshot, left.tail.values());
  if (!isDeepStrictEqual(again && plain(again), state)) wrong.push('G8 a second replay makes another state');
  core.check();
  return wrong;
}

function plain(core: Core): unknown {
  return JSON.parse(JSON.stringify(core.snapshot()));
}

/** G2: when all is done, every job was acknowledged and has ended as it must. */
export function undoneIn({ lines, core, facts }: Scene, jobs: readonly Job[]): readonly string[] {
  const ids = new Map(linesOf(lines, 'accepted').map(({ key, id }) => [key, id]));
  const losses = facts.flatMap((fact) => (fact.kind === 'attempt.ended' && fact.how === 'lost' ? [fact.task] : []));
  const isSpent = (id: string | undefined): boolean => losses.filter((task) => task === id).length >= MAX_LOSSES;
  const ends = endsOf(jobs, new Set(jobs.map(({ key }) => key).filter((key) => isSpent(ids.get(key)))));
  const unfinished = [...(core?.state.table.all() ?? [])].filter(({ state }) => !isFinal(state));
  return [
    ...unfinished.map(({ id, state }) => `G2 when all was done, "${id}" was ${state}`),
    ...jobs.flatMap(({ key }) => {
      const task = core?.state.table.byId(ids.get(key) ?? '');
      const end = ends.get(key);
      if (task?.state === end?.state && (end?.value === undefined || end.value === task?.value)) return [];
      return [`G2 ${key} must be ${JSON.stringify(end)}, and is ${String(task?.state)} ${String(task?.value)}`];
    }),
  ];
}

/** So many of its attempts may be lost before a task fails for good. */
const MAX_LOSSES = 3;
