import { Scheduler } from '../src/index.js';
import { VirtualClock } from '../src/testing/index.js';

export const title = 'Regular work: an interval, a cron expression over a change of clocks, and a delay';

/** Three days in an instant: the clock is virtual, everything else is as it would be. */
export async function run(print: (line: string) => void): Promise<void> {
  const clock = new VirtualClock(Date.parse('2030-03-29T18:00:00Z'));
  const scheduler = new Scheduler({ clock });
  const berlin = new Intl.DateTimeFormat('en-GB', {
    timeZone: 'Europe/Berlin',
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'shortOffset',
  });
  const say = (what: string): void => {
    print(`${berlin.format(clock.now().wall)}: ${what}`);
  };

  // Nine in the morning is nine in the morning, also after the clocks went forward that night.
  const report = scheduler.repeat(
    () => {
      say('daily report');
    },
    { cron: '0 9 * * *', timeZone: 'Europe/Berlin' },
  );
  // Counted from the end of the run before, so that slow runs never pile up. Three runs are enough.
  const backup = scheduler.repeat(
    async () => {
      say('backup begins');
      await clock.sleep('2h');
    },
    { every: '10h', count: 3 },
  );
  scheduler.add(
    () => {
      say('a reminder, thirty hours later');
    },
    { delay: '30h' },
  );

  await clock.advance('72h');
  print(`reports: ${report.runs}, backups: ${backup.runs} (${backup.state})`);
  await scheduler.close();
}
