/** Reads what was measured of objectives: slices, and how far it is. */
import { SloObjective } from '../../schemas/slo-slices.ts';
import type { Reading } from '../reading.ts';
import { type Objective, type Sums, sums } from './figures.ts';
import { fraction, minus } from './fraction.ts';
import type { Window } from './windows.ts';

type OwnColumns = Pick<Reading, 'columns'>;

/** Begin, good and total of a slice that had events. */
export type MeasuredSlice = readonly [beginMs: number, good: number, total: number];

/** One series of an objective. */
export interface SloSeries {
  readonly sloId: string;
  readonly series: string;
}

const inWindow = `tenant_id = {tenant:String} AND slo_id = {slo:String} AND series = {series:String}
  AND begin >= toDateTime({from:UInt32}, 'UTC') AND begin < toDateTime({to:UInt32}, 'UTC')`;

/** Slices of a window that had events, in time order. */
export const readSlices = async (
  { columns }: OwnColumns,
  { sloId, series }: SloSeries,
  { fromMs, toMs }: Window,
): Promise<MeasuredSlice[]> => {
  const rows = await columns.query<{ at_second: string; own: string; every: string }>(
    `SELECT toString(toUnixTimestamp(begin)) AS at_second, toString(good) AS own, toString(total) AS every
    FROM slo_slices FINAL WHERE ${inWindow} AND total > 0 ORDER BY begin`,
    { slo: sloId, series, from: Math.ceil(fromMs / 1000), to: Math.ceil(toMs / 1000) },
    { maxResultRows: 1_000_000 },
  );
  return rows.map(({ at_second, own, every }) => [Number(at_second) * 1000, Number(own), Number(every)]);
};

/** How far an objective is measured, by its last look. */
export interface LastLook {
  readonly lookMs: number;
  readonly fromMs: number;
  readonly upToMs: number;
  readonly settledUpToMs: number;
  /** Empty where it could be measured. */
  readonly error: string;
}

interface LookRow {
  readonly slo_id: string;
  readonly series: string;
  readonly look: string;
  readonly from_at: string;
  readonly up_to: string;
  readonly settled: string;
  readonly error: string;
}

/** The last look at each series of objectives, by id and series as `id series`; absent where there was none. */
export const readLooks = async (
  { columns }: OwnColumns,
  sloIds: readonly string[],
): Promise<ReadonlyMap<string, LastLook>> => {
  if (sloIds.length === 0) return new Map();
  const rows = await columns.query<LookRow>(
    `SELECT slo_id, series, toString(look_ms) AS look, toString(from_ms) AS from_at, toString(up_to_ms) AS up_to,
      toString(settled_up_to_ms) AS settled, error
    FROM slo_looks FINAL WHERE tenant_id = {tenant:String} AND slo_id IN {slos:Array(String)}`,
    { slos: [...sloIds] },
    { maxResultRows: 1_000_000 },
  );
  return new Map(
    rows.map((row) => [
      `${row.slo_id} ${row.series}`,
      {
        ...{ lookMs: Number(row.look), fromMs: Number(row.from_at), upToMs: Number(row.up_to) },
        ...{ settledUpToMs: Number(row.settled), error: row.error },
      },
    ]),
  );
};

/** What an objective is measured as by its last look. */
export interface StandingSlo extends SloSeries {
  readonly objective: SloObjective;
}

/** The last look at objectives, by id; absent where there was none that says what their figures are made by. */
export const readStanding = async (
  { columns }: OwnColumns,
  sloIds: readonly string[],
): Promise<ReadonlyMap<string, StandingSlo>> => {
  const rows = await columns.query<{ slo_id: string; newest: string; told: string }>(
    `SELECT slo_id, argMax(series, look_ms) AS newest, argMax(objective, look_ms) AS told
    FROM slo_looks WHERE tenant_id = {tenant:String} AND slo_id IN {slos:Array(String)} GROUP BY slo_id`,
    { slos: [...sloIds] },
    { maxResultRows: sloIds.length + 1 },
  );
  return new Map(
    rows.flatMap(({ slo_id: sloId, newest, told }) => {
      const objective = SloObjective.safeParse(told === '' ? undefined : JSON.parse(told)).data;
      return objective === undefined ? [] : [[sloId, { sloId, series: newest, objective }] as const];
    }),
  );
};

interface SumsRow {
  readonly part: string;
  readonly own: string;
  readonly every: string;
  readonly slices: string;
  readonly reached: string;
}

/** Wide products cost more than all else, so that only those ask for them who count slices. */
const summedSql = ({ budgeting }: Objective): string =>
  `toString(${budgeting === 'ratio-timeslices' ? 'total' : 'sum(total)'}) AS every, toString(sum(good)) AS own, toString(count()) AS slices,
      ${
        budgeting === 'timeslices'
          ? 'toString(countIf(toUInt256(good) * toUInt256({under:String}) >= toUInt256(total) * toUInt256({over:String})))'
          : "'0'"
      } AS reached`;

