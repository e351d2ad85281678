/**
 * Sums of calls by hour. Reads of many calls use the sums of whole hours, and read the other calls one by one.
 *
 * Sums of an hour are current as long as nothing was written to the hour, and the same prices of the organization apply
 * in it. So every change is effective at once, whenever hours are summed: an outdated hour is read call by call.
 *
 * A view counts the changes of each hour. On several shards, each has the sums of its calls. Numbers of changes only
 * grow, so equal totals of them mean that the sums of all shards are current.
 *
 * Many calls that are read one by one are divided by time: merging the parts of a table takes memory for each of them.
 */
import {
  buildCallsSource,
  buildContainersSource,
  llmCallsSource,
  llmContainersSource,
  ownPricesSql,
  requestedSpans,
  type SpanSelection,
  selectTracesWithCalls,
  tokenColumns,
} from '../../queries/signals/llm-calls-source.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import type { QueryParameters } from '../../schemas/ports/columns.ts';
import type { LlmScope } from './scope.ts';

export const hourMs = 3_600_000;

/** Hours are seconds of 32 bits. */
const endOfHours = 2n ** 32n * 1_000_000_000n;

/** Number of changes from which sums are read. Below, calls are read within the same time, with exact quantiles. */
const minChanges = 200_000;
/** Maximum number of separate ranges of calls beside the sums. */
const maxRanges = 100;
/** Maximum number of changes of the calls that one statement reads, unless they are of one hour. */
const maxChangesPerPart = 1_000_000;
/** Maximum number of groups of an hour: groups of a busy hour with other names for each call would be no summary. */
const maxGroups = 20_000;
const maxContainers = 20_000;

const callDimensions = ['project_id', 'provider', 'model', 'is_failed', 'error_type', 'usage_problem'];
const dimensionColumns = [...callDimensions, 'currency', 'price_problem'];
const sumColumns = ['calls', ...Object.values(tokenColumns), 'cost', 'reported_amount', 'reporting'] as const;
const otherColumns = ['last_seen', 'duration_bucket', 'duration_count'] as const;
const arrayColumns = [...dimensionColumns, ...sumColumns, ...otherColumns] as const;
export type SummedColumn = (typeof sumColumns)[number] | (typeof otherColumns)[number];
const containerColumns = ['trace_id', ...callDimensions];

/** Returns the SQL of a hash of the prices that apply in an hour, 0 if none does. `own_prices` are those of the tenant. */
const buildPriceHashSql = (hour: string): string => {
  const from = `toInt64(toUnixTimestamp(${hour})) * 1000000000`;
  const to = `(toInt64(toUnixTimestamp(${hour})) + 3600) * 1000000000`;
  const applying = `arrayFilter(price -> price.valid_from < ${to} AND price.valid_to > ${from}, own_prices)`;
  const clipped = `arrayMap(price -> (price, greatest(price.valid_from, ${from}), least(price.valid_to, ${to})), ${applying})`;
  return `if(empty(${applying}), toUInt64(0), cityHash64(toString(arrayMap(each -> (each.1.provider, each.1.match, each.1.text, each.1.above, each.1.up_to, each.1.currency, each.1.rates, each.1.rank, each.1.price_id, each.2, each.3), ${clipped}))))`;
};

export interface HourChanges {
  /** Seconds since 1970. */
  readonly hour: number;
  readonly changes: string;
}

/** Returns the SELECT of hours of a tenant whose sums were computed with other prices, with their changes. */
export const selectHoursWithOtherPrices = (tenant: string, ownPrices: string): string =>
  `WITH ${ownPrices} AS own_prices
  SELECT toUnixTimestamp(hour) AS hour, toString(current_changes) AS changes
  FROM (SELECT hour, sum(changes) AS current_changes FROM llm_hour_changes WHERE tenant_id = ${tenant} GROUP BY hour) AS current
  INNER JOIN (SELECT hour, price_hash FROM llm_hours FINAL WHERE tenant_id = ${tenant}) AS summed USING (hour)
  WHERE price_hash != ${buildPriceHashSql('hour')}`;

