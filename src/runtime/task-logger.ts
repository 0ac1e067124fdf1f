import type { Attempt } from '../model/index.js';
import type { Logger, LogLevel } from '../ports/logger.js';

/** The scheduler's logger in the hands of a handler: every record states whose it is. Without a logger it is silent. */
export class TaskLogger implements Logger {
  constructor(
    private readonly logger: Logger | undefined,
    private readonly attempt: Attempt,
  ) {}

  debug(record: object, message: string): void {
    this.write('debug', record, message);
  }

  info(record: object, message: string): void {
    this.write('info', record, message);
  }

  warn(record: object, message: string): void {
    this.write('warn', record, message);
  }

  error(record: object, message: string): void {
    this.write('error', record, message);
  }

  private write(level: LogLevel, record: object, message: string): void {
    if (this.logger === undefined) return;
    const { task, number: attempt, workerId } = this.attempt;
    const about = { taskId: task.id, attempt, channel: task.spec.channel, priority: task.urgency, workerId };
    const metadata = task.spec.rare?.metadata;
    this.logger[level](metadata === undefined ? { ...record, ...about } : { ...record, ...about, metadata }, message);
  }
}
