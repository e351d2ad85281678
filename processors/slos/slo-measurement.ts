/**
 * Measures SLOs: each minute the slices that have ended, every ten minutes the slices with late records, and once the
 * time before the SLO was created.
 */
import { z } from 'zod';
import { getRetentionDays } from '../../queries/range.ts';
import { signalDefinitions } from '../../queries/signals/index.ts';
import type { StoredMetadata } from '../../schemas/ports/documents.ts';
import { platformAlerts } from '../../schemas/resources/platform-alert.ts';
import { type StoredSlo, slos } from '../../schemas/resources/slo.ts';
import type { SloObjective } from '../../schemas/slo-slices.ts';
import { topics } from '../../schemas/topics.ts';
import { parseDurationMs } from '../../subjects/alerts/durations.ts';
import { queryErrorMessage } from '../../subjects/alerts/run-query.ts';
import { advanceDataState, isDataOverdue } from '../../subjects/empty-results/empty-results.ts';
import { batchQuery } from '../../subjects/slos/batch-query.ts';
import type { IdentifiedSlo, SloFields } from '../../subjects/slos/document.ts';
import { findExcludedPeriods, readExclusions } from '../../subjects/slos/exclusions.ts';
import { findLateWindows } from '../../subjects/slos/late-records.ts';
import { type MeasureOptions, measureSlices } from '../../subjects/slos/measure.ts';
import {
  getSettledUpToMs,
  type MeasuredExtent,
  type MeasurementPlan,
  planMeasurements,
} from '../../subjects/slos/measurement-times.ts';
import { createSloNoDataEvent } from '../../subjects/slos/overdue-measurements.ts';
import { parseStoredSlo } from '../../subjects/slos/parse-slo.ts';
import { listMeasuredSignals } from '../../subjects/slos/signals.ts';
import {
  findChangedSlices,
  type MeasuredSlice,
  parseSeriesKey,
  readSlicesBySeries,
  type SloSeries,
  toSeriesKey,
} from '../../subjects/slos/slices/slices.ts';
import type { Window } from '../../subjects/slos/slices/windows.ts';
import { toSloObjective } from '../../subjects/slos/status.ts';
import { getRuleBatcher } from '../alerts/rule-batchers.ts';
import { openTenantReader } from '../engine/open-tenant-reader.ts';
import { defineSchedule, type SchedulePorts } from '../engine/schedule.ts';
import { BackFillQueue } from './back-fills.ts';

type SavedMeasurement = MeasuredExtent | null;

const parseSlo = (document: StoredSlo & StoredMetadata) => {
  const slo = parseStoredSlo(document);
  if (slo === undefined)
    throw new Error(
      `the format of the objective ${document.id}, version ${document.queryVersion}, is not supported here`,
    );
  return slo;
};

interface MeasureContext extends Pick<SchedulePorts, 'documents'> {
  readonly dueWindows: MeasurementPlan;
  readonly progress: MeasuredExtent;
  readonly options: MeasureOptions;
}

interface MeasureResult {
  readonly slices: readonly MeasuredSlice[][];
  /** Progress of the measurement; unchanged if not even the ended slices could be measured. */
  readonly measured: MeasuredExtent;
  readonly error: string;
}

interface TenantPorts extends Pick<SchedulePorts, 'documents'> {
  readonly columns: MeasureOptions['reader']['columns'];
}

const backFills = new BackFillQueue();
/** Maximum wait for the back-fill queue; the rest of a run's time is for the work itself. */
const maxWaitMs = 25_000;

/** Returns the stored slices of a window. SLOs that need the same window in the same minute share the query. */
const readStoredSlices = async (
  sloSeries: SloSeries,
  window: Window,
  { batcher, reader }: MeasureOptions,
): Promise<readonly MeasuredSlice[]> => {
  const key = `told ${window.fromMs} ${window.toMs}`;
  const slicesByKey = await batchQuery(batcher, { key, member: toSeriesKey(sloSeries) }, (keys) =>
    readSlicesBySeries(reader, keys.map(parseSeriesKey), window),
  );
  return slicesByKey.get(toSeriesKey(sloSeries)) ?? [];
};