/**
 * Returns the INSERT of a change of all hours of a tenant, after calls were deleted: sums that were computed before, and
 * may be written later, are outdated. Every change counts, so replicas must not take it for a repeated insert.
 */
export const insertHourChanges = (tenant: string): string =>
  `INSERT INTO llm_hour_changes (tenant_id, hour, changes, changed_at) SETTINGS insert_deduplicate = 0
  SELECT tenant_id, hour, 1, now('UTC') FROM llm_hour_changes WHERE tenant_id = ${tenant} GROUP BY tenant_id, hour`;

/** Returns the INSERT of the sums of hours of a tenant. */
export const insertHourSums = (
  hours: readonly HourChanges[],
  { tenant, ownPrices }: { readonly tenant: string; readonly ownPrices: string },
): string => {
  const seconds = hours.map(({ hour }) => hour);
  const [first, last] = [Math.min(...seconds), Math.max(...seconds)];
  const selectSpans = (from: number, to: number): SpanSelection => ({
    tenant,
    ownPrices,
    range: `llm_calls.timestamp >= toDateTime64(${from}, 9, 'UTC') AND llm_calls.timestamp < toDateTime64(${to}, 9, 'UTC')`,
  });
  const spans = selectSpans(first, last + 3_600);
  const containers = buildContainersSource(spans);
  // Most calls of a trace that crosses the hour are stored by then. The others are found when the sums are read.
  const tracesWithCalls = selectTracesWithCalls(
    `SELECT trace_id FROM ${containers}`,
    selectSpans(first - 3_600, last + 7_200),
  );
  const dimensions = dimensionColumns.join(', ');
  const inHours = `toUnixTimestamp(hour) IN (${seconds.join(', ')})`;
  const hourSql = "toDateTime(toStartOfHour(timestamp), 'UTC') AS hour";
  return `INSERT INTO llm_hours (tenant_id, hour, changes, price_hash, summed_at, is_complete, ${arrayColumns.join(', ')}, containers)
  WITH ${ownPrices} AS own_prices
  SELECT ${tenant}, hour, changes, ${buildPriceHashSql('hour')}, now64(3, 'UTC'), group_count <= ${maxGroups} AND container_count <= ${maxContainers},
    ${[...arrayColumns, 'containers'].map((column) => `summed_${column}`).join(', ')}
  FROM (
    SELECT toDateTime(toUInt32(requested.1), 'UTC') AS hour, requested.2 AS changes
    FROM (SELECT arrayJoin([${hours.map(({ hour, changes }) => `(${hour}, toUInt64(${changes}))`).join(', ')}]) AS requested)
  ) AS requested_hours
  LEFT JOIN (
    SELECT hour, count() AS group_count, ${arrayColumns.map((column) => `groupArray(${maxGroups})(${column}) AS summed_${column}`).join(', ')}
    FROM (
      SELECT hour, ${dimensions}, ${sumColumns.map((column) => `sum(bucket_${column}) AS ${column}`).join(', ')},
        max(bucket_last_seen) AS last_seen, groupArray(bucket) AS duration_bucket, groupArray(bucket_calls) AS duration_count
      FROM (
        SELECT ${hourSql}, ${dimensions}, duration_bucket[1] AS bucket, ${sumColumns.map((column) => `sum(${column}) AS bucket_${column}`).join(', ')},
          max(last_seen) AS bucket_last_seen
        FROM ${buildCallsSource(spans)}
        WHERE ${inHours}
        GROUP BY hour, ${dimensions}, bucket)
      GROUP BY hour, ${dimensions})
    GROUP BY hour
  ) AS groups USING (hour)
  LEFT JOIN (
    SELECT hour, count() AS container_count, groupArray(${maxContainers})((${containerColumns.join(', ')})) AS summed_containers
    FROM (
      SELECT DISTINCT ${hourSql}, ${containerColumns.join(', ')} FROM ${containers}
      WHERE ${inHours} AND trace_id NOT IN (${tracesWithCalls}))
    GROUP BY hour
  ) AS uncounted USING (hour)`;
};

