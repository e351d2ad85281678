/** Reads stored slices of SLOs, and the progress of their measurement. */

import type { TenantReader } from '../../../queries/tenant-reader.ts';
import { SloObjective } from '../../../schemas/slo-slices.ts';
import { sloMeasurementsTable } from '../../../schemas/tables/slos.ts';
import { parseCount } from './counts.ts';
import type { Window } from './windows.ts';

type ColumnsReader = Pick<TenantReader, 'columns'>;

/** Start, good and total of a slice with events. Counts are decimals with at most nine fraction digits. */
export type MeasuredSlice = readonly [beginMs: number, good: number, total: number];

/** One series of an objective. */
export interface SloSeries {
  readonly sloId: string;
  readonly series: string;
}

/**
 * Condition that selects several series. The index hint compares pairs of id and series, because separate lists
 * selected nearly twice as many rows. Within these rows, ids and series are compared separately, which is cheaper.
 * The result can include rows of an SLO that once had the series of another SLO; these are filtered out later.
 */
export const seriesCondition =
  'indexHint((slo_id, series) IN arrayZip({slos:Array(String)}, {series:Array(String)})) AND slo_id IN {slos:Array(String)} AND series IN {series:Array(String)}';
export const toSeriesParameters = (sloSeries: readonly SloSeries[]) => ({
  slos: sloSeries.map(({ sloId }) => sloId),
  series: sloSeries.map(({ series }) => series),
});

/** Returns the key of a series. */
export const toSeriesKey = ({ sloId, series }: SloSeries): string => `${sloId} ${series}`;
/** Parses a key; a series has no spaces. */
export const parseSeriesKey = (key: string): SloSeries => {
  const separatorIndex = key.lastIndexOf(' ');
  return { sloId: key.slice(0, separatorIndex), series: key.slice(separatorIndex + 1) };
};

interface SliceRow {
  readonly slo_id: string;
  readonly series: string;
  readonly at_second: string;
  readonly own: string;
  readonly own_billionths: string;
  readonly every: string;
  readonly every_billionths: string;
}

/** Condition of slices with events. */
export const hasEventsSql = '(total > 0 OR total_billionths > 0)';

/** Returns slices with events of a window, in time order: of several SLOs, by `toSeriesKey`. */
export const readSlicesBySeries = async (
  { columns }: ColumnsReader,
  sloSeries: readonly SloSeries[],
  { fromMs, toMs }: Window,
): Promise<ReadonlyMap<string, MeasuredSlice[]>> => {
  const rows = await columns.query<SliceRow>(
    `SELECT slo_id, series, toString(toUnixTimestamp(begin)) AS at_second, toString(good) AS own, toString(total) AS every,
      toString(good_billionths) AS own_billionths, toString(total_billionths) AS every_billionths
    FROM slo_slices FINAL WHERE tenant_id = {tenant:String} AND ${seriesCondition}
      AND begin >= toDateTime({from:UInt32}, 'UTC') AND begin < toDateTime({to:UInt32}, 'UTC') AND ${hasEventsSql} ORDER BY begin`,
    {
      ...toSeriesParameters(sloSeries),
      from: Math.ceil(fromMs / 1000),
      to: Math.ceil(toMs / 1000),
    },
    { maxResultRows: 2_000_000 },
  );
  const slicesByKey = new Map<string, MeasuredSlice[]>(sloSeries.map((sloSeries) => [toSeriesKey(sloSeries), []]));
  for (const { slo_id: sloId, series, at_second, own, own_billionths, every, every_billionths } of rows)
    slicesByKey
      .get(toSeriesKey({ sloId, series }))
      ?.push([Number(at_second) * 1000, parseCount(own, own_billionths), parseCount(every, every_billionths)]);
  return slicesByKey;
};

