/** Rules for a tenant's query, and filters that restrict the query to its tenant. */

import { PermanentError } from '../../schemas/errors.ts';
import {
  explainPrefix,
  type QueryLimits,
  type QueryParameters,
  type TenantColumns,
} from '../../schemas/ports/columns.ts';
import { tenantTables } from '../../schemas/tables/index.ts';
import { quoteString } from '../../schemas/tables/literal.ts';
import { type Token, tokenize } from './sql-text.ts';

/**
 * Table functions that bypass the filters, and functions that read files. The engine also rejects functions with
 * network access (url, s3, remote …) in read-only mode.
 */
const forbiddenFunctions =
  /^(?:merge|mergeTree\w*|loop|dictionary|eval|executable|view|viewIfPermitted|viewExplain|fuzzQuery|input|file|fileCluster|filesystem|catBoostEvaluate|url|urlCluster|remote|remoteSecure|cluster|clusterAllReplicas|jdbc|odbc|mysql|postgresql|mongodb|redis|sqlite|hdfs\w*|s3\w*|gcs|oss|cosn|azureBlobStorage\w*|iceberg\w*|deltaLake\w*|hudi\w*|paimon\w*|ytsaurus|arrowstream|prometheusQuery\w*|timeSeries(?:Selector|Metrics|Tags|Samples|Data))$/i;
const foreignDatabases = /^[`"]?(?:system|information_schema)[`"]?$/i;

const rejectQuery = (action: string): never => {
  throw new PermanentError('bad-query', `a tenant's query must not ${action}`);
};

const checkToken = (token: Token, previousText: string, nextText: string): void => {
  const name = token.text.toLowerCase();
  if (token.text === ';') rejectQuery('contain several statements');
  if (token.kind !== 'word' && token.kind !== 'quoted') return;
  if (nextText === '.' && previousText !== '.' && foreignDatabases.test(token.text)) rejectQuery(`read ${token.text}`);
  if (nextText === '(' && forbiddenFunctions.test(token.text.replace(/^[`"]|[`"]$/g, '')))
    rejectQuery(`call ${token.text}`);
  if (token.kind === 'quoted') return;
  if (name === 'settings' && previousText !== '.') rejectQuery('contain settings');
  if (name === 'outfile') rejectQuery('write a file');
  if (name === 'format' && nextText !== '(' && previousText !== '.') rejectQuery('specify a format');
};

/**
 * The first tenant check: requires a single SELECT that contains `{tenant:String}` and cannot bypass the tenant filter.
 */
const checkTenantSql = (sql: string): void => {
  const statement = sql.startsWith(explainPrefix) ? sql.slice(explainPrefix.length) : sql;
  const tokens = tokenize(statement).filter(({ kind }) => kind !== 'space' && kind !== 'comment');
  if (!/^(?:select|with)$/i.test(tokens[0]?.text ?? '')) rejectQuery('be anything but a SELECT');
  for (const [index, token] of tokens.entries())
    checkToken(token, tokens[index - 1]?.text ?? '', tokens[index + 1]?.text ?? '');
  if (!tokens.some(({ kind, name, type }) => kind === 'parameter' && name === 'tenant' && type === 'String'))
    throw new PermanentError('bad-query', 'a tenant’s query must filter by the parameter {tenant:String}');
};

/** Returns the caller's parameters with the tenant bound last, so that none of them can replace it. */
const bindTenant = (tenantId: string, parameters: QueryParameters): QueryParameters => ({
  ...parameters,
  tenant: tenantId,
});

const listTableNames = (databases: readonly string[]): readonly string[] =>
  tenantTables.flatMap(({ name }) => [name, ...databases.map((database) => `${database}.${name}`)]).map(quoteString);
const tenantTableNames = listTableNames([]);

/**
 * The second tenant check: a filter for every table with a tenant, which the engine applies to every read of the table.
 * Returns the value of `additional_table_filters` as a map literal of the engine; empty for reads of the platform
 * itself. It applies to tables of the connection's database, and to tables of the given other databases.
 */
export const buildTenantFilters = (
  tenantId: string | undefined,
  databases: readonly string[] = [],
): string | undefined => {
  if (tenantId === undefined) return undefined;
  const names = databases.length === 0 ? tenantTableNames : listTableNames(databases);
  const filter = quoteString(`tenant_id = ${quoteString(tenantId)}`);
  return `{${names.map((name) => `${name}: ${filter}`).join(', ')}}`;
};

/** Runs queries that passed the first check; the engine applies the second one. */
interface ReadFunctions {
  getWatermark(tenant: Pick<TenantColumns, 'tenantId' | 'query'>, table: string): Promise<number | undefined>;
  readonly getChangeCount?: TenantColumns['getChangeCount'];
  queryRows<Row>(sql: string, parameters: QueryParameters, limits: QueryLimits, tenantId: string): Promise<Row[]>;
  queryNative(sql: string, parameters: QueryParameters, limits: QueryLimits, tenantId: string): Promise<Uint8Array>;
}

/** Returns the reads of one tenant, with both tenant checks. */
export const createTenantColumns = (tenantId: string, source: WeakKey, reads: ReadFunctions): TenantColumns => {
  const query = async <Row>(
    sql: string,
    parameters: QueryParameters = {},
    limits: QueryLimits = {},
  ): Promise<Row[]> => {
    checkTenantSql(sql);
    return reads.queryRows<Row>(sql, bindTenant(tenantId, parameters), limits, tenantId);
  };
  return {
    tenantId,
    source,
    query,
    queryNative: async (sql, parameters = {}, limits = {}) => {
      checkTenantSql(sql);
      return reads.queryNative(sql, bindTenant(tenantId, parameters), limits, tenantId);
    },
    getStoredUpToMs: (table) => reads.getWatermark({ tenantId, query }, table),
    ...(reads.getChangeCount && { getChangeCount: reads.getChangeCount }),
  };
};
