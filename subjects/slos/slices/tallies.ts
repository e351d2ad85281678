/** Counts slices in the engine: entire days from stored sums, and other slices individually. */

import type { Reading } from '../../../queries/reading.ts';
import { SloObjective } from '../../../schemas/slo-slices.ts';
import { addTallies, emptyTally, exactTotals, type Objective, type Sums, type Tally, toSums } from './figures.ts';
import { asNumber, decimal, fraction } from './fraction.ts';
import { type SloSeries, seriesCondition, seriesKey, seriesParameters } from './slices.ts';
import type { Window } from './windows.ts';

type OwnColumns = Pick<Reading, 'columns'>;

const dayMs = 86_400_000;
/** Maximum number of days with outdated sums that are listed individually; beyond it all slices are read. */
const maxStaleDays = 2000;

/** Number of days below which reading slices costs less than another statement. */
const minDays = 4;
/** The same limit for all SLOs of a batch. */
const minDaysInBatch = 20;

interface TallyRow {
  readonly part: string;
  readonly own: string;
  readonly every: string;
  readonly known: string;
  readonly enough: string;
  readonly parts: string;
  readonly by_total: Readonly<Record<string, string>>;
  readonly many: string;
}

const toTally = ({ own, every, known, enough, parts, by_total, many }: TallyRow): Tally => ({
  good: BigInt(own),
  total: BigInt(every),
  slices: Number(known),
  reached: Number(enough),
  shares: BigInt(parts),
  byTotal:
    many === '0' ? new Map(Object.entries(by_total).map(([total, good]) => [BigInt(total), BigInt(good)])) : undefined,
});

/** Returns the key of a day's sums in `slo_days`. Good and total are always summed. */
const dailySumKey = ({ budgeting, sliceTarget }: Objective): string =>
  budgeting === 'timeslices' && sliceTarget !== undefined ? `${budgeting} ${asNumber(sliceTarget)}` : budgeting;

/** The same key in SQL, from the objective stored with the measurements; its slice target is a JSON number. */
export const countedForSql = `if(JSONExtractString(objective, 'budgeting') = 'timeslices', concat('timeslices ', JSONExtractRaw(objective, 'sliceTarget')),
    if(objective = '', 'occurrences', JSONExtractString(objective, 'budgeting')))`;

/** Parses the key of a day's sums. */
export const parseDailySumKey = (text: string): Pick<Objective, 'budgeting' | 'sliceTarget'> => {
  const [budgeting, target] = text.split(' ');
  return {
    budgeting: SloObjective.shape.budgeting.parse(budgeting),
    ...(target !== undefined && { sliceTarget: decimal(Number(target)) }),
  };
};

/**
 * Returns the SQL of slice counts. Wide products and totals are the most expensive, so only methods that need them
 * include them.
 */
export const sliceCountSql = ({ budgeting, sliceTarget }: Pick<Objective, 'budgeting' | 'sliceTarget'>) => {
  const { numerator: over, denominator: under } = sliceTarget ?? fraction(1n);
  const isRatio = budgeting === 'ratio-timeslices';
  return {
    own: 'sum(good)',
    every: 'sum(total)',
    known: 'count()',
    enough:
      budgeting === 'timeslices'
        ? `countIf(toUInt256(good) * toUInt256('${under}') >= toUInt256(total) * toUInt256('${over}'))`
        : 'toUInt64(0)',
    parts: isRatio ? 'sum(intDiv(bitShiftLeft(toUInt256(good), 190), toUInt256(total)))' : 'toUInt256(0)',
    many: isRatio ? `toUInt64(uniqExact(total) > ${exactTotals})` : 'toUInt64(0)',
    by_total: isRatio
      ? `if(uniqExact(total) > ${exactTotals}, CAST(map(), 'Map(UInt64, UInt64)'), sumMap(map(total, good)))`
      : "CAST(map(), 'Map(UInt64, UInt64)')",
  };
};

/** Returns the SQL of daily sums. Empty if there are more totals than are added exactly. */
const dayCountSql = ({ budgeting }: Objective) => {
  const isRatio = budgeting === 'ratio-timeslices';
  return {
    own: 'sumIf(good, isTrue)',
    every: 'sumIf(total, isTrue)',
    known: 'sumIf(slices, isTrue)',
    enough: 'sumIf(reached, isTrue)',
    parts: isRatio ? 'sumIf(shares, isTrue)' : "'0'",
    many: isRatio ? 'countIf(isTrue AND slices > 0 AND empty(good_by_total))' : "'0'",
    by_total: isRatio ? 'sumMapIf(good_by_total, isTrue)' : "CAST(map(), 'Map(UInt64, UInt64)')",
  };
};