/** Returns slices with events of a window, in time order. */
export const readSlices = async (
  reader: ColumnsReader,
  sloSeries: SloSeries,
  window: Window,
): Promise<MeasuredSlice[]> =>
  (await readSlicesBySeries(reader, [sloSeries], window)).get(toSeriesKey(sloSeries)) ?? [];

/** Progress of an SLO's measurement, from its last run. */
export interface LastMeasurement {
  readonly measuredAtMs: number;
  readonly fromMs: number;
  readonly upToMs: number;
  readonly settledUpToMs: number;
  /** Empty if the measurement succeeded. */
  readonly error: string;
}

interface MeasurementRow {
  readonly slo_id: string;
  readonly series: string;
  readonly measured_at: string;
  readonly from_at: string;
  readonly up_to: string;
  readonly settled: string;
  readonly error: string;
}

/** Returns the last run of each series, by id and series as `id series`; absent if there was none. */
export const readMeasurements = async (
  { columns }: ColumnsReader,
  sloIds: readonly string[],
): Promise<ReadonlyMap<string, LastMeasurement>> => {
  if (sloIds.length === 0) return new Map();
  const rows = await columns.query<MeasurementRow>(
    `SELECT slo_id, series, toString(look_ms) AS measured_at, toString(from_ms) AS from_at, toString(up_to_ms) AS up_to,
      toString(settled_up_to_ms) AS settled, error
    FROM ${sloMeasurementsTable.name} FINAL WHERE tenant_id = {tenant:String} AND slo_id IN {slos:Array(String)}`,
    { slos: [...sloIds] },
    { maxResultRows: 1_000_000 },
  );
  return new Map(
    rows.map((row) => [
      `${row.slo_id} ${row.series}`,
      {
        measuredAtMs: Number(row.measured_at),
        fromMs: Number(row.from_at),
        upToMs: Number(row.up_to),
        settledUpToMs: Number(row.settled),
        error: row.error,
      },
    ]),
  );
};

/** An SLO with the objective of its last measurement. */
export interface MeasuredSlo extends SloSeries {
  readonly objective: SloObjective;
}

/** Returns the last measurements of SLOs, by id. SLOs whose last measurement has no objective are omitted. */
export const readMeasuredSlos = async (
  { columns }: ColumnsReader,
  sloIds: readonly string[],
): Promise<ReadonlyMap<string, MeasuredSlo>> => {
  const rows = await columns.query<{ slo_id: string; newest: string; newest_objective: string }>(
    `SELECT slo_id, argMax(series, look_ms) AS newest, argMax(objective, look_ms) AS newest_objective
    FROM ${sloMeasurementsTable.name} WHERE tenant_id = {tenant:String} AND slo_id IN {slos:Array(String)} GROUP BY slo_id`,
    { slos: [...sloIds] },
    { maxResultRows: sloIds.length + 1 },
  );
  return new Map(
    rows.flatMap(({ slo_id: sloId, newest, newest_objective: objectiveJson }) => {
      const objective = SloObjective.safeParse(objectiveJson === '' ? undefined : JSON.parse(objectiveJson)).data;
      return objective === undefined ? [] : [[sloId, { sloId, series: newest, objective }] as const];
    }),
  );
};

/** Returns the slices that differ in a later run; a deleted slice has no events. */
export const findChangedSlices = (
  before: readonly MeasuredSlice[],
  after: readonly MeasuredSlice[],
): MeasuredSlice[] => {
  const slicesByStart = new Map(before.map((slice) => [slice[0], slice]));
  const newStarts = new Set(after.map(([beginMs]) => beginMs));
  return [
    ...after.filter(([beginMs, good, total]) => {
      const [, oldGood, oldTotal] = slicesByStart.get(beginMs) ?? [];
      return good !== oldGood || total !== oldTotal;
    }),
    ...before.flatMap(([beginMs]) => (newStarts.has(beginMs) ? [] : [[beginMs, 0, 0] as const])),
  ].toSorted(([left], [right]) => left - right);
};
