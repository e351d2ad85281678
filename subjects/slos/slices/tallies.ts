/** Counts slices in the database: full days from stored sums, all other slices individually. */

import type { TenantReader } from '../../../queries/tenant-reader.ts';
import { SloObjective } from '../../../schemas/slo-slices.ts';
import { countParts } from './counts.ts';
import {
  addTallies,
  emptyTally,
  exactShareBits,
  maxExactTotals,
  type Objective,
  type SliceCounts,
  type Sums,
  shareBits,
  toSums,
} from './error-budget.ts';
import { createFraction, decimalToFraction, fractionToNumber } from './fraction.ts';
import { hasEventsSql, type SloSeries, seriesCondition, toSeriesKey, toSeriesParameters } from './slices.ts';
import type { Window } from './windows.ts';

type ColumnsReader = Pick<TenantReader, 'columns'>;

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

const toTally = ({ own: partTallies, every, known, enough, parts, by_total, many }: TallyRow): SliceCounts => ({
  good: BigInt(partTallies),
  total: BigInt(every),
  slices: Number(known),
  sliceTargetCount: Number(enough),
  shares: BigInt(parts),
  byTotal:
    many === '0' ? new Map(Object.entries(by_total).map(([total, good]) => [BigInt(total), BigInt(good)])) : undefined,
});

/** Returns the key of a day's sums in `slo_days`. Good and total are always summed. */
const toDailySumKey = ({ budgeting, sliceTarget }: Objective): string =>
  budgeting === 'timeslices' && sliceTarget !== undefined ? `${budgeting} ${fractionToNumber(sliceTarget)}` : budgeting;

/** The same key in SQL, from the objective stored with the measurements; its slice target is a JSON number. */
export const countedForSql = `if(JSONExtractString(objective, 'budgeting') = 'timeslices', concat('timeslices ', JSONExtractRaw(objective, 'sliceTarget')),
    if(objective = '', 'occurrences', JSONExtractString(objective, 'budgeting')))`;

/** Parses the key of a day's sums. */
export const parseDailySumKey = (text: string): Pick<Objective, 'budgeting' | 'sliceTarget'> => {
  const [budgeting, target] = text.split(' ');
  return {
    budgeting: SloObjective.shape.budgeting.parse(budgeting),
    ...(target !== undefined && { sliceTarget: decimalToFraction(Number(target)) }),
  };
};

/** Returns the SQL of a count in billionths of an event. */
const toPartsSql = (wholeEvents: string, billionths: string): string =>
  `(${wholeEvents} * ${countParts} + ${billionths})`;

/**
 * Returns the SQL of slice counts, in billionths of an event. Products of wide integers and counts by total are the most
 * expensive, so they are only included for the methods that need them.
 */
export const sliceCountSql = ({ budgeting, sliceTarget }: Pick<Objective, 'budgeting' | 'sliceTarget'>) => {
  const { numerator, denominator } = sliceTarget ?? createFraction(1n);
  const isRatio = budgeting === 'ratio-timeslices';
  const [good, total] = [
    toPartsSql('toUInt256(good)', 'good_billionths'),
    toPartsSql('toUInt256(total)', 'total_billionths'),
  ];
  const isInexact = `(uniqExact(total) > ${maxExactTotals} OR max(good_billionths) > 0 OR max(total_billionths) > 0)`;
  return {
    own: toPartsSql('toUInt128(sum(good))', 'sum(good_billionths)'),
    every: toPartsSql('toUInt128(sum(total))', 'sum(total_billionths)'),
    known: 'count()',
    enough:
      budgeting === 'timeslices'
        ? `countIf(${good} * toUInt256('${denominator}') >= ${total} * toUInt256('${numerator}'))`
        : 'toUInt64(0)',
    parts: isRatio
      ? `sum(bitShiftLeft(intDiv(bitShiftLeft(${good}, ${exactShareBits}), ${total}), ${shareBits - exactShareBits}))`
      : 'toUInt256(0)',
    many: isRatio ? `toUInt64(${isInexact})` : 'toUInt64(0)',
    by_total: isRatio
      ? `if(${isInexact}, CAST(map(), 'Map(UInt64, UInt64)'), sumMap(map(total, good)))`
      : "CAST(map(), 'Map(UInt64, UInt64)')",
  };
};

