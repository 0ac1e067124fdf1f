import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { withFigures, type PublishedRow } from '../../bench/publish.js';
import { STRATEGY_NAMES } from '../../src/ready/index.js';

const page = readFileSync(new URL('../../docs/performance.md', import.meta.url), 'utf8');
const rows = JSON.parse(
  readFileSync(new URL('../../docs/performance.json', import.meta.url), 'utf8'),
) as readonly PublishedRow[];

const candidatesOf = (id: string) => rows.find((row) => row.id === id)?.candidates ?? [];
const strategiesBut = (one: string) => STRATEGY_NAMES.filter((name) => name !== one);

describe('what is published of the benchmarks', () => {
  test('A9.1 the page shows the figures that were measured, with the command and the circumstances', () => {
    expect(withFigures(page, rows)).toBe(page);
    for (const { id, measured } of rows) {
      expect(measured.command, id).toMatch(/^npm run bench -- .*--publish/);
      expect(measured.samples, id).toBeGreaterThanOrEqual(5);
    }
  });

  test('A2.2 switching the strategy with 100,000 ready takes less than 1 ms', () => {
    const calls = candidatesOf('P11 call');
    expect(calls.map(({ name }) => name)).toEqual(expect.arrayContaining(strategiesBut('priority')));
    for (const { name, median } of calls) expect(median, name).toBeLessThan(1);
  });

  test('A8 a claim takes less than 10 ms under every strategy, and claims per second are there for each', () => {
    const claims = candidatesOf('CLAIMS');
    expect(claims.map(({ name }) => name).sort()).toEqual([...STRATEGY_NAMES].sort());
    for (const { name, median } of claims) expect(median, name).toBeGreaterThan(0);
    for (const strategy of STRATEGY_NAMES) {
      const p99 = candidatesOf(`P10 ${strategy}`).find(({ name }) => name === '100k ready, 10 channels');
      expect(p99?.median, strategy).toBeLessThan(10_000);
    }
  });
});
