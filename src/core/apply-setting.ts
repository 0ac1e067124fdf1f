import type { Setting } from '../model/index.js';
import * as configure from './decide/configure.js';
import { setPressure } from './decide/make-room.js';
import { strategyOf } from './records.js';
import type { State } from './state.js';

/** Lets a recorded change of a setting happen again. */
export function applySetting(state: State, setting: Setting): void {
  switch (setting.name) {
    case 'strategy':
      configure.setStrategy(state, strategyOf(setting, state.options.strategies));
      return;
    case 'aging': {
      const { everyMs, maxBoost, maxWaitMs } = setting;
      configure.setAging(state, {
        everyMs: everyMs ?? Infinity,
        maxBoost: maxBoost ?? Infinity,
        maxWaitMs: maxWaitMs ?? Infinity,
      });
      return;
    }
    case 'capacity':
      configure.setCapacity(state, setting.resource, setting.units ?? Infinity);
      return;
    case 'limit':
      configure.setLimit(state, setting.scope, setting.key, setting.limit ?? Infinity);
      return;
    case 'rate':
      configure.setRate(state, setting.scope, setting.key, setting.rate ?? undefined);
      return;
    case 'weight':
      configure.setWeight(state, setting.channel, setting.weight);
      return;
    case 'charge':
      configure.setCharge(state, setting.charge);
      return;
    case 'pressure': {
      const { maxPending, whenFull, lowWater } = setting;
      setPressure(state, { maxPending: maxPending ?? Infinity, whenFull, lowWater: lowWater ?? Infinity });
      return;
    }
    case 'channels':
      configure.setChannels(state, setting.only ?? undefined);
      return;
  }
}
