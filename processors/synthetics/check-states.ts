/** Judges checks by their latest results: states change here, once, whoever wrote the results. */
import { z } from 'zod';
import { syntheticChecks } from '../../schemas/resources/synthetic-check.ts';
import { topics } from '../../schemas/topics.ts';
import { judge, type KnownStates, suspectsOf } from '../../subjects/synthetics/judged.ts';
import { readCheck } from '../../subjects/synthetics/known.ts';
import { type Latest, readLatest } from '../../subjects/synthetics/stored-results.ts';
import { defineSchedule, type SchedulePorts } from '../engine/schedule.ts';
import { tenantReading } from '../engine/tenant-reading.ts';

/** Checks of a tenant are judged in the same moments, so far apart, with one statement. */
const togetherMs = 5000;

interface Results {
  readonly byCheck: ReadonlyMap<string, readonly Latest[]>;
  readonly suspects: ReadonlySet<string>;
}

const none: Results = { byCheck: new Map(), suspects: new Set() };

interface Remembered {
  readonly dueMs: number;
  readonly results: Promise<Results>;
}

const remembered = new WeakMap<SchedulePorts['columns'], Map<string, Remembered>>();

/** What there is of a tenant, read once for all checks of a moment. */
const resultsAt = (ports: SchedulePorts, tenantId: string, dueMs: number): Promise<Results> => {
  const known = remembered.get(ports.columns) ?? new Map<string, Remembered>();
  remembered.set(ports.columns, known);
  const own = known.get(tenantId);
  if (own?.dueMs === dueMs) return own.results;
  const results = tenantReading(ports, tenantId, Math.max(dueMs, Date.now())).then(async (reading) => {
    if (reading === undefined) return none;
    const latest = await readLatest(reading);
    return { byCheck: Map.groupBy(latest, ({ checkId }) => checkId), suspects: suspectsOf(latest) };
  });
  known.set(tenantId, { dueMs, results });
  results.catch(() => known.delete(tenantId));
  return results;
};

export const checkStates = defineSchedule({
  name: 'check-states',
  summary: 'Judges synthetic checks by their latest results.',
  things: syntheticChecks,
  // One that is off becomes unknown, and stays it.
  everyMs: ({ enabled }) => (enabled ? togetherMs : 60_000),
  togetherMs,
  missed: 'skip',
  state: { version: 1, schema: z.custom<KnownStates>(), empty: (): KnownStates => ({}) },
  emits: { states: topics.syntheticStates },
  atOnce: { total: 1000, perTenant: 1000 },
  async run(document, { tenantId, dueMs, state, emit, ports }) {
    const check = readCheck(document);
    if (check === undefined) return state;
    const { byCheck, suspects } = await resultsAt(ports, tenantId, dueMs);
    const latest = byCheck.get(document.id) ?? [];
    const { known, changes } = judge(check, state, { latest, suspects, nowMs: dueMs });
    for (const { location, atMs, state: next } of changes)
      emit.states({ tenantId, checkId: document.id, location, atMs, state: next });
    return known;
  },
});
