import { microsecondsPerTask } from '../clock.js';
import { growth, type Row } from '../row.js';
import { limit, ours, pQueue } from './p1.js';

const p4: Row = {
  id: 'P4',
  group: 'api',
  work: 'growth: the work of P1 with 500k tasks pending against 100k',
  unit: 'µs/task',
  better: 'lower',
  candidates: [
    { name: 'precedence, 100k', measure: microsecondsPerTask(100_000, ours) },
    {
      name: 'precedence, 500k',
      measure: microsecondsPerTask(500_000, ours),
      bars: [growth('precedence, 100k', 1.3)],
    },
    { name: 'limit, 100k', measure: microsecondsPerTask(100_000, limit) },
    { name: 'limit, 500k', measure: microsecondsPerTask(500_000, limit), against: 'precedence, 500k' },
    { name: 'p-queue, 100k', measure: microsecondsPerTask(100_000, pQueue), slow: { samples: 5 } },
    {
      name: 'p-queue, 500k',
      measure: microsecondsPerTask(500_000, pQueue),
      against: 'precedence, 500k',
      slow: { samples: 1 },
    },
  ],
};

export const rows = [p4];