const selectCounts = (counts: Readonly<Record<string, string>>): string =>
  Object.entries(counts)
    .map(([name, sql]) => (name === 'by_total' ? `${sql} AS ${name}` : `toString(${sql}) AS ${name}`))
    .join(', ');

type WithSeries<Row> = Row & { readonly slo_id: string; readonly series: string };

const tenantCondition = `tenant_id = {tenant:String} AND ${seriesCondition}`;

/** Counts of the pieces between cuts, by series. */
class PieceTallies {
  readonly #talliesBySeries = new Map<string, Tally[]>();
  readonly #pieces: number;

  constructor(pieces: number) {
    this.#pieces = pieces;
  }

  /** Parts are numbered from 1. */
  add({ slo_id, series, ...row }: WithSeries<TallyRow>): void {
    const key = `${slo_id} ${series}`;
    const own = this.#talliesBySeries.get(key) ?? Array.from({ length: this.#pieces }, () => emptyTally);
    this.#talliesBySeries.set(key, own);
    const index = Number(row.part) - 1;
    own[index] = addTallies(own[index] ?? emptyTally, toTally(row));
  }

  of({ sloId, series }: SloSeries, { budgeting }: Objective): Sums[] {
    const own =
      this.#talliesBySeries.get(`${sloId} ${series}`) ?? Array.from({ length: this.#pieces }, () => emptyTally);
    return own.map((tally) => toSums(tally, budgeting));
  }
}

/** Last day that the column can store. */
const lastDay = 65_535;
const formatDay = (day: number): string =>
  new Date(Math.min(Math.max(day, 0), lastDay) * dayMs).toISOString().slice(0, 10);

/** Returns the days entirely between two cuts, as day numbers since 1970, and the days that a cut divides. */
const wholeDaysBetween = (cutsMs: readonly number[]) => {
  const divided = new Set(cutsMs.filter((ms) => ms % dayMs !== 0).map((ms) => Math.floor(ms / dayMs)));
  const from = Math.ceil((cutsMs[0] ?? 0) / dayMs);
  const to = Math.floor((cutsMs.at(-1) ?? 0) / dayMs);
  return { divided, from, to, whole: to - from - [...divided].filter((day) => day >= from && day < to).length };
};

/** Returns SQL of the number of the piece that contains a time. */
const pieceNumberSql = (time: string, cutsMs: readonly number[], cuts: string): string =>
  cutsMs.length === 2 ? "'1'" : `toString(arrayCount(cut -> ${time} >= cut, ${cuts}))`;

interface StaleDay {
  readonly sloId: string;
  readonly day: string;
}

/** Days with outdated sums for all series, and those outdated for some. */
interface StaleDays {
  readonly ofAll: readonly string[];
  readonly ofSome: readonly StaleDay[];
}

/** Listing a day once costs less than listing it with each SLO's id. */
const groupStaleDays = (stale: readonly StaleDay[], series: number): StaleDays => {
  const byDay = Map.groupBy(stale, ({ day }) => day);
  const isOfAll = (day: string): boolean => byDay.get(day)?.length === series;
  return {
    ofAll: [...byDay.keys()].filter(isOfAll),
    ofSome: stale.filter(({ day }) => !isOfAll(day)),
  };
};

/** Adds valid sums of entire days; returns the outdated ones. */
const addDailySums = async (
  { columns }: OwnColumns,
  of: readonly SloSeries[],
  { cutsMs, objective, pieces }: { cutsMs: readonly number[]; objective: Objective; pieces: PieceTallies },
): Promise<StaleDays | 'too many'> => {
  const { divided, from, to } = wholeDaysBetween(cutsMs);
  const days = `${tenantCondition} AND day >= {from:Date} AND day < {to:Date} AND day NOT IN {divided:Array(Date)}`;
  const isFor = objective.budgeting === 'occurrences' ? '' : ' AND counted_for = {counted:String}';
  const rows = await columns.query<WithSeries<TallyRow> & { readonly stale: readonly string[] }>(
    `SELECT slo_id, series, ${pieceNumberSql('toUInt16(day)', cutsMs, '{cuts:Array(UInt16)}')} AS part, ${selectCounts(dayCountSql(objective))},
      groupArrayIf(toString(day), NOT isTrue) AS stale
    FROM (
      SELECT slo_id, series, day, written, summed_changes = written${isFor} AS isTrue, good, total, slices, reached, shares, good_by_total
      FROM (SELECT slo_id, series, day, sum(changes) AS written FROM slo_day_changes WHERE ${days} GROUP BY slo_id, series, day) AS current
      LEFT JOIN (
        SELECT slo_id, series, day, changes AS summed_changes, good, total, slices, counted_for, reached, shares, good_by_total
        FROM slo_days FINAL WHERE ${days}
      ) AS summed USING (slo_id, series, day)
    )
    GROUP BY slo_id, series, part`,
    {
      ...seriesParameters(of),
      from: formatDay(from),
      to: formatDay(to),
      divided: [...divided].map(formatDay),
      counted: dailySumKey(objective),
      cuts: cutsMs.map((ms) => Math.ceil(ms / dayMs)),
    },
    { maxResultRows: 1_000_000 },
  );
  const requestedSeries = new Set(of.map(seriesKey));
  const own = rows.filter(({ slo_id: sloId, series }) => requestedSeries.has(seriesKey({ sloId, series })));
  const stale = groupStaleDays(
    own.flatMap(({ slo_id: sloId, stale: each }) => each.map((day) => ({ sloId, day }))),
    requestedSeries.size,
  );
  if (stale.ofSome.length > maxStaleDays) return 'too many';
  for (const row of own) pieces.add(row);
  return stale;
};