/** Returns the SQL of daily sums. Empty if there are more totals than are added exactly. */
const dayCountSql = ({ budgeting }: Objective) => {
  const isRatio = budgeting === 'ratio-timeslices';
  return {
    own: toPartsSql('toUInt128(sumIf(good, isTrue))', 'sumIf(good_billionths, isTrue)'),
    every: toPartsSql('toUInt128(sumIf(total, isTrue))', 'sumIf(total_billionths, isTrue)'),
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

/** Counts of the parts of a window between boundaries, by series. */
class WindowPartTallies {
  readonly #talliesBySeries = new Map<string, SliceCounts[]>();
  readonly #partCount: number;

  constructor(partCount: number) {
    this.#partCount = partCount;
  }

  /** Parts are numbered from 1. */
  add({ slo_id, series, ...row }: WithSeries<TallyRow>): void {
    const key = `${slo_id} ${series}`;
    const partTallies = this.#talliesBySeries.get(key) ?? Array.from({ length: this.#partCount }, () => emptyTally);
    this.#talliesBySeries.set(key, partTallies);
    const index = Number(row.part) - 1;
    partTallies[index] = addTallies(partTallies[index] ?? emptyTally, toTally(row));
  }

  of({ sloId, series }: SloSeries, { budgeting }: Objective): Sums[] {
    const requestedRows =
      this.#talliesBySeries.get(`${sloId} ${series}`) ?? Array.from({ length: this.#partCount }, () => emptyTally);
    return requestedRows.map((tally) => toSums(tally, budgeting));
  }
}

/** Last day that the column can store. */
const lastDay = 65_535;
const formatDay = (day: number): string =>
  new Date(Math.min(Math.max(day, 0), lastDay) * dayMs).toISOString().slice(0, 10);

/** Returns the full days between the boundaries, as day numbers since 1970, and the days that a boundary divides. */
const findFullDays = (boundariesMs: readonly number[]) => {
  const partialDays = new Set(boundariesMs.filter((ms) => ms % dayMs !== 0).map((ms) => Math.floor(ms / dayMs)));
  const from = Math.ceil((boundariesMs[0] ?? 0) / dayMs);
  const to = Math.floor((boundariesMs.at(-1) ?? 0) / dayMs);
  return {
    divided: partialDays,
    from,
    to,
    whole: to - from - [...partialDays].filter((day) => day >= from && day < to).length,
  };
};

/** Returns the SQL of the number of the part that contains a time. */
const buildPartNumberSql = (time: string, boundariesMs: readonly number[], cuts: string): string =>
  boundariesMs.length === 2 ? "'1'" : `toString(arrayCount(cut -> ${time} >= cut, ${cuts}))`;

interface StaleDay {
  readonly sloId: string;
  readonly day: string;
}

/** Days whose sums are outdated for all series, and days whose sums are outdated for some series. */
interface StaleDays {
  readonly staleForAll: readonly string[];
  readonly staleForSome: readonly StaleDay[];
}

/** Listing a day once costs less than listing it with each SLO's id. */
const groupStaleDays = (stale: readonly StaleDay[], series: number): StaleDays => {
  const byDay = Map.groupBy(stale, ({ day }) => day);
  const isStaleForAll = (day: string): boolean => byDay.get(day)?.length === series;
  return {
    staleForAll: [...byDay.keys()].filter(isStaleForAll),
    staleForSome: stale.filter(({ day }) => !isStaleForAll(day)),
  };
};

/** Adds valid sums of entire days; returns the outdated ones. */
const addDailySums = async (
  { columns }: ColumnsReader,
  sloSeries: readonly SloSeries[],
  {
    boundariesMs,
    objective,
    tallies,
  }: { boundariesMs: readonly number[]; objective: Objective; tallies: WindowPartTallies },
): Promise<StaleDays | 'too many'> => {
  const { divided: partialDays, from, to } = findFullDays(boundariesMs);
  const days = `${tenantCondition} AND day >= {from:Date} AND day < {to:Date} AND day NOT IN {divided:Array(Date)}`;
  const methodCondition = objective.budgeting === 'occurrences' ? '' : ' AND counted_for = {counted:String}';
  const rows = await columns.query<WithSeries<TallyRow> & { readonly staleDays: readonly string[] }>(
    `SELECT slo_id, series, ${buildPartNumberSql('toUInt16(day)', boundariesMs, '{cuts:Array(UInt16)}')} AS part, ${selectCounts(dayCountSql(objective))},
      groupArrayIf(toString(day), NOT isTrue) AS staleDays
    FROM (
      SELECT slo_id, series, day, written, summed_changes = written${methodCondition} AS isTrue, good, total, slices, reached, shares, good_by_total, good_billionths, total_billionths
      FROM (SELECT slo_id, series, day, sum(changes) AS written FROM slo_day_changes WHERE ${days} GROUP BY slo_id, series, day) AS current
      LEFT JOIN (
        SELECT slo_id, series, day, changes AS summed_changes, good, total, slices, counted_for, reached, shares, good_by_total, good_billionths, total_billionths
        FROM slo_days FINAL WHERE ${days}
      ) AS summed USING (slo_id, series, day)
    )
    GROUP BY slo_id, series, part`,
    {
      ...toSeriesParameters(sloSeries),
      from: formatDay(from),
      to: formatDay(to),
      divided: [...partialDays].map(formatDay),
      counted: toDailySumKey(objective),
      cuts: boundariesMs.map((ms) => Math.ceil(ms / dayMs)),
    },
    { maxResultRows: 1_000_000 },
  );
  const requestedSeries = new Set(sloSeries.map(toSeriesKey));
  const own = rows.filter(({ slo_id: sloId, series }) => requestedSeries.has(toSeriesKey({ sloId, series })));
  const stale = groupStaleDays(
    own.flatMap(({ slo_id: sloId, staleDays: each }) => each.map((day) => ({ sloId, day }))),
    requestedSeries.size,
  );
  if (stale.staleForSome.length > maxStaleDays) return 'too many';
  for (const row of own) tallies.add(row);
  return stale;
};

/**
 * Returns a function that returns the sums between boundaries for each of several SLOs with the same counting
 * method.
 */
export const readSumsBetween = async (
  reader: ColumnsReader,
  sloSeries: readonly SloSeries[],
  boundariesMs: readonly number[],
  objective: Objective,
): Promise<(one: SloSeries) => Sums[]> => {
  const tallies = new WindowPartTallies(Math.max(0, boundariesMs.length - 1));
  const { divided: partialDays, whole: fullDayCount } = findFullDays(boundariesMs);
  const usesDailySums = fullDayCount >= minDays || fullDayCount * sloSeries.length >= minDaysInBatch;
  const stale = usesDailySums
    ? await addDailySums(reader, sloSeries, { boundariesMs, objective, tallies })
    : 'too many';
  const remainingDays =
    stale === 'too many' ? undefined : { ...stale, days: [...[...partialDays].map(formatDay), ...stale.staleForAll] };
  if (remainingDays?.days.length === 0 && remainingDays.staleForSome.length === 0)
    return (sloSeries) => tallies.of(sloSeries, objective);
  const remainingCondition =
    remainingDays === undefined
      ? ''
      : `AND (toDate(begin) IN {left:Array(Date)}${
          remainingDays.staleForSome.length === 0
            ? ''
            : ' OR (slo_id, toDate(begin)) IN arrayZip({stale:Array(String)}, {days:Array(Date)})'
        })`;
  const boundarySeconds = boundariesMs.map((ms) => Math.ceil(ms / 1000));
  const rows = await reader.columns.query<WithSeries<TallyRow>>(
    `SELECT slo_id, series, ${buildPartNumberSql('toUnixTimestamp(begin)', boundariesMs, '{cuts:Array(UInt32)}')} AS part, ${selectCounts(sliceCountSql(objective))}
    FROM slo_slices FINAL WHERE ${tenantCondition}
      AND begin >= toDateTime({from:UInt32}, 'UTC') AND begin < toDateTime({to:UInt32}, 'UTC') AND ${hasEventsSql} ${remainingCondition}
    GROUP BY slo_id, series, part`,
    {
      ...toSeriesParameters(sloSeries),
      cuts: boundarySeconds,
      from: boundarySeconds[0] ?? 0,
      to: boundarySeconds.at(-1) ?? 0,
      ...(remainingDays !== undefined && {
        left: remainingDays.days,
        stale: remainingDays.staleForSome.map(({ sloId }) => sloId),
        days: remainingDays.staleForSome.map(({ day }) => day),
      }),
    },
    { maxResultRows: 1_000_000 },
  );
  for (const row of rows) tallies.add(row);
  return (sloSeries) => tallies.of(sloSeries, objective);
};

/** Returns the sums of equally long parts of a window. */
export const readPartSums = async (
  { columns }: ColumnsReader,
  series: SloSeries,
  {
    window: { fromMs, toMs },
    pieceMs: partMs,
    objective,
  }: { readonly window: Window; readonly pieceMs: number; readonly objective: Objective },
): Promise<Sums[]> => {
  const pieces = new WindowPartTallies(Math.ceil((toMs - fromMs) / partMs));
  const rows = await columns.query<WithSeries<TallyRow>>(
    `SELECT slo_id, series, toString(1 + intDiv(toUnixTimestamp(begin) - {from:UInt32}, {piece:UInt32})) AS part, ${selectCounts(sliceCountSql(objective))}
    FROM slo_slices FINAL WHERE ${tenantCondition}
      AND begin >= toDateTime({from:UInt32}, 'UTC') AND begin < toDateTime({to:UInt32}, 'UTC') AND ${hasEventsSql}
    GROUP BY slo_id, series, part`,
    {
      ...toSeriesParameters([series]),
      from: Math.ceil(fromMs / 1000),
      to: Math.ceil(toMs / 1000),
      piece: partMs / 1000,
    },
    { maxResultRows: 1_000_000 },
  );
  for (const row of rows) pieces.add(row);
  return pieces.of(series, objective);
};
