import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SimulatedDisk } from '../../src/testing/index.js';
import { Account, begin, type Session } from './file-history.js';

type Operation =
  | { readonly kind: 'append'; readonly length: number }
  | { readonly kind: 'save'; readonly beside: number }
  | { readonly kind: 'compact' | 'reopen' | 'kill' | 'lose power' }
  /** Ends the process, or the power, while the operation is under way, after some turns of the event loop. */
  | {
      readonly kind: 'break off';
      readonly turns: number;
      readonly by: 'kill' | 'lose power';
      readonly during: 'append' | 'save' | 'compact';
    };

const operations: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('append' as const), length: fc.nat(2_000) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('save' as const), beside: fc.nat(3) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('compact', 'reopen', 'kill', 'lose power') }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('break off' as const),
      turns: fc.nat(40),
      by: fc.constantFrom('kill', 'lose power'),
      during: fc.constantFrom('append', 'save', 'compact'),
    }),
  },
);

/** A disk, and whoever is at work on it. */
class World {
  private readonly disk: SimulatedDisk;
  private process;
  private session: Session | undefined;
  private readonly account = new Account();

  private constructor(seed: number) {
    this.disk = new SimulatedDisk({ seed });
    this.process = this.disk.start();
  }

  static async begin(seed: number): Promise<World> {
    const world = new World(seed);
    await world.goOn();
    return world;
  }

  async do(operation: Operation): Promise<void> {
    switch (operation.kind) {
      case 'append':
        return this.current.append(JSON.stringify(['x'.repeat(operation.length)]));
      case 'save':
        return this.current.save(...Array.from({ length: operation.beside }, (_, n) => `[${n}]`));
      case 'compact':
        return this.current.compact();
      case 'reopen':
        await this.current.store.close();
        return this.goOn();
      case 'kill':
      case 'lose power':
        this.end(operation.kind);
        return this.goOn();
      case 'break off':
        return this.breakOff(operation);
    }
  }

  private async breakOff({ turns, by, during }: Extract<Operation, { kind: 'break off' }>): Promise<void> {
    const { current } = this;
    const act = {
      append: () => current.append('["broken off"]'),
      save: () => current.save('["b"]'),
      compact: () => current.compact(),
    };
    // What becomes of it is seen from what is found afterwards.
    const ended = act[during]().catch(() => undefined);
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    this.end(by);
    await ended;
    await this.goOn();
  }

  private get current(): Session {
    expect(this.session).toBeDefined();
    return this.session!;
  }

  private end(by: 'kill' | 'lose power'): void {
    if (by === 'kill') this.process.kill();
    else this.disk.losePower();
  }

  /** A new store on the same disk finds what is expected. */
  private async goOn(): Promise<void> {
    this.process = this.disk.start();
    this.session = await begin(this.process, this.account);
    this.account.matches(this.session.contents);
    // A snapshot that was acknowledged is never behind what is loaded.
    expect(this.session.contents.snapshot?.sequence ?? 0).toBeGreaterThanOrEqual(this.account.snapshot);
    this.account.goOnFrom(this.session.contents);
  }
}

test('G1, G8, rows 1, 2, 5 and 6: in any history of writes, ends and losses of power it holds what a plain list says', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(operations, { minLength: 5, maxLength: 40 }), fc.integer(), async (history, seed) => {
      const world = await World.begin(seed);
      for (const operation of history) await world.do(operation);
      await world.do({ kind: 'lose power' });
    }),
    { numRuns: Number(process.env['FC_RUNS'] ?? '') || 150 },
  );
});
