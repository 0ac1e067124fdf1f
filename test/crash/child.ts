import { setImmediate as breathe } from 'node:timers/promises';
import { Scheduler, type ClaimedTask, type Handle, type TaskContext } from '../../src/index.js';
import { nodeFiles } from '../../src/stores/file/node-files.js';
import { Boundaries, filesWithin, putAround } from './boundaries.js';
import type { Plan } from './life.js';
import { changed, planted } from './planted.js';
import { SideFile, linesIn, linesOf } from './side-file.js';
import { storeAt } from './store-kinds.js';
import { jobsOf, valueFrom, type Job } from './work.js';

/*
 * A process that does what is left of the work, says what it sees, and does not expect to live until the end.
 */

const plan = JSON.parse(process.argv[2] ?? '') as Plan;
const accepted = new Map(linesOf(linesIn(plan.side), 'accepted').map(({ key, id }) => [key, id]));
const { say } = new SideFile(plan.side, plan.life);
const boundaries = new Boundaries(plan.deadly, (at) => {
  say({ said: 'killed', at });
});
await putAround(plan.kind, boundaries);

const real = await storeAt(plan.kind, plan.state, filesWithin(boundaries, nodeFiles));
const store = plan.planted === undefined ? real : planted(real, plan.planted);
const scheduler = new Scheduler({
  store: changed(store, {
    append(sequence, epoch, body) {
      say({ said: 'offered', sequence: sequence + 1, body });
      return store.append(sequence, epoch, body);
    },
  }),
  concurrency: 2,
  snapshotEvery: { facts: plan.snapshotEvery },
  retain: { count: 100_000 },
  strategy: 'fair',
});

async function work(job: Job, task: TaskContext | ClaimedTask): Promise<number> {
  const { epoch, attempt } = task.token;
  say({ said: 'started', id: task.id, epoch, attempt, resumed: task.resumed });
  for (let step = 1; step <= job.checkpoints; step++) {
    task.checkpoint({ attempt, step });
    await breathe();
  }
  if (attempt <= job.failures) throw new Error(`attempt ${attempt} is to fail`);
  const value = valueFrom(task.dependencies as readonly (number | undefined)[]);
  say({ said: 'returned', id: task.id });
  return value;
}

/** Takes some of the tasks in another way. */
async function pull(): Promise<void> {
  for await (const claim of scheduler.worker({ id: 'puller', lease: '1h' })) {
    try {
      const value = await work(claim.task.input as Job, claim.task);
      await claim.complete(value);
      say({ said: 'ended', id: claim.task.id, state: 'completed', value, by: 'claim' });
    } catch (error) {
      await claim.fail(error);
    }
  }
}

/** Resolve when a job is in, for those that come after it. */
const arrivals = new Map<string, Promise<void>>();
const ends: Promise<void>[] = [];

async function add(job: Job): Promise<void> {
  await Promise.all(job.after.map(async (key) => arrivals.get(key)));
  const handle = had(job) ?? addAnew(job);
  ends.push(watch(handle));
  await handle.accepted;
  if (!accepted.has(job.key)) say({ said: 'accepted', key: job.key, id: handle.id });
  if (job.isTakenBack) handle.cancel('no longer wanted');
}

/** One that is there already, and must be if it was accepted. */
function had(job: Job): Handle<unknown> | undefined {
  const known = accepted.get(job.key) ?? job.id;
  const handle = known === undefined ? undefined : scheduler.handle(known);
  if (handle === undefined && accepted.has(job.key)) throw new Error(`"${known}" was accepted, and is lost`);
  return handle;
}

function addAnew(job: Job): Handle<unknown> {
  return scheduler.add('work', job, {
    ...(job.id === undefined ? {} : { id: job.id }),
    after: job.after.map((key) => `the ${key}`),
    onDependencyFailure: job.onDependencyFailure,
    priority: job.priority,
    channel: job.channel,
    delay: job.delayMs,
    retry: { attempts: job.attempts, backoff: 'fixed', base: job.pauseMs },
  });
}

async function watch(handle: Handle<unknown>): Promise<void> {
  const end = await handle.result.then(
    (value) => ({ value }),
    () => ({}),
  );
  say({ said: 'ended', id: handle.id, state: handle.state, ...end, by: 'handle' });
}

scheduler.define('work', work);
scheduler.on('error', ({ error }) => {
  say({ said: 'wrong', what: `the scheduler tells an error: ${String(error)}` });
});
for (const state of ['completed', 'failed', 'cancelled', 'skipped'] as const) {
  scheduler.on(state, ({ taskId }) => {
    say({ said: 'ended', id: taskId, state, by: 'event' });
  });
}
await scheduler.start();
const jobs = jobsOf(plan.seed, plan.jobs);
void pull();
/** Each adds one after another, beside the others. */
const ADDERS = 3;
for (const [at, job] of jobs.entries()) {
  const turn = arrivals.get(jobs[at - ADDERS]?.key ?? '') ?? Promise.resolve();
  arrivals.set(
    job.key,
    turn.then(() => add(job)),
  );
}
await Promise.all(arrivals.values());
await Promise.all(ends);
// There may be tasks that nobody knows of: whoever added them died before it was told their ids.
await scheduler.onIdle();
await scheduler.close();
say({ said: 'done', boundaries: boundaries.passed });
