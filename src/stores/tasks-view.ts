import type { Fact, TaskState } from '../model/index.js';

/*
 * The view in which people see tasks with tools of their own. It is computed from the journal and the snapshot when it is
 * asked for, so that it costs nothing while records are written. All that stores in databases know of what they keep is here.
 *
 * A record is `[version, fact, ...]`. The first part of a snapshot is `[version, head]`, each other one `[list, entry, ...]`.
 */

/** Where a fact leads its task; nowhere, where it is `undefined`. A dependency leads to waiting only while it is unfinished. */
const STATE_AFTER: Readonly<Record<Fact['kind'], TaskState | 'forgotten' | undefined>> = {
  'task.submitted': 'waiting',
  'task.delayed': 'delayed',
  'task.ready': 'ready',
  'attempt.started': 'running',
  'attempt.waiting': 'waiting',
  'attempt.gaveWay': 'waiting',
  'attempt.resumed': 'running',
  'task.completed': 'completed',
  'task.failed': 'failed',
  'task.cancelled': 'cancelled',
  'task.skipped': 'skipped',
  'task.waiting': 'waiting',
  'task.revived': 'waiting',
  'task.forgotten': 'forgotten',
  'dependency.added': 'waiting',
  'priority.set': undefined,
  'attempt.ended': undefined,
  'attempt.settledLate': undefined,
  'lease.extended': undefined,
  'task.checkpointed': undefined,
  'cost.reported': undefined,
  'resource.closed': undefined,
  'task.retryScheduled': undefined,
  'task.pinned': undefined,
  // The task in its place is submitted after it, under the same id.
  'task.replaced': undefined,
  'task.renewed': undefined,
  'deadline.missed': undefined,
  'task.startExpected': undefined,
  'task.starved': undefined,
  'task.preempted': undefined,
  'task.bypassed': undefined,
  'room.kept': undefined,
  'room.dropped': undefined,
  'dependency.removed': undefined,
  'channel.paused': undefined,
  'channel.resumed': undefined,
  'channel.closed': undefined,
  'channel.opened': undefined,
  configured: undefined,
  'pending.saturated': undefined,
  'pending.relieved': undefined,
  'series.added': undefined,
  'series.updated': undefined,
  'series.scheduled': undefined,
  'series.paused': undefined,
  'series.resumed': undefined,
  'series.overran': undefined,
  'series.ended': undefined,
  'worker.attached': undefined,
  'worker.detached': undefined,
  'random.drawn': undefined,
  recovered: undefined,
};

/** How a database reads what is kept in it. */
export interface ViewDialect {
  /** A query for the `position` and the `fact` of everything in the journal after the snapshot. */
  readonly facts: string;
  /** A query for the `head` of the snapshot; one row, or none. */
  readonly head: string;
  /** A query for each `entry` of a list of the snapshot, and its `place` in it, from 0. */
  readonly list: (name: string) => string;
  /** A field of a JSON value, by its path, as a text or as a number. */
  readonly text: (value: string, ...path: readonly string[]) => string;
  readonly number: (value: string, ...path: readonly (string | number)[]) => string;
  /** A moment in epoch milliseconds, as the database shows moments. */
  readonly moment: (milliseconds: string) => string;
}

/** So many facts are told apart in one record; it would have to have a gigabyte for more. */
export const FACTS_PER_RECORD = 10_000_000;

const KINDS = Object.entries(STATE_AFTER).flatMap(([kind, state]) =>
  state === undefined ? [] : [[kind, state] as const],
);
const STATES = KINDS.map(([kind, state]) => `WHEN '${kind}' THEN '${state}'`).join(' ');
const TOLD = [...KINDS.map(([kind]) => kind), 'priority.set'].map((kind) => `'${kind}'`).join(', ');

