import { examples } from './index.js';
import { runExamples } from './runner.js';
import { liveTheatre, plainTheatre } from './stage.js';

// A reader like `head` may close the pipe early, and that is no fault of an example.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

const { stdout } = process;
const theatre = stdout.isTTY
  ? liveTheatre({
      get columns() {
        return stdout.columns;
      },
      get rows() {
        return stdout.rows;
      },
      write: (text) => stdout.write(text),
    })
  : plainTheatre((line) => stdout.write(`${line}\n`));

process.exitCode = await runExamples(process.argv.slice(2), examples, theatre);
