import { CycleError, isFinal } from '../../model/index.js';
import { isMovable } from '../links.js';
import type { State } from '../state.js';
import type { Meeting, Meetings } from './meeting.js';
import { refOf, type DependencyInput } from './take-in.js';

/** Where a search stands: a task or newcomer, and what of its dependencies is still to be looked at. */
interface Step {
  readonly at: Meeting;
  readonly left: Meeting[];
}

/**
 * Refuses those that would come after themselves once they have taken the places of others, with the path: a new task
 * closes a circle only through whoever waits for the one that it replaces.
 */
export function refuseCircles(state: State, meetings: Meetings, after: readonly (readonly DependencyInput[])[]): void {
  const waitsFor = new Map<Meeting, Meeting[]>();
  meetings.newcomers.forEach(({ position }, at) => {
    waitsFor.set(position, knownIn(state, after[at] as readonly DependencyInput[]));
  });
  const done = new Set<Meeting>();
  for (const start of meetings.replaced.values()) {
    const path: Step[] = [{ at: start, left: [...(waitsFor.get(start) ?? [])] }];
    const onPath = new Set<Meeting>([start]);
    for (let step = path.at(-1); step !== undefined; step = path.at(-1)) {
      const next = step.left.pop();
      if (next === undefined) {
        path.pop();
        onPath.delete(step.at);
        done.add(step.at);
      } else if (onPath.has(next)) {
        const circle = path.map(({ at }) => at);
        const names = [...circle.slice(circle.indexOf(next)), next].map((each) => meetings.nameOf(each));
        throw new CycleError({ path: names });
      } else if (!done.has(next)) {
        path.push({ at: next, left: [...(waitsFor.get(next) ?? dependenciesOf(state, next, meetings))] });
        onPath.add(next);
      }
    }
  }
}

function knownIn(state: State, after: readonly DependencyInput[]): Meeting[] {
  return after.flatMap((input): Meeting[] => {
    const ref = refOf(input);
    const known = typeof ref === 'string' ? state.table.byId(ref) : ref;
    return known === undefined ? [] : [known];
  });
}

/** What a task that is there comes after, once the places are taken. */
function dependenciesOf(state: State, meeting: Meeting, { replaced }: Meetings): Meeting[] {
  const found: Meeting[] = [];
  if (typeof meeting === 'number') return found;
  if (meeting.node < 0) return found;
  const { graph } = state.dependencies;
  for (let edge = graph.firstIn(meeting.node); edge >= 0; edge = graph.nextIn(edge)) {
    const dependency = state.dependencies.at(graph.source(edge));
    const successor = replaced.get(dependency);
    if (successor === undefined) {
      if (!isFinal(dependency.state)) found.push(dependency);
    } else if (isMovable(meeting, graph.policy(edge))) found.push(successor);
  }
  return found;
}
