import { describe, expectTypeOf, test } from 'vitest';
import { Scheduler, type AttemptEvent, type EventName, type SchedulerEvents, type TaskEvent } from '../../src/index.js';

const scheduler = new Scheduler();

describe('F1.1 events and their payloads are typed', () => {
  test('F1.1 a listener is given what belongs to its event', () => {
    scheduler.on('completed', (event) => {
      expectTypeOf(event.taskId).toEqualTypeOf<string>();
      expectTypeOf(event.attempt).toEqualTypeOf<number>();
      expectTypeOf(event.workerId).toEqualTypeOf<string>();
      expectTypeOf(event.result).toEqualTypeOf<unknown>();
    });
    scheduler.once('failed', ({ error }) => {
      expectTypeOf(error).toEqualTypeOf<Error>();
    });
    scheduler.on('retrying', ({ because }) => {
      expectTypeOf(because).toEqualTypeOf<'failure' | 'loss'>();
    });
    scheduler.off('idle', (event) => {
      expectTypeOf(event).not.toHaveProperty('taskId');
    });
  });

  test('F1.1 only events that there are can be listened to, by what takes them', () => {
    expectTypeOf<'complete'>().not.toExtend<EventName>();
    expectTypeOf<(event: { taskId: string }) => void>().toExtend<(event: SchedulerEvents['ready']) => unknown>();
    expectTypeOf<(event: { taskId: number }) => void>().not.toExtend<(event: SchedulerEvents['ready']) => unknown>();
  });

  test('D10.3 each about a task states the five', () => {
    type Five = 'taskId' | 'attempt' | 'channel' | 'priority' | 'workerId';
    type About = Exclude<EventName, 'saturated' | 'relieved' | 'overran' | 'claims' | 'empty' | 'idle' | 'error'>;
    expectTypeOf<Five>().toExtend<keyof TaskEvent>();
    expectTypeOf<SchedulerEvents[About]>().toExtend<TaskEvent>();
  });

  test('D10.3 one about an attempt says which, and who runs it; the others may come before there is any', () => {
    type OfAttempt = 'started' | 'progress' | 'completed' | 'retrying' | 'lost' | 'preempted';
    expectTypeOf<SchedulerEvents[OfAttempt]>().toExtend<AttemptEvent>();
    expectTypeOf<SchedulerEvents['failed']['attempt']>().toEqualTypeOf<number | undefined>();
    expectTypeOf<SchedulerEvents['ready']['workerId']>().toEqualTypeOf<string | undefined>();
  });
});
