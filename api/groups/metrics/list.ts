import { z } from 'zod';
import { decodeCursor, encodeCursor, integer } from '../../../queries/cursor.ts';
import { projectScopeCondition, projectScopeParameters, projectScopeValues } from '../../../queries/project-scope.ts';
import { rangeOf, rangeParameters, refuseBeyondRetention, serviceParameter } from '../../../queries/range.ts';
import { formatTime } from '../../../queries/time.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { listCache } from '../../kernel/result-cache.ts';
import { readSeries, Series } from './series.ts';

const kind = 'metrics';
const hourNs = 3_600_000_000_000n;

/** A metric as the catalogue shows it. */
const Metric = z.strictObject({
  name: z.string(),
  type: z
    .string()
    .describe('gauge, sum, histogram, exponential_histogram, summary, or the type in Prometheus metadata'),
  unit: z.string(),
  description: z.string(),
  temporality: z.enum(['unspecified', 'delta', 'cumulative']),
  monotonic: z.boolean(),
  labels: z.array(z.string()),
  services: z.array(z.string()),
  seriesCount: z.int(),
  firstSeen: z.string(),
  lastSeen: z.string(),
  series: z.array(Series).optional().describe('With `name`: its series with their points in the range'),
});

const Query = z.strictObject({
  ...rangeParameters,
  ...serviceParameter,
  ...projectScopeParameters,
  search: z.string().max(1024).optional().describe('Words that must all occur in the name or the description'),
  name: z.string().max(512).optional().describe('Name of one metric, to get its series and points'),
});

export const listMetrics = defineOperation({
  method: 'GET',
  path: '/api/metrics',
  operationId: 'listMetrics',
  summary: 'List metrics of a time range by name; with `name`, the points of one metric',
  role: 'viewer',
  cache: listCache,
  query: Query,
  response: z.strictObject({ items: z.array(Metric), nextCursor: z.string().nullable() }),
  async handler({ caller, query }, { columns, clock }) {
    const nowMs = clock.now();
    const page = query.cursor === undefined ? undefined : pageOf(query.cursor);
    const range = page ?? rangeOf(query, { caller, signal: 'metrics', nowMs });
    if (page !== undefined) refuseBeyondRetention(range, { caller, signal: 'metrics', nowMs, graceNs: hourNs });
    const reader = columns.of(caller.tenantId);
    const { sql, parameters } = selection(query, range, page?.name);
    const rows = await reader.query<Row>(`${sql} LIMIT ${query.limit + 1}`, parameters);
    const shown = rows.slice(0, query.limit);
    const last = shown.at(-1);
    const series = query.name === undefined ? undefined : await readSeries(reader, query.name, range, query);
    return {
      items: shown.map((row) => ({ ...metricOf(row), ...(series && { series }) })),
      nextCursor:
        rows.length > query.limit && last !== undefined
          ? encodeCursor(kind, [range.from, range.to, Buffer.from(last.name).toString('base64url')])
          : null,
    };
  },
});

type Query = z.output<typeof Query>;

/** A series' row is written once an hour while it has points, so it may lie an hour before the range. */
const selection = (
  query: Query,
  { from, to }: { from: bigint; to: bigint },
  after: string | undefined,
): { sql: string; parameters: Record<string, string> } => {
  const parameters: Record<string, string> = {
    from: String((from - hourNs) / 1_000_000n),
    to: String(to / 1_000_000n),
    ...projectScopeValues(query),
  };
  const conditions = ['tenant_id = {tenant:String}'];
  const add = (condition: string, name: string, value: string | undefined): void => {
    if (value === undefined) return;
    conditions.push(condition);
    parameters[name] = value;
  };
  add('metric = {name:String}', 'name', query.name);
  add('metric > {after:String}', 'after', after);
  add('series.service = {service:String}', 'service', query.service);
  add(
    "hasAllTokens(lowerUTF8(concat(series.metric, ' ', series.description)), tokens(lowerUTF8({search:String})))",
    'search',
    query.search,
  );
  const sql = `SELECT metric AS name, any(kind) AS type, any(series.unit) AS unit, any(series.description) AS description,
      any(series.temporality) AS temporality, any(series.monotonic) AS monotonic, arraySort(groupUniqArrayArray(1000)(mapKeys(attributes))) AS labels,
      arraySort(groupUniqArray(1000)(service)) AS services, toString(uniq(series_id)) AS series_count,
      toString(toUnixTimestamp64Milli(min(first_seen))) AS first, toString(toUnixTimestamp64Milli(max(last_seen))) AS last
    FROM series WHERE ${conditions.join(' AND ')}${projectScopeCondition(query)}
    GROUP BY metric HAVING max(last_seen) >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND min(first_seen) <= fromUnixTimestamp64Milli({to:Int64}, 'UTC')
    ORDER BY metric`;
  return { sql, parameters };
};

interface Row {
  readonly name: string;
  readonly type: string;
  readonly unit: string;
  readonly description: string;
  readonly temporality: number;
  readonly monotonic: boolean;
  readonly labels: readonly string[];
  readonly services: readonly string[];
  readonly series_count: string;
  readonly first: string;
  readonly last: string;
}

const temporalities = ['unspecified', 'delta', 'cumulative'] as const;

const metricOf = (row: Row): z.input<typeof Metric> => ({
  name: row.name,
  type: row.type,
  unit: row.unit,
  description: row.description,
  temporality: temporalities[row.temporality] ?? 'unspecified',
  monotonic: row.monotonic,
  labels: [...row.labels],
  services: row.services.filter((service) => service !== ''),
  seriesCount: Number(row.series_count),
  firstSeen: formatTime(BigInt(row.first) * 1_000_000n),
  lastSeen: formatTime(BigInt(row.last) * 1_000_000n),
});

const pageOf = (cursor: string): { from: bigint; to: bigint; name: string } => {
  const [from = '', to = '', name = ''] = decodeCursor(kind, cursor, [integer, integer, /^[\w-]+$/]);
  return { from: BigInt(from), to: BigInt(to), name: Buffer.from(name, 'base64url').toString('utf8') };
};
