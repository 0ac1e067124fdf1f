import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** What tells a process from all others. A number alone does not: it is given out again. */
interface ProcessMark {
  readonly pid: number;
  /** When it started, in ticks since the machine did; not known everywhere. */
  readonly startedAt: string | null;
  /** The run of the machine. */
  readonly boot: string;
  /** Where its number counts: a container has a count of its own. */
  readonly numberedIn: string;
  readonly directory: string;
}

/** The mark of this process, at work on a directory. */
export function markOfProcess(directory: string): string {
  return JSON.stringify(currentMark(directory));
}

/**
 * Whether the process of a mark is known to be there. One in another container or on another machine is not: the directory may
 * have been handed on by it. One that was stopped is not either, since nobody knows whether it will go on.
 */
export function isAtWork(mark: string, directory: string): boolean {
  const own = currentMark(directory);
  const other = parsedMark(mark);
  if (other?.boot !== own.boot || other.numberedIn !== own.numberedIn || other.directory !== directory) return false;
  if (!isThere(other.pid)) return false;
  const found = statusOf(other.pid);
  if (found === undefined) return true;
  const isHalted = /[TZX]/.test(found.state);
  return !isHalted && found.startedAt === other.startedAt;
}

function currentMark(directory: string): ProcessMark {
  return {
    pid: process.pid,
    startedAt: statusOf(process.pid)?.startedAt ?? null,
    boot: textOf('/proc/sys/kernel/random/boot_id')?.trim() ?? hostname(),
    numberedIn: namespace(),
    directory,
  };
}

function parsedMark(mark: string): (Partial<ProcessMark> & Pick<ProcessMark, 'pid'>) | undefined {
  try {
    const parsed = JSON.parse(mark) as Partial<ProcessMark> | null;
    return typeof parsed?.pid === 'number' ? { ...parsed, pid: parsed.pid } : undefined;
  } catch {
    return undefined;
  }
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return (thrown as { code?: unknown }).code === 'EPERM';
  }
}

/** What Linux tells about a process; elsewhere nobody can say without starting a program. */
function statusOf(pid: number): { readonly state: string; readonly startedAt: string } | undefined {
  const status = textOf(`/proc/${pid}/stat`);
  if (status === undefined) return undefined;
  // The name stands in brackets and may hold anything, brackets and blanks too. The state is the third field, the start the 22nd.
  const fields = status.slice(status.lastIndexOf(')') + 2).split(' ');
  const [state, startedAt] = [fields[0], fields[19]];
  return state === undefined || startedAt === undefined ? undefined : { state, startedAt };
}

function namespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
