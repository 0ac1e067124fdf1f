/** One place of a source file that a bug changes. */
export interface Patch {
  /** Under `src`. */
  readonly file: string;
  /** What is there, exactly once. */
  readonly find: string;
  readonly replace: string;
}

/** A bug that the simulation must find: so it is known to look where bugs like it are. */
export interface PlantedBug {
  readonly name: string;
  readonly patches: readonly Patch[];
  /** Whether it is found so soon that the ordinary tests look for it. */
  readonly isQuick?: true;
}

const bug = (name: string, file: string, find: string, replace: string): PlantedBug => ({
  name,
  patches: [{ file, find, replace }],
});

const quick = (planted: PlantedBug): PlantedBug => ({ ...planted, isQuick: true });

/** All that are planted; nothing of this is ever part of a build. */
export const PLANTED_BUGS: readonly PlantedBug[] = [
  bug(
    'acknowledge before fsync',
    'stores/file/journal.ts',
    "if (this.durability === 'fsync') await",
    'if (this.last < 0) await',
  ),
  quick(
    bug(
      'acknowledge before it is written',
      'runtime/journal.ts',
      'await this.append(body);',
      'void this.append(body);',
    ),
  ),
  bug(
    'a failed fsync is passed over',
    'stores/file/segment.ts',
    'await this.file.sync().catch(fatal);',
    'await this.file.sync().catch(() => undefined);',
  ),
  bug('a name that is not synced', 'stores/file/segment.ts', 'await files.syncDirectory(directory).catch(fatal);', ''),
  bug(
    'an append that ignores its expected sequence',
    'stores/file/file-store.ts',
    'if (expectedSequence !== journal.sequence)',
    'if (expectedSequence < 0)',
  ),
  bug(
    'a deposed owner that writes on',
    'stores/file/claim.ts',
    'return this.files.exists(this.path);',
    'return this.files.exists(this.path).then(() => true);',
  ),
  quick(bug('no fence check', 'core/decide/settle.ts', 'if (attempt.over) throw', 'if (attempt.number < 0) throw')),
  quick(
    bug(
      'double release',
      'core/execution.ts',
      'state.resources.release(place, task.spec.needs);',
      'state.resources.release(place, task.spec.needs); state.resources.release(place, task.spec.needs);',
    ),
  ),
  bug(
    'an abandoned attempt that never gives back',
    'core/decide/settle.ts',
    'if (attempt.abandoned) settledLate(state, attempt);',
    'if (attempt.abandoned) return;',
  ),
  quick(
    bug(
      'lost wake-up',
      'runtime/alarm.ts',
      'if (wake.wall !== this.setWall || wake.mono !== this.setMono)',
      'if (wake.mono !== this.setMono)',
    ),
  ),
  bug(
    'a worker that waits and is not served',
    'runtime/engine.ts',
    'if (this.pulling.isAwaited && !this.breath.isOut) this.pulling.serve();',
    '',
  ),
  bug('unstable tie', 'ready/packed-heap.ts', 'return compareFifo(task1, task2);', 'return 0;'),
  bug(
    'a retry that forgets its level',
    'core/transitions.ts',
    'extra.backoffUntil = untilMono;',
    'extra.backoffUntil = untilMono; extra.level = undefined; task.urgency = task.spec.level;',
  ),
  {
    name: 'a channel that rejoins at zero',
    patches: [
      { file: 'ready/turns.ts', find: 'return Math.max(this.pass, virtualTime);', replace: 'return this.pass;' },
      { file: 'ready/turns.ts', find: 'if (this.pass < virtualTime) this', replace: 'if (this.pass < 0) this' },
    ],
  },
  quick(
    bug(
      'an off-by-one in a cap',
      'ready/pool.ts',
      'return this.held + this.kept + amount <= this.most;',
      'return this.held + this.kept + amount <= this.most + 1;',
    ),
  ),
  bug(
    "a snapshot that misses the generator's state",
    'core/restore.ts',
    'state.random = SeededRandom.restore(snapshot.random);',
    'state.random = new SeededRandom(0);',
  ),
  bug(
    'a cancelled task that still runs',
    'ready/lane.ts',
    "if (task.state !== 'ready') return false;",
    "if (task.state !== 'ready' && task.state !== 'cancelled') return false;",
  ),
  bug(
    'a reservation forgotten',
    'core/rooms.ts',
    'for (const { pool, amount } of room.asks) pool.keep(amount);',
    'for (const { pool, amount } of room.asks) if (room.workerId !== undefined) pool.keep(amount);',
  ),
  bug(
    'an inheritance not undone',
    'core/inheritance.ts',
    'return level || (',
    'return (level && level !== level) || (',
  ),
  bug(
    'an ETA fired twice',
    'core/transitions.ts',
    'task.extra.eta = -Infinity;',
    'task.extra.eta = Math.max(task.extra.eta, -Infinity);',
  ),
  bug('a tombstone dropped too early', 'core/task-table.ts', 'const TOMBSTONES = 65_536;', 'const TOMBSTONES = 8;'),
  bug(
    'a lease that never ends',
    'core/moments.ts',
    'return attempt.leaseEndsAt >= at ? attempt.leaseEndsAt : undefined;',
    'return attempt.abandoned ? attempt.leaseEndsAt : undefined;',
  ),
];
