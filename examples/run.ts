import { examples } from './index.js';
import { runExamples } from './runner.js';

// A reader like `head` may close the pipe early, and that is no fault of an example.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

process.exitCode = await runExamples(process.argv.slice(2), examples, (line) => {
  process.stdout.write(`${line}\n`);
});
