import { EventEmitter } from 'eventemitter3';
import type { Listener } from '../ports/events.js';

type Call = (this: Listener<unknown>, event: unknown, name: string) => void;

/**
 * Tells listeners apart from each other: the emitter beneath stops at the first that throws, so each of them is called
 * through a function that lets nothing out.
 */
export class Emitter<Events extends object> {
  private readonly emitter = new EventEmitter();
  /** Knows by its context whom to call: so the same listener is found again when it is taken away. */
  private readonly call: Call;

  constructor(failed: (error: unknown, name: keyof Events & string) => void) {
    this.call = function (event, name) {
      const report = (error: unknown): void => {
        failed(error, name as keyof Events & string);
      };
      try {
        const returned = this(event);
        if (isThenable(returned)) void Promise.resolve(returned).then(undefined, report);
      } catch (error) {
        report(error);
      }
    };
  }

  on<Name extends keyof Events & string>(name: Name, listener: Listener<Events[Name]>): void {
    this.emitter.on(name, this.call, listener);
  }

  once<Name extends keyof Events & string>(name: Name, listener: Listener<Events[Name]>): void {
    this.emitter.once(name, this.call, listener);
  }

  off<Name extends keyof Events & string>(name: Name, listener: Listener<Events[Name]>): void {
    this.emitter.off(name, this.call, listener);
  }

  emit<Name extends keyof Events & string>(name: Name, event: Events[Name]): void {
    this.emitter.emit(name, event, name);
  }

  /** Whether anybody listens to this event. */
  isHeard(name: keyof Events & string): boolean {
    return this.emitter.listenerCount(name) > 0;
  }

  /** Whether anybody listens to anything. */
  get isUsed(): boolean {
    return this.emitter.eventNames().length > 0;
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