/** The query of the view. */
export function tasksQuery(dialect: ViewDialect): string {
  const { moment } = dialect;
  return `
    WITH
    fact AS (SELECT position, fact, ${dialect.text('fact', 'kind')} AS kind FROM (${dialect.facts}) AS told),
    -- Tasks of the snapshot stand before all facts, each at a position of its own.
    event AS MATERIALIZED (${factEvents(dialect)} UNION ALL ${snapshotEvents(dialect)}),
    -- Whether a dependency was unfinished when it was added.
    added AS (
      SELECT position, dependency,
        max(CASE WHEN dependency IS NULL THEN position END) OVER (
          PARTITION BY coalesce(dependency, task) ORDER BY position
        ) AS known
      FROM event
      WHERE dependency IS NOT NULL
        OR state IS NOT NULL AND task IN (SELECT dependency FROM event WHERE dependency IS NOT NULL)
    ),
    blocking AS (
      SELECT added.position FROM added JOIN event ON event.position = added.known
      WHERE added.dependency IS NOT NULL AND event.state NOT IN ('completed', 'failed', 'cancelled', 'skipped')
    ),
    latest AS (
      SELECT task, max(CASE WHEN sequence IS NOT NULL THEN position END) AS began,
        max(CASE WHEN level IS NOT NULL THEN position END) AS ranked,
        max(CASE WHEN attempts IS NOT NULL THEN position END) AS tried,
        max(CASE WHEN state IS NOT NULL AND (dependency IS NULL OR position IN (SELECT position FROM blocking))
          THEN position END) AS moved
      FROM event GROUP BY task
    )
    SELECT began.task AS id, began.sequence, began.type, began.channel, ranked.level, moved.state, tried.attempts,
      CASE WHEN moved.state = 'running' THEN tried.worker END AS worker,
      ${moment('began.due')} AS due_at,
      ${moment(`CASE WHEN moved.state = 'running' THEN tried.started END`)} AS started_at,
      ${moment(`CASE WHEN moved.state IN ('completed', 'failed', 'cancelled', 'skipped') THEN moved.at END`)} AS ended_at,
      ${moment('began.deadline')} AS deadline
    FROM latest
      JOIN event AS began ON began.position = latest.began
      JOIN event AS ranked ON ranked.position = latest.ranked
      JOIN event AS tried ON tried.position = latest.tried
      JOIN event AS moved ON moved.position = latest.moved
    WHERE moved.state <> 'forgotten'`;
}

function factEvents({ text, number }: ViewDialect): string {
  const of = (kind: Fact['kind'], value: string): string => `CASE WHEN kind = '${kind}' THEN ${value} END`;
  return `
      SELECT position, ${text('fact', 'task')} AS task, CASE kind ${STATES} END AS state,
        ${number('fact', 'wall')} AS at,
        ${of('task.submitted', number('fact', 'sequence'))} AS sequence,
        ${of('task.submitted', `coalesce(${text('fact', 'spec', 'type')}, '')`)} AS type,
        ${of('task.submitted', text('fact', 'spec', 'channel'))} AS channel,
        CASE kind WHEN 'task.submitted' THEN ${number('fact', 'spec', 'level')}
          WHEN 'priority.set' THEN ${number('fact', 'level')} END AS level,
        CASE kind WHEN 'task.submitted' THEN 0 WHEN 'attempt.started' THEN ${number('fact', 'attempt')} END AS attempts,
        ${of('attempt.started', text('fact', 'workerId'))} AS worker,
        ${of('attempt.started', number('fact', 'wall'))} AS started,
        ${of('task.submitted', number('fact', 'due'))} AS due,
        ${of('task.submitted', number('fact', 'spec', 'deadline'))} AS deadline,
        ${of('dependency.added', text('fact', 'dependency'))} AS dependency
      FROM fact WHERE kind IN (${TOLD})`;
}

function snapshotEvents({ head, list, text, number }: ViewDialect): string {
  const sequence = number('task.entry', 'sequence');
  // When a task ended is kept on the clock that only grows.
  const ended = `${number('head.head', 'now', 'wall')} - ${number('head.head', 'now', 'mono')} + kept.ended`;
  return `
      SELECT -${sequence}, coalesce(${text('spec.entry', 'id')}, 'task-' || CAST(${sequence} AS bigint)),
        ${text('task.entry', 'state')}, ${ended}, ${sequence},
        coalesce(${text('spec.entry', 'type')}, ''), ${text('spec.entry', 'channel')},
        coalesce(${number('task.entry', 'extra', 'level')}, ${number('spec.entry', 'level')}),
        ${number('task.entry', 'attempts')}, ${text('task.entry', 'attempt', 'workerId')},
        ${number('task.entry', 'attempt', 'started', 'wall')},
        ${number('head.head', 'origin', 'wall')} + ${number('task.entry', 'due')},
        ${number('spec.entry', 'deadline')}, NULL
      FROM (${head}) AS head
        CROSS JOIN (${list('tasks')}) AS task
        JOIN (${list('specs')}) AS spec ON spec.place = ${number('task.entry', 'spec')}
        LEFT JOIN (
          SELECT ${number('entry', 0)} AS sequence, ${number('entry', 1)} AS ended FROM (${list('kept')}) AS each_kept
        ) AS kept ON kept.sequence = ${sequence}`;
}
