import { microsecondsPerTask } from '../clock.js';
import { layered } from '../dag.js';
import { ahead, type Row } from '../row.js';
import { barePromises, limit, ours, pGraph, pLimit } from '../run-dag.js';

const nodes = 100_000;

const p7: Row = {
  id: 'P7',
  group: 'api',
  work: 'layered graph of 100k no-op tasks and 300k edges, 16 at once, until idle',
  unit: 'µs/task',
  better: 'lower',
  candidates: [
    { name: 'precedence', measure: microsecondsPerTask(nodes, ours(layered)) },
    // At most 0.6 of their time.
    { name: 'bare promises', measure: microsecondsPerTask(nodes, barePromises(layered)), bars: [ahead(1 / 0.6)] },
    { name: 'p-limit and promises', measure: microsecondsPerTask(nodes, pLimit(layered)) },
    { name: 'p-graph', measure: microsecondsPerTask(nodes, pGraph(layered)), bars: [ahead(6)] },
    { name: 'limit', measure: microsecondsPerTask(nodes, limit(layered)) },
  ],
};

export const rows = [p7];
