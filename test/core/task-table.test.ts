import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { TaskTable } from '../../src/core/task-table.js';
import { Task, parseTaskOptions, type FinalState } from '../../src/model/index.js';

const which = fc.nat(2_000);
const ending = fc.constantFrom<FinalState>('completed', 'failed', 'cancelled', 'skipped');
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('add' as const),
      name: fc.option(fc.constantFrom('a', 'b', 'task-x', 'task07')),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('many' as const), count: fc.nat(400) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('remove' as const), which, ending }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('clear' as const), ending }) },
);

function taskFor(sequence: number, id: string | null): Task {
  return new Task(sequence, parseTaskOptions(id === null ? undefined : { id }, ''), undefined, sequence);
}

describe('a task table', () => {
  test('F5.1 B1.2 finds every task by id and sequence, and remembers how forgotten ones ended', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40, size: 'max' }), (steps) => {
        const table = new TaskTable();
        const known = new Map<string, Task>();
        const endings = new Map<string, FinalState>();
        const add = (name: string | null): void => {
          if (name !== null && known.has(name)) return;
          const task = taskFor(table.next, name);
          table.add(task);
          known.set(task.id, task);
          endings.delete(task.id);
        };
        const remove = (task: Task, how: FinalState): void => {
          task.state = how;
          table.remove(task);
          known.delete(task.id);
          endings.set(task.id, how);
        };
        for (const each of steps) {
          if (each.kind === 'add') add(each.name);
          else if (each.kind === 'many') for (let i = 0; i < each.count; i += 1) add(null);
          else if (each.kind === 'clear') for (const task of [...known.values()]) remove(task, each.ending);
          else {
            const task = [...known.values()][each.which % known.size];
            if (task !== undefined) remove(task, each.ending);
          }
          expect(table.size).toBe(known.size);
        }
        expect([...table.all()]).toEqual([...known.values()].sort((x, y) => x.sequence - y.sequence));
        for (const [id, task] of known) {
          expect(table.byId(id)).toBe(task);
          expect(table.bySequence(task.sequence)).toBe(task);
          // A task that was named has no other id.
          if (task.spec.id !== undefined) expect(table.byId(`task-${task.sequence}`)).toBeUndefined();
        }
        for (const [id, how] of endings) {
          expect(table.byId(id)).toBeUndefined();
          expect(table.tombstone(id)).toBe(how);
        }
        expect(table.byId('task-1e3')).toBeUndefined();
        expect(table.tombstone(`task-${table.next}`)).toBeUndefined();
        const copy = new TaskTable();
        copy.next = table.next;
        copy.load(table.save());
        for (const [id, how] of endings) expect(copy.tombstone(id)).toBe(how);
      }),
    );
  });

  test('F5.1 remembers a bounded number of endings, the latest', () => {
    const table = new TaskTable();
    const count = 70_000;
    for (let i = 0; i < count; i += 1) {
      const task = taskFor(table.next, i % 2 === 0 ? null : `n${i}`);
      table.add(task);
      task.state = 'completed';
      table.remove(task);
    }
    const [named, numbered] = [[...table.save().named], [...table.save().numbered]];
    expect(named.length + numbered.length).toBeLessThanOrEqual(2 * 65_536);
    expect(table.tombstone('task-1')).toBeUndefined();
    expect(table.tombstone(`task-${count - 1}`)).toBe('completed');
    expect(table.tombstone(`n${count - 1}`)).toBe('completed');
    expect(table.size).toBe(0);
  });
});
