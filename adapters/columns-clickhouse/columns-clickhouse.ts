/** The columns port on a ClickHouse server, over HTTP. */
import { Readable } from 'node:stream';
import type { ClickHouseClient, ClickHouseSettings, ExecParams } from '@clickhouse/client';
import { PermanentError, UnavailableError } from '../../schemas/errors.ts';
import type {
  Columns,
  NativeBlock,
  QueryLimits,
  QueryParameters,
  ServerColumns,
  TenantColumns,
} from '../../schemas/ports/columns.ts';
import { type Log, silent } from '../../schemas/ports/log.ts';
import { landingsTable } from '../../schemas/tables/landings.ts';
import { insertError, queryError } from '../columns-sql/engine-errors.ts';
import { StoredLandings } from '../columns-sql/landings.ts';
import { filterSettings, insertSettings, limitSettings } from '../columns-sql/query-settings.ts';
import { nativeFormat, resultFormat, rowsOf } from '../columns-sql/rows.ts';
import { bindLiterals, quoteName } from '../columns-sql/sql-literals.ts';
import { fencedColumns } from '../columns-sql/tenant-fence.ts';
import { Placements } from './placements.ts';
import { replicatedForm } from './replicated.ts';
import { asError, type ClickhouseServer, codeOf } from './server.ts';
import { ClickhouseServers, unreachable, wholeDatabase } from './servers.ts';
import { tablesRead } from './tables-read.ts';
import { makeWholeTables } from './whole-tables.ts';

export interface ClickhouseColumnsOptions {
  /**
   * `http(s)://user:password@host:port/database`, with one database. The database is created when it is missing. Several are servers of a
   * cluster, at least one of each shard.
   */
  readonly urls: readonly string[];
  /** The name of the cluster in `system.clusters`. */
  readonly cluster?: string | undefined;
  /** How many replicas must have stored an insert, or `auto` for more than half; by default the one that answers. */
  readonly insertQuorum?: number | 'auto' | undefined;
  readonly log?: Log;
}

/** Long lists of ids are part of the statement. */
const maxQueryBytes = 64 * 1024 ** 2;

class ClickhouseColumns implements Columns {
  readonly #servers: ClickhouseServers;
  /** Undefined where there is one server. */
  readonly #placements: Placements | undefined;
  readonly #landings: StoredLandings;
  readonly #insertSettings: ClickHouseSettings;

  constructor(servers: ClickhouseServers, insertSettings: ClickHouseSettings, log: Log) {
    this.#servers = servers;
    this.#placements = servers.cluster === undefined ? undefined : new Placements(servers);
    this.#insertSettings = insertSettings;
    this.#landings = new StoredLandings((...told) => this.#writeLandings(...told), log);
  }

