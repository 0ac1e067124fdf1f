import { CORE_DEFAULTS, type Core, type Request, type Worker } from '../core/index.js';
import type { Moment, SchedulerError } from '../model/index.js';
import type { Arrivals } from './arrivals.js';
import type { Definitions } from './definition.js';
import type { Events } from './events.js';
import type { KeepingHost } from './keeping.js';
import { applySettings, coreOptions, type SchedulerOptions } from './scheduler-options.js';
import type { SeriesHost } from './series-handle.js';
import type { Waits } from './waits.js';

/** What is to be put in order after a restart, and stopped when nothing can be kept any more. */
export interface SettlingHost {
  readonly core: Core;
  readonly events: Events;
  readonly options: SchedulerOptions;
  local: Worker;
  readonly alarm: { stop(): void };
  readonly arrivals: Arrivals;
  readonly attempts: { abortAll(cause: SchedulerError): void };
  readonly executing: { attachAll(): readonly string[] } | undefined;
  readonly intake: { readonly definitions: Definitions };
  readonly pulling: { attachAll(): readonly string[]; fail(error: Error): void };
  readonly repeating: { readonly seriesHost: SeriesHost; opened(): void };
  readonly waits: Waits;
  now(): Moment;
  dispatchSoon(): void;
}

/** A scheduler as its store sees it. */
export class SettlingIn implements KeepingHost {
  constructor(private readonly host: SettlingHost) {}

  get core(): Core {
    return this.host.core;
  }

  get events(): Events {
    return this.host.events;
  }

  get definitions(): Definitions {
    return this.host.intake.definitions;
  }

  get seriesHost(): SeriesHost {
    return this.host.repeating.seriesHost;
  }

  dispatchSoon(): void {
    this.host.dispatchSoon();
  }

  /**
   * After a restart the workers are those of this process, and the options count where they say something; capacities and
   * limits that they no longer name stay as they were last set.
   */
  settleIn(): void {
    const { host } = this;
    const { core, options } = host;
    host.local = core.attach(host.now(), host.local.spec);
    const here = new Set([host.local.id, ...(host.executing?.attachAll() ?? []), ...host.pulling.attachAll()]);
    for (const worker of [...core.state.workers.keys()]) {
      if (!here.has(worker)) core.handle({ kind: 'detachWorker', now: host.now(), worker });
    }
    for (const request of changes(core, options, host.now())) core.handle({ ...request, now: host.now() });
    applySettings(core, options, host.now());
  }

  opened(): void {
    this.host.repeating.opened();
    this.host.arrivals.entrance?.letIn();
  }

  broken(error: SchedulerError): void {
    const { alarm, arrivals, pulling, waits, attempts } = this.host;
    alarm.stop();
    arrivals.entrance?.fail(error);
    pulling.fail(error);
    waits.fail(error);
    attempts.abortAll(error);
  }
}

/** What is otherwise than the options say; where they say nothing, than it is by default. */
function changes({ state }: Core, options: SchedulerOptions, now: Moment): Request[] {
  const { strategy, aging, charge, pressure } = { ...CORE_DEFAULTS, ...coreOptions(options, now) };
  const requests: Request[] = [];
  if (state.index.main.choice !== strategy) requests.push({ kind: 'setStrategy', strategy });
  const { everyMs, maxBoost, maxWaitMs } = state.index.aging;
  const agesAlike = aging.everyMs === everyMs && aging.maxBoost === maxBoost && aging.maxWaitMs === maxWaitMs;
  if (!agesAlike) requests.push({ kind: 'setAging', aging });
  if (state.charge !== charge) requests.push({ kind: 'setCharge', charge });
  const { maxPending, whenFull, lowWater } = state.pressure;
  const isSame = pressure.maxPending === maxPending && pressure.whenFull === whenFull && pressure.lowWater === lowWater;
  if (!isSame) requests.push({ kind: 'setPressure', pressure });
  return requests;
}