/** Slices of one part of the time: one row, or of `ratio-timeslices` one for each total. */
const sumsIn = (rows: readonly SumsRow[], objective: Objective): Sums => {
  if (objective.budgeting === 'ratio-timeslices') {
    const grouped = rows.map(({ own, every }) => ({ fromMs: 0, good: BigInt(own), total: BigInt(every) }));
    const slices = rows.reduce((sum, row) => sum + Number(row.slices), 0);
    const { good } = sums(grouped, objective);
    const total = fraction(BigInt(slices));
    return { good, bad: minus(total, good), total, known: slices };
  }
  const [row] = rows;
  if (row === undefined) return sums([], objective);
  const isOfSlices = objective.budgeting === 'timeslices';
  const [good, total] = isOfSlices ? [BigInt(row.reached), BigInt(row.slices)] : [BigInt(row.own), BigInt(row.every)];
  return { good: fraction(good), bad: fraction(total - good), total: fraction(total), known: Number(row.slices) };
};

/** Sums of pieces between cuts, of many objectives with one statement: by `id series`. */
export const readCuts = async (
  { columns }: OwnColumns,
  of: readonly SloSeries[],
  cutsMs: readonly number[],
  objective: Objective,
): Promise<(one: SloSeries) => Sums[]> => {
  const cuts = cutsMs.map((ms) => Math.ceil(ms / 1000));
  const isRatio = objective.budgeting === 'ratio-timeslices';
  const { over, under } = objective.sliceTarget ?? fraction(1n);
  const rows = await columns.query<SumsRow & { readonly slo_id: string; readonly series: string }>(
    `SELECT slo_id, series, toString(length(arrayFilter(cut -> toUnixTimestamp(begin) >= cut, {cuts:Array(UInt32)}))) AS part,
      ${summedSql(objective)}
    FROM slo_slices FINAL WHERE tenant_id = {tenant:String} AND slo_id IN {slos:Array(String)} AND series IN {series:Array(String)}
      AND begin >= toDateTime({from:UInt32}, 'UTC') AND begin < toDateTime({to:UInt32}, 'UTC') AND total > 0
    GROUP BY slo_id, series, part${isRatio ? ', total' : ''}`,
    {
      ...{ slos: of.map(({ sloId }) => sloId), series: [...new Set(of.map(({ series }) => series))], cuts },
      ...{ from: cuts[0] ?? 0, to: cuts.at(-1) ?? 0, over: String(over), under: String(under) },
    },
    { maxResultRows: 1_000_000 },
  );
  const bySeries = Map.groupBy(rows, (row) => `${row.slo_id} ${row.series}`);
  return ({ sloId, series }) => {
    const byPart = Map.groupBy(bySeries.get(`${sloId} ${series}`) ?? [], ({ part }) => Number(part));
    return cuts.slice(1).map((_, index) => sumsIn(byPart.get(index + 1) ?? [], objective));
  };
};

/** Sums of pieces of a window, side by side. */
export const readPieces = async (
  { columns }: OwnColumns,
  { sloId, series }: SloSeries,
  {
    window: { fromMs, toMs },
    pieceMs,
    objective,
  }: { readonly window: Window; readonly pieceMs: number; readonly objective: Objective },
): Promise<Sums[]> => {
  const isRatio = objective.budgeting === 'ratio-timeslices';
  const { over, under } = objective.sliceTarget ?? fraction(1n);
  const rows = await columns.query<SumsRow>(
    `SELECT toString(intDiv(toUnixTimestamp(begin) - {from:UInt32}, {piece:UInt32})) AS part, ${summedSql(objective)}
    FROM slo_slices FINAL WHERE ${inWindow} AND total > 0 GROUP BY part${isRatio ? ', total' : ''}`,
    {
      ...{ slo: sloId, series, from: Math.ceil(fromMs / 1000), to: Math.ceil(toMs / 1000), piece: pieceMs / 1000 },
      ...{ over: String(over), under: String(under) },
    },
    { maxResultRows: 1_000_000 },
  );
  const byPart = Map.groupBy(rows, ({ part }) => Number(part));
  const pieces = Math.ceil((toMs - fromMs) / pieceMs);
  return Array.from({ length: pieces }, (_, index) => sumsIn(byPart.get(index) ?? [], objective));
};

/** Those of a later look that say otherwise; one that is gone has no events any more. */
export const changedSlices = (before: readonly MeasuredSlice[], after: readonly MeasuredSlice[]): MeasuredSlice[] => {
  const known = new Map(before.map((slice) => [slice[0], slice]));
  const found = new Set(after.map(([beginMs]) => beginMs));
  return [
    ...after.filter(([beginMs, good, total]) => {
      const [, knownGood, knownTotal] = known.get(beginMs) ?? [];
      return good !== knownGood || total !== knownTotal;
    }),
    ...before.flatMap(([beginMs]) => (found.has(beginMs) ? [] : [[beginMs, 0, 0] as const])),
  ].toSorted(([one], [other]) => one - other);
};
