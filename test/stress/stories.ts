import type { EventName } from '../../src/index.js';
import type { Fact } from '../../src/model/index.js';
import { EVENT_NAMES } from '../../src/ports/events.js';
import type { Events } from '../../src/runtime/events.js';
import type { Observed } from './observed.js';

/** What an event is made from, for those that are about one task. */
const SOURCES: Partial<Record<Fact['kind'], EventName>> = {
  'task.submitted': 'added',
  'task.ready': 'ready',
  'attempt.started': 'started',
  'task.completed': 'completed',
  'task.failed': 'failed',
  'task.retryScheduled': 'retrying',
  'task.skipped': 'skipped',
  'task.starved': 'starved',
  'deadline.missed': 'deadlineMissed',
  'task.preempted': 'preempted',
};

/** What tells of no fact about one task. */
const NO_FACTS: readonly EventName[] = [
  'refused',
  'progress',
  'saturated',
  'relieved',
  'overran',
  'claims',
  'empty',
  'idle',
  'error',
];

/** The event that tells of the fact, if it is about a task. */
function eventOf(fact: Fact): string | undefined {
  if (!('task' in fact)) return undefined;
  if (fact.kind === 'task.cancelled') return `${fact.error.code === 'EXPIRED' ? 'expired' : 'cancelled'} ${fact.task}`;
  if (fact.kind === 'attempt.ended') return fact.how === 'lost' ? `lost ${fact.task}` : undefined;
  const name = SOURCES[fact.kind];
  return name === undefined ? undefined : `${name} ${fact.task}`;
}

/** Compares what is told with what has happened. */
export class Stories {
  private readonly facts: string[] = [];
  private told = 0;

  constructor(events: Events, observed: Observed) {
    events.on('fact', (fact) => {
      const event = eventOf(fact);
      if (event !== undefined) this.facts.push(event);
    });
    for (const name of EVENT_NAMES) {
      if (NO_FACTS.includes(name)) continue;
      events.on(name, (event) => {
        const line = `${name} ${'taskId' in event ? event.taskId : ''}`;
        const expected = this.facts[this.told];
        this.told += 1;
        if (line !== expected) observed.problem(`told "${line}" where "${String(expected)}" has happened`);
      });
    }
  }

  /** How many facts nobody was told of. */
  get untold(): number {
    return this.facts.length - this.told;
  }
}
