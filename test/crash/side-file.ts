import { openSync, readFileSync, readdirSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** What a process says of itself while it lives. */
export type Line =
  /** Its first line. */
  | { readonly said: 'born' }
  /** A record is about to be given to the store. */
  | { readonly said: 'offered'; readonly sequence: number; readonly body: string }
  | { readonly said: 'accepted'; readonly key: string; readonly id: string }
  | {
      readonly said: 'started';
      readonly id: string;
      readonly epoch: number;
      readonly attempt: number;
      readonly resumed: unknown;
    }
  /** Its handler has done what it was for. */
  | { readonly said: 'returned'; readonly id: string }
  | {
      readonly said: 'ended';
      readonly id: string;
      readonly state: string;
      readonly value?: unknown;
      /** Who was told: whoever listens, whoever awaits the handle, or the worker that has settled its claim. */
      readonly by: 'event' | 'handle' | 'claim';
    }
  /** Something that must never be. */
  | { readonly said: 'wrong'; readonly what: string }
  /** It kills itself here, at this boundary. */
  | { readonly said: 'killed'; readonly at: string }
  | { readonly said: 'done'; readonly boundaries: number };

/** Where a process says what it does. What is said stays said when it is killed: each line is one write at the end. */
export class SideFile {
  private readonly descriptor: number;

  constructor(directory: string, life: number) {
    this.descriptor = openSync(join(directory, nameOf(life)), 'a');
    this.say({ said: 'born' });
  }

  readonly say = (line: Line): void => {
    writeSync(this.descriptor, `${JSON.stringify(line)}\n`);
    // Whoever kills it counts these.
    writeSync(1, '.');
  };
}

function nameOf(life: number): string {
  return `life-${String(life).padStart(4, '0')}`;
}

/** What all processes have said, one after the other; what one did not come to the end of, it has not said. */
export function linesIn(directory: string): readonly Line[] {
  return readdirSync(directory)
    .sort()
    .flatMap((name) => readFileSync(join(directory, name), 'utf8').split('\n').slice(0, -1))
    .map((text) => JSON.parse(text) as Line);
}

/** Those of one kind. */
export function linesOf<Said extends Line['said']>(
  lines: readonly Line[],
  said: Said,
): readonly Extract<Line, { said: Said }>[] {
  return lines.filter((line): line is Extract<Line, { said: Said }> => line.said === said);
}
