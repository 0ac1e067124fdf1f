import { constants } from 'node:buffer';
import { expect, test } from 'vitest';
import { MemoryStore } from '../../src/index.js';
import { Journal, type JournalHost } from '../../src/runtime/journal.js';
import { VirtualClock } from '../../src/testing/index.js';

const nothing = (): undefined => undefined;

test('G13 more at once than a text can hold is a failure of the store, and whoever waits for it is told', async () => {
  const host: JournalHost = {
    clock: new VirtualClock(),
    waitsForSpace: true,
    dispatchSoon: nothing,
    taskOf: nothing,
    sealed: nothing,
    appended: nothing,
    between: () => Promise.resolve(),
    stuck: nothing,
    failed: (error) => {
      journal.fail(error);
    },
  };
  const journal: Journal = new Journal(new MemoryStore(), 1, 0, host);
  // It takes memory only when somebody looks at it.
  journal.add('x'.repeat(constants.MAX_STRING_LENGTH));
  const { acceptance } = journal;
  journal.seal();
  await expect(acceptance).rejects.toMatchObject({ code: 'STORE', cause: { message: 'Invalid string length' } });
});
