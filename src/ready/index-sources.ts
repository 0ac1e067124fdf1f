import type { Task } from '../model/index.js';
import type { TaskPages } from './by-place.js';
import type { Shape } from './place.js';
import type { Places } from './places.js';
import type { OrderSources } from './view.js';

/** What the index needs to know from the core. */
export interface IndexSources extends Omit<OrderSources, 'turns'> {
  readonly places: Places;
  /** All tasks there are, ready or not. */
  readonly tasks: TaskPages;
  /** Told before anything changes about a task that is not changing already. */
  readonly changing: (task: Task) => void;
  /** Whether any worker could take tasks of this shape: one that nobody can serve must not hold a level's time back. */
  readonly isServed: (shape: Shape) => boolean;
  /** How many starts will still be charged for what they really took. */
  uncorrected(): number;
}
