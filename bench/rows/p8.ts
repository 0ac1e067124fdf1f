import { microsecondsPerTask } from '../clock.js';
import { chain, fan } from '../dag.js';
import { atMost, type Row } from '../row.js';
import { limit, ours, pGraph } from '../run-dag.js';

const nodes = 100_000;

const p8Chain: Row = {
  id: 'P8 chain',
  group: 'api',
  work: 'chain of 100k no-op tasks, until idle; a million to see that no stack overflows',
  unit: 'µs/task',
  better: 'lower',
  candidates: [
    { name: 'precedence', measure: microsecondsPerTask(nodes, ours(chain)), bars: [atMost(2)] },
    { name: 'precedence, 1M', measure: microsecondsPerTask(1_000_000, ours(chain)), bars: [atMost(2)] },
    { name: 'p-graph', measure: microsecondsPerTask(nodes, pGraph(chain)) },
    { name: 'limit', measure: microsecondsPerTask(nodes, limit(chain)) },
  ],
};

const p8Fan: Row = {
  id: 'P8 fan',
  group: 'api',
  work: 'one no-op task, then 100k that wait for it, then one that waits for all of them, until idle',
  unit: 'µs/task',
  better: 'lower',
  candidates: [
    { name: 'precedence', measure: microsecondsPerTask(nodes, ours(fan)), bars: [atMost(2)] },
    { name: 'p-graph', measure: microsecondsPerTask(nodes, pGraph(fan)) },
    { name: 'limit', measure: microsecondsPerTask(nodes, limit(fan)) },
  ],
};

export const rows = [p8Chain, p8Fan];
