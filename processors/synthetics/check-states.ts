/** Evaluates checks by their latest results. States change only here, once, regardless of who wrote the results. */
import { z } from 'zod';
import { syntheticChecks } from '../../schemas/resources/synthetic-check.ts';
import { type SyntheticLocation, syntheticLocations } from '../../schemas/resources/synthetic-location.ts';
import { type SyntheticVerdict, verdictIntervalMs } from '../../schemas/synthetic-runs.ts';
import { topics } from '../../schemas/topics.ts';
import { msOf } from '../../subjects/alerts/durations.ts';
import { downtimeAt, readWindows } from '../../subjects/synthetics/downtimes.ts';
import { stateEvent } from '../../subjects/synthetics/events.ts';
import { changesOfGap, filledFromMs, type Gap, isGap, type LocatedChange } from '../../subjects/synthetics/gaps.ts';
import { judge, type KnownStates, suspectsOf } from '../../subjects/synthetics/judged.ts';
import { type KnownCheck, readCheck } from '../../subjects/synthetics/known.ts';
import { silentIntervals } from '../../subjects/synthetics/state.ts';
import { type Latest, readLatest, readResults } from '../../subjects/synthetics/stored-results.ts';
import type { Span } from '../../subjects/synthetics/uptime.ts';
import { type FailedAlone, verdictOf } from '../../subjects/synthetics/verdict.ts';
import { defineSchedule, type SchedulePorts } from '../engine/schedule.ts';
import { tenantReading } from '../engine/tenant-reading.ts';

/** Spacing of the due times shared by checks of a tenant, which are evaluated in one statement. */
const batchMs = 5000;
/** Between two evaluations of alert rules, so that check states are stored by then. */
const within = { fromMs: batchMs / 2, toMs: batchMs / 2 + batchMs };

/** Input shared by all checks of a tenant. */
interface Known {
  readonly byCheck: ReadonlyMap<string, readonly Latest[]>;
  readonly suspects: ReadonlySet<string>;
  readonly names: ReadonlyMap<string, string>;
  downtimeOf(check: KnownCheck): Span | undefined;
}

const none: Known = { byCheck: new Map(), suspects: new Set(), names: new Map(), downtimeOf: () => undefined };

interface Remembered {
  readonly dueMs: number;
  readonly known: Promise<Known>;
}

const remembered = new WeakMap<SchedulePorts['columns'], Map<string, Remembered>>();

const readKnown = async (ports: SchedulePorts, tenantId: string, dueMs: number): Promise<Known> => {
  const reading = await tenantReading(ports, tenantId, Math.max(dueMs, Date.now()));
  if (reading === undefined) return none;
  const own = ports.documents.of(tenantId);
  const [latest, locations, windows] = await Promise.all([
    readLatest(reading),
    own.collection(syntheticLocations).list(),
    readWindows(own),
  ]);
  const nameOf = ({ id, name }: SyntheticLocation & { readonly id: string }): [string, string] => [id, name];
  return {
    byCheck: Map.groupBy(latest, ({ checkId }) => checkId),
    suspects: suspectsOf(latest),
    downtimeOf: downtimeAt(windows, dueMs),
    names: new Map(locations.items.map(nameOf)),
  };
};

/** Returns the input of a tenant, read once for all checks of a due time. */
const loadCheckInput = (ports: SchedulePorts, tenantId: string, dueMs: number): Promise<Known> => {
  const byTenant = remembered.get(ports.columns) ?? new Map<string, Remembered>();
  remembered.set(ports.columns, byTenant);
  const own = byTenant.get(tenantId);
  if (own?.dueMs === dueMs) return own.known;
  const known = readKnown(ports, tenantId, dueMs);
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
const afterGap = async (
  check: KnownCheck,
  { gap, judgedMs, states: before }: SavedState,
  {
    after,
    dueMs,
    read,
  }: { readonly after: KnownStates; readonly dueMs: number; read(gap: Gap): Promise<readonly LocatedChange[]> },
): Promise<{ readonly missed: readonly LocatedChange[]; readonly left: Pick<SavedState, 'gap'> }> => {
  const isMissed = check.enabled && check.heartbeat === undefined && isGap(judgedMs, dueMs);
  const isFilled = gap !== undefined && (isMissed || dueMs >= filledFromMs(check.id, gap));
  const missed = isFilled ? await read(gap) : [];
  if (isMissed) return { missed, left: { gap: { fromMs: judgedMs, toMs: dueMs, before, after } } };
  return { missed, left: isFilled || gap === undefined ? {} : { gap } };
};

/** Returns the states of a check in a gap, by the results available now. */
const readMissed = async (
  check: KnownCheck,
  gap: Gap,
  { ports, tenantId, suspects }: Pick<Known, 'suspects'> & { readonly ports: SchedulePorts; readonly tenantId: string },
): Promise<readonly LocatedChange[]> => {
  const reading = await tenantReading(ports, tenantId, gap.toMs);
  if (reading === undefined) return [];
  const fromMs = gap.fromMs - silentIntervals * msOf(check.every);
  return changesOfGap(check, gap, {
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
    const check = readCheck(document);
    if (check === undefined) return state;
    const { byCheck, suspects, names, downtimeOf } = await loadCheckInput(ports, tenantId, dueMs);
    const latest = byCheck.get(document.id) ?? [];
    const { known: states, changes } = judge(check, state.states, { latest, suspects, nowMs: dueMs });
    const read = (gap: Gap) => readMissed(check, gap, { ports, tenantId, suspects });
    const { missed, left } = await afterGap(check, state, { after: states, dueMs, read });
    // Past states cause no notifications.
    for (const { location, atMs, state: then } of missed)
      emit.states({ tenantId, checkId: document.id, location, atMs, state: then });
    const given = { latest, suspects, states, alone: state.alone, names, downtime: downtimeOf(check), nowMs: dueMs };
    const { verdict, alone } = verdictOf(check, given);
    for (const { location, atMs, state: next } of changes) {
      emit.states({ tenantId, checkId: document.id, location, atMs, state: next });
      const before = state.states['']?.state;
      const event = location === '' ? stateEvent(check, { tenantId, atMs, before, verdict }) : undefined;
      if (event !== undefined) emit.events(event);
    }
    const text = JSON.stringify(verdict);
    const isReported = state.told.text === text && dueMs - state.told.atMs < verdictIntervalMs;
    if (isReported) return { states, alone, told: state.told, judgedMs: dueMs, ...left };
    emit.verdicts({ tenantId, checkId: document.id, judgedMs: dueMs, ...verdict } satisfies SyntheticVerdict);
    return { states, alone, told: { atMs: dueMs, text }, judgedMs: dueMs, ...left };
  },
});