/** Returns the newest reception time of the stored records that an SLO counts; undefined if unknown. */
const readNewestStored = async (
  slo: Pick<SloFields, 'query'>,
  { columns }: TenantPorts,
): Promise<number | undefined> => {
  const tables = listMeasuredSignals(slo).map((signal) => signalDefinitions[signal].newest.table);
  const watermarks = await Promise.all(tables.map((table) => columns.getStoredUpToMs(table)));
  const knownTimes = watermarks.filter((ms) => ms !== undefined);
  return knownTimes.length < watermarks.length ? undefined : Math.min(...knownTimes);
};

/** Maximum time from the reception of a record until it is on the bus. */
const maxPublishDelayMs = 60_000;

/**
 * Returns the time since which records have been waiting, for example because one partition lags behind others. The platform
 * reports this lag to the organization (`api/platform-watch/`) from the oldest waiting record until no record has
 * waited for a minute. Undefined if none is reported.
 */
const readWaitingSince = async ({ columns: { tenantId }, documents }: TenantPorts): Promise<number | undefined> => {
  const alert = await documents.forTenant(tenantId).collection(platformAlerts).find('records-late');
  return alert && Date.parse(alert.since) - maxPublishDelayMs;
};

/** Returns the time up to which all received records are stored; undefined if unknown. */
const readStoredUpTo = async (slo: Pick<SloFields, 'query'>, ports: TenantPorts): Promise<number | undefined> => {
  const [newestMs, waitingMs] = await Promise.all([readNewestStored(slo, ports), readWaitingSince(ports)]);
  return newestMs !== undefined && waitingMs !== undefined ? Math.min(newestMs, waitingMs) : (waitingMs ?? newestMs);
};

/** Measures the due SLOs of a run. A failed measurement is retried in the next run and does not block newer ones. */
const measureSlo = async (
  sloId: string,
  slo: NonNullable<ReturnType<typeof parseStoredSlo>>,
  { dueWindows, progress, options, documents }: MeasureContext,
): Promise<MeasureResult> => {
  const slices: MeasuredSlice[][] = [];
  let measured = progress;
  try {
    const ended = await Promise.all(dueWindows.ended.map((window) => measureSlices(slo, window, options)));
    slices.push(ended.flat());
    measured = { ...measured, upToMs: dueWindows.next.upToMs };
    const measureHistory = async (): Promise<void> => {
      for (const window of dueWindows.before) {
        slices.push(await measureSlices(slo, window, options));
        measured = { ...measured, fromMs: window.fromMs };
      }
    };
    if (dueWindows.before.length > 0)
      await backFills.runQueued(options.reader.columns.tenantId, performance.now() + maxWaitMs, measureHistory);
    const hasLateWindows = dueWindows.late.length + dueWindows.recheck.length > 0;
    const storedUpToMs = hasLateWindows
      ? await readStoredUpTo(slo, { columns: options.reader.columns, documents })
      : undefined;
    const lateWindows = await Promise.all(
      dueWindows.recheck.map((window) => findLateWindows(slo, window, { ...options, storedUpToMs: progress.landedMs })),
    );
    for (const window of [...dueWindows.late, ...lateWindows.flat()]) {
      const storedSlices = await readStoredSlices({ sloId, series: measured.series }, window, options);
      slices.push(findChangedSlices(storedSlices, await measureSlices(slo, window, options)));
    }
    const { lateMs, allMs } = dueWindows.next;
    // Records stored during the search are searched again.
    return { slices, measured: { ...measured, lateMs, allMs, landedMs: storedUpToMs ?? progress.landedMs }, error: '' };
  } catch (error) {
    options.signal?.throwIfAborted();
    return { slices, measured, error: queryErrorMessage(error).slice(0, 4096) };
  }
};

const dayMs = 86_400_000;

/**
 * Returns the maintenance of the SLO's window and of the upcoming period. For an SLO without exclusions, nothing is
 * read.
 */
