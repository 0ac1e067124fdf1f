import { AsyncResource } from 'node:async_hooks';
import type { Core } from '../core/index.js';
import { refuseConfig, type Fact } from '../model/index.js';
import { EVENT_NAMES, type EventName, type Listener, type SchedulerEvents } from '../ports/events.js';
import type { Clock } from './clock.js';
import { Emitter } from './emitter.js';
import { Reporter } from './reporter.js';

/** What can be listened to: the public events, and every fact for what is built in. */
export interface Told extends SchedulerEvents {
  readonly fact: Fact;
}

/** Who keeps back what is told until its cause is kept. */
interface Holder {
  /** Whether there is anything to follow yet. */
  readonly isOpen: boolean;
  readonly isAhead: boolean;
  note(fact: Fact): void;
  afterwards(effect: (failure: Error | undefined) => void): void;
}

interface Letter {
  readonly name: keyof Told;
  readonly event: Told[keyof Told];
}

/**
 * Tells listeners what happens, in the order in which it happened. They are told from a mailbox, in a turn of their own:
 * what a listener does meanwhile finds no command half done, and what comes of that is told afterwards.
 *
 * While nobody listens, the core makes no facts.
 */
export class Events {
  private readonly emitter = new Emitter<Told>((error, name) => {
    if (name !== 'error') this.tell('error', { error, eventName: name });
  });
  readonly reporter: Reporter;
  /** Listeners are told in the context in which the scheduler was made, not in that of whoever caused something. */
  private readonly root = new AsyncResource('precedence');
  private mailbox: Letter[] = [];
  private isTelling = false;
  private isFollowing = false;

  constructor(
    private readonly core: Core,
    clock: Clock,
    private readonly holder: Holder | undefined,
  ) {
    this.reporter = new Reporter(core, clock, this);
  }

  on<Name extends keyof Told>(name: Name, listener: Listener<Told[Name]>): void {
    this.emitter.on(name, listener);
    this.follow();
  }

  once<Name extends keyof Told>(name: Name, listener: Listener<Told[Name]>): void {
    this.emitter.once(name, listener);
    this.follow();
  }

  off<Name extends keyof Told>(name: Name, listener: Listener<Told[Name]>): void {
    this.emitter.off(name, listener);
    this.follow();
  }

  /** Whether anybody would be told. What costs something to make is made only then. */
  isHeard(name: keyof Told): boolean {
    return this.emitter.isHeard(name);
  }

  /** Tells whoever listens, after all that happened before. */
  tell<Name extends keyof Told>(name: Name, event: Told[Name]): void {
    if (!this.emitter.isHeard(name)) return;
    if (this.holder === undefined) this.deliver({ name, event });
    else {
      this.holder.afterwards((failure) => {
        if (failure === undefined) this.deliver({ name, event });
      });
    }
  }

  /** Tells whoever listens, before what is kept back. */
  tellAtOnce<Name extends keyof Told>(name: Name, event: Told[Name]): void {
    if (this.emitter.isHeard(name)) this.deliver({ name, event });
  }

  private deliver(letter: Letter): void {
    this.mailbox.push(letter);
    this.tellSoon();
  }

  /** Functions of the user's that decide have done wrong. */
  tellFaults(faults: readonly Error[]): void {
    for (const error of faults) this.tell('error', { error, eventName: undefined });
  }

  private follow(): void {
    const { isUsed } = this.emitter;
    if (isUsed === this.isFollowing) return;
    this.isFollowing = isUsed;
    if (isUsed) this.reporter.begin();
    this.observe();
  }

  /** Reads the facts of the core from now on, if anybody wants to know them. */
  observe(): void {
    const { holder, isFollowing } = this;
    if (holder === undefined) this.core.observe(isFollowing ? this.read : undefined);
    else if (holder.isOpen) this.core.observe(isFollowing ? this.readKept : this.noteOnly);
  }

  private readonly read = (fact: Fact): void => {
    this.tell('fact', fact);
    this.reporter.read(fact);
    this.tellSoon();
  };

  private readonly noteOnly = (fact: Fact): void => {
    this.holder?.note(fact);
  };

  private readonly readKept = (fact: Fact): void => {
    this.holder?.note(fact);
    this.tell('fact', fact);
    this.reporter.read(fact);
    // Whether everything has come to rest is looked at when this is kept.
    this.holder?.afterwards((failure) => {
      if (failure === undefined) this.tellSoon();
    });
  };

  private rest(): void {
    if (this.holder?.isAhead === true) this.reporter.tellClaims();
    else this.reporter.rest();
  }

  private tellSoon(): void {
    if (this.isTelling) return;
    this.isTelling = true;
    // Before whoever awaits a result goes on: their turn comes after this one.
    this.root.runInAsyncScope(queueMicrotask, undefined, this.tellAll);
  }

  private readonly tellAll = (): void => {
    for (;;) {
      const letters = this.mailbox;
      this.mailbox = [];
      for (const { name, event } of letters) this.emitter.emit(name, event);
      if (this.mailbox.length === 0) this.rest();
      if (this.mailbox.length === 0) break;
    }
    this.isTelling = false;
    // A listener for once may have been the last.
    this.follow();
  };
}

/** An event by its name as a user gives it. */
export function checkListener(name: unknown, listener: unknown): void {
  if (!EVENT_NAMES.includes(name as EventName)) refuseConfig('event', name, `one of ${EVENT_NAMES.join(', ')}`);
  if (typeof listener !== 'function') refuseConfig('listener', listener, 'a function');
}
