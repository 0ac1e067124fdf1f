import type { Fact, Moment } from '../model/index.js';
import type { State } from './state.js';

/** Is told of every fact, in order. */
export type FactReader = (fact: Fact) => void;

/** Who is told what happens in a core, and what nobody was told yet. */
export class Telling {
  /** When something was last told; `undefined` when something has happened since that nobody was told. */
  told: Moment | undefined;
  /** What has happened in refused commands; the next command's facts begin with it. */
  untold: Fact[];
  /** What every fact goes to, whoever sends the command. */
  private emit: FactReader | undefined = undefined;
  /** Where the random generator stood when that was last told. */
  private drawn = 0;

  constructor(
    private readonly state: State,
    before: { readonly now: Moment; readonly untold: readonly Fact[] } = { now: state.now, untold: [] },
  ) {
    this.told = before.now;
    this.untold = [...before.untold];
  }

  /** From now on every fact is read as it happens; what is yet untold comes first. Without a reader no fact is made. */
  observe(reader: FactReader | undefined): void {
    const { state } = this;
    // Whoever begins to read knows the state as it is now.
    this.told ??= state.now;
    this.drawn = state.random.position;
    this.emit = undefined;
    if (reader !== undefined) {
      for (const fact of this.untold.splice(0)) reader(fact);
      this.emit = (fact) => {
        this.told = state.now;
        reader(fact);
      };
    }
    state.emit = this.emit;
  }

  /** A command comes in. */
  begin(): void {
    if (this.emit === undefined) this.told = undefined;
  }

  /** It is carried out; that something was drawn is told once for all of it. */
  end(): void {
    if (this.emit !== undefined) this.tellDraw();
  }

  /** The facts of a command, whoever else is told of them. Those of one that is refused come with the next. */
  collect(carryOut: () => void): readonly Fact[] {
    const { state, told, untold: facts } = this;
    const before = facts.length;
    if (this.emit === undefined) this.drawn = state.random.position;
    state.emit = (fact) => {
      facts.push(fact);
      this.emit?.(fact);
    };
    try {
      carryOut();
      this.untold = [];
    } finally {
      this.tellDraw();
      state.emit = this.emit;
      this.told = facts.length > before ? state.now : told;
      if (this.emit !== undefined) this.untold = [];
    }
    return facts;
  }

  private tellDraw(): void {
    const { random, wall, mono, emit } = this.state;
    if (random.position === this.drawn) return;
    this.drawn = random.position;
    emit?.({ kind: 'random.drawn', state: random.state(), wall, mono });
  }
}
