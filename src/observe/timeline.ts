import { refuseConfig, type AttemptEnd, type Fact, type Moment } from '../model/index.js';

/** One entry of the Trace Event Format, which Perfetto and `chrome://tracing` open; times are in microseconds. */
export interface TraceEvent {
  readonly name: string;
  readonly cat: string;
  /** `X` a span, `s` and `f` the two ends of an arrow, `M` a name for a process or a thread. */
  readonly ph: 'X' | 's' | 'f' | 'M';
  readonly ts: number;
  readonly dur?: number;
  /** The worker. */
  readonly pid: number;
  /** One of the lanes of the worker, so that spans beside each other do not overlap. */
  readonly tid: number;
  readonly id?: number;
  /** An arrow ends at the span that encloses its end. */
  readonly bp?: 'e';
  readonly args?: Readonly<Record<string, unknown>>;
}

/** A trace as a file holds it: `JSON.stringify` it, and open it in Perfetto. */
export interface Trace {
  readonly traceEvents: readonly TraceEvent[];
  readonly displayTimeUnit: 'ms';
}

/** One attempt. */
interface Span {
  readonly task: string;
  readonly attempt: number;
  readonly worker: string;
  readonly lane: number;
  readonly channel: string;
  readonly level: number;
  readonly after: readonly string[];
  readonly fromMono: number;
  untilMono: number | undefined;
  outcome: AttemptEnd | 'running';
  /** While it waited for other tasks. */
  waits: Wait[] | undefined;
}

interface Wait {
  readonly on: string;
  readonly fromMono: number;
  untilMono: number | undefined;
}

const NOTHING: readonly string[] = [];

/** So many attempts are kept unless a number is given. */
const KEPT = 10_000;

/** How many attempts a timeline keeps, as a user says it; `undefined` for no timeline. */
export function timelineLimit(timeline: unknown): number | undefined {
  if (timeline === undefined || timeline === false) return undefined;
  if (timeline === true) return KEPT;
  const limit: unknown = typeof timeline === 'object' && timeline !== null && 'limit' in timeline && timeline.limit;
  if (Number.isSafeInteger(limit) && (limit as number) > 0) return limit as number;
  return refuseConfig('timeline', timeline, 'true, or { limit } with a whole number of at least 1');
}

/** Records the latest attempts, from facts. */
export class Timeline {
  private spans: Span[] = [];
  private readonly running = new Map<string, Span>();
  /** What tasks wait for that have not started. */
  private readonly after = new Map<string, readonly string[]>();
  /** By worker, the lanes in use. */
  private readonly lanes = new Map<string, Set<number>>();

  constructor(private readonly limit: number) {}

  read(fact: Fact): void {
    switch (fact.kind) {
      case 'task.submitted':
        if (fact.after.length > 0)
          this.after.set(
            fact.task,
            fact.after.map(({ task }) => task),
          );
        return;
      case 'dependency.added':
        this.after.set(fact.task, [...(this.after.get(fact.task) ?? []), fact.dependency]);
        return;
      case 'attempt.started':
        this.started(fact);
        return;
      case 'attempt.waiting':
        this.waits(fact.task, { on: fact.awaited, fromMono: fact.mono, untilMono: undefined });
        return;
      case 'attempt.resumed':
        this.goesOn(fact.task, fact.mono);
        return;
      case 'attempt.ended':
        this.ended(fact);
        return;
      case 'task.completed':
      case 'task.failed':
      case 'task.cancelled':
      case 'task.skipped':
        this.after.delete(fact.task);
        return;
      default:
    }
  }

  /** What is recorded; what runs is shown as far as it has come. */
  trace({ mono: now }: Moment): Trace {
    const spans = this.spans.slice(-this.limit);
    const workers = new Map([...new Set(spans.map(({ worker }) => worker))].map((id, i) => [id, i + 1] as const));
    const pidOf = ({ worker }: Span): number => workers.get(worker) as number;
    return {
      traceEvents: [
        ...[...workers].map(([id, pid]) => named('process_name', pid, 0, id)),
        ...lanesOf(spans, pidOf),
        ...spans.flatMap((span) => spanEvents(span, pidOf(span), now)),
        ...arrows(spans, pidOf, now),
      ],
      displayTimeUnit: 'ms',
    };
  }

