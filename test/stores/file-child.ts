import { createInterface } from 'node:readline';
import { FileStore } from '../../src/stores/file/file-store.js';

// A process that uses a store: one command a line, one answer a line.
const [directory = '', durability = 'fsync'] = process.argv.slice(2);
const store = new FileStore(directory, { durability: durability === 'os' ? 'os' : 'fsync' });

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function answer(act: () => Promise<string>): Promise<void> {
  try {
    say(await act());
  } catch (thrown) {
    const { code, kind } = thrown as { readonly code?: string; readonly kind?: string };
    say(`refused ${code} ${kind}`);
  }
}

let epoch = 0;
let sequence = 0;
await answer(async () => {
  ({ epoch, sequence } = await store.open());
  return `open ${epoch} ${sequence}`;
});

for await (const command of createInterface({ input: process.stdin })) {
  if (command === 'append') {
    await answer(async () => {
      await store.append(sequence, epoch, JSON.stringify([process.pid, sequence + 1]));
      sequence += 1;
      return `kept ${sequence}`;
    });
  } else if (command === 'go on') {
    // Until it is killed.
    for (;;) {
      await store.append(sequence, epoch, JSON.stringify([process.pid, sequence + 1]));
      sequence += 1;
      say(`kept ${sequence}`);
    }
  } else {
    await store.close();
    say('closed');
  }
}
