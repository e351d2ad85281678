/** Evaluates checks by their latest results. States change only here, once, regardless of who wrote the results. */
import { z } from 'zod';
import { syntheticChecks } from '../../schemas/resources/synthetic-check.ts';
import { type SyntheticLocation, syntheticLocations } from '../../schemas/resources/synthetic-location.ts';
import { type SyntheticVerdict, verdictIntervalMs } from '../../schemas/synthetic-runs.ts';
import { topics } from '../../schemas/topics.ts';
import { parseDurationMs } from '../../subjects/alerts/durations.ts';
import { findActiveDowntime, readWindows } from '../../subjects/synthetics/downtimes.ts';
import { createStateEvent } from '../../subjects/synthetics/events.ts';
import { fillTimeMs, type Gap, isGap, type LocatedChange, reconstructChanges } from '../../subjects/synthetics/gaps.ts';
import { findSuspects, judgeChanges, type KnownStates } from '../../subjects/synthetics/judged.ts';
import { type KnownCheck, parseCheck } from '../../subjects/synthetics/known.ts';
import { maxSilentIntervals } from '../../subjects/synthetics/state.ts';
import { type CheckResult, readLatest, readResults } from '../../subjects/synthetics/stored-results.ts';
import type { TimeSpan } from '../../subjects/synthetics/uptime.ts';
import { createVerdict, type FailedAlone } from '../../subjects/synthetics/verdict.ts';
import { defineSchedule, type SchedulePorts } from '../engine/schedule.ts';
import { openTenantReading } from '../engine/tenant-reading.ts';

/** Spacing of the due times shared by checks of a tenant, which are evaluated in one statement. */
const batchMs = 5000;
/** Between two evaluations of alert rules, so that check states are stored by then. */
const within = { fromMs: batchMs / 2, toMs: batchMs / 2 + batchMs };

/** Input shared by all checks of a tenant. */
interface CheckInput {
  readonly byCheck: ReadonlyMap<string, readonly CheckResult[]>;
  readonly suspects: ReadonlySet<string>;
  readonly names: ReadonlyMap<string, string>;
  downtimeOf(check: KnownCheck): TimeSpan | undefined;
}

const emptyInput: CheckInput = {
  byCheck: new Map(),
  suspects: new Set(),
  names: new Map(),
  downtimeOf: () => undefined,
};

interface CachedInput {
  readonly dueMs: number;
  readonly known: Promise<CheckInput>;
}

const inputsByColumns = new WeakMap<SchedulePorts['columns'], Map<string, CachedInput>>();

const readCheckInput = async (ports: SchedulePorts, tenantId: string, dueMs: number): Promise<CheckInput> => {
  const reading = await openTenantReading(ports, tenantId, Math.max(dueMs, Date.now()));
  if (reading === undefined) return emptyInput;
  const own = ports.documents.forTenant(tenantId);
  const [latest, locations, windows] = await Promise.all([
    readLatest(reading),
    own.collection(syntheticLocations).list(),
    readWindows(own),
  ]);
  const nameOf = ({ id, name }: SyntheticLocation & { readonly id: string }): [string, string] => [id, name];
  return {
    byCheck: Map.groupBy(latest, ({ checkId }) => checkId),
    suspects: findSuspects(latest),
    downtimeOf: findActiveDowntime(windows, dueMs),
    names: new Map(locations.items.map(nameOf)),
  };
};

/** Returns the input of a tenant, read once for all checks of a due time. */
const loadCheckInput = (ports: SchedulePorts, tenantId: string, dueMs: number): Promise<CheckInput> => {
  const byTenant = inputsByColumns.get(ports.columns) ?? new Map<string, CachedInput>();
  inputsByColumns.set(ports.columns, byTenant);
  const own = byTenant.get(tenantId);
  if (own?.dueMs === dueMs) return own.known;
  const known = readCheckInput(ports, tenantId, dueMs);
  byTenant.set(tenantId, { dueMs, known });
  known.catch(() => byTenant.delete(tenantId));
  return known;
};

/** Saved state of a check. */
interface SavedState {
  readonly states: KnownStates;
  readonly alone: FailedAlone;
  /** Last emitted verdict. */
  readonly told: { readonly atMs: number; readonly text: string };
  /** Time of the last evaluation. */
  readonly judgedMs: number;
  /** Period without evaluations, until it is back-filled. */
  readonly gap?: Gap;
}

