/** Resources and requests of pages by host, type or party, compared with the range before. */
import { z } from 'zod';
import type { Range } from '../../queries/range.ts';
import { rumReportsSource } from '../../queries/signals/rum-events-source.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { buildEventsCondition, type RumFilter } from './scope.ts';

export const resourceGroups = ['host', 'type', 'party', 'url'] as const;
export type ResourceGroup = (typeof resourceGroups)[number];
/** A URL without its query, so that versions of one file are one resource. */
const groupSql = {
  host: 'toString(host)',
  type: 'toString(resource_type)',
  party: 'toString(party)',
  url: 'substring(cutQueryStringAndFragment(target), 1, 512)',
} as const;

export const Resource = z.strictObject({
  value: z.string().describe('Host, type, party or URL; empty if unknown'),
  party: z.enum(['first', 'third']).nullable().describe('`first` for the site of the page; `null` if mixed or unknown'),
  types: z.array(z.string()).describe('At most ten'),
  count: z.int(),
  p75: z.number().nullable().describe('75th percentile of the duration in milliseconds, by nearest rank'),
  bytes: z.number().describe('Transferred bytes'),
  cacheHits: z.int(),
  cacheKnown: z.int().describe('Resources for which a cache hit is known; other sites may hide sizes'),
  failures: z.int().describe('Statuses of 400 and above'),
  blocking: z.int().describe('Resources that blocked rendering'),
  blockingMs: z.number().describe('Sum of their durations in milliseconds'),
  previousCount: z
    .int()
    .nullable()
    .describe('In the range of the same length that ends where the requested one begins; `null` if it is not retained'),
  previousP75: z.number().nullable(),
  changePercent: z.number().nullable().describe('Change of the percentile; positive if it became slower'),
});
export type Resource = z.output<typeof Resource>;
export const resourceSorts = ['count', 'p75', 'bytes', 'failures', 'blockingMs', 'changePercent', 'value'] as const;

export const maxResources = 10_000;

interface Row {
  readonly value: string;
  readonly parties: readonly string[];
  readonly types: readonly string[];
  readonly total: string;
  readonly p75: number | null;
  readonly bytes: string;
  readonly hits: string;
  readonly known: string;
  readonly failures: string;
  readonly blocking: string;
  readonly blocking_ms: number;
  readonly previous: string;
  readonly previous_p75: number | null;
}

const toParty = (parties: readonly string[]): Resource['party'] => {
  const [party] = parties;
  return parties.length === 1 && (party === 'first' || party === 'third') ? party : null;
};

const buildDurationsSql = (condition: string): string =>
  `arraySort(groupArrayIf(assumeNotNull(duration_ms), isNotNull(duration_ms) AND ${condition}))`;
const buildP75Sql = (sorted: string): string =>
  `if(empty(${sorted}), NULL, ${sorted}[toUInt64(ceil(0.75 * length(${sorted})))])`;

/**
 * Returns resources in no order. Requests that spans report replace the timings of the same requests in applications that
 * send both. `previousFrom` is the start of the compared range; undefined if it is not retained.
 */
export const readResources = async (
  { columns }: TenantReader,
  range: Range,
  filter: RumFilter,
  { group, previousFrom }: { readonly group: ResourceGroup; readonly previousFrom: bigint | undefined },
): Promise<Resource[]> => {
  const wholeRange = { from: previousFrom ?? range.from, to: range.to };
  const { sql, parameters } = buildEventsCondition(filter, wholeRange);
  const rows = await columns.query<Row>(
    `SELECT value, parties, types, total, ${buildP75Sql('current_durations')} AS p75, bytes, hits, known, failures, blocking_count AS blocking,
      blocking_ms, previous, ${buildP75Sql('previous_durations')} AS previous_p75
    FROM (
      SELECT value, groupUniqArrayIf(3)(toString(party), is_current) AS parties,
        arraySort(groupUniqArrayIf(10)(toString(resource_type), is_current AND resource_type != '')) AS types,
        toString(countIf(is_current)) AS total, toString(countIf(NOT is_current)) AS previous,
        ${buildDurationsSql('is_current')} AS current_durations, ${buildDurationsSql('NOT is_current')} AS previous_durations,
        toString(sumIf(ifNull(transferred, 0), is_current)) AS bytes,
        toString(countIf(is_current AND cached = 'true')) AS hits, toString(countIf(is_current AND cached != '')) AS known,
        toString(countIf(is_current AND status >= 400)) AS failures,
        toString(countIf(is_current AND blocking = 'true')) AS blocking_count,
        sumIf(ifNull(duration_ms, 0), is_current AND blocking = 'true') AS blocking_ms
      FROM (
        SELECT ${groupSql[group]} AS value, party, resource_type, duration_ms, bytes AS transferred, cached, status, blocking,
          timestamp >= fromUnixTimestamp64Nano({currentFrom:Int64}, 'UTC') AS is_current
        FROM ${rumReportsSource} WHERE kind IN ('resource', 'request') AND ${sql}
          AND NOT (kind = 'resource' AND resource_type IN ('fetch', 'xmlhttprequest') AND service IN (
            SELECT DISTINCT service FROM ${rumReportsSource} WHERE kind = 'request' AND ${sql}))
      ) GROUP BY value HAVING countIf(is_current) > 0 ORDER BY countIf(is_current) DESC, value LIMIT ${maxResources}
    )`,
    { ...parameters, currentFrom: String(range.from) },
  );
  return rows.map((row) => ({
    value: row.value,
    party: toParty(row.parties),
    types: [...row.types],
    count: Number(row.total),
    p75: row.p75,
    bytes: Number(row.bytes),
    cacheHits: Number(row.hits),
    cacheKnown: Number(row.known),
    failures: Number(row.failures),
    blocking: Number(row.blocking),
    blockingMs: row.blocking_ms,
    previousCount: previousFrom === undefined ? null : Number(row.previous),
    previousP75: row.previous_p75,
    changePercent:
      row.p75 === null || row.previous_p75 === null || row.previous_p75 === 0
        ? null
        : Number((((row.p75 - row.previous_p75) / row.previous_p75) * 100).toPrecision(6)),
  }));
};
