import { Heap } from './heap.js';
import type { Lane } from './lane.js';
import type { LevelTurns } from './turns.js';

/**
 * The lanes of one level in which channels take turns: the smallest pass goes first, ties by name.
 *
 * A lane whose channel is at or below the level's virtual time competes at the virtual time, whatever its own pass:
 * those stand in `level`, ordered by name alone, so that a rise of the virtual time moves none of them. Only lanes
 * that were served ahead of it need their pass as a key. Keys in `ahead` are lower bounds, as a channel is charged
 * for its other lanes too; each is put right when it comes to the top.
 */
export class TurnLanes {
  private readonly level = new Heap<Lane>(compareLanes);
  private readonly ahead = new Heap<Lane>((x, y) => x.pass - y.pass || compareLanes(x, y));

  constructor(private readonly turns: LevelTurns) {}

  /** Lets a lane compete that does not yet. */
  add(lane: Lane): void {
    lane.competing = true;
    lane.pass = lane.turn.pass;
    if (lane.pass <= this.turns.virtualTime) this.level.push(lane);
    else this.ahead.push(lane);
  }

  /** The lane whose turn it is; lanes without a head drop out until they are added again. */
  best(): Lane | undefined {
    // Lanes move both ways: first those that have run ahead, then those that were overtaken, which stay.
    let level = this.bestLevel();
    // Keys are lower bounds: if the best of them is ahead of the virtual time, all lanes behind it are.
    if (level !== undefined && !this.mayBeReached(this.ahead.peek())) return level;
    const ahead = this.bestAhead();
    if (this.level.peek() !== level) level = this.bestLevel();
    if (level === undefined || ahead === undefined) return level ?? ahead;
    if (ahead.pass > this.turns.virtualTime) return level;
    return compareLanes(level, ahead) < 0 ? level : ahead;
  }

  private mayBeReached(lane: Lane | undefined): boolean {
    return lane !== undefined && lane.pass <= this.turns.virtualTime;
  }

  private bestAhead(): Lane | undefined {
    for (;;) {
      const top = this.ahead.peek();
      if (top === undefined) return undefined;
      if (!top.refresh()) {
        this.ahead.pop();
        top.competing = false;
      } else if (top.turn.pass < this.turns.virtualTime) {
        this.ahead.pop();
        this.level.push(top);
      } else if (top.pass !== top.turn.pass) {
        top.pass = top.turn.pass;
        this.ahead.replaceTop(top);
      } else {
        return top;
      }
    }
  }

  private bestLevel(): Lane | undefined {
    for (;;) {
      const top = this.level.peek();
      if (top === undefined) return undefined;
      if (!top.refresh()) {
        this.level.pop();
        top.competing = false;
      } else if (top.turn.pass > this.turns.virtualTime) {
        this.level.pop();
        top.pass = top.turn.pass;
        this.ahead.push(top);
      } else {
        return top;
      }
    }
  }
}

/** By name. A channel has one lane here, so there are no ties, and strings are compared once. */
function compareLanes(x: Lane, y: Lane): number {
  return x.channelName < y.channelName ? -1 : 1;
}
