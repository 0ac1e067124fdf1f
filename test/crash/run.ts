import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { sceneOf, undoneIn, wrongIn } from './checks.js';
import { leftIn } from './left.js';
import { live, type Shot } from './life.js';
import type { Planted } from './planted.js';
import { linesIn, linesOf, type Line } from './side-file.js';
import type { StoreKind } from './store-kinds.js';
import { jobsOf } from './work.js';

/** How a process of a run is killed, if it is. */
export type Death = { readonly boundary: number } | { readonly shot: Shot } | undefined;

/** What a run is made of. */
export interface RunSetting {
  readonly program: string;
  /** Its own directory, which does not exist. */
  readonly place: string;
  readonly kind: StoreKind;
  readonly seed: number;
  readonly jobs: number;
  readonly snapshotEvery: number;
  readonly planted?: Planted | undefined;
}

/** One process after another on one store, until all is done. */
export class Run {
  kills = 0;
  isOver = false;
  readonly wrong: string[] = [];
  lines: readonly Line[] = [];
  private lives = 0;
  private readonly state: string;
  private readonly side: string;

  constructor(private readonly setting: RunSetting) {
    this.state = join(setting.place, 'state');
    this.side = join(setting.place, 'side');
    for (const directory of [this.state, this.side]) mkdirSync(directory, { recursive: true });
  }

  get place(): string {
    return this.setting.place;
  }

  get acknowledged(): number {
    return linesOf(this.lines, 'accepted').length;
  }

  /** Lets the next process live, and looks at what it has left. */
  async live(death: Death): Promise<void> {
    const { program, place: _, ...asked } = this.setting;
    const { state, side } = this;
    this.lives += 1;
    const deadly = death !== undefined && 'boundary' in death ? death.boundary : undefined;
    const plan = { ...asked, state, side, life: this.lives, deadly };
    const end = await live(program, plan, death !== undefined && 'shot' in death ? death.shot : undefined);
    this.lines = linesIn(side);
    if (end.kind === 'killed') this.kills += 1;
    if (end.kind === 'wrong') this.wrong.push(end.what);
    this.wrong.push(...(await this.wrongNow(end.kind === 'done')));
    // Whatever is wrong is best looked at as it is now.
    this.isOver = end.kind === 'done' || this.wrong.length > 0;
  }

  clear(): void {
    rmSync(this.place, { recursive: true });
  }

  private async wrongNow(isDone: boolean): Promise<readonly string[]> {
    const { kind, place, seed, jobs } = this.setting;
    try {
      const scene = sceneOf(this.lines, await leftIn(kind, this.state, join(place, 'copy')));
      return [...wrongIn(scene), ...(isDone ? undoneIn(scene, jobsOf(seed, jobs)) : [])];
    } catch (error) {
      return [`G8 what is left makes no state: ${String(error)}`];
    }
  }
}
