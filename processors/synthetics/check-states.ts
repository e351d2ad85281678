/** Evaluates checks by their latest results. States change only here, once, regardless of who wrote the results. */
import { z } from 'zod';
import { syntheticChecks } from '../../schemas/resources/synthetic-check.ts';
import { type SyntheticLocation, syntheticLocations } from '../../schemas/resources/synthetic-location.ts';
import { type SyntheticVerdict, verdictIntervalMs } from '../../schemas/synthetic-runs.ts';
import { topics } from '../../schemas/topics.ts';
import { parseDurationMs } from '../../subjects/alerts/durations.ts';
import {
  advanceDataState,
  type DataState,
  isDataOverdue,
  storeDataState,
} from '../../subjects/empty-results/empty-results.ts';
import { findActiveDowntime, readWindows } from '../../subjects/synthetics/downtimes.ts';
import { createCheckNoDataEvent, createStateEvent } from '../../subjects/synthetics/events.ts';
import {
  findReviewStart,
  type LocatedChange,
  mergeChanges,
  recordResults,
  settledAtMs,
} from '../../subjects/synthetics/late-results.ts';
import {
  findSuspects,
  judgeChanges,
  type KnownStates,
  type ReadResults,
} from '../../subjects/synthetics/location-votes.ts';
import { type IdentifiedCheck, parseCheck } from '../../subjects/synthetics/read-checks.ts';
import { type CheckResult, readLatest } from '../../subjects/synthetics/stored-results.ts';
import type { StateChange, TimePeriod } from '../../subjects/synthetics/uptime.ts';
import { createVerdict, describeOutage, type FailedAlone } from '../../subjects/synthetics/verdict.ts';
import { openTenantReader } from '../engine/open-tenant-reader.ts';
import { defineSchedule, type Run, type SchedulePorts } from '../engine/schedule.ts';
import { reviewStates } from './review-states.ts';

/** Spacing of the due times shared by checks of a tenant, which are evaluated in one statement. */
const batchMs = 5000;
/** Between two evaluations of alert rules, so that check states are stored by then. */
const within = { fromMs: batchMs / 2, toMs: batchMs / 2 + batchMs };

/** Input shared by all checks of a tenant. */
interface CheckInput {
  readonly byCheck: ReadonlyMap<string, readonly CheckResult[]>;
  readonly suspects: ReadonlySet<string>;
  readonly names: ReadonlyMap<string, string>;
  downtimeAt(atMs: number): (check: IdentifiedCheck) => TimePeriod | undefined;
}

const emptyInput: CheckInput = {
  byCheck: new Map(),
  suspects: new Set(),
  names: new Map(),
  downtimeAt: () => () => undefined,
};

interface CachedInput {
  readonly dueMs: number;
  readonly input: Promise<CheckInput>;
}

const inputsByColumns = new WeakMap<SchedulePorts['columns'], Map<string, CachedInput>>();

const readCheckInput = async (ports: SchedulePorts, tenantId: string, dueMs: number): Promise<CheckInput> => {
  const reader = await openTenantReader(ports, tenantId, Math.max(dueMs, Date.now()));
  if (reader === undefined) return emptyInput;
  const documents = ports.documents.forTenant(tenantId);
  const [latest, locations, windows] = await Promise.all([
    readLatest(reader),
    documents.collection(syntheticLocations).list(),
    readWindows(documents),
  ]);
  const toNameEntry = ({ id, name }: SyntheticLocation & { readonly id: string }): [string, string] => [id, name];
  return {
    byCheck: Map.groupBy(latest, ({ checkId }) => checkId),
    suspects: findSuspects(latest),
    downtimeAt: (atMs) => findActiveDowntime(windows, atMs),
    names: new Map(locations.items.map(toNameEntry)),
  };
};

/** Returns the input of a tenant, read once for all checks of a due time. */
const loadCheckInput = (ports: SchedulePorts, tenantId: string, dueMs: number): Promise<CheckInput> => {
  const byTenant = inputsByColumns.get(ports.columns) ?? new Map<string, CachedInput>();
  inputsByColumns.set(ports.columns, byTenant);
  const cached = byTenant.get(tenantId);
  if (cached?.dueMs === dueMs) return cached.input;
  const input = readCheckInput(ports, tenantId, dueMs);
  byTenant.set(tenantId, { dueMs, input });
  input.catch(() => byTenant.delete(tenantId));
  return input;
};

/** An outage that was known when it was over: its verdict is repeated, so that alert rules read it. */
interface MissedOutage {
  readonly untilMs: number;
  readonly details: string;
}

