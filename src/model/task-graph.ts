import type { FailurePolicy } from './spec.js';
import type { TaskState } from './state.js';

/** A task in a picture of the dependency graph. */
export interface GraphTask {
  /** `n` and the task's sequence: unlike an id it is safe as a name in every format. */
  readonly key: string;
  readonly id: string;
  readonly state: TaskState;
  /** The effective level. */
  readonly level: number;
  readonly channel: string;
}

/** From a dependency to the task that waits for it, or that may still ask for its result. */
export interface GraphEdge {
  /** Keys of tasks. */
  readonly from: string;
  readonly to: string;
  readonly onFailure: FailurePolicy;
}

/** All known tasks in order of submission, and what the unfinished ones among them depend on. */
export interface TaskGraph {
  readonly tasks: readonly GraphTask[];
  readonly edges: readonly GraphEdge[];
}

/** Whoever can show its dependency graph, such as a scheduler. */
export interface GraphSource {
  /** All tasks that are known, and the edges between them. */
  graph(): TaskGraph;
}