/** Returns a FROM clause of calls. */
type CallsBuilder = (columns: readonly SummedColumn[]) => string;

/** What to read instead of all calls of a range. */
export interface CallSource {
  /** Whether it contains sums of hours. */
  readonly isSummed: boolean;
  /**
   * Each returns a FROM clause with some of the calls, or sums of calls: `calls` is their number. All columns of calls
   * are there without sums, and otherwise the dimensions and the named ones.
   */
  readonly parts: readonly CallsBuilder[];
  /**
   * FROM clauses of agents, workflows and chains with tokens of their own. With sums or several parts, those of traces
   * without calls in the hour or the part.
   */
  readonly containers: readonly string[];
  /** All spans of the range: those of each part. */
  readonly spans: readonly SpanSelection[];
}

const unsummedCalls: CallSource = {
  isSummed: false,
  parts: [() => llmCallsSource],
  containers: [llmContainersSource],
  spans: [requestedSpans],
};

/** Reads the rows of all parts, one part after the other. */
export const readParts = async <Row>(
  { parts }: CallSource,
  read: (buildCalls: CallsBuilder) => Promise<Row[]>,
): Promise<Row[]> => {
  const rows: Row[][] = [];
  for (const part of parts) rows.push(await read(part));
  return rows.flat();
};

interface HourRow {
  readonly hour: number;
  readonly changes: string;
  readonly summed_changes: string;
  readonly is_complete: number;
  /** Least and greatest hash of the prices, of several shards. */
  readonly price_hashes: readonly [least: string, greatest: string];
  readonly price_count: string;
}

type TimeRange = [first: bigint, last: bigint];

/**
 * Divides a range without its summed hours by numbers of changes. Returns the ranges of each part, in nanoseconds, both
 * inclusive.
 */
const divideOtherCalls = (
  { range: { from, to }, maxPartChanges = maxChangesPerPart }: Pick<LlmScope, 'range' | 'maxPartChanges'>,
  summedHours: readonly number[],
  changes: ReadonlyMap<number, number>,
): TimeRange[][] => {
  const summed = new Set(summedHours);
  const ends = [from, to].map((time) => Number(time / 1_000_000_000n));
  const hours = new Set([...changes.keys(), ...ends.map((second) => second - (second % 3_600))]);
  const parts: TimeRange[][] = [];
  let changesOfPart = 0;
  /** End of the previous range, if there are only hours without calls since then. */
  let previousEnd: bigint | undefined;
  for (const hour of [...hours].sort((left, right) => left - right)) {
    if (summed.has(hour)) {
      previousEnd = undefined;
      continue;
    }
    const start: bigint = previousEnd === undefined ? BigInt(hour) * 1_000_000_000n : previousEnd + 1n;
    const end = BigInt(hour + 3_600) * 1_000_000_000n - 1n;
    const changesOfHour = changes.get(hour) ?? 0;
    const part = parts.at(-1);
    const last = part?.at(-1);
    changesOfPart += changesOfHour;
    if (part === undefined || changesOfPart > maxPartChanges) {
      parts.push([[start, end]]);
      changesOfPart = changesOfHour;
    } else if (previousEnd !== undefined && last !== undefined) last[1] = end;
    else part.push([start, end]);
    previousEnd = end;
  }
  return parts.map((ranges) =>
    ranges.map(([start, end]): TimeRange => [start < from ? from : start, end > to ? to : end]),
  );
};