/** Saved state of a check. */
interface SavedState {
  readonly states: KnownStates;
  readonly alone: FailedAlone;
  /** Last emitted verdict. */
  readonly told: { readonly atMs: number; readonly text: string };
  /** Time of the last evaluation. */
  readonly judgedMs: number;
  /** Latest result of each location, and when it was read. */
  readonly read: ReadResults;
  /** Changes of the last minutes, which may not be stored yet. */
  readonly recent: readonly LocatedChange[];
  /** Time that was worked out again, and when that is repeated. */
  readonly reviewed?: { readonly fromMs: number; readonly repeatAtMs: number };
  readonly missedOutage?: MissedOutage;
  /** Whether the check has had a result */
  readonly data?: DataState | undefined;
}

const empty = (): SavedState => ({
  data: 'no',
  states: {},
  alone: {},
  told: { atMs: 0, text: '' },
  judgedMs: 0,
  read: {},
  recent: [],
});

/** Before version 4, a time without evaluations was a `gap`. It is worked out again, as if nothing was judged since. */
const upgrade = (saved: unknown, version: number): SavedState => {
  if (version === 1) return { ...empty(), states: saved as KnownStates };
  const { gap, ...state } = saved as Partial<SavedState> & { readonly gap?: { readonly fromMs: number } };
  return { ...empty(), ...state, ...(gap !== undefined && { judgedMs: gap.fromMs }) };
};

/** Time within which changes are certainly stored. */
const landingPeriodMs = 15 * 60_000;
/** Maximum age of an outage that causes an alert. */
const maxOutageAgeMs = 10 * 60_000;
/** Time for which an outage that is over is reported: several evaluations of the alert rule. */
const outageReportMs = 30_000;

interface ReviewPlan {
  readonly readGap: ReadResults;
  /** Time from which states are worked out again; undefined if they are as they were judged */
  readonly fromMs: number | undefined;
  readonly pending: Pick<SavedState, 'reviewed'>;
}

/**
 * Plans a review at once where results were read late, and a second one some minutes later, because results may be read
 * in another order than that of their runs. Heartbeats track their own time.
 */
const planReview = (
  check: IdentifiedCheck,
  state: SavedState,
  { latest, nowMs }: { readonly latest: readonly CheckResult[]; readonly nowMs: number },
): ReviewPlan => {
  if (!check.enabled || check.heartbeat !== undefined) return { readGap: {}, fromMs: undefined, pending: {} };
  const readGap = recordResults(latest, state.read, nowMs);
  const lateFromMs = findReviewStart(check, state, { read: readGap, nowMs });
  const isRepeated = state.reviewed !== undefined && nowMs >= state.reviewed.repeatAtMs;
  const pending = isRepeated ? undefined : state.reviewed;
  const next =
    lateFromMs === undefined ? pending : (pending ?? { fromMs: lateFromMs, repeatAtMs: settledAtMs(check.id, nowMs) });
  const starts = [lateFromMs, isRepeated ? state.reviewed.fromMs : undefined].filter((ms) => ms !== undefined);
  return {
    readGap,
    fromMs: starts.length === 0 ? undefined : Math.min(...starts),
    pending: next === undefined ? {} : { reviewed: next },
  };
};

/** Returns an outage to report that was not known while it lasted, and is not in a planned downtime. */
const findReportedOutage = (
  check: IdentifiedCheck,
  outage: TimePeriod | undefined,
  {
    state,
    downtimeAt,
    nowMs,
  }: Pick<CheckInput, 'downtimeAt'> & { readonly state: StateChange['state']; readonly nowMs: number },
): TimePeriod | undefined =>
  outage === undefined ||
  state === 'down' ||
  nowMs - outage.toMs > maxOutageAgeMs ||
  downtimeAt(outage.fromMs)(check) !== undefined
    ? undefined
    : outage;

type Verdict = ReturnType<typeof createVerdict>['verdict'];

/** Returns the verdict to emit: down for a while after an outage that was known when it was over. */
const reportOutage = (
  current: Verdict,
  { missedOutage: known }: SavedState,
  { outage, nowMs }: { readonly outage: TimePeriod | undefined; readonly nowMs: number },
): { readonly verdict: Verdict; readonly pending: Pick<SavedState, 'missedOutage'> } => {
  const missedOutage =
    outage === undefined ? known : { untilMs: nowMs + outageReportMs, details: describeOutage(outage) };
  if (missedOutage === undefined || missedOutage.untilMs <= nowMs || current.state === 'down')
    return { verdict: current, pending: {} };
  return { verdict: { ...current, state: 'down', says: missedOutage.details }, pending: { missedOutage } };
};

/** A change of the check for the event feed */
interface ReportedChange {
  readonly before: StateChange['state'] | undefined;
  readonly atMs: number;
  readonly verdict: Verdict;
}

