import type { Fact, Moment } from '../model/index.js';
import type { State } from './state.js';

/** Is told of every fact, in order. */
export type FactReader = (fact: Fact) => void;

/** Who is told what happens in a core, and what nobody was told yet. */
export class Telling {
  /** When something was last told; `undefined` when something has happened since that nobody was told. */
  told: Moment | undefined;
  /** What has happened in refused commands; the next command's facts begin with it. */
  untold: Fact[] = [];
  private reader: FactReader | undefined = undefined;
  /** Where the random generator stood when that was last told. */
  private drawn = 0;

  constructor(private readonly state: State) {
    this.told = state.now;
  }

  /** From now on every fact is read as it happens; what is yet untold comes first. Without a reader no fact is made. */
  observe(reader: FactReader | undefined): void {
    const { state } = this;
    this.drawn = state.random.position;
    this.reader = reader;
    state.emit = undefined;
    if (reader === undefined) return;
    for (const fact of this.untold.splice(0)) reader(fact);
    state.emit = (fact) => {
      this.told = state.now;
      reader(fact);
    };
  }

  /** A command comes in. */
  begin(): void {
    if (this.reader === undefined) this.told = undefined;
  }

  /** It is carried out; that something was drawn is told once for all of it. */
  end(): void {
    if (this.reader !== undefined) this.tellDraw();
  }

  /** The facts of a command, whoever else is told of them. Those of one that is refused come with the next. */
  collect(carryOut: () => void): readonly Fact[] {
    const { state, told, reader, untold: facts } = this;
    const before = facts.length;
    const { emit } = state;
    if (reader === undefined) this.drawn = state.random.position;
    state.emit = (fact) => {
      facts.push(fact);
      emit?.(fact);
    };
    try {
      carryOut();
      this.untold = [];
    } finally {
      this.tellDraw();
      state.emit = emit;
      this.told = facts.length > before ? state.now : told;
      if (reader !== undefined) this.untold = [];
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
