import { execFile } from 'node:child_process';
import { Scheduler, type ExecutionOutcome, type Executor, type Work } from '../src/index.js';
import type { Stage } from './stage.js';

export const title = 'A custom executor: each task in a process of its own, and one that kills its process';

/** Runs a task's input as a program, in a process of its own. This is all that an executor needs. */
class Programs implements Executor {
  readonly id = 'programs';
  readonly slots = 2;
  readonly capabilities = { program: true };
  readonly exclusive = true;

  execute({ input }: Work, signal: AbortSignal): Promise<ExecutionOutcome> {
    return new Promise((resolve) => {
      execFile(process.execPath, ['-e', String(input)], { signal }, (error, stdout) => {
        if (error === null) resolve({ kind: 'succeeded', value: stdout.trim() });
        else if (typeof error.signal === 'string')
          resolve({ kind: 'lost', error: new Error(`killed by ${error.signal}`) });
        else resolve({ kind: 'failed', error: new Error(`exit code ${String(error.code)}`) });
      });
    });
  }
}

/** The scheduler decides what runs, how often it is tried again, and when it gives up. */
export async function run(print: (line: string) => void, stage: Stage): Promise<void> {
  const scheduler = new Scheduler({ executors: [new Programs()] });
  stage.watch(scheduler);
  const notHere = (_source: string): string => {
    throw new Error('This runs in processes of its own.');
  };
  const program = scheduler.define('program', notHere, { capabilities: { program: true }, retry: 2 });

  const sum = scheduler.add(program, 'console.log(20 + 22)');
  const broken = scheduler.add(program, 'process.exit(3)');
  const deadly = scheduler.add(program, 'process.kill(process.pid, "SIGKILL")');

  print(`the sum is ${await sum}`);
  for (const handle of [broken, deadly]) {
    print(await handle.then(String, (error: unknown) => `failed for good: ${(error as Error).message}`));
  }
  await scheduler.close();
}