/** Returns the change since the previous evaluation; with an outage in between, its start and its end. */
const listReportedChanges = (
  before: StateChange['state'] | undefined,
  after: StateChange | undefined,
  {
    outage,
    verdict,
    current,
  }: { readonly outage: TimePeriod | undefined; readonly verdict: Verdict; readonly current: Verdict },
): readonly ReportedChange[] => {
  const start = outage === undefined ? [] : [{ before, atMs: outage.fromMs, verdict }];
  const last = outage === undefined ? before : 'down';
  const isSame = after === undefined || after.state === (last ?? 'unknown');
  return isSame ? start : [...start, { before: last, atMs: outage?.toMs ?? after.atMs, verdict: current }];
};

type DataContext = Pick<
  Run<SavedState, { readonly events: typeof topics.events }>,
  'tenantId' | 'dueMs' | 'state' | 'ports' | 'emit'
> & {
  readonly updatedAt: string;
  readonly latest: readonly CheckResult[];
};

/**
 * Returns whether the check has had a result, and reports it if not. A heartbeat without pings is down instead, at its
 * due time.
 */
const trackData = async (
  check: IdentifiedCheck,
  { updatedAt, latest, tenantId, dueMs, state, ports, emit }: DataContext,
): Promise<DataState | undefined> => {
  if (check.heartbeat !== undefined) return 'yes';
  const before = state.data;
  const hasData = latest.some(({ outcome }) => outcome !== 'unknown');
  const isOverdue = isDataOverdue(updatedAt, dueMs - parseDurationMs(check.every));
  const after = check.enabled || before === undefined ? advanceDataState(before, hasData, isOverdue) : 'no';
  await storeDataState(ports.documents.forTenant(tenantId), ['synthetic-check', check.id], { before, after });
  if (after === 'reported' && before === 'no')
    emit.events(createCheckNoDataEvent(check, { tenantId, atMs: dueMs, reason: latest[0]?.message ?? '' }));
  return after;
};

export const checkStates = defineSchedule({
  name: 'check-states',
  summary: 'Evaluates synthetic checks by their latest results.',
  collection: syntheticChecks,
  // A disabled check becomes unknown, and stays unknown.
  everyMs: ({ enabled }) => (enabled ? batchMs : 60_000),
  batchMs,
  within,
  missed: 'skip',
  state: {
    version: 4,
    schema: z.custom<SavedState>(),
    empty,
    upgrade,
  },
  emits: { states: topics.syntheticStates, verdicts: topics.syntheticVerdicts, events: topics.events },
  concurrency: { total: 1000, perTenant: 1000 },
  async run(document, { tenantId, dueMs, state, emit, ports, signal }) {
    const check = parseCheck(document);
    if (check === undefined) return state;
    const { byCheck, suspects, names, downtimeAt } = await loadCheckInput(ports, tenantId, dueMs);
    const latest = byCheck.get(document.id) ?? [];
    const { readGap, fromMs, pending } = planReview(check, state, { latest, nowMs: dueMs });
    const review =
      fromMs === undefined
        ? undefined
        : await reviewStates(
            { check, tenantId, ports, signal },
            { fromMs, nowMs: dueMs },
            { latest, read: readGap, states: state.states, recent: state.recent, suspects },
          );
    const judged = judgeChanges(check, review?.states ?? state.states, {
      latest,
      suspects,
      read: readGap,
      nowMs: dueMs,
    });
    const { known: states } = judged;
    const changes = mergeChanges(review?.changes ?? [], judged.changes);
    const verdictInput = {
      latest,
      suspects,
      states,
      lastAloneMs: state.alone,
      names,
      downtime: downtimeAt(dueMs)(check),
      read: readGap,
      nowMs: dueMs,
    };
    const { verdict: current, alone } = createVerdict(check, verdictInput);
    for (const { location, atMs, state: next } of changes)
      emit.states({ tenantId, checkId: document.id, location, atMs, state: next });
    const outage = findReportedOutage(check, review?.outage, { state: current.state, downtimeAt, nowMs: dueMs });
    const { verdict, pending: pendingOutage } = reportOutage(current, state, { outage, nowMs: dueMs });
    const reported = listReportedChanges(state.states['']?.state, states[''], { outage, verdict, current });
    for (const change of reported) {
      const event = createStateEvent(check, { tenantId, ...change });
      if (event !== undefined) emit.events(event);
    }
    const next = {
      data: await trackData(check, { updatedAt: document.updatedAt, latest, tenantId, dueMs, state, ports, emit }),
      states,
      alone,
      judgedMs: dueMs,
      read: readGap,
      recent: mergeChanges(state.recent, changes).filter(({ atMs }) => atMs > dueMs - landingPeriodMs),
      ...pendingOutage,
      ...pending,
    };
    const verdictJson = JSON.stringify(verdict);
    if (state.told.text === verdictJson && dueMs - state.told.atMs < verdictIntervalMs)
      return { ...next, told: state.told };
    emit.verdicts({ tenantId, checkId: document.id, judgedMs: dueMs, ...verdict } satisfies SyntheticVerdict);
    return { ...next, told: { atMs: dueMs, text: verdictJson } };
  },
});