const readExcludedWindows = async (
  knownSlo: IdentifiedSlo,
  tenantId: string,
  { documents }: Pick<SchedulePorts, 'documents'>,
  nowMs: number,
): Promise<Pick<SloObjective, 'excluded'>> => {
  if (!knownSlo.slo.query.excludeMaintenance) return {};
  const windows = await readExclusions(documents.forTenant(tenantId), [knownSlo.slo]);
  const sliceMs = parseDurationMs(knownSlo.slo.query.slice);
  // Windows have at most 366 days, and begin and end with slices.
  const sliceEndMs = Math.floor(nowMs / sliceMs) * sliceMs;
  const days = Math.ceil((367 * dayMs) / sliceMs) * sliceMs;
  const toMs = knownSlo.slo.query.calendar === undefined ? sliceEndMs : sliceEndMs + days;
  const excluded = findExcludedPeriods(knownSlo, windows, { fromMs: sliceEndMs - days, toMs }, sliceMs);
  return { excluded: excluded.map(({ fromMs, toMs }) => [fromMs, toMs]) };
};

/**
 * Schedule with one unit of work per SLO. Slices are emitted once with the state, and a repeated slice replaces itself.
 */
export const sloMeasurement = defineSchedule({
  name: 'slo-measurement',
  summary: 'Measures the time slices of SLOs.',
  collection: slos,
  everyMs: ({ enabled }) => (enabled ? 60_000 : undefined),
  // All SLOs of an organization are due at one time, so that equal queries run once.
  batchMs: 10_000,
  // After records are stored, and early enough for the alert rules, which read with a delay
  // (`subjects/slos/alert-rules.ts`).
  within: { fromMs: 2000, toMs: 12_000 },
  missed: 'skip',
  state: { version: 1, schema: z.custom<SavedMeasurement>(), empty: (): SavedMeasurement => null },
  emits: { slices: topics.sloSlices, events: topics.events },
  // Their queries wait in a queue (`../alerts/rule-batchers.ts`).
  concurrency: { total: 1000, perTenant: 1000 },
  budgetMs: 55_000,
  async run(document, { tenantId, dueMs, state, emit, signal, ports }) {
    const reader = await openTenantReader(ports, tenantId, Math.max(dueMs, Date.now()));
    if (reader === undefined) return state;
    const slo = parseSlo(document);
    const minRetentionDays = Math.min(
      ...listMeasuredSignals(slo).map((measuredSignal) => getRetentionDays(reader.plan, measuredSignal)),
    );
    const dueWindows = planMeasurements(slo, state ?? undefined, { nowMs: dueMs, retentionDays: minRetentionDays });
    const { upToMs, series } = dueWindows.next;
    const progress: MeasuredExtent =
      state?.series === series
        ? state
        : { series, fromMs: upToMs, upToMs, lateMs: dueMs, allMs: dueMs, data: dueWindows.next.data };
    const options = { reader, signal, dueMs, batcher: getRuleBatcher(ports.columns, tenantId) };
    const { slices, measured, error } = await measureSlo(document.id, slo, {
      dueWindows,
      progress,
      options,
      documents: ports.documents,
    });
    const base = {
      tenantId,
      sloId: document.id,
      series,
      lookMs: dueMs,
      error,
      fromMs: measured.fromMs,
      upToMs: measured.upToMs,
      settledUpToMs: getSettledUpToMs(measured),
      objective: {
        ...toSloObjective(slo),
        ...(await readExcludedWindows({ id: document.id, slo }, tenantId, ports, dueMs)),
      },
    };
    for (const part of slices.filter((slice) => slice.length > 0))
      emit.slices({ ...base, slices: part.map(toSliceTuple) });
    if (slices.every((slice) => slice.length === 0)) emit.slices({ ...base, slices: [] });
    const data = findDataState({ slices, measured, error }, document, dueMs);
    if (data === 'reported' && measured.data === 'no')
      emit.events(createSloNoDataEvent({ ...slo, id: document.id }, { tenantId, atMs: dueMs, series }));
    return { ...measured, data };
  },
});

/** Returns whether the SLO has had data after a check; unchanged after a failed measurement without slices. */
const findDataState = (
  { slices, measured: { data }, error }: MeasureResult,
  document: StoredMetadata,
  nowMs: number,
): MeasuredExtent['data'] => {
  const hasData = slices.some((part) => part.some(([, , total]) => total > 0));
  return advanceDataState(
    data,
    hasData || error === '' ? hasData : undefined,
    isDataOverdue(document.createdAt, nowMs),
  );
};

const toSliceTuple = ([beginMs, good, total]: MeasuredSlice): [number, number, number] => [beginMs, good, total];
