import { EVENT_NAMES, type EventName, type EventSource, type SchedulerEvents } from '../ports/events.js';
import type { Logger, LogLevel } from '../ports/logger.js';

const LEVELS: Readonly<Record<EventName, LogLevel>> = {
  added: 'debug',
  refused: 'warn',
  ready: 'debug',
  started: 'debug',
  progress: 'debug',
  completed: 'info',
  failed: 'error',
  retrying: 'warn',
  cancelled: 'info',
  skipped: 'info',
  expired: 'warn',
  preempted: 'info',
  lost: 'warn',
  starved: 'warn',
  deadlineMissed: 'warn',
  saturated: 'warn',
  relieved: 'info',
  overran: 'warn',
  claims: 'info',
  empty: 'debug',
  idle: 'debug',
  error: 'error',
};

/** No name that a user chose is part of a message: whatever it contains, the logger writes it as data. */
const MESSAGES: Readonly<Record<EventName, string>> = {
  added: 'task added',
  refused: 'task refused',
  ready: 'task ready',
  started: 'task started',
  progress: 'task has come further',
  completed: 'task completed',
  failed: 'task failed',
  retrying: 'task is tried again',
  cancelled: 'task cancelled',
  skipped: 'task skipped',
  expired: 'task expired',
  preempted: 'attempt made way for a more urgent task',
  lost: 'attempt lost with its worker',
  starved: 'task has waited beyond its bound',
  deadlineMissed: 'task missed its deadline',
  saturated: 'as many tasks are pending as may be',
  relieved: 'there is room for tasks again',
  overran: 'series runs more often than its schedule gives',
  claims: 'claims by channel',
  empty: 'every task has started',
  idle: 'every task has ended',
  error: 'a function given to the scheduler failed',
};

/**
 * Writes a record of every event; what it states about a task is what the event does. None is made at a level that the
 * logger says it would not write, which is asked each time: levels are changed while a process runs.
 */
export function log(source: EventSource, logger: Logger): void {
  for (const name of EVENT_NAMES) {
    const level = LEVELS[name];
    source.on(name, (event) => {
      if (logger.isLevelEnabled?.(level) === false) return;
      logger[level](recordOf(name, event), MESSAGES[name]);
    });
  }
}

/** Errors go by the name under which such loggers write them out in full; results may be anything, and stay away; the time is its own. */
function recordOf(name: EventName, event: SchedulerEvents[EventName]): object {
  const { error, result: _result, at: _at, ...rest } = { error: undefined, result: undefined, at: undefined, ...event };
  return { event: name, ...rest, ...(error === undefined ? {} : { err: error }) };
}