  private started(fact: Extract<Fact, { kind: 'attempt.started' }>): void {
    const { task, attempt, workerId: worker, channel, level } = fact;
    const span: Span = {
      task,
      attempt,
      worker,
      lane: this.takeLane(worker),
      channel,
      level,
      after: this.after.get(task) ?? NOTHING,
      fromMono: fact.mono,
      untilMono: undefined,
      outcome: 'running',
      waits: undefined,
    };
    this.running.set(task, span);
    this.spans.push(span);
    // Cutting off one at a time would cost as much as are kept.
    if (this.spans.length >= 2 * this.limit) this.spans = this.spans.slice(-this.limit);
  }

  private waits(task: string, wait: Wait): void {
    const span = this.running.get(task);
    if (span !== undefined) span.waits = [...(span.waits ?? []), wait];
  }

  private goesOn(task: string, mono: number): void {
    const wait = this.running.get(task)?.waits?.at(-1);
    if (wait !== undefined) wait.untilMono ??= mono;
  }

  private ended({ task, how, mono }: Extract<Fact, { kind: 'attempt.ended' }>): void {
    const span = this.running.get(task);
    if (span === undefined) return;
    this.goesOn(task, mono);
    this.running.delete(task);
    this.lanes.get(span.worker)?.delete(span.lane);
    span.untilMono = mono;
    span.outcome = how;
  }

  private takeLane(worker: string): number {
    const used = this.lanes.get(worker) ?? new Set<number>();
    this.lanes.set(worker, used);
    let lane = 1;
    while (used.has(lane)) lane += 1;
    used.add(lane);
    return lane;
  }
}

function named(name: 'process_name' | 'thread_name', pid: number, tid: number, value: string): TraceEvent {
  return { name, cat: '__metadata', ph: 'M', ts: 0, pid, tid, args: { name: value } };
}

function lanesOf(spans: readonly Span[], pidOf: (span: Span) => number): TraceEvent[] {
  const lanes = new Map(spans.map((span) => [`${pidOf(span)}/${span.lane}`, span] as const));
  return [...lanes.values()].map((span) => named('thread_name', pidOf(span), span.lane, `slot ${span.lane}`));
}

function spanEvents(span: Span, pid: number, now: number): TraceEvent[] {
  const { task, attempt, channel, level, outcome, lane: tid } = span;
  const place = { ph: 'X', pid, tid } as const;
  return [
    {
      ...place,
      name: task,
      cat: 'attempt',
      ...between(span.fromMono, span.untilMono ?? now),
      args: { task, attempt, channel, level, worker: span.worker, outcome },
    },
    ...(span.waits ?? []).map(({ on, fromMono, untilMono }) => ({
      ...place,
      name: `waits for ${on}`,
      cat: 'wait',
      ...between(fromMono, untilMono ?? now),
    })),
  ];
}

function between(fromMono: number, untilMono: number): { readonly ts: number; readonly dur: number } {
  return { ts: micros(fromMono), dur: micros(untilMono) - micros(fromMono) };
}

function micros(mono: number): number {
  return Math.round(1_000 * mono);
}

/** An arrow from the end of each dependency to the start of whatever waited for it. */
function arrows(spans: readonly Span[], pidOf: (span: Span) => number, now: number): TraceEvent[] {
  const latest = new Map<string, Span>();
  let id = 0;
  return spans.flatMap((span) => {
    const events = span.after.flatMap((dependency): TraceEvent[] => {
      const from = latest.get(dependency);
      if (from === undefined) return [];
      id += 1;
      const common = { name: 'dependency', cat: 'dependency', id } as const;
      return [
        { ...common, ph: 's', ts: micros(from.untilMono ?? now), pid: pidOf(from), tid: from.lane },
        { ...common, ph: 'f', bp: 'e', ts: micros(span.fromMono), pid: pidOf(span), tid: span.lane },
      ];
    });
    latest.set(span.task, span);
    return events;
  });
}