/** Returns the spans of ranges. */
const selectRanges = (ranges: readonly TimeRange[]): SpanSelection => ({
  ...requestedSpans,
  range: `(${
    ranges
      .map(
        ([start, end]) =>
          `llm_calls.timestamp >= fromUnixTimestamp64Nano(toInt64(${start}), 'UTC') AND llm_calls.timestamp <= fromUnixTimestamp64Nano(toInt64(${end}), 'UTC')`,
      )
      .join(' OR ') || 'false'
  })`,
});

/** Reads the hashes of current prices for the hours of a range. */
const readPriceHashes = (
  { columns }: Pick<TenantReader, 'columns'>,
  inRange: string,
  parameters: QueryParameters,
): Promise<{ readonly hour: number; readonly hash: string }[]> =>
  columns.query(
    `WITH ${ownPricesSql} AS own_prices
    SELECT toUnixTimestamp(hour) AS hour, toString(${buildPriceHashSql('hour')}) AS hash
    FROM (SELECT DISTINCT hour FROM llm_hour_changes WHERE ${inRange})`,
    parameters,
  );

const inRange =
  "tenant_id = {tenant:String} AND hour >= toStartOfHour(fromUnixTimestamp64Nano({from:Int64}, 'UTC')) AND hour <= fromUnixTimestamp64Nano({to:Int64}, 'UTC')";
const currentHours = `SELECT hour, sum(changes) AS current_changes FROM llm_hour_changes WHERE ${inRange} GROUP BY hour`;
const changesSql = 'toUnixTimestamp(hour) AS hour, toString(current_changes) AS changes';
const hoursSql = `SELECT ${changesSql}, toString(summed_changes) AS summed_changes, is_complete,
  [toString(least_hash), toString(greatest_hash)] AS price_hashes, toString((SELECT count() FROM llm_prices WHERE tenant_id = {tenant:String})) AS price_count
FROM (${currentHours}) AS current
LEFT JOIN (
  SELECT hour, sum(changes) AS summed_changes, min(is_complete) AS is_complete, min(price_hash) AS least_hash, max(price_hash) AS greatest_hash
  FROM llm_hours FINAL WHERE ${inRange} GROUP BY hour
) AS summed USING (hour)`;

/** Returns the hours whose sums can be read, of those of a range. */
const findSummedHours = async (
  { columns }: Pick<TenantReader, 'columns'>,
  rows: readonly HourRow[],
  { range, parameters }: Pick<LlmScope, 'range' | 'parameters'>,
): Promise<number[]> => {
  const hasPrices = rows.some((row) => row.price_count !== '0');
  const priceHashes = new Map(
    hasPrices ? (await readPriceHashes({ columns }, inRange, parameters)).map(({ hour, hash }) => [hour, hash]) : [],
  );
  const isCurrent = (row: HourRow): boolean =>
    row.summed_changes === row.changes &&
    row.is_complete === 1 &&
    row.price_hashes.every((hash) => hash === (priceHashes.get(row.hour) ?? '0'));
  const isWhole = (hour: number): boolean =>
    BigInt(hour) * 1_000_000_000n >= range.from && BigInt(hour + 3_600) * 1_000_000_000n - 1n <= range.to;
  return rows.filter((row) => isCurrent(row) && isWhole(row.hour)).map(({ hour }) => hour);
};

const containerNames = ['tenant_id', 'timestamp', ...containerColumns];

/** Returns the SELECT of containers in traces without calls, among the selected spans. */
const selectContainersWithoutCalls = (spans: SpanSelection, names?: readonly string[]): string => {
  const containers = buildContainersSource(spans, names);
  const tracesWithCalls = selectTracesWithCalls(`SELECT trace_id FROM ${containers}`, spans);
  return `SELECT ${names?.join(', ') ?? '*'} FROM ${containers} WHERE trace_id NOT IN (${tracesWithCalls})`;
};

const buildContainersWithoutCalls = (spans: SpanSelection): string =>
  `(${selectContainersWithoutCalls(spans)}) AS llm_calls`;

