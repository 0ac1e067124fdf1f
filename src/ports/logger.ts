import { refuseConfig } from '../model/index.js';

/** How much a record matters. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** A logger shaped like pino's: a method per level that takes a record and a message. */
export interface Logger {
  /** Takes what is of use to whoever looks into something. */
  readonly debug: (record: object, message: string) => unknown;
  /** Takes what happens in the ordinary course of things. */
  readonly info: (record: object, message: string) => unknown;
  /** Takes what somebody may want to look at, such as a retry, a loss or an expiry. */
  readonly warn: (record: object, message: string) => unknown;
  /** Takes what has gone wrong for good: a task that failed, a listener that threw. */
  readonly error: (record: object, message: string) => unknown;
  /** Whether what is written at this level goes anywhere, as pino's tells: otherwise no record is made. It does unless given. */
  readonly isLevelEnabled?: ((level: LogLevel) => boolean) | undefined;
}

/** A logger as a user gives it. */
export function checkLogger(logger: unknown): Logger {
  const levels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];
  const given = logger as Partial<Record<LogLevel, unknown>> | null | undefined;
  if (levels.every((level) => typeof given?.[level] === 'function')) return logger as Logger;
  return refuseConfig('logger', logger, 'a logger with the methods debug, info, warn and error');
}