const empty = (): SavedState => ({ states: {}, alone: {}, told: { atMs: 0, text: '' }, judgedMs: 0 });

/**
 * Returns the results missed in a gap that is filled now, and the remaining gap. Heartbeats track their own time and
 * miss nothing.
 */
const resolveGap = async (
  check: KnownCheck,
  { gap, judgedMs, states: before }: SavedState,
  {
    after,
    dueMs,
    read,
  }: { readonly after: KnownStates; readonly dueMs: number; read(gap: Gap): Promise<readonly LocatedChange[]> },
): Promise<{ readonly missed: readonly LocatedChange[]; readonly remainingGap: Pick<SavedState, 'gap'> }> => {
  const isMissed = check.enabled && check.heartbeat === undefined && isGap(judgedMs, dueMs);
  const isFilled = gap !== undefined && (isMissed || dueMs >= fillTimeMs(check.id, gap));
  const missed = isFilled ? await read(gap) : [];
  if (isMissed) return { missed, remainingGap: { gap: { fromMs: judgedMs, toMs: dueMs, before, after } } };
  return { missed, remainingGap: isFilled || gap === undefined ? {} : { gap } };
};

/** Returns the states of a check in a gap, by the results available now. */
const readMissed = async (
  check: KnownCheck,
  gap: Gap,
  {
    ports,
    tenantId,
    suspects,
  }: Pick<CheckInput, 'suspects'> & { readonly ports: SchedulePorts; readonly tenantId: string },
): Promise<readonly LocatedChange[]> => {
  const reading = await openTenantReading(ports, tenantId, gap.toMs);
  if (reading === undefined) return [];
  const fromMs = gap.fromMs - maxSilentIntervals * parseDurationMs(check.every);
  return reconstructChanges(check, gap, {
    runs: await readResults(reading, { checkId: check.id, fromMs, toMs: gap.toMs }),
    suspects,
  });
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
    version: 3,
    schema: z.custom<SavedState>(),
    empty,
    upgrade: (saved, version) =>
      version === 1 ? { ...empty(), states: saved as KnownStates } : { ...empty(), ...(saved as Partial<SavedState>) },
  },
  emits: { states: topics.syntheticStates, verdicts: topics.syntheticVerdicts, events: topics.events },
  atOnce: { total: 1000, perTenant: 1000 },
  async run(document, { tenantId, dueMs, state, emit, ports }) {
    const check = parseCheck(document);
    if (check === undefined) return state;
    const { byCheck, suspects, names, downtimeOf } = await loadCheckInput(ports, tenantId, dueMs);
    const latest = byCheck.get(document.id) ?? [];
    const { known: states, changes } = judgeChanges(check, state.states, { latest, suspects, nowMs: dueMs });
    const read = (gap: Gap) => readMissed(check, gap, { ports, tenantId, suspects });
    const { missed, remainingGap } = await resolveGap(check, state, { after: states, dueMs, read });
    // Past states cause no notifications.
    for (const { location, atMs, state: then } of missed)
      emit.states({ tenantId, checkId: document.id, location, atMs, state: then });
    const verdictInput = {
      latest,
      suspects,
      states,
      alone: state.alone,
      names,
      downtime: downtimeOf(check),
      nowMs: dueMs,
    };
    const { verdict, alone } = createVerdict(check, verdictInput);
    for (const { location, atMs, state: next } of changes) {
      emit.states({ tenantId, checkId: document.id, location, atMs, state: next });
      const before = state.states['']?.state;
      const event = location === '' ? createStateEvent(check, { tenantId, atMs, before, verdict }) : undefined;
      if (event !== undefined) emit.events(event);
    }
    const text = JSON.stringify(verdict);
    const isReported = state.told.text === text && dueMs - state.told.atMs < verdictIntervalMs;
    if (isReported) return { states, alone, told: state.told, judgedMs: dueMs, ...remainingGap };
    emit.verdicts({ tenantId, checkId: document.id, judgedMs: dueMs, ...verdict } satisfies SyntheticVerdict);
    return { states, alone, told: { atMs: dueMs, text }, judgedMs: dueMs, ...remainingGap };
  },
});
