/**
 * Counts occurrences of errors: from the hourly aggregates in `error_hours` where possible, otherwise from single
 * occurrences.
 */
import type { Range } from '../../queries/range.ts';
import type { Reading } from '../../queries/reading.ts';
import type { ErrorScope } from './scope.ts';

const hourNs = 3_600_000_000_000n;
const hourMs = 3_600_000;
const ceilToHour = (ns: bigint): bigint => ((ns + hourNs - 1n) / hourNs) * hourNs;
const floorToHour = (ns: bigint): bigint => (ns / hourNs) * hourNs;

const byTime = (one: bigint, other: bigint): number => (one < other ? -1 : 1);
const timeSql = (ns: bigint): string => `fromUnixTimestamp64Nano(toInt64(${ns}), 'UTC')`;
const hourSql = (ns: bigint): string => `toDateTime(${ns / 1_000_000_000n}, 'UTC')`;

/** Returns the time from which `error_hours` is complete; `undefined` if it has no rows of the organization. */
const readAggregationStart = async ({ columns }: Reading): Promise<number | undefined> => {
  const [row] = await columns.query<{ first: string; rows: string }>(
    'SELECT toString(toUnixTimestamp(min(received_hour))) AS first, toString(count()) AS rows FROM error_hours WHERE tenant_id = {tenant:String}',
  );
  return row === undefined || row.rows === '0' ? undefined : Number(row.first) * 1000 + hourMs;
};

const groupColumns = 'fingerprint, source, service, environment';
const rawOccurrencesSql = (condition: string): string =>
  `SELECT ${groupColumns}, toUInt64(1) AS occurrences, toUInt64(handled = 'false') AS not_handled,
      if(user_id = '', [], [user_id]) AS met_by, timestamp AS first_seen, timestamp AS last_seen
    FROM error_occurrences WHERE ${condition}`;

/**
 * Returns SQL of a table of occurrences in the range of the scope, some of them aggregated: `fingerprint`, `source`,
 * `service`, `environment`, `occurrences`, `not_handled`, `met_by` (users), `first_seen` and `last_seen`, which are in
 * the same hour. Uses the parameters of the scope; `more` is an additional condition. With `stepMs`, no row spans
 * several steps.
 */
export const countedOccurrences = async (
  reading: Reading,
  { from, to }: Range,
  scope: ErrorScope,
  stepMs = hourMs,
): Promise<(more: string) => string> => {
  const raw = (more: string): string => `(${rawOccurrencesSql(scope.condition + more)})`;
  const end = floorToHour(to + 1n);
  if (stepMs % hourMs !== 0 || end - ceilToHour(from) < hourNs) return raw;
  const complete = await readAggregationStart(reading);
  const aggregatedUntilMs = Math.floor(scope.receivedBeforeMs / hourMs) * hourMs;
  if (complete === undefined || complete >= aggregatedUntilMs) return raw;
  // If the retention of a source is shorter than the range, its hours begin later.
  const sources = scope.sources.map(({ name, from: begin }) => ({
    name,
    hour: [ceilToHour(begin), end].sort(byTime)[0] ?? end,
  }));
  const anySource = (condition: (source: (typeof sources)[number]) => string): string =>
    `(${sources.map((source) => `(source = '${source.name}' AND ${condition(source)})`).join(' OR ')})`;
  const hours = sources.map(({ hour }) => hour).sort(byTime);
  const [first = end, last = end] = [hours[0], hours.at(-1)];
  const receivedSql = (at: number): string => `fromUnixTimestamp64Milli(toInt64(${at}), 'UTC')`;
  const inBetween = `received_at >= ${receivedSql(complete)} AND received_at < ${receivedSql(aggregatedUntilMs)}`;
  return (more) =>
    `(${[
      `SELECT ${groupColumns}, occurrences, unhandled AS not_handled, users AS met_by, first_seen, last_seen FROM error_hours
        WHERE ${scope.filters}${more} AND hour >= ${hourSql(first)} AND hour < ${hourSql(end)} AND ${anySource(({ hour }) => `hour >= ${hourSql(hour)}`)}
          AND received_hour >= toDateTime(${complete / 1000}, 'UTC') AND received_hour < toDateTime(${aggregatedUntilMs / 1000}, 'UTC')`,
      // Occurrences before the first full hour and after the last one …
      rawOccurrencesSql(
        `${scope.condition}${more} AND ${inBetween} AND timestamp < ${timeSql(last)} AND ${anySource(({ hour }) => `timestamp < ${timeSql(hour)}`)}`,
      ),
      rawOccurrencesSql(`${scope.condition}${more} AND ${inBetween} AND timestamp >= ${timeSql(end)}`),
      // … and those received in an hour that has not ended or is not aggregated.
      rawOccurrencesSql(`${scope.condition}${more} AND received_at >= ${receivedSql(aggregatedUntilMs)}`),
      rawOccurrencesSql(`${scope.condition}${more} AND received_at < ${receivedSql(complete)}`),
    ].join('\nUNION ALL ')})`;
};
