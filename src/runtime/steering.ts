import type { RateOptions } from '../model/index.js';
import { capacityRequest } from './limit-options.js';
import { Looking } from './looking.js';

/** Changing what waits, what there is and who goes first. */
export abstract class Steering extends Looking {
  /** Takes an unfinished task back; one that has ended, or is unknown, is refused. */
  cancel(id: string, reason?: string): void {
    const isUnknown = this.engine.core.state.table.byId(id) === undefined;
    if (isUnknown && this.engine.cancelOutside(id, reason)) return;
    this.engine.cancelTask(id, reason);
  }

  /**
   * Changes how many units there are of a resource, or at which rate it may be used. Below what is held, nothing more
   * starts until that is drained; tokens that were spent stay spent.
   */
  setCapacity(resource: string, capacity: number | RateOptions): void {
    this.engine.tell(capacityRequest(resource, capacity));
  }

  /** Starts nothing more of a channel; what runs in it ends as usual. */
  pauseChannel(channel: string): void {
    this.engine.tell({ kind: 'pauseChannel', channel });
  }

  /** Lets a paused channel take its turns again. */
  resumeChannel(channel: string): void {
    this.engine.tell({ kind: 'resumeChannel', channel });
  }

  /** Takes no more tasks for a channel; what waits in it still runs. */
  closeChannel(channel: string): void {
    this.engine.tell({ kind: 'closeChannel', channel });
  }

  /** Takes tasks for a closed channel again, or for one that `channels.only` does not list. */
  openChannel(channel: string): void {
    this.engine.tell({ kind: 'openChannel', channel });
  }
}