  async insert(
    { table, columns, rows, chunks }: NativeBlock,
    token: string,
    place = 0,
    tenants?: readonly string[],
  ): Promise<void> {
    if (rows === 0) return;
    await this.#allow(table, place, tenants);
    const names = columns.map(({ name }) => quoteName(name)).join(', ');
    const insert = async (client: ClickHouseClient): Promise<void> => {
      const { stream } = await client.exec({
        query: `INSERT INTO ${quoteName(table)} (${names}) FORMAT Native`,
        values: Readable.from(chunks, { objectMode: false }),
        clickhouse_settings: { ...insertSettings(token), ...this.#insertSettings, wait_end_of_query: 1 },
      });
      for await (const _ of stream);
    };
    const errorOf: ErrorOf = (code, cause) => insertError(table, code, cause);
    await answered(
      this.#servers.onShardOf(place, (server) => counted(server, insert, errorOf)),
      errorOf,
    );
  }

  async #allow(table: string, place: number, tenants: readonly string[] | undefined): Promise<void> {
    if (this.#placements !== undefined) await answered(this.#placements.allow(table, place, tenants), queryError);
  }

  tellLanded(table: string, newest: ReadonlyMap<string, number>, place = 0): void {
    this.#landings.tell(table, newest, place);
  }

  of(tenantId: string): TenantColumns {
    return fencedColumns(tenantId, this, {
      rows: (...question) => this.#rows(...question),
      native: (...question) => this.#native(...question),
      landedUpTo: (tenant, table) => this.#landings.upTo(tenant, table),
    });
  }

  async query<Row>(sql: string, parameters: QueryParameters = {}, limits: QueryLimits = {}): Promise<Row[]> {
    return this.#rows<Row>(sql, parameters, limits);
  }

  async #rows<Row>(sql: string, parameters: QueryParameters, limits: QueryLimits, tenantId?: string): Promise<Row[]> {
    const question = this.#question(sql, parameters, limits, tenantId);
    const text = await this.#read(sql, limits, tenantId, async (client) => {
      const result = await client.query({ ...question, format: resultFormat });
      return result.text();
    });
    const { rows, cost } = rowsOf<Row>(text);
    limits.onCost?.(cost);
    return rows;
  }

  async #native(sql: string, parameters: QueryParameters, limits: QueryLimits, tenantId: string): Promise<Uint8Array> {
    const question = this.#question(`${sql}\nFORMAT ${nativeFormat}`, parameters, limits, tenantId);
    const { bytes, summary } = await this.#read(sql, limits, tenantId, async (client) => {
      const { stream, summary } = await client.exec(question);
      const chunks: Uint8Array[] = [];
      for await (const chunk of stream) chunks.push(chunk as Uint8Array);
      return { bytes: Buffer.concat(chunks), summary };
    });
    limits.onCost?.({
      rowsRead: Number(summary?.read_rows ?? 0),
      bytesRead: Number(summary?.read_bytes ?? 0),
      elapsedMs: Number(summary?.elapsed_ns ?? 0) / 1e6,
    });
    return bytes;
  }

  async #read<Result>(
    sql: string,
    { signal, place }: QueryLimits,
    tenantId: string | undefined,
    work: (client: ClickHouseClient) => Promise<Result>,
  ): Promise<Result> {
    signal?.throwIfAborted();
    const on = (server: ClickhouseServer): Promise<Result> => counted(server, work, queryError, signal);
    return answered(
      this.#onlyShard(sql, tenantId, place).then((shard) =>
        shard === undefined ? this.#servers.anywhere(on, signal) : this.#servers.onShard(shard, on, signal),
      ),
      queryError,
      signal,
    );
  }

  /** The shard that alone may have what a read asks for. */
  async #onlyShard(sql: string, tenantId: string | undefined, place: number | undefined): Promise<number | undefined> {
    if (this.#placements === undefined) return undefined;
    if (tenantId === undefined) return place === undefined ? undefined : this.#placements.onlyOfPlace(place);
    const tables = tablesRead(sql);
    return tables === undefined ? undefined : this.#placements.onlyOfTenant(tenantId, tables);
  }

  /** A read as the client takes it. */
  #question(
    sql: string,
    parameters: QueryParameters,
    limits: QueryLimits,
    tenantId: string | undefined,
  ): Pick<ExecParams, 'query' | 'clickhouse_settings' | 'abort_signal'> {
    return {
      query: bindLiterals(sql, parameters),
      clickhouse_settings: readSettings(limits, tenantId, this.#servers),
      ...(limits.signal === undefined ? {} : { abort_signal: limits.signal }),
    };
  }

  async execute(sql: string): Promise<void> {
    for (const { columns } of this.each()) await columns.execute(sql);
  }

  async #writeLandings(sql: string, place: number, tenants: readonly string[]): Promise<void> {
    await this.#allow(landingsTable.name, place, tenants);
    await this.#servers.onShardOf(place, (server) =>
      server.repeatable(async (client) => {
        await client.command({ query: sql, clickhouse_settings: { wait_end_of_query: 1 } });
      }),
    );
  }

  each(): readonly { readonly name: string; readonly columns: ServerColumns }[] {
    const isCluster = this.#servers.cluster !== undefined;
    return this.#servers.members.map(({ local }) => ({
      name: local.name,
      columns: new OneServer(local, isCluster),
    }));
  }

  async tablesChanged(): Promise<void> {
    const { cluster, members } = this.#servers;
    if (cluster === undefined) return;
    for (const member of members) await makeWholeTables(member, cluster);
    await this.#placements?.begin();
  }

  async check(): Promise<void> {
    await this.query('SELECT 1');
    await answered(this.#servers.check(), queryError);
  }

  async close(): Promise<void> {
    await this.#landings.close();
    await this.#servers.close();
  }
}

