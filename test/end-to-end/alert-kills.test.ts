/** Evaluates alerts in processes that are killed at every stage: no transition is lost or published twice. */
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { openSegmentsBus } from '../../adapters/bus-segments/bus-segments.ts';
import { openChdbColumns } from '../../adapters/columns-chdb/columns-chdb.ts';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { decodeSlot } from '../../processors/engine/schedule-snapshot.ts';
import { computePhase, toItemKey, toSlot } from '../../processors/engine/schedule-times.ts';
import { scheduleTopics } from '../../processors/index.ts';
import { openStates } from '../../runtime/states.ts';
import type { AlertTransition } from '../../schemas/alerts.ts';
import type { Bus } from '../../schemas/ports/bus.ts';
import { systemClock } from '../../schemas/ports/clock.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { ConsumedPositions, parseEmittedPosition } from '../../schemas/records/emitted-position.ts';
import type { DerivedTopic } from '../../schemas/topic.ts';
import { allTopics, topics } from '../../schemas/topics.ts';
import { migrate } from '../../sinks/migrations/index.ts';
import { toPlatformEvent } from '../../subjects/alerts/evaluation-record.ts';
import { seeded } from '../cases/random.ts';
import { copyColumns } from '../services/columns-template.ts';
import { duesOf, prepareScript, type Script, type StoredRule, stepMs } from './alert-script.ts';
import type { Stage } from './dying-ports.ts';
import { runDying } from './dying-run.ts';

/** Each stage at which a process is killed, and the largest number of times that it passes that stage before. */
const deaths: readonly (readonly [Stage, number])[] = [
  ['before a save', 1],
  ['between a save and what it publishes', 1],
  // This process first publishes what the previous one saved.
  ['before it publishes', 1],
  ['while it publishes', 1],
  ['after it published', 1],
  ['before a statement', 4],
  ['while it publishes', 40],
  ['between the parts of a save', 2],
  ['after it published', 40],
  ['while it saves', 40],
  ['after an answer', 2],
  ['between a save and what it publishes', 40],
  ['before a save', 40],
  ['while it publishes', 40],
  ['before it publishes', 40],
  ['after an answer', 4],
  ['while it saves', 40],
];
const lengthMs = 240_000;
const program = 'dying-alerts.ts';

/** Runs the script and kills a process at each stage. */
const evaluateDying = async (t: ExecutionContext, { fromMs, untilMs }: Script, directory: string): Promise<void> => {
  const random = seeded(11);
  let nowMs = fromMs;
  for (const [index, [stage, maxKills]] of deaths.entries()) {
    const { signal, code, output, atMs } = await runDying(
      ...([t, program, directory, fromMs, nowMs, untilMs, stage, 1 + random(maxKills)] as const),
    );
    t.is(signal, 'SIGKILL', `${stage}: it exited with ${code} instead\n${output}`);
    // Sometimes no process runs for a while, so due times are missed. The schedule catches up on fewer than that.
    nowMs = Math.min(untilMs, atMs + (index % 3 === 2 ? 2 * stepMs : 0));
  }
  const last = await runDying(t, program, directory, fromMs, nowMs, untilMs);
  t.is(last.code, 0, last.output);
};

interface Landed {
  readonly values: readonly object[];
  /** Messages that were delivered again. */
  readonly repeated: number;
}

/** Reads each position of an emitter once, like sinks and processors. */
const readDistinct = async (bus: Bus, { name }: DerivedTopic): Promise<Landed> => {
  const values: object[] = [];
  let repeated = 0;
  for (const { partition, earliest, end } of await bus.offsets(name)) {
    const seenPositions = new ConsumedPositions();
    for await (const { headers, value } of bus.read(name, partition, earliest, end)) {
      const position = parseEmittedPosition(headers);
      if (position === undefined) throw new Error(`a message on ${name} has no position`);
      if (seenPositions.accept(position)) values.push(...(JSON.parse(value.toString()) as object[]));
      else repeated++;
    }
  }
  return { values, repeated };
};