/** Returns the calls of hours with sums, and the others. */
const buildSummedSource = (
  hours: readonly number[],
  parts: readonly (readonly TimeRange[])[],
  spans: CallSource['spans'],
): CallSource => {
  const inSummedHours = `tenant_id = {tenant:String} AND hour >= toDateTime(${Math.min(...hours)}, 'UTC') AND hour <= toDateTime(${Math.max(...hours)}, 'UTC')
    AND toUnixTimestamp(hour) IN (${hours.join(', ')})`;
  const buildOtherCalls = (ranges: readonly TimeRange[], columns: readonly SummedColumn[]): string =>
    buildCallsSource(selectRanges(ranges), ['tenant_id', 'timestamp', ...dimensionColumns, ...columns]);
  const [firstRanges = [], ...otherParts] = parts;
  const buildCalls: CallsBuilder = (columns) => {
    // All arrays of an ARRAY JOIN are read.
    const arrays = [...dimensionColumns, ...columns];
    return `(
      SELECT tenant_id, toDateTime64(hour, 9, 'UTC') AS timestamp, ${arrays.join(', ')} FROM llm_hours FINAL ARRAY JOIN ${arrays.join(', ')} WHERE ${inSummedHours}
      UNION ALL SELECT ${['tenant_id', 'timestamp', ...arrays].join(', ')} FROM ${buildOtherCalls(firstRanges, columns)}) AS llm_calls`;
  };
  return {
    isSummed: true,
    parts: [
      buildCalls,
      ...otherParts.map(
        (ranges): CallsBuilder =>
          (columns) =>
            buildOtherCalls(ranges, columns),
      ),
    ],
    containers: [
      `(
        SELECT ${containerNames.join(', ')}, '' AS currency, '' AS price_problem FROM (
          SELECT tenant_id, toDateTime64(hour, 9, 'UTC') AS timestamp, ${containerColumns.map((column) => `container.${column} AS ${column}`).join(', ')}
          FROM llm_hours FINAL ARRAY JOIN containers AS container WHERE ${inSummedHours}
          UNION ALL ${selectContainersWithoutCalls(selectRanges(firstRanges), containerNames)})) AS llm_calls`,
      ...otherParts.map((ranges) => buildContainersWithoutCalls(selectRanges(ranges))),
    ],
    spans,
  };
};

/** Returns what to read for a scope: sums of whole hours and the other calls, or all calls if those are few. */
export const findCallSource = async (
  { columns }: Pick<TenantReader, 'columns'>,
  scope: LlmScope,
): Promise<CallSource> => {
  const { range, isSummable, minSummedChanges = minChanges } = scope;
  if (range.to >= endOfHours) return unsummedCalls;
  const parameters = { from: String(range.from), to: String(range.to) };
  const rows = await columns.query<HourRow>(
    isSummable ? hoursSql : `SELECT ${changesSql} FROM (${currentHours})`,
    parameters,
  );
  const changes = new Map(rows.map((row) => [row.hour, Number(row.changes)]));
  if ([...changes.values()].reduce((sum, each) => sum + each, 0) < minSummedChanges) return unsummedCalls;
  const hours = isSummable ? await findSummedHours({ columns }, rows, { range, parameters }) : [];
  const allSpans = divideOtherCalls(scope, [], changes).map(selectRanges);
  if (hours.length > 0) {
    const parts = divideOtherCalls(scope, hours, changes);
    const spans = parts.length > 1 ? allSpans : [requestedSpans];
    if (parts.flat().length <= maxRanges) return buildSummedSource(hours, parts, spans);
  }
  return {
    isSummed: false,
    parts: allSpans.map((spans) => () => buildCallsSource(spans)),
    containers: allSpans.length === 1 ? [llmContainersSource] : allSpans.map(buildContainersWithoutCalls),
    spans: allSpans,
  };
};