/** Returns the sums of pieces between cuts, of many SLOs with equal counting, by `id series`. */
export const readCuts = async (
  reading: OwnColumns,
  of: readonly SloSeries[],
  cutsMs: readonly number[],
  objective: Objective,
): Promise<(one: SloSeries) => Sums[]> => {
  const pieces = new PieceTallies(Math.max(0, cutsMs.length - 1));
  const { divided, whole } = wholeDaysBetween(cutsMs);
  const usesDailySums = whole >= minDays || whole * of.length >= minDaysInBatch;
  const stale = usesDailySums ? await addDailySums(reading, of, { cutsMs, objective, pieces }) : 'too many';
  const left = stale === 'too many' ? undefined : { ...stale, days: [...[...divided].map(formatDay), ...stale.ofAll] };
  if (left?.days.length === 0 && left.ofSome.length === 0) return (one) => pieces.of(one, objective);
  const remainingCondition =
    left === undefined
      ? ''
      : `AND (toDate(begin) IN {left:Array(Date)}${
          left.ofSome.length === 0
            ? ''
            : ' OR (slo_id, toDate(begin)) IN arrayZip({stale:Array(String)}, {days:Array(Date)})'
        })`;
  const cuts = cutsMs.map((ms) => Math.ceil(ms / 1000));
  const rows = await reading.columns.query<WithSeries<TallyRow>>(
    `SELECT slo_id, series, ${pieceNumberSql('toUnixTimestamp(begin)', cutsMs, '{cuts:Array(UInt32)}')} AS part, ${selectCounts(sliceCountSql(objective))}
    FROM slo_slices FINAL WHERE ${tenantCondition}
      AND begin >= toDateTime({from:UInt32}, 'UTC') AND begin < toDateTime({to:UInt32}, 'UTC') AND total > 0 ${remainingCondition}
    GROUP BY slo_id, series, part`,
    {
      ...seriesParameters(of),
      cuts,
      from: cuts[0] ?? 0,
      to: cuts.at(-1) ?? 0,
      ...(left !== undefined && {
        left: left.days,
        stale: left.ofSome.map(({ sloId }) => sloId),
        days: left.ofSome.map(({ day }) => day),
      }),
    },
    { maxResultRows: 1_000_000 },
  );
  for (const row of rows) pieces.add(row);
  return (one) => pieces.of(one, objective);
};

/** Returns the sums of a window's pieces. */
export const readPieces = async (
  { columns }: OwnColumns,
  series: SloSeries,
  {
    window: { fromMs, toMs },
    pieceMs,
    objective,
  }: { readonly window: Window; readonly pieceMs: number; readonly objective: Objective },
): Promise<Sums[]> => {
  const pieces = new PieceTallies(Math.ceil((toMs - fromMs) / pieceMs));
  const rows = await columns.query<WithSeries<TallyRow>>(
    `SELECT slo_id, series, toString(1 + intDiv(toUnixTimestamp(begin) - {from:UInt32}, {piece:UInt32})) AS part, ${selectCounts(sliceCountSql(objective))}
    FROM slo_slices FINAL WHERE ${tenantCondition}
      AND begin >= toDateTime({from:UInt32}, 'UTC') AND begin < toDateTime({to:UInt32}, 'UTC') AND total > 0
    GROUP BY slo_id, series, part`,
    {
      ...seriesParameters([series]),
      from: Math.ceil(fromMs / 1000),
      to: Math.ceil(toMs / 1000),
      piece: pieceMs / 1000,
    },
    { maxResultRows: 1_000_000 },
  );
  for (const row of rows) pieces.add(row);
  return pieces.of(series, objective);
};
