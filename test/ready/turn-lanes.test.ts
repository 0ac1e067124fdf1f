import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Task } from '../../src/model/index.js';
import { Channel } from '../../src/ready/index.js';
import { Lane, type LaneHost } from '../../src/ready/lane.js';
import { TurnLanes } from '../../src/ready/turn-lanes.js';
import { LevelTurns, Turn } from '../../src/ready/turns.js';
import { at, nth, placeOf, shapeOf, smallest, taskMaker } from './ranked.js';

const NAMES = ['b', 'a', 'B', 'c', 'ab'];

const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('add' as const), which: nth }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('start' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('charge' as const), which: nth, times: fc.constantFrom(1, 2, 5) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('catch up' as const), by: fc.constantFrom(0.5, 1, 2) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('limit' as const), which: nth, limit: fc.constantFrom(0, Infinity) }),
  },
);

test('D12.1 the lane next in turn has the smallest pass, no less than the virtual time, then the smallest name', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120, size: 'max' }), (steps) => {
      const make = taskMaker();
      const level = new LevelTurns(2);
      const turns = new Map(NAMES.map((name, place) => [name, new Turn(name, [1, 2, 0.5, 1, 4][place] as number)]));
      const lanes = new TurnLanes(level);
      const waiting = new Map<Lane, Task[]>();
      const host: LaneHost = {
        owns: () => true,
        ranks: () => true,
        park: (lane) => (lane.parked = true),
        turnOf: (channel) => turns.get(channel) as Turn,
        countDropped: () => undefined,
      };
      const all = NAMES.map((name, place) => new Lane(host, placeOf(place, shapeOf(0, ''), new Channel(name))));
      for (const lane of all) waiting.set(lane, []);
      const passOf = (lane: Lane): number => Math.max(lane.turn.pass, level.virtualTime);
      for (const each of steps) {
        const lane = at(all, 'which' in each ? each.which : 0) as Lane;
        const tasks = waiting.get(lane) as Task[];
        if (each.kind === 'add') {
          const task = make();
          tasks.push(task);
          lane.push(task, 0, 0);
          if (!lane.parked && !lane.competing) lanes.add(lane);
        } else if (each.kind === 'charge') {
          lane.turn.charge(each.times, level.virtualTime);
        } else if (each.kind === 'catch up') {
          level.virtualTime += each.by;
        } else if (each.kind === 'limit') {
          lane.place.channel.limit.capacity = each.limit;
          if (each.limit > 0 && lane.parked) {
            lane.parked = false;
            if (lane.refresh() && !lane.competing) lanes.add(lane);
          }
        } else {
          const open = all.filter((one) => one.place.channel.isOpen() && (waiting.get(one) as Task[]).length > 0);
          const expected = smallest(open, (one) => [passOf(one), one.channelName]);
          const best = lanes.best();
          expect(best?.channelName).toBe(expected?.channelName);
          if (best === undefined || expected === undefined) continue;
          const started = (waiting.get(best) as Task[]).shift() as Task;
          expect(best.task).toBe(started);
          started.state = 'running';
          best.turn.charge(1, level.virtualTime);
        }
      }
    }),
  );
});
