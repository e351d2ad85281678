/** Work on one server of the columns: error mapping, settings of reads, and access to an individual server. */
import type { ClickHouseClient, ClickHouseSettings } from '@clickhouse/client';
import { PermanentError, UnavailableError } from '../../schemas/errors.ts';
import type { QueryLimits, QueryParameters, ServerColumns } from '../../schemas/ports/columns.ts';
import { toQueryError } from '../columns-sql/engine-errors.ts';
import { toLimitSettings } from '../columns-sql/query-settings.ts';
import { parseRows, resultFormat } from '../columns-sql/rows.ts';
import { bindLiterals } from '../columns-sql/sql-literals.ts';
import { buildTenantFilters } from '../columns-sql/tenant-filter.ts';
import { toReplicatedDdl, toSharedDdl } from './replicated.ts';
import { type ClickhouseServer, getErrorCode, toError } from './server.ts';
import { type ClickhouseServers, toClusterDatabase, toUnreachableError } from './servers.ts';

/** Long lists of ids are part of the statement. */
const maxQueryBytes = 64 * 1024 ** 2;

export type MapError = (code: number | undefined, cause: Error) => Error;

/** Runs work on a server. Counts failures that the statement did not cause; after several, the server reconnects. */
export const countFailures = async <Result>(
  server: ClickhouseServer,
  work: (client: ClickHouseClient) => Promise<Result>,
  mapError: MapError,
  signal?: AbortSignal,
): Promise<Result> => {
  try {
    return await server.runRepeatable(work, signal);
  } catch (error) {
    if (!signal?.aborted && !(mapError(getErrorCode(error), toError(error)) instanceof PermanentError))
      server.recordFailure();
    throw error;
  }
};

/** Maps failures to our errors. */
export const withMappedErrors = async <Result>(
  pendingResult: Promise<Result>,
  mapError: MapError,
  signal?: AbortSignal,
): Promise<Result> => {
  try {
    return await pendingResult;
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof UnavailableError) throw error;
    throw getErrorCode(error) === undefined ? toUnreachableError(error) : mapError(getErrorCode(error), toError(error));
  }
};

/** One server by itself, with its own tables. */
export class SingleServer implements ServerColumns {
  readonly #server: ClickhouseServer;
  readonly #isCluster: boolean;

  constructor(server: ClickhouseServer, isCluster: boolean) {
    this.#server = server;
    this.#isCluster = isCluster;
  }

  async query<Row>(sql: string, parameters: QueryParameters = {}, limits: QueryLimits = {}): Promise<Row[]> {
    const read = async (client: ClickHouseClient): Promise<string> => {
      const result = await client.query({
        query: bindLiterals(sql, parameters),
        clickhouse_settings: buildReadSettings(limits, undefined),
        format: resultFormat,
      });
      return result.text();
    };
    const text = await withMappedErrors(
      this.#server.rejectIfHanging(() => this.#server.runRepeatable(read), { isOnlyServer: true }),
      toQueryError,
    );
    const { rows } = await parseRows<Row>(text);
    return rows;
  }

  async execute(sql: string): Promise<void> {
    try {
      await this.#server.runCommand(await this.#adaptDdl(sql));
    } catch (error) {
      if (error instanceof UnavailableError) throw error;
      if (getErrorCode(error) === undefined) throw toUnreachableError(error);
      throw new Error(`the statement failed on ${this.#server.name}: ${toError(error).message}`, { cause: error });
    }
  }

  /**
   * Adapts DDL to this server: replicated engines if the server is a replica, and settings for shared tables on a
   * managed service.
   */
  async #adaptDdl(sql: string): Promise<string> {
    const replicatedDdl = this.#isCluster ? toReplicatedDdl(sql) : sql;
    if (replicatedDdl !== sql && (await this.#server.hasReplicaMacros())) return replicatedDdl;
    const sharedDdl = toSharedDdl(sql);
    return sharedDdl !== sql && (await this.#server.isManaged()) ? sharedDdl : sql;
  }
}

export const buildReadSettings = (
  limits: QueryLimits,
  tenantId: string | undefined,
  servers?: ClickhouseServers,
): ClickHouseSettings => {
  const isCluster = servers?.cluster !== undefined;
  const filters = buildTenantFilters(
    tenantId,
    isCluster ? [servers.database, toClusterDatabase(servers.database)] : [],
  );
  const settings: Record<string, string | number> = {
    ...toLimitSettings(limits, tenantId),
    // Without this setting, an error in the middle of a result would be its last line instead of an HTTP error.
    wait_end_of_query: 1,
    cancel_http_readonly_queries_on_client_close: 1,
    max_query_size: maxQueryBytes,
    ...(filters === undefined ? {} : { additional_table_filters: filters }),
    // Subqueries on other tables run once, across all shards. Reads go to the first replica of each shard that
    // responds, as do batches; another replica may not have the latest batch yet.
    ...(isCluster && { distributed_product_mode: 'global', load_balancing: 'in_order' }),
  };
  return settings;
};