/** Reads the final state of a directory. */
const outcomeOf = async (directory: string, rules: readonly StoredRule[]) => {
  const bus = await openSegmentsBus({ directory: join(directory, 'bus'), lockWaitMs: 10_000 });
  const documents = await openSqliteDocuments({ path: join(directory, 'documents.sqlite') });
  const states = openStates({ documents, clock: systemClock });
  const transitions = await readDistinct(bus, topics.alertTransitions);
  const evaluations = await readDistinct(bus, topics.alertEvaluations);
  const events = await readDistinct(bus, topics.events);
  const saved = new Map<string, { readonly dueMs: number; readonly state: unknown }>();
  for (const { id, tenantId } of rules) {
    const key = toItemKey(tenantId, id);
    const snapshot = await states.load(`schedules/alert-evaluation/${toSlot(computePhase(key))}`);
    const item = snapshot && decodeSlot(snapshot.bytes).items.get(key);
    if (item !== undefined) saved.set(id, { dueMs: item.dueMs, state: JSON.parse(item.state) });
  }
  await bus.close();
  await documents.close();
  return { transitions, evaluations, events, saved };
};

type Outcome = Awaited<ReturnType<typeof outcomeOf>>;

/** Compares an outcome with the results of the evaluator. Returns the number of transitions. */
const assertOutcome = (t: ExecutionContext, name: string, script: Script, outcome: Outcome): number => {
  const allTransitions = outcome.transitions.values as AlertTransition[];
  const evaluated = outcome.evaluations.values as { ruleId: string; atMs: number }[];
  const events: string[] = [];
  let count = 0;
  for (const rule of script.rules) {
    const dues = duesOf(rule, script.fromMs, script.untilMs);
    const expected = script.evaluations(rule, dues);
    const transitions = expected.flatMap((each) => each.transitions);
    const own = allTransitions.filter(({ ruleId }) => ruleId === rule.id);
    const alerts = new Set([...transitions, ...own].map(({ alertId }) => alertId));
    for (const alertId of alerts) {
      const of = (all: readonly AlertTransition[]) => all.filter((each) => each.alertId === alertId);
      t.deepEqual(of(own), of(transitions), `${name}: transitions of ${rule.name} of ${rule.tenantId}`);
    }
    const evaluatedAt = evaluated.filter(({ ruleId }) => ruleId === rule.id).map(({ atMs }) => atMs);
    t.deepEqual([...new Set(evaluatedAt)], dues, `${name}: evaluations of ${rule.name} of ${rule.tenantId}`);
    const saved = outcome.saved.get(rule.id);
    t.is(saved?.dueMs, dues.at(-1));
    // The rule and whether it has data are saved with the state of the evaluator.
    const { rule: _, data: __, ...state } = (saved?.state ?? {}) as { readonly rule?: object; readonly data?: string };
    t.deepEqual(state, JSON.parse(JSON.stringify(expected.at(-1)?.state)), `${name}: the state of ${rule.name}`);
    events.push(...transitions.flatMap((each) => toPlatformEvent(each)?.id ?? []));
    count += transitions.length;
  }
  t.is(allTransitions.length, count);
  t.deepEqual((outcome.events.values as { id: string }[]).map(({ id }) => id).toSorted(), events.toSorted());
  return count;
};

test('alerts evaluated by processes that die at every stage have the same transitions and states as an uninterrupted run', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'oiq-alert-kills-'));
  t.teardown(() => rm(root, { recursive: true, force: true }));
  const [quiet, disturbed] = [join(root, 'quiet'), join(root, 'disturbed')];
  await mkdir(quiet);
  const documents = await openSqliteDocuments({ path: join(quiet, 'documents.sqlite') });
  copyColumns(join(quiet, 'columns'));
  const columns = await openChdbColumns({ directory: join(quiet, 'columns') });
  const bus = await openSegmentsBus({ directory: join(quiet, 'bus') });
  await migrate(columns, silentLog);
  await bus.ensureTopics([...allTopics, ...scheduleTopics]);
  const script = await prepareScript({ documents, columns }, lengthMs);
  await Promise.all([documents.close(), columns.close(), bus.close()]);
  await cp(quiet, disturbed, { recursive: true });

  const whole = await runDying(t, program, quiet, script.fromMs, script.fromMs, script.untilMs);
  t.is(whole.code, 0, whole.output);
  await evaluateDying(t, script, disturbed);

  const undisturbed = await outcomeOf(quiet, script.rules);
  const outcome = await outcomeOf(disturbed, script.rules);
  const count = assertOutcome(t, 'undisturbed', script, undisturbed);
  assertOutcome(t, 'killed', script, outcome);
  t.true(count > 300, `${count} transitions`);
  t.is(undisturbed.transitions.repeated, 0);
  t.true(outcome.transitions.repeated > 0, 'no message was repeated');
});
