import { Scheduler, type Handle } from '../src/index.js';
import { VirtualClock } from '../src/testing/index.js';

export const title = 'A build graph: the critical path first, in a fraction of a second of virtual time';

/** What is built, how long it takes in seconds, and what it needs first. */
const steps: readonly (readonly [name: string, seconds: number, after: readonly string[]])[] = [
  ['lint', 20, []],
  ['licences', 15, []],
  ['format', 10, []],
  ['generate', 5, []],
  ['compile', 30, ['generate']],
  ['unit tests', 25, ['compile']],
  ['bundle', 20, ['compile']],
  ['browser tests', 40, ['bundle']],
  ['publish', 5, ['browser tests', 'unit tests', 'lint', 'licences', 'format']],
];

/** Two machines. The order of the chores decides whether the long chain of the build is ever kept waiting. */
export async function run(print: (line: string) => void): Promise<void> {
  for (const strategy of ['fifo', 'critical-path'] as const) {
    const clock = new VirtualClock();
    const scheduler = new Scheduler({ concurrency: 2, strategy, clock });
    const handles = new Map<string, Handle<void>>();
    const starts: string[] = [];
    for (const [name, seconds, after] of steps) {
      const build = async (): Promise<void> => {
        starts.push(`${name} at ${clock.now().mono / 1_000} s`);
        await clock.sleep(seconds * 1_000);
      };
      // The estimate is what the critical path is made of. A build would take last time's figures.
      handles.set(name, scheduler.add(build, { id: name, estimate: `${seconds}s`, after: [...after] }));
    }
    await clock.until(scheduler.onIdle());
    print(`${scheduler.describeOrder()}: published after ${clock.now().mono / 1_000} s`);
    print(`  ${starts.join(', ')}`);
    await scheduler.close();
  }
}
