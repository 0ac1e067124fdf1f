import { extraOf, type Task } from '../model/index.js';
import { windowOf, type Aging } from './aging.js';
import { areManyReady, readyByPlace, type PlaceTasks } from './by-place.js';
import { inSequence } from './in-sequence.js';
import type { IndexSources } from './index-sources.js';
import type { ClaimView, Order } from './order.js';
import type { Channel, Place, Shape } from './place.js';
import type { Pool } from './pool.js';
import type { StrategyChoice } from './strategy.js';
import { Turns, type LevelTurns } from './turns.js';
import { View, fairOrderOf, type OrderSources, type PlaceFilter } from './view.js';

/**
 * All ready tasks, in as many orders as workers ask for.
 *
 * One order over everything always exists; a new one is built at the first operation that needs it, so that switching
 * a strategy costs nothing by itself, and the old order decides nothing any more.
 */
export class ReadyIndex {
  /** Ready tasks, those of paused channels included. */
  size = 0;
  /** Every order kept. */
  readonly views: View[] = [];
  /** The view that the scheduler itself uses. */
  main: View;
  /** An order that was asked for by the last command is built by the next. */
  unbuilt = false;
  private fairUsers = 0;
  /** Whether the accounts were begun while tasks waited that they do not know yet. */
  private turnsAreNew = false;
  /** Who has had how many turns; only kept while {@link countsTurns}. */
  turns: Turns;
  /** The same object for every claim: there are millions. */
  private readonly claim = { mono: 0, window: 0, matches: (_shape: Shape): boolean => true } satisfies ClaimView;

  constructor(
    private readonly sources: IndexSources,
    strategy: StrategyChoice,
    public aging: Aging,
  ) {
    this.turns = this.newTurns();
    this.main = this.open(strategy, undefined);
    this.rebuild(this.main, []);
    this.unbuilt = this.turnsAreNew = false;
  }

  /** Whether turns are counted: while anybody takes turns, every start is charged to its channel. */
  get countsTurns(): boolean {
    return this.fairUsers > 0;
  }

  /** A view by strategy and filter, shared by all who ask for the same; give it back with {@link close}. */
  open(choice: StrategyChoice, filter: PlaceFilter | undefined): View {
    let view = this.views.find((known) => known.users > 0 && known.choice === choice && known.filter === filter);
    if (view === undefined) {
      view = new View(choice, filter, this.sources.faults);
      this.views.push(view);
      this.unbuilt = true;
    }
    if (view.isFair) {
      // Nobody took turns so far, so nobody is owed any: all channels start level.
      if (this.fairUsers === 0) {
        this.turns = this.newTurns();
        this.turnsAreNew = true;
      }
      this.fairUsers += 1;
    }
    view.users += 1;
    return view;
  }

  close(view: View): void {
    view.users -= 1;
    if (view.isFair) this.fairUsers -= 1;
    if (view.users === 0) this.unbuilt = true;
  }

  setStrategy(choice: StrategyChoice): void {
    const old = this.main;
    this.main = this.open(choice, undefined);
    this.close(old);
  }

  setAging(aging: Aging): void {
    this.aging = aging;
    const ready = this.allByPlace();
    for (const view of this.views) this.rebuild(view, ready);
  }

  describe(view: View): string {
    return view.describe(this.orderSources(), this.aging);
  }

  /** The task has just become ready. */
  insert(task: Task, mono: number): void {
    // It has been here before, and what was made for it then may not be dropped yet.
    if (task.attempts > 0) extraOf(task).moved = true;
    const place = this.placeOf(task);
    if (this.holdsBack(task, place)) return;
    task.ready = mono - task.ready;
    this.enter(task, place, mono);
  }

  /** Counts the task in; in a paused channel it stands aside. */
  private holdsBack(task: Task, { paused, channel }: Place): boolean {
    this.size += 1;
    if (paused) channel.held.add(task);
    return paused;
  }

  /** Takes back a task that was ready before a restart: it neither joins nor begins to wait. */
  restore(task: Task): void {
    const place = this.placeOf(task);
    if (this.holdsBack(task, place)) return;
    if (this.countsTurns) this.turns.restore(task.urgency, place.channel.name);
    for (const view of this.views) view.insert(task, place);
  }

  /** The task is no longer ready. Its state must already say so. */
  remove(task: Task, mono: number): void {
    const place = this.placeOf(task);
    this.size -= 1;
    if (task.state === 'waiting') extraOf(task).moved = true;
    if (place.paused && place.channel.held.delete(task)) return;
    task.ready = mono - task.ready;
    if (this.countsTurns) this.turns.leave(task.urgency, place.channel.name);
    for (const view of this.views) {
      view.remove(task, place);
      if (view.isStale(this.size)) this.rebuild(view, this.byPlace(view));
    }
  }

  /** Level, deadline or path of a ready task have changed; it had this effective level before. */
  rekey(task: Task, before: number, mono: number): void {
    const place = this.placeOf(task);
    extraOf(task).moved = true;
    if (place.paused) return;
    if (this.countsTurns && before !== task.urgency) {
      this.turns.leave(before, place.channel.name);
      this.join(task, place.channel.name, mono);
    }
    for (const view of this.views) {
      view.rekey(task, place, before);
      if (view.isStale(this.size)) this.rebuild(view, this.byPlace(view));
    }
  }