type ErrorOf = (code: number | undefined, cause: Error) => Error;

/** Runs on a server; a failure that is not the statement's own fault counts against its connections. */
const counted = async <Result>(
  server: ClickhouseServer,
  work: (client: ClickHouseClient) => Promise<Result>,
  errorOf: ErrorOf,
  signal?: AbortSignal,
): Promise<Result> => {
  try {
    return await server.repeatable(work, signal);
  } catch (error) {
    if (!signal?.aborted && !(errorOf(codeOf(error), asError(error)) instanceof PermanentError)) server.failed();
    throw error;
  }
};

/** Rejects with an error of ours. */
const answered = async <Result>(asked: Promise<Result>, errorOf: ErrorOf, signal?: AbortSignal): Promise<Result> => {
  try {
    return await asked;
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof UnavailableError) throw error;
    throw codeOf(error) === undefined ? unreachable(error) : errorOf(codeOf(error), asError(error));
  }
};

/** One server of them alone: its own tables. */
class OneServer implements ServerColumns {
  readonly #server: ClickhouseServer;
  readonly #isCluster: boolean;

  constructor(server: ClickhouseServer, isCluster: boolean) {
    this.#server = server;
    this.#isCluster = isCluster;
  }

  async query<Row>(sql: string, parameters: QueryParameters = {}, limits: QueryLimits = {}): Promise<Row[]> {
    const text = await answered(
      this.#server.repeatable(async (client) => {
        const result = await client.query({
          query: bindLiterals(sql, parameters),
          clickhouse_settings: readSettings(limits, undefined),
          format: resultFormat,
        });
        return result.text();
      }),
      queryError,
    );
    return rowsOf<Row>(text).rows;
  }

  async execute(sql: string): Promise<void> {
    try {
      const replicated = this.#isCluster ? replicatedForm(sql) : sql;
      const isReplica = replicated !== sql && (await this.#server.hasReplicaMacros());
      await this.#server.command(isReplica ? replicated : sql);
    } catch (error) {
      if (codeOf(error) === undefined) throw unreachable(error);
      throw new Error(`the statement failed on ${this.#server.name}: ${asError(error).message}`, { cause: error });
    }
  }
}

const readSettings = (
  limits: QueryLimits,
  tenantId: string | undefined,
  servers?: ClickhouseServers,
): ClickHouseSettings => {
  const isCluster = servers?.cluster !== undefined;
  const filters = filterSettings(tenantId, isCluster ? [servers.database, wholeDatabase(servers.database)] : []);
  const settings: Record<string, string | number> = {
    ...limitSettings(limits, tenantId),
    // An error in the middle of a result is then an error, not its last line.
    wait_end_of_query: 1,
    cancel_http_readonly_queries_on_client_close: 1,
    max_query_size: maxQueryBytes,
    ...(filters === undefined ? {} : { additional_table_filters: filters }),
    // What a statement looks up in another table is looked up on all shards, and once.
    ...(isCluster && { distributed_product_mode: 'global' }),
  };
  return settings;
};

/** Columns on servers. Does not wait for them: `check` says whether they answer. */
export const clickhouseColumns = async ({
  urls,
  cluster,
  insertQuorum,
  log = silent,
}: ClickhouseColumnsOptions): Promise<Columns> => {
  const servers = new ClickhouseServers(urls, cluster);
  const quorum: ClickHouseSettings = insertQuorum === undefined ? {} : { insert_quorum: String(insertQuorum) };
  const columns = new ClickhouseColumns(servers, quorum, log);
  log.info({ hosts: servers.members.map(({ local }) => local.name).join(', ') }, 'columns are on ClickHouse');
  return columns;
};
