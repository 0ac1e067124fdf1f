import { refuseConfig } from '../../model/index.js';
import type { Durability } from '../../ports/store.js';

/** The settings of a server that decide what it keeps, as it tells them. */
export type ServerSettings = ReadonlyMap<string, string>;

/** What is asked for. Some servers know only one name in a question. */
export const SETTINGS = [
  'maxmemory',
  'maxmemory-policy',
  'appendonly',
  'appendfsync',
  'no-appendfsync-on-rewrite',
] as const;

/** Refuses a server that may throw away what it was given, or that has acknowledged more than it keeps. */
export function checkSettings(settings: ServerSettings, durability: Durability): void {
  const setting = (name: (typeof SETTINGS)[number]): string => settings.get(name) ?? 'unknown';
  if (setting('maxmemory') !== '0' && setting('maxmemory-policy') !== 'noeviction') {
    refuse('maxmemory-policy', setting('maxmemory-policy'), 'noeviction, as any other may throw away the journal');
  }
  if (durability === 'none') return;
  if (setting('appendonly') !== 'yes') {
    refuse('appendonly', setting('appendonly'), `yes for the durability "${durability}"`);
  }
  if (durability === 'os') return;
  if (setting('appendfsync') !== 'always') {
    refuse('appendfsync', setting('appendfsync'), 'always for the durability "fsync"');
  }
  if (setting('no-appendfsync-on-rewrite') !== 'no') {
    refuse('no-appendfsync-on-rewrite', setting('no-appendfsync-on-rewrite'), 'no for the durability "fsync"');
  }
}

/** Refuses a server that does not tell its settings. */
export function refuseSilence(cause: unknown): never {
  const reason = cause instanceof Error ? ` (${cause.message})` : '';
  return refuseConfig(
    'settings',
    'checked',
    `"trusted", as the server does not let CONFIG GET be asked${reason}. With it you declare that it evicts nothing and ` +
      'keeps what it acknowledges as the durability says',
  );
}

function refuse(name: string, value: string, expected: string): never {
  return refuseConfig(
    `the server's ${name}`,
    value,
    `${expected}. Set it so, ask for less durability, or declare it with settings: "trusted"`,
  );
}
