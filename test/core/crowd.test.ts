import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SIM_START, sim } from '../../src/testing/index.js';
import { at, nth } from '../ready/ranked.js';

// So many values that hardly two are the same: whoever loses the best has to find the next.
const level = fc.integer({ min: 0, max: 999 });
const deadline = fc.option(fc.integer({ min: 1, max: 999 }), { nil: undefined });

const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('add' as const), level, deadline, hub: nth }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('level' as const), which: nth, level }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('cancel' as const), which: nth }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('above' as const), which: nth, level, deadline }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('unlink' as const), which: nth, hub: nth }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('link' as const), which: nth, hub: nth }) },
);

test('C5.2 what a hundred tasks wait for is as urgent as the most urgent of them, whatever happens to them', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(level, deadline), { minLength: 80, maxLength: 100 }),
      fc.array(step, { maxLength: 60, size: 'max' }),
      (crowd, steps) => {
        // Every command is followed by a check of all that is inherited, edge by edge.
        const s = sim();
        const hubs = ['low', 'lower'];
        for (const [i, id] of hubs.entries()) s.add(id, { priority: 2_000 + i, delay: '1h' });
        const dependants: string[] = [];
        const due = (days: number | undefined) =>
          days === undefined ? {} : { deadline: SIM_START + days * 86_400_000 };
        const add = (priority: number, days: number | undefined, after: readonly string[]): void => {
          const id = `t${String(dependants.length)}`;
          s.add(id, { priority, after, ...due(days) });
          dependants.push(id);
        };
        for (const [i, [priority, days]] of crowd.entries()) add(priority, days, i % 3 === 0 ? hubs : ['low']);
        for (const each of steps) {
          const hub = at(hubs, 'hub' in each ? each.hub : 0) as string;
          const id = at(dependants, 'which' in each ? each.which : 0) as string;
          if (each.kind === 'add') add(each.level, each.deadline, [hub]);
          else if (s.state(id) !== 'waiting') continue;
          else if (each.kind === 'level') s.send({ kind: 'setPriority', task: id, level: each.level });
          else if (each.kind === 'cancel') s.cancel(id);
          else if (each.kind === 'above') add(each.level, each.deadline, [id]);
          else {
            const known = s.core.state.dependencies.of(s.task(id)).some(({ task }) => task.id === hub);
            if (each.kind === 'unlink' && known) s.send({ kind: 'removeDependency', task: id, dependency: hub });
            else if (each.kind === 'link' && !known)
              s.send({ kind: 'addDependency', task: id, dependency: hub, onFailure: 'fail' });
          }
        }
        expect(s.state('low')).toBe('delayed');
      },
    ),
    { numRuns: 60 },
  );
});
