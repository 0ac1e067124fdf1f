// Appends to the store in a file until it is killed, and tells each number that was acknowledged. Run by sqlite-faults.test.ts.
import { writeSync } from 'node:fs';

const [, , code, file, durability] = process.argv;
const { SqliteStore } = await import(code);
const store = new SqliteStore(file, { durability });
const { epoch, sequence } = await store.open();
for (let n = sequence; ; n++) {
  await store.append(n, epoch, `[${n}]`);
  writeSync(1, `${n}\n`);
  if (n % 40 === 39) {
    const parts = (async function* () {
      yield `["all", ${n + 1}]`;
    })();
    await store.saveSnapshot({ sequence: n + 1, parts }, epoch);
    await store.compact(epoch);
  }
}
