/** The rules for a tenant's query, and the filters by which the engine restricts it to its tenant. */

import { PermanentError } from '../../schemas/errors.ts';
import { explained, type QueryLimits, type QueryParameters, type TenantColumns } from '../../schemas/ports/columns.ts';
import { tenantTables } from '../../schemas/tables/index.ts';
import { quote } from '../../schemas/tables/literal.ts';
import { type Token, tokensOf } from './sql-text.ts';

/**
 * Table functions that read other tables past the filters, and functions that read files. Those that go out (url, s3,
 * remote …) are refused by the engine too, in read-only mode.
 */
const forbiddenFunctions =
  /^(?:merge|mergeTree\w*|loop|dictionary|eval|executable|view|viewIfPermitted|viewExplain|fuzzQuery|input|file|fileCluster|filesystem|catBoostEvaluate|url|urlCluster|remote|remoteSecure|cluster|clusterAllReplicas|jdbc|odbc|mysql|postgresql|mongodb|redis|sqlite|hdfs\w*|s3\w*|gcs|oss|cosn|azureBlobStorage\w*|iceberg\w*|deltaLake\w*|hudi\w*|paimon\w*|ytsaurus|arrowstream|prometheusQuery\w*|timeSeries(?:Selector|Metrics|Tags|Samples|Data))$/i;
const foreignDatabases = /^[`"]?(?:system|information_schema)[`"]?$/i;

const refuse = (what: string): never => {
  throw new PermanentError('bad-query', `a tenant's query must not ${what}`);
};

const checkToken = (token: Token, before: string, after: string): void => {
  const name = token.text.toLowerCase();
  if (token.text === ';') refuse('hold several statements');
  if (token.kind !== 'word' && token.kind !== 'quoted') return;
  if (after === '.' && before !== '.' && foreignDatabases.test(token.text)) refuse(`read ${token.text}`);
  if (after === '(' && forbiddenFunctions.test(token.text.replace(/^[`"]|[`"]$/g, ''))) refuse(`call ${token.text}`);
  if (token.kind === 'quoted') return;
  if (name === 'settings' && before !== '.') refuse('bring settings of its own');
  if (name === 'outfile') refuse('write a file');
  if (name === 'format' && after !== '(' && before !== '.') refuse('choose its format');
};

/** The first fence: one SELECT that names `{tenant:String}`, with no way around the second one. */
const checkTenantSql = (sql: string): void => {
  const select = sql.startsWith(explained) ? sql.slice(explained.length) : sql;
  const tokens = tokensOf(select).filter(({ kind }) => kind !== 'space' && kind !== 'comment');
  if (!/^(?:select|with)$/i.test(tokens[0]?.text ?? '')) refuse('be anything but a SELECT');
  for (const [index, token] of tokens.entries())
    checkToken(token, tokens[index - 1]?.text ?? '', tokens[index + 1]?.text ?? '');
  if (!tokens.some(({ kind, name, type }) => kind === 'parameter' && name === 'tenant' && type === 'String'))
    throw new PermanentError('bad-query', 'a tenant’s query must filter by the parameter {tenant:String}');
};

/** The caller's parameters with the tenant bound last, so that none of them can stand in for it. */
const tenantParameters = (tenantId: string, parameters: QueryParameters): QueryParameters => ({
  ...parameters,
  tenant: tenantId,
});

const namesIn = (databases: readonly string[]): readonly string[] =>
  tenantTables.flatMap(({ name }) => [name, ...databases.map((database) => `${database}.${name}`)]).map(quote);
const ownNames = namesIn([]);

/**
 * The second fence: a filter for every table with a tenant, applied by the engine wherever the table is read; the value of
 * `additional_table_filters`, as the engine spells maps, and none for the platform's own reads. It holds for tables of the connection's
 * database, and for those of others where these are named.
 */
export const tenantFilters = (tenantId: string | undefined, databases: readonly string[] = []): string | undefined => {
  if (tenantId === undefined) return undefined;
  const names = databases.length === 0 ? ownNames : namesIn(databases);
  const filter = quote(`tenant_id = ${quote(tenantId)}`);
  return `{${names.map((name) => `${name}: ${filter}`).join(', ')}}`;
};

/** Answer questions that passed the first fence; the engine applies the second. */
interface Reads {
  landedUpTo(tenant: Pick<TenantColumns, 'tenantId' | 'query'>, table: string): Promise<number | undefined>;
  readonly changesOf?: TenantColumns['changesOf'];
  rows<Row>(sql: string, parameters: QueryParameters, limits: QueryLimits, tenantId: string): Promise<Row[]>;
  native(sql: string, parameters: QueryParameters, limits: QueryLimits, tenantId: string): Promise<Uint8Array>;
}

/** Reads of one tenant, behind both fences. */
export const fencedColumns = (tenantId: string, source: WeakKey, reads: Reads): TenantColumns => {
  const query = async <Row>(
    sql: string,
    parameters: QueryParameters = {},
    limits: QueryLimits = {},
  ): Promise<Row[]> => {
    checkTenantSql(sql);
    return reads.rows<Row>(sql, tenantParameters(tenantId, parameters), limits, tenantId);
  };
  return {
    tenantId,
    source,
    query,
    native: async (sql, parameters = {}, limits = {}) => {
      checkTenantSql(sql);
      return reads.native(sql, tenantParameters(tenantId, parameters), limits, tenantId);
    },
    landedUpTo: (table) => reads.landedUpTo({ tenantId, query }, table),
    ...(reads.changesOf && { changesOf: reads.changesOf }),
  };
};
