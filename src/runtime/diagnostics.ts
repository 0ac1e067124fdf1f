import { channel } from 'node:diagnostics_channel';
import type { Fact } from '../model/index.js';
import { EVENT_NAMES, type EventName, type Listener, type SchedulerEvents } from '../ports/events.js';
import type { Events } from './events.js';

const facts = channel('precedence:fact');
const events = channel('precedence:event');

/** What is published on the diagnostics channel `precedence:fact`, for every fact and in their order. */
export interface FactMessage {
  /** The scheduler in which it happened. */
  readonly scheduler: object;
  readonly fact: Fact;
}

/** What is published on the diagnostics channel `precedence:event`, for every event. */
export interface EventMessage {
  /** The scheduler in which it happened. */
  readonly scheduler: object;
  readonly name: EventName;
  readonly event: SchedulerEvents[EventName];
}

/**
 * Publishes on the diagnostics channels of this process what happens in a scheduler. It listens like anybody else, and
 * only while a channel has subscribers; as nothing tells of those, they are looked for now and then.
 */
export class Diagnostics {
  private followsFacts = false;
  private followsEvents = false;
  private readonly onFact: Listener<Fact>;
  private readonly onEvent: readonly (readonly [EventName, Listener<SchedulerEvents[EventName]>])[];

  constructor(
    private readonly told: Events,
    scheduler: object,
  ) {
    this.onFact = (fact) => {
      facts.publish({ scheduler, fact } satisfies FactMessage);
    };
    this.onEvent = EVENT_NAMES.map((name) => [
      name,
      (event) => {
        events.publish({ scheduler, name, event } satisfies EventMessage);
      },
    ]);
  }

  /** Subscribers may have come or gone. */
  look(): void {
    if (facts.hasSubscribers !== this.followsFacts) {
      this.followsFacts = !this.followsFacts;
      if (this.followsFacts) this.told.on('fact', this.onFact);
      else this.told.off('fact', this.onFact);
    }
    if (events.hasSubscribers !== this.followsEvents) {
      this.followsEvents = !this.followsEvents;
      for (const [name, listener] of this.onEvent) {
        if (this.followsEvents) this.told.on(name, listener);
        else this.told.off(name, listener);
      }
    }
  }
}
