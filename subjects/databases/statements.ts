/** Database statements by normalized form: their cost, their callers, and other telemetry that contains them. */

import { z } from 'zod';
import { requireReadAccess } from '../../queries/entitlement.ts';
import {
  buildProjectScopeCondition,
  type ProjectScope,
  toProjectScopeParameters,
} from '../../queries/project-scope.ts';
import type { Range } from '../../queries/range.ts';
import { seriesSeenCondition, toSeriesSeenParameters } from '../../queries/series-first-seen.ts';
import { parseSort } from '../../queries/sort.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { toExactNumberOrText } from '../../queries/time.ts';
import { buildBucketSql } from '../../schemas/tables/durations.ts';
import { buildFirstAttributeSql, quoteString } from '../../schemas/tables/literal.ts';
import { CallDurations, type QuantilesRow, quantileColumns, toDurations } from '../services/call-metrics.ts';
import { buildStatementDigestSql, buildStatementFormSql, truncationMark } from './statement-form.ts';
import { attributeKeys, buildSystemExpression, getCurrentSystemName } from './systems.ts';

export const Statement = z.strictObject({
  digest: z
    .string()
    .describe('Digest, equal for this statement in spans, logs and metrics; the part before the dash is the version'),
  engine: z.string().describe('Product, by its current name in the semantic conventions; empty if senders name none'),
  statement: z
    .string()
    .describe('Normalized statement: ? represents any number of values, and no literals of the sender remain'),
  isTruncated: z.boolean().describe('Whether senders truncated it: several statements may have this beginning'),
  databases: z.array(z.string()).describe('Databases; up to 10'),
  collections: z.array(z.string()).describe('Tables or collections named by senders; up to 10'),
  services: z.array(z.string()).describe('Calling services; up to 20'),
  calls: z.int(),
  errors: z.int(),
  errorRate: z.number().describe('Error rate, 0 to 1'),
  callsPerSecond: z.number(),
  duration: z
    .strictObject({
      sum: z.union([z.number(), z.string()]),
      share: z.number(),
      ...CallDurations.shape,
    })
    .describe(
      'Duration as measured by callers. `share` is relative to all statements that match the filter. Quantiles are accurate within 4.4 %',
    ),
  slowest: z.strictObject({ traceId: z.string(), spanId: z.string() }),
  logs: z
    .int()
    .nullable()
    .describe('Number of log records with this statement; `null` if the plan does not include logs'),
  series: z
    .int()
    .nullable()
    .describe('Number of time series with this statement; `null` if the plan does not include metrics'),
});
export type Statement = z.output<typeof Statement>;

const sortExpressions = {
  time: 'toFloat64(sum(duration_sum))',
  calls: 'toFloat64(sum(calls))',
  errors: 'toFloat64(sum(errors))',
  mean: 'sum(duration_sum) / sum(calls)',
  max: 'toFloat64(max(duration_max))',
} as const;

/** Sort orders of statements, all descending. */
export const statementSorts = [
  '-time',
  '-calls',
  '-errors',
  '-mean',
  '-max',
] as const satisfies readonly `-${keyof typeof sortExpressions}`[];

export interface StatementQuery extends ProjectScope {
  readonly engine?: string | undefined;
  readonly service?: string | undefined;
  readonly database?: string | undefined;
  /** A part of the normalized form, ignoring case. */
  readonly search?: string | undefined;
  readonly sort: (typeof statementSorts)[number];
  readonly limit: number;
  /** Position of the last statement of the previous page. */
  readonly after?: { readonly value: string; readonly digest: string } | undefined;
}

interface Row extends QuantilesRow {
  readonly digest: string;
  readonly engine: string;
  readonly shown: string;
  readonly databases: readonly string[];
  readonly collections: readonly string[];
  readonly services: readonly string[];
  readonly all_calls: string;
  readonly all_errors: string;
  readonly lasted: string;
  readonly trace: string;
  readonly span: string;
  readonly place: string;
  readonly total: number;
}

const isJsonSystemSql =
  "system IN ('mongodb', 'elasticsearch', 'opensearch', 'couchdb', 'azure.cosmosdb', 'aws.dynamodb')";

