import { expect, test } from 'vitest';
import { LiveView } from '../../examples/live-view.js';
import { liveTheatre } from '../../examples/stage.js';
import { Scheduler } from '../../src/index.js';
import { VirtualClock } from '../../src/testing/index.js';

function screen(rows = 24, columns = 60) {
  const written: string[] = [];
  return { columns, rows, written, write: (text: string) => void written.push(text) };
}

test('the view shows what runs, what waits and why, what has ended, and what is in use', async () => {
  const clock = new VirtualClock();
  const scheduler = new Scheduler({ clock, concurrency: 2, resources: { oven: 1 } });
  const view = new LiveView(scheduler, screen(24, 200));
  const bake = { needs: { oven: 1 } };
  scheduler.add(() => clock.sleep(10), { id: 'bread', ...bake });
  scheduler.add(() => clock.sleep(10), { id: 'cake', ...bake });
  scheduler.add(() => 1, { id: 'tea' });
  await clock.settle();
  const [first, second, third, totals] = view.frame();
  expect(first).toBe('▶ bread  running');
  expect(second).toMatch(/^· cake {3}.*it lacks 1 of "oven"/);
  expect(third).toBe('✓ tea    completed');
  expect(totals).toBe('1 running, 1 waiting; slots 1/2, oven 1/1');
  await clock.until(scheduler.onIdle());
  expect(view.frame().slice(0, 3)).toEqual(['✓ bread  completed', '✓ cake   completed', '✓ tea    completed']);
  await scheduler.close();
});

test('the view shows how far handlers say they have come, and what goes again or was too late', async () => {
  const clock = new VirtualClock();
  const scheduler = new Scheduler({ clock, concurrency: 1 });
  const view = new LiveView(scheduler, screen(24, 200));
  scheduler.add(
    async (task) => {
      task.progress(0.25);
      await clock.sleep(10);
      if (task.attempt === 1) throw new Error('again');
      task.progress('nearly there');
      await clock.sleep(10);
    },
    { id: 'film', retry: { attempts: 2, backoff: 'fixed', base: 10 } },
  );
  scheduler.add(() => 1, { id: 'late', expires: clock.now().wall + 5 });
  await clock.settle();
  expect(view.frame()[0]).toBe('▶ film  running, ██░░░░░░░░ 25 %');
  await clock.advance(10);
  expect(view.frame().slice(0, 2)).toEqual([
    expect.stringMatching(/^· film .*is tried again in 10 ms/),
    '✗ late  cancelled',
  ]);
  await clock.advance(20);
  expect(view.frame()[0]).toBe('▶ film  running, attempt 2, nearly there');
  await clock.advance(10);
  await scheduler.close();
});

test('no more lines than fit, none too wide, and what is less of interest is left out first', async () => {
  const scheduler = new Scheduler({ concurrency: 0 });
  const view = new LiveView(scheduler, screen(6, 30));
  for (let i = 0; i < 10; i += 1) scheduler.add(() => 1, { id: `a task with a long name ${i}` });
  await Promise.resolve();
  const frame = view.frame();
  expect(frame).toHaveLength(5);
  expect(frame[3]).toBe('  … and 7 more');
  expect(Math.max(...frame.map((line) => line.length))).toBeLessThan(30);
  await scheduler.close();
});

test('row 44 a name that would reverse the text after it is shown, not sent', async () => {
  const scheduler = new Scheduler({ concurrency: 0 });
  const view = new LiveView(scheduler, screen());
  scheduler.add(() => 1, { id: 'a\u202eb' });
  await Promise.resolve();
  expect(view.frame().join('\n')).toContain('a\\u{202e}b');
  expect(view.frame().join('\n')).not.toContain('\u202e');
  await scheduler.close();
});

test('lines that are printed meanwhile stand above the view', async () => {
  const terminal = screen();
  const theatre = liveTheatre(terminal);
  const scheduler = new Scheduler({ concurrency: 0 });
  theatre.watch(scheduler);
  scheduler.add(() => 1, { id: 'one' });
  await Promise.resolve();
  theatre.print('first');
  theatre.print('second');
  theatre.end();
  const drawn = terminal.written.map((text) => (text.startsWith('\u001b[') ? 'taken off' : text.slice(0, 6)));
  expect(drawn).toEqual(['first\n', '· one ', 'taken off', 'second', '· one ', 'taken off', '· one ']);
  await scheduler.close();
});
