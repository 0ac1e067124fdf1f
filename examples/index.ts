import type { Stage } from './stage.js';

/** What a module in this folder exports to be an example. */
export interface Example {
  readonly title: string;
  run(print: (line: string) => void, stage: Stage): Promise<void> | void;
}

/** Examples by the name they are started with, in the order in which they are best read. */
export type Registry = ReadonlyMap<string, () => Promise<Example>>;

/** An example is loaded only when it is run or listed: one that is broken does not hide the others. */
export const examples: Registry = new Map<string, () => Promise<Example>>([
  ['first-queue', () => import('./first-queue.js')],
  ['build-graph', () => import('./build-graph.js')],
  ['shared-gpu', () => import('./shared-gpu.js')],
  ['model-calls', () => import('./model-calls.js')],
  ['media-pipeline', () => import('./media-pipeline.js')],
  ['streaming', () => import('./streaming.js')],
  ['regular-work', () => import('./regular-work.js')],
  ['crawl', () => import('./crawl.js')],
  ['crawl-sqlite', () => import('./crawl-sqlite.js')],
  ['crawl-postgres', () => import('./crawl-postgres.js')],
  ['move-store', () => import('./move-store.js')],
  ['custom-strategy', () => import('./custom-strategy.js')],
  ['pulling-workers', () => import('./pulling-workers.js')],
  ['custom-executor', () => import('./custom-executor.js')],
  ['worker-threads', () => import('./worker-threads.js')],
  ['observing', () => import('./observing.js')],
  ['first-core', () => import('./first-core.js')],
]);
