/**
 * Counts occurrences of errors: from the hourly aggregates in `error_hours` where possible, otherwise from single
 * occurrences.
 */
import type { Range } from '../../queries/range.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import type { ErrorScope } from './scope.ts';

const hourNs = 3_600_000_000_000n;
const hourMs = 3_600_000;
const ceilToHour = (ns: bigint): bigint => ((ns + hourNs - 1n) / hourNs) * hourNs;
const floorToHour = (ns: bigint): bigint => (ns / hourNs) * hourNs;

const compareTimes = (left: bigint, right: bigint): number => (left < right ? -1 : 1);
const toTimeSql = (ns: bigint): string => `fromUnixTimestamp64Nano(toInt64(${ns}), 'UTC')`;
const toHourSql = (ns: bigint): string => `toDateTime(${ns / 1_000_000_000n}, 'UTC')`;

/** Returns the time from which `error_hours` is complete; `undefined` if it has no rows of the organization. */
const readAggregationStart = async ({ columns }: TenantReader): Promise<number | undefined> => {
  const [row] = await columns.query<{ first: string; rows: string }>(
    'SELECT toString(toUnixTimestamp(min(received_hour))) AS first, toString(count()) AS rows FROM error_hours WHERE tenant_id = {tenant:String}',
  );
  return row === undefined || row.rows === '0' ? undefined : Number(row.first) * 1000 + hourMs;
};

const groupColumns = 'fingerprint, source, service, environment';
const buildRawOccurrencesSql = (condition: string): string =>
  `SELECT ${groupColumns}, toUInt64(1) AS occurrences, toUInt64(handled = 'false') AS not_handled,
      if(user_id = '', [], [user_id]) AS met_by, timestamp AS first_seen, timestamp AS last_seen
    FROM error_occurrences WHERE ${condition}`;

/**
 * Returns SQL of a table of occurrences in the range of the scope, some of them aggregated: `fingerprint`, `source`,
 * `service`, `environment`, `occurrences`, `not_handled`, `met_by` (users), `first_seen` and `last_seen`, which are in
 * the same hour. Uses the parameters of the scope; `more` is an additional condition. With `stepMs`, no row spans
 * several steps.
 */
export const buildCountedOccurrencesSql = async (
  reader: TenantReader,
  { from, to }: Range,
  scope: ErrorScope,
  stepMs = hourMs,
): Promise<(extraCondition: string) => string> => {
  const buildRawTable = (extraCondition: string): string =>
    `(${buildRawOccurrencesSql(scope.condition + extraCondition)})`;
  const endHourNs = floorToHour(to + 1n);
  if (stepMs % hourMs !== 0 || endHourNs - ceilToHour(from) < hourNs) return buildRawTable;
  const aggregatedFromMs = await readAggregationStart(reader);
  const aggregatedUntilMs = Math.floor(scope.receivedBeforeMs / hourMs) * hourMs;
  if (aggregatedFromMs === undefined || aggregatedFromMs >= aggregatedUntilMs) return buildRawTable;
  // If the retention of a source is shorter than the range, its hours begin later.
  const sources = scope.sources.map(({ name, from: begin }) => ({
    name,
    hour: [ceilToHour(begin), endHourNs].sort(compareTimes)[0] ?? endHourNs,
  }));
  const buildAnySource = (condition: (source: (typeof sources)[number]) => string): string =>
    `(${sources.map((source) => `(source = '${source.name}' AND ${condition(source)})`).join(' OR ')})`;
  const hours = sources.map(({ hour }) => hour).sort(compareTimes);
  const [firstHour = endHourNs, lastHour = endHourNs] = [hours[0], hours.at(-1)];
  const toReceivedSql = (timeMs: number): string => `fromUnixTimestamp64Milli(toInt64(${timeMs}), 'UTC')`;
  const aggregatedCondition = `received_at >= ${toReceivedSql(aggregatedFromMs)} AND received_at < ${toReceivedSql(aggregatedUntilMs)}`;
  return (extraCondition) =>
    `(${[
      `SELECT ${groupColumns}, occurrences, unhandled AS not_handled, users AS met_by, first_seen, last_seen FROM error_hours
        WHERE ${scope.filters}${extraCondition} AND hour >= ${toHourSql(firstHour)} AND hour < ${toHourSql(endHourNs)} AND ${buildAnySource(({ hour }) => `hour >= ${toHourSql(hour)}`)}
          AND received_hour >= toDateTime(${aggregatedFromMs / 1000}, 'UTC') AND received_hour < toDateTime(${aggregatedUntilMs / 1000}, 'UTC')`,
      // Occurrences before the first full hour and after the last one …
      buildRawOccurrencesSql(
        `${scope.condition}${extraCondition} AND ${aggregatedCondition} AND timestamp < ${toTimeSql(lastHour)} AND ${buildAnySource(({ hour }) => `timestamp < ${toTimeSql(hour)}`)}`,
      ),
      buildRawOccurrencesSql(
        `${scope.condition}${extraCondition} AND ${aggregatedCondition} AND timestamp >= ${toTimeSql(endHourNs)}`,
      ),
      // … and those received in an hour that has not ended or is not aggregated.
      buildRawOccurrencesSql(
        `${scope.condition}${extraCondition} AND received_at >= ${toReceivedSql(aggregatedUntilMs)}`,
      ),
      buildRawOccurrencesSql(
        `${scope.condition}${extraCondition} AND received_at < ${toReceivedSql(aggregatedFromMs)}`,
      ),
    ].join('\nUNION ALL ')})`;
};