  /**
   * The task starts now. Its channel may have no more to offer after that, or no room: where the level stands is
   * noted before, or the channel's pass would run away from the virtual time with each start.
   */
  starting(task: Task): void {
    if (this.countsTurns) this.turns.advance(this.turns.at(task.urgency));
  }

  /** Charges a start to the channel; the task has been removed already. */
  charge(task: Task, amount: number, mono: number): void {
    if (!this.countsTurns) return;
    this.turns.charge(task.urgency, task.spec.channel, amount, mono);
    this.turns.advance(this.turns.at(task.urgency));
  }

  /** The best eligible task for a worker with this view. */
  best(view: View, mono: number, matches: (shape: Shape) => boolean): Task | undefined {
    return view.best(this.claimAt(mono, matches), this.aging.maxWaitMs);
  }

  /** When a task could start for a worker with this view that waits for tokens alone; `Infinity` when none does. */
  soonest(view: View, mono: number, matches: (shape: Shape) => boolean): number {
    return view.soonest(this.claimAt(mono, matches));
  }

  /** The best-ranked task that would start, did it not lack some of this pool; the view must have ranks. */
  foremost(view: View, mono: number, pool: Pool): Task | undefined {
    return view.foremost(this.claimAt(mono, this.sources.isServed), pool, this.aging.maxWaitMs);
  }

  private claimAt(mono: number, matches: (shape: Shape) => boolean): ClaimView {
    const { claim } = this;
    claim.mono = mono;
    claim.window = windowOf(this.aging, mono);
    claim.matches = matches;
    return claim;
  }

  /** The channel's waiting tasks stand aside, and stop aging. */
  pause(channel: Channel, mono: number): void {
    const source = this.complete();
    const tasks: Task[] = [];
    for (const place of this.sources.places.ofChannel(channel)) {
      if (place.shape.worker !== undefined) continue;
      for (const task of source.tasksAt(place)) tasks.push(task);
      this.forget(place);
    }
    for (const task of inSequence(tasks)) {
      this.sources.changing(task);
      task.ready = mono - task.ready;
      channel.held.add(task);
      if (this.countsTurns) this.turns.leave(task.urgency, channel.name);
    }
    channel.paused = true;
  }

  resume(channel: Channel, mono: number): void {
    channel.paused = false;
    const tasks = [...channel.held];
    channel.held.clear();
    for (const task of tasks) {
      this.sources.changing(task);
      task.ready = mono - task.ready;
      this.enter(task, this.placeOf(task), mono);
    }
  }

  /** The place is empty, or stands aside: no order keeps anything of it. */
  forget(place: Place): void {
    for (const order of this.orders()) order.dropPlace(place);
  }

  channelClosed(channel: Channel): void {
    for (const order of this.orders()) order.channelClosed(channel);
  }

  channelOpened(channel: Channel): void {
    for (const order of this.orders()) order.channelOpened(channel);
  }

  /** Every ready task outside paused channels, each once, in order of sequence. */
  all(): Task[] {
    return inSequence(this.complete().tasks());
  }

  /** A view that holds every ready task outside paused channels; there always is one. */
  private complete(): View {
    return this.views.find((view) => view.built && view.filter === undefined) as View;
  }

  /** Every order of every view. */
  *orders(): Iterable<Order> {
    for (const view of this.views) yield* view.orders();
  }

  private enter(task: Task, place: Place, mono: number): void {
    if (this.countsTurns) this.join(task, place.channel.name, mono);
    for (const view of this.views) view.insert(task, place);
  }

  /** Joins its level. An older entry of the same task, not dropped yet, must not count as work that waits already. */
  private join(task: Task, channel: string, mono: number): void {
    const { state } = task;
    task.state = 'waiting';
    this.turns.join(task.urgency, channel, mono);
    task.state = state;
  }

  /** Builds the orders that were asked for since; comes before anything else that a command does. */
  prepare(mono: number): void {
    if (!this.unbuilt) return;
    this.unbuilt = false;
    const used = this.views.filter((view) => view.users > 0);
    if (used.some((view) => !view.built)) this.buildMissing(used, mono);
    this.views.splice(0, this.views.length, ...used);
  }

  private buildMissing(used: readonly View[], mono: number): void {
    const ready = this.allByPlace();
    if (this.countsTurns && this.turnsAreNew) for (const each of ready) this.turns.begin(each, mono);
    this.turnsAreNew = false;
    for (const view of used) if (!view.built) this.rebuild(view, ready);
  }

  private rebuild(view: View, ready: readonly PlaceTasks[]): void {
    view.build(ready, this.orderSources(), this.aging);
  }

  private allByPlace(): PlaceTasks[] {
    const { tasks, places } = this.sources;
    if (areManyReady(this.size, tasks)) return readyByPlace(tasks.pagesInOrder(), places);
    return this.byPlace(this.complete());
  }

  private byPlace(view: View): PlaceTasks[] {
    return readyByPlace([inSequence(view.tasks())], this.sources.places);
  }

  private placeOf(task: Task): Place {
    return this.sources.places.of(task);
  }

  private orderSources(): OrderSources {
    return { ...this.sources, turns: this.turns };
  }

  private newTurns(): Turns {
    const { sources } = this;
    const smallestPass = (level: LevelTurns): number | undefined =>
      fairOrderOf(this.views)?.smallestPass(level, sources.isServed);
    return new Turns(sources.places, smallestPass, () => sources.uncorrected());
  }
}
