import { toDot, toMermaid } from './observe/graph-export.js';
import { log } from './observe/log.js';
import { Timeline, timelineLimit, type Trace } from './observe/timeline.js';
import { plainObject, refuseConfig } from './model/index.js';
import { checkLogger } from './ports/logger.js';
import { Scheduler as BareScheduler } from './runtime/scheduler.js';
import type { SchedulerOptions } from './runtime/scheduler-options.js';
import { FileStore } from './stores/file/file-store.js';

/**
 * Runs tasks in this process, the most urgent first, as many at a time as there are slots.
 *
 * @example
 * ```ts
 * const scheduler = new Scheduler({ concurrency: 4 });
 * const fetched = scheduler.add(() => fetchPage(url), { priority: 'high' });
 * const parsed = scheduler.add((task) => parse(task.dependencies[0]), { after: [fetched] });
 * console.log(await parsed);
 * await scheduler.close();
 * ```
 */
export class Scheduler extends BareScheduler {
  private readonly recorded: Timeline | undefined;

  constructor(options: SchedulerOptions = {}) {
    super(withStore(options));
    const { events } = this.engine;
    if (options.logger !== undefined) log(events, checkLogger(options.logger));
    const limit = timelineLimit(options.timeline);
    if (limit === undefined) return;
    const timeline = new Timeline(limit);
    this.recorded = timeline;
    events.on('fact', (fact) => {
      timeline.read(fact);
    });
  }

  /** The dependency graph in the language of Graphviz. */
  toDot(): string {
    return toDot(this);
  }

  /** The dependency graph as a Mermaid flowchart. */
  toMermaid(): string {
    return toMermaid(this);
  }

  /**
   * The latest attempts as a trace that Perfetto opens: a span for each, in lanes by worker, with arrows from dependencies.
   * Recorded only with the option `timeline`.
   */
  timeline(): Trace {
    if (this.recorded !== undefined) return this.recorded.trace(this.engine.now());
    return refuseConfig('timeline', undefined, 'true when the scheduler is made, as nothing is recorded otherwise');
  }
}

/** A path is where a store in files is. */
function withStore(options: SchedulerOptions): SchedulerOptions {
  const { store, logger } = plainObject(options, 'options', refuseConfig) as SchedulerOptions;
  return typeof store === 'string' ? { ...options, store: new FileStore(store, { logger }) } : options;
}
