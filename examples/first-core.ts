import { describeExplanation } from '../src/index.js';
import { sim } from '../src/testing/index.js';

/** What the runner lists. */
export const title = 'a small build in virtual time: what the core decides, and why';

/** The core alone, without a clock and without handlers: this program says when time passes and how attempts end. */
export function run(print: (line: string) => void): void {
  const s = sim({ slots: 2 });
  const say = (what: string): void => {
    print(`${String(s.now.mono).padStart(5)} ms  ${what}`);
  };
  const why = (id: string): void => {
    say(`why "${id}"? ${describeExplanation(s.core.explain(id))}`);
  };

  // Two slots and a single GPU. A package is built from what was compiled and rendered; docs are less urgent.
  s.send({ kind: 'setCapacity', resource: 'gpu', units: 1 });
  s.addAll({
    docs: { priority: 'low' },
    compile: { retry: { attempts: 2, backoff: 'fixed', base: '1s' } },
    render: { needs: { gpu: 1 } },
    thumbnails: { needs: { gpu: 1 } },
    package: { after: ['compile', 'render'], priority: 'high' },
  });

  // Docs came first, but the package is urgent, and so is whatever it waits for: that is inherited.
  say(`running: ${s.running().join(', ')}`);
  why('package');
  why('docs');
  why('thumbnails');

  s.advance(2_000);
  s.fail('compile#1', new Error('disk is full'));
  // Its slot does not stay idle meanwhile. Thumbnails would come first, but the GPU is taken, so docs overtake them.
  say(`compile#1 has failed, running: ${s.running().join(', ')}`);
  why('compile');

  s.advance(1_000);
  why('compile');
  s.complete('docs#1');
  s.advance(2_000);
  s.complete('render#1');
  s.complete('compile#2');
  say(`running: ${s.running().join(', ')}`);
  why('package');

  s.advance(500);
  s.complete('package#1');
  s.complete('thumbnails#1');
  why('package');

  const started = s.facts.flatMap((fact) => (fact.kind === 'attempt.started' ? [`${fact.task}#${fact.attempt}`] : []));
  say(`started in this order: ${started.join(', ')}; ${s.facts.length} facts in all`);
}
