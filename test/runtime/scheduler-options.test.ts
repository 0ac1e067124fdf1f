import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Core } from '../../src/core/index.js';
import { Scheduler } from '../../src/index.js';
import { applySettings, type SchedulerOptions } from '../../src/runtime/scheduler-options.js';

const now = { wall: 1e12, mono: 0 };

/** What the settings make of a new core. */
function settingsOf(options: SchedulerOptions) {
  const core = new Core({ origin: now });
  applySettings(core, options, now);
  return core.snapshot().settings.resources;
}

test('C6.3 a resource is a number of units or a rate, with a second and a burst of one stretch unless given', () => {
  const resources = { gpu: 2, api: { rate: 60, per: '1m', burst: 10 }, slow: { rate: 0.5 }, fast: { rate: 30 } };
  expect(settingsOf({ resources })).toMatchObject({
    capacities: [
      ['gpu', 2],
      ['api', null],
      ['slow', null],
      ['fast', null],
    ],
    rates: [
      ['api', { rate: 60, perMs: 60_000, burst: 10 }],
      ['slow', { rate: 0.5, perMs: 1_000, burst: 1 }],
      ['fast', { rate: 30, perMs: 1_000, burst: 30 }],
    ],
  });
});

test('C6.2 C6.3 a type has a number that run at a time, a rate, or both', () => {
  const perType = { a: 1, b: { rate: 2, per: 500 }, c: { concurrency: 3, rate: 4, burst: 5 }, d: { concurrency: 6 } };
  expect(settingsOf({ limits: { perType } })).toMatchObject({
    types: [
      ['a', 1],
      ['c', 3],
      ['d', 6],
    ],
    typeRates: [
      ['b', { rate: 2, perMs: 500, burst: 2 }],
      ['c', { rate: 4, perMs: 1_000, burst: 5 }],
    ],
  });
});

test.each([
  [{ resources: { api: '5' } }, 'resources.api', '5'],
  [{ resources: { api: null } }, 'resources.api', null],
  [{ resources: { api: { rate: 0 } } }, 'resources.api.rate', 0],
  [{ resources: { api: { per: '1s' } } }, 'resources.api.rate', undefined],
  [{ resources: { api: { rate: 1, per: 'soon' } } }, 'resources.api.per', 'soon'],
  [{ resources: { api: { rate: 1, per: 0 } } }, 'resources.api.per', 0],
  [{ resources: { api: { rate: 1, burst: -1 } } }, 'resources.api.burst', -1],
  [{ resources: { api: { rate: 1, brust: 1 } } }, 'resources.api.brust', 1],
  [{ resources: { api: { rate: 1, concurrency: 1 } } }, 'resources.api.concurrency', 1],
  [{ limits: { perType: { mail: {} } } }, 'limits.perType.mail', {}],
  [{ limits: { perType: { mail: [] } } }, 'limits.perType.mail', []],
  [{ limits: { perType: { mail: { concurrency: 'two' } } } }, 'limits.perType.mail.concurrency', 'two'],
  [{ limits: { perType: { mail: { concurrency: 1, rate: NaN } } } }, 'limits.perType.mail.rate', NaN],
])('C6.5 %j is refused with the field and the value', (options, field, value) => {
  expect(() => new Scheduler(options as never)).toThrow(
    expect.objectContaining({ code: 'INVALID_CONFIG', field, value }),
  );
});

test.each([null, 7, 'fair', []])('bad input: %j are no options', (options) => {
  expect(() => new Scheduler(options as never)).toThrow(
    expect.objectContaining({ code: 'INVALID_CONFIG', field: 'options', value: options }),
  );
});

test('the guide to the options names each', () => {
  const guide = readFileSync(join(import.meta.dirname, '../../docs/options.md'), 'utf8');
  let refusal = '';
  try {
    new Scheduler({ [`no${'o'.repeat(50)}`]: 1 });
  } catch (error) {
    refusal = (error as Error).message;
  }
  const [, names = ''] = /known are ([\w, ]+)/.exec(refusal) ?? [];
  expect(names.split(', ').length).toBeGreaterThan(25);
  for (const name of names.split(', ')) expect(guide, name).toContain(`\`${name}\``);
});
