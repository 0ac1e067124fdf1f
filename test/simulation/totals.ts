import type { Shrunk, SimulationReport } from '../../src/testing/index.js';

/** What many runs came to. */
export class Totals {
  private readonly start = performance.now();
  private readonly cpu = process.cpuUsage();
  private readonly sums = { seeds: 0, steps: 0, tasks: 0, facts: 0, records: 0, recoveries: 0, simulatedMs: 0 };
  private readonly seen = new Map<string, number>();
  private readonly evaluated = new Map<string, number>();

  add(report: SimulationReport): void {
    const { sums } = this;
    sums.seeds += 1;
    for (const name of ['steps', 'tasks', 'facts', 'records', 'recoveries', 'simulatedMs'] as const) {
      sums[name] += report[name];
    }
    for (const [what, count] of report.seen) this.seen.set(what, (this.seen.get(what) ?? 0) + count);
    for (const [what, count] of report.evaluated) this.evaluated.set(what, (this.evaluated.get(what) ?? 0) + count);
  }

  text(): string {
    const { seeds, steps, tasks, facts, records, recoveries, simulatedMs } = this.sums;
    const seconds = (performance.now() - this.start) / 1_000;
    const times = Math.round(simulatedMs / 1_000 / seconds);
    const { user, system } = process.cpuUsage(this.cpu);
    const cpuSeconds = (user + system) / 1e6;
    const crashes = [...this.seen].filter(([what]) => what.startsWith('crash') || what.startsWith('death'));
    const faults = [...this.seen].filter(([what]) => !what.startsWith('act '));
    const evaluated = [...this.evaluated.values()].reduce((sum, count) => sum + count, 0);
    return [
      `seeds ${seeds}, steps ${steps}, tasks ${tasks}, facts ${facts}, records ${records}`,
      `crashes ${crashes.reduce((sum, [, count]) => sum + count, 0)}, recoveries ${recoveries}`,
      `faults and events: ${listed(faults)}`,
      `acts: ${listed([...this.seen].filter(([what]) => what.startsWith('act ')))}`,
      `invariants evaluated ${evaluated}: ${listed([...this.evaluated])}`,
      `simulated ${(simulatedMs / 3_600_000).toFixed(1)} h in ${seconds.toFixed(1)} s: ${times} times as fast as the wall clock`,
      `${cpuSeconds.toFixed(1)} s of the processor, ${Math.round(steps / cpuSeconds)} steps for each of them`,
    ].join('\n');
  }
}

function listed(counts: readonly (readonly [string, number])[]): string {
  return counts
    .toSorted(([x], [y]) => (x < y ? -1 : 1))
    .map(([what, count]) => `${what.replace('act ', '')} ${count}`)
    .join(', ');
}

/** A failed run as its finder wants to read it. */
export function describeFailure({ steps, report: { seed, climate, failure } }: Shrunk): string {
  return [
    `seed ${seed} fails: ${failure?.promise ?? ''} ${failure?.what ?? ''}`,
    `climate: ${JSON.stringify(climate)}`,
    `the steps that are left (${steps.length}):`,
    ...steps.map((step) => `  ${JSON.stringify(step)}`),
    `the story${failure?.task === undefined ? '' : ` of "${failure.task}"`}:`,
    ...(failure?.story ?? []).map((fact) => `  ${fact}`),
  ].join('\n');
}
