import { expect, test } from 'vitest';
import { Core } from '../../src/core/index.js';
import { StaleLeaseError } from '../../src/model/index.js';
import { sim, type Sim } from '../../src/testing/index.js';

const checkpointOf = (s: Sim, id: string): unknown => s.task(id).extra?.checkpoint;

function checkpoint(s: Sim, id: string, attempt: number, reached: unknown): void {
  const token = { epoch: s.core.state.epoch, attempt };
  s.send({ kind: 'checkpoint', task: id, token, checkpoint: reached });
}

test('F1.4 a task keeps its last checkpoint over a failure, a release, a loss and a timeout', () => {
  const s = sim({ slots: 1 });
  s.add('a', { retry: { attempts: 9, backoff: 'fixed', base: 100 }, timeout: 1_000 });
  const reached = (attempt: number): void => {
    checkpoint(s, 'a', attempt, attempt);
    expect(checkpointOf(s, 'a')).toBe(attempt);
  };
  reached(1);
  s.fail('a#1');
  s.advance(100);
  reached(2);
  s.send({ kind: 'release', task: 'a', token: { epoch: 1, attempt: 2 } });
  reached(3);
  s.send({ kind: 'settle', task: 'a', token: { epoch: 1, attempt: 3 }, outcome: { kind: 'lost' } });
  reached(4);
  s.advance(1_000);
  expect([s.state('a'), checkpointOf(s, 'a')]).toEqual(['delayed', 4]);
});

test('F1.4 a checkpoint survives a snapshot through JSON and the recovery after it', () => {
  const s = sim({ slots: 1 });
  s.add('a');
  checkpoint(s, 'a', 1, { page: 7 });
  s.core = Core.restore(JSON.parse(JSON.stringify(s.core.snapshot())) as ReturnType<Core['snapshot']>);
  s.send({ kind: 'recover' });
  expect([s.running(), checkpointOf(s, 'a')]).toEqual([['a#2'], { page: 7 }]);
});

test('F1.4 G4 an attempt that no longer counts does not overwrite the checkpoint', () => {
  const s = sim({ slots: 2 });
  s.add('a', { retry: 2, timeout: 1_000 });
  checkpoint(s, 'a', 1, 'before');
  s.advance(1_000);
  expect(s.running()).toEqual(['a#2']);
  expect(() => {
    checkpoint(s, 'a', 1, 'late');
  }).toThrow(StaleLeaseError);
  expect(checkpointOf(s, 'a')).toBe('before');
});

test('F1.4 a failed task that is run again by hand goes on from its checkpoint; a completed one keeps none', () => {
  const s = sim({ slots: 1 });
  s.add('a');
  checkpoint(s, 'a', 1, 'half');
  s.fail('a');
  s.send({ kind: 'retry', task: 'a' });
  expect([s.running(), checkpointOf(s, 'a')]).toEqual([['a#2'], 'half']);
  s.complete('a');
  expect(checkpointOf(s, 'a')).toBeUndefined();
  expect(s.story('a')).toContain('task.checkpointed');
});