/**
 * Query text of a span: its statement, or else its summary, operation and collection, or name. Document queries do not
 * contain their collection, which is added.
 */
const spanTextExpression = `multiIf(statement != '', if(${isJsonSystemSql} AND collection != '', concat(collection, ' ', statement), statement), summary != '', summary, operation != '', trimRight(concat(operation, ' ', collection)), name)`;

const rangeCondition =
  "timestamp >= fromUnixTimestamp64Nano({from:Int64}, 'UTC') AND timestamp <= fromUnixTimestamp64Nano({to:Int64}, 'UTC')";

/** Returns the SQL for client spans of databases, grouped by query text, so that each text is normalized once. */
const buildStatementsSql = (query: StatementQuery): string => {
  const conditions = [
    ...(query.engine === undefined ? [] : [`system = {engine:String}`]),
    ...(query.database === undefined ? [] : ['namespace = {database:String}']),
  ];
  return `SELECT ${spanTextExpression} AS text, system, count() AS calls, countIf(status_code = 2) AS errors, sum(duration) AS duration_sum, max(duration) AS duration_max,
      sumMap(map(${buildBucketSql('duration')}, toUInt64(1))) AS duration_buckets, argMax((trace_id, span_id), duration) AS slowest,
      groupUniqArray(10)(namespace) AS databases, groupUniqArray(10)(collection) AS collections, groupUniqArray(20)(service) AS services
    FROM (SELECT ${buildSystemExpression(buildFirstAttributeSql(attributeKeys.system))} AS system, ${buildFirstAttributeSql(attributeKeys.namespace)} AS namespace, ${buildFirstAttributeSql(attributeKeys.statement)} AS statement,
        ${buildFirstAttributeSql(attributeKeys.summary)} AS summary, ${buildFirstAttributeSql(attributeKeys.operation)} AS operation, ${buildFirstAttributeSql(attributeKeys.collection)} AS collection,
        name, duration, status_code, service, trace_id, span_id
      FROM spans WHERE tenant_id = {tenant:String} AND ${rangeCondition} AND kind = 3${query.service === undefined ? '' : ' AND service = {service:String}'}${buildProjectScopeCondition(query)}
        AND (system != '' OR namespace != ''))
    ${conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`} GROUP BY text, system`;
};

/** Returns statements of a range in sort order. Returns one more than `limit` if there are more. */
export const readStatements = async (
  reader: TenantReader,
  query: StatementQuery,
  range: Range,
): Promise<
  { readonly statement: Statement; readonly place: { readonly value: string; readonly digest: string } }[]
> => {
  requireReadAccess(reader, 'traces');
  const sortExpression = sortExpressions[parseSort(query.sort).by];
  const parameters: Record<string, string> = {
    from: String(range.from),
    to: String(range.to),
    ...toProjectScopeParameters(query),
    ...(query.engine === undefined ? {} : { engine: getCurrentSystemName(query.engine) }),
    ...(query.service === undefined ? {} : { service: query.service }),
    ...(query.database === undefined ? {} : { database: query.database }),
    ...(query.search === undefined ? {} : { search: query.search }),
    ...(query.after === undefined ? {} : { value: query.after.value, digest: query.after.digest }),
  };
  const rows = await reader.columns.query<Row>(
    `SELECT * FROM (SELECT digest, system AS engine, any(form) AS shown, arraySort(arrayFilter(x -> x != '', groupUniqArrayArray(10)(databases))) AS databases,
      arraySort(arrayFilter(x -> x != '', groupUniqArrayArray(10)(collections))) AS collections, arraySort(groupUniqArrayArray(20)(services)) AS services,
      toString(sum(calls)) AS all_calls, toString(sum(errors)) AS all_errors, toString(sum(duration_sum)) AS lasted, ${quantileColumns},
      lower(hex(argMax(slowest.1, duration_max))) AS trace, lower(hex(argMax(slowest.2, duration_max))) AS span,
      ${sortExpression} AS number, toString(number) AS place, sum(toFloat64(sum(duration_sum))) OVER () AS total
    FROM (SELECT *, ${buildStatementFormSql('text', 'system')} AS form, ${buildStatementDigestSql('form', 'system')} AS digest FROM (${buildStatementsSql(query)}))
    ${query.search === undefined ? '' : 'WHERE positionCaseInsensitive(form, {search:String}) > 0'}
    GROUP BY digest, system)
    ${query.after === undefined ? '' : 'WHERE (number, digest) < (toFloat64({value:String}), {digest:String})'}
    ORDER BY number DESC, digest DESC LIMIT ${query.limit + 1}`,
    parameters,
  );
  const digests = rows.map(({ digest }) => digest);
  const telemetryScope = { range, projectId: query.projectId, scope: query.scope };
  const [logs, series] = await Promise.all([
    countOccurrences(reader, logStatements, digests, telemetryScope),
    countOccurrences(reader, seriesStatements, digests, telemetryScope),
  ]);
  const seconds = Math.max(1, Number(range.to - range.from)) / 1e9;
  return rows.map((row) => ({
    statement: toStatement(row, {
      seconds,
      logs: logs?.get(row.digest) ?? (logs && 0),
      series: series?.get(row.digest) ?? (series && 0),
    }),
    place: { value: row.place, digest: row.digest },
  }));
};

const toStatement = (
  row: Row,
  { seconds, logs, series }: { seconds: number; logs: number | undefined; series: number | undefined },
): Statement => {
  const calls = Number(row.all_calls);
  const errors = Number(row.all_errors);
  return {
    digest: row.digest,
    engine: row.engine,
    statement: row.shown,
    isTruncated: row.shown.endsWith(truncationMark),
    databases: [...row.databases],
    collections: [...row.collections],
    services: [...row.services],
    calls,
    errors,
    errorRate: errors / calls,
    callsPerSecond: calls / seconds,
    duration: {
      sum: toExactNumberOrText(row.lasted),
      share: row.total === 0 ? 0 : Number(row.lasted) / row.total,
      ...toDurations(row, Number(row.lasted) / calls),
    },
    slowest: { traceId: row.trace, spanId: row.span },
    logs: logs ?? null,
    series: series ?? null,
  };
};

const textAndSystem = `${buildFirstAttributeSql(attributeKeys.statement)} AS text, ${buildSystemExpression(buildFirstAttributeSql(attributeKeys.system))} AS system`;

/** Events in which receivers report the statements that a database itself counts or observes. */
const logStatements = {
  signal: 'logs',
  texts: (scope: ProjectScope) => `SELECT ${textAndSystem}, count() AS times FROM logs
    WHERE tenant_id = {tenant:String} AND ${rangeCondition} AND event_name IN ('db.server.query_sample', 'db.server.top_query') AND text != ''${buildProjectScopeCondition(scope)} GROUP BY text, system`,
} as const;

const seriesStatements = {
  signal: 'metrics',
  texts: (scope: ProjectScope) => `SELECT ${textAndSystem}, uniqExact(series_id) AS times FROM series
    WHERE tenant_id = {tenant:String} AND ${seriesSeenCondition} AND (${attributeKeys.statement.map((key) => `mapContains(attributes, ${quoteString(key)})`).join(' OR ')})${buildProjectScopeCondition(scope)} GROUP BY text, system`,
} as const;

/**
 * Returns the number of occurrences of each digest in another telemetry signal; undefined if the plan does not include
 * the signal.
 */
const countOccurrences = async (
  { plan, columns }: TenantReader,
  { signal, texts }: typeof logStatements | typeof seriesStatements,
  digests: readonly string[],
  { range, ...scope }: ProjectScope & { readonly range: Range },
): Promise<ReadonlyMap<string, number> | undefined> => {
  if (!plan.entitlements.includes(signal)) return undefined;
  if (digests.length === 0) return new Map();
  const rows = await columns.query<{ digest: string; all: string }>(
    `SELECT digest, toString(sum(times)) AS all FROM (SELECT times, ${buildStatementFormSql('text', 'system')} AS form, ${buildStatementDigestSql('form', 'system')} AS digest FROM (${texts(scope)}))
    WHERE digest IN {digests:Array(String)} GROUP BY digest`,
    {
      from: String(range.from),
      to: String(range.to),
      digests,
      ...toSeriesSeenParameters(range),
      ...toProjectScopeParameters(scope),
    },
  );
  return new Map(rows.map(({ digest, all }) => [digest, Number(all)]));
};
