/** The columns port on a ClickHouse server, over HTTP. */
import { Readable } from 'node:stream';
import type { ClickHouseClient, ClickHouseSettings, ExecParams } from '@clickhouse/client';
import type {
  Columns,
  NativeBlock,
  QueryLimits,
  QueryParameters,
  ServerColumns,
  StatementCost,
  TenantColumns,
} from '../../schemas/ports/columns.ts';
import { type Log, silentLog } from '../../schemas/ports/log.ts';
import { landingsTable } from '../../schemas/tables/landings.ts';
import { getTenantPlace } from '../../schemas/tables/sharding.ts';
import { insertError, queryError } from '../columns-sql/engine-errors.ts';
import { StoredLandings } from '../columns-sql/landings.ts';
import { insertSettings } from '../columns-sql/query-settings.ts';
import { nativeFormat, parseRows, resultFormat } from '../columns-sql/rows.ts';
import { bindLiterals, quoteName } from '../columns-sql/sql-literals.ts';
import { tenantColumns } from '../columns-sql/tenant-filter.ts';
import { BrokenParts } from './broken-parts.ts';
import { countFailures, type MapError, OneServer, readSettings, withMappedErrors } from './one-server.ts';
import { Placements } from './placements.ts';
import type { ClickhouseServer } from './server.ts';
import { ClickhouseServers, type Member } from './servers.ts';
import { applyStoragePolicy, type Storage } from './storage.ts';
import { findTables, readsSingleSource } from './tables-read.ts';
import { createClusterTables } from './whole-tables.ts';

export interface ClickhouseColumnsOptions {
  /**
   * `http(s)://user:password@host:port/database`, all with the same database. A missing database is created. Several
   * URLs are servers of a cluster, at least one per shard.
   */
  readonly urls: readonly string[];
  /** Name of the cluster in `system.clusters` */
  readonly cluster?: string | undefined;
  /**
   * How many replicas must have stored an insert, or `auto` for a majority; by default, only the replica that answers.
   */
  readonly insertQuorum?: number | 'auto' | undefined;
  /** By default, tables use the server's default storage policy. */
  readonly storage?: Storage | undefined;
  readonly log?: Log;
}

class ClickhouseColumns implements Columns {
  readonly #servers: ClickhouseServers;
  readonly #placements: Placements;
  readonly #landings: StoredLandings;
  readonly #insertSettings: ClickHouseSettings;
  readonly #storage: Storage | undefined;
  readonly #brokenParts: BrokenParts;

  constructor(servers: ClickhouseServers, insertSettings: ClickHouseSettings, storage: Storage | undefined, log: Log) {
    this.#storage = storage;
    this.#servers = servers;
    this.#placements = new Placements(servers);
    this.#insertSettings = insertSettings;
    this.#brokenParts = new BrokenParts(log);
    this.#landings = new StoredLandings((...args) => this.#writeLandings(...args), log);
  }

  async insert(
    { table, columns, rows, chunks }: NativeBlock,
    token: string,
    place = 0,
    tenants?: readonly string[],
  ): Promise<void> {
    if (rows === 0) return;
    await this.#allowPlacement(table, place, tenants);
    const names = columns.map(({ name }) => quoteName(name)).join(', ');
    const insert = async (client: ClickHouseClient): Promise<void> => {
      const { stream } = await client.exec({
        query: `INSERT INTO ${quoteName(table)} (${names}) FORMAT Native`,
        values: Readable.from(chunks, { objectMode: false }),
        clickhouse_settings: { ...insertSettings(token), ...this.#insertSettings, wait_end_of_query: 1 },
      });
      for await (const _ of stream);
    };
    const errorOf: MapError = (code, cause) => insertError(table, code, cause);
    await withMappedErrors(
      this.#placements
        .shardOf(table, place)
        .then((shard) => this.#servers.onShard(shard, (server) => countFailures(server, insert, errorOf))),
      errorOf,
    );
  }

  async #allowPlacement(table: string, place: number, tenants: readonly string[] | undefined): Promise<void> {
    if (this.#isCluster) await withMappedErrors(this.#placements.allow(table, place, tenants), queryError);
  }

  get #isCluster(): boolean {
    return this.#servers.cluster !== undefined;
  }

  recordWatermark(table: string, newest: ReadonlyMap<string, number>, place = 0): void {
    this.#landings.record(table, newest, place);
  }

  forTenant(tenantId: string): TenantColumns {
    return tenantColumns(tenantId, this, {
      rows: (...question) => this.#rows(...question),
      native: (...question) => this.#native(...question),
      landedUpTo: (tenant, table) => this.#landings.upTo(tenant, table),
    });
  }

  async query<Row>(sql: string, parameters: QueryParameters = {}, limits: QueryLimits = {}): Promise<Row[]> {
    return this.#rows<Row>(sql, parameters, limits);
  }

  async #rows<Row>(sql: string, parameters: QueryParameters, limits: QueryLimits, tenantId?: string): Promise<Row[]> {
    const question = this.#toClientQuery(sql, parameters, limits, tenantId);
    const texts = await this.#read(sql, limits, tenantId, async (client) => {
      const result = await client.query({ ...question, format: resultFormat });
      return result.text();
    });
    const answers = texts.map((text) => parseRows<Row>(text));
    limits.onCost?.(sumCosts(answers.map(({ cost }) => cost)));
    return answers.flatMap(({ rows }) => rows);
  }

  async #native(sql: string, parameters: QueryParameters, limits: QueryLimits, tenantId: string): Promise<Uint8Array> {
    const question = this.#toClientQuery(`${sql}\nFORMAT ${nativeFormat}`, parameters, limits, tenantId);
    const answers = await this.#read(sql, limits, tenantId, async (client) => {
      const { stream, summary } = await client.exec(question);
      const chunks: Uint8Array[] = [];
      for await (const chunk of stream) chunks.push(chunk as Uint8Array);
      return { chunks, summary };
    });
    const costs = answers.map(({ summary }) => ({
      rowsRead: Number(summary?.read_rows ?? 0),
      bytesRead: Number(summary?.read_bytes ?? 0),
      elapsedMs: Number(summary?.elapsed_ns ?? 0) / 1e6,
    }));
    limits.onCost?.(sumCosts(costs));
    return joinChunks(answers.flatMap(({ chunks }) => chunks));
  }

  /** Reads the answer to a statement; several answers when servers are queried individually. */
  async #read<Result>(
    sql: string,
    limits: QueryLimits,
    tenantId: string | undefined,
    work: (client: ClickHouseClient) => Promise<Result>,
  ): Promise<readonly Result[]> {
    const { signal, place } = limits;
    signal?.throwIfAborted();
    const queryServer = (server: ClickhouseServer): Promise<Result> => countFailures(server, work, queryError, signal);
    const queryAllShards = async (member: Member): Promise<Result> => {
      if (this.#isCluster) await this.#placements.requireAllShards(member);
      return queryServer(member.whole);
    };
    const preferredPlace = tenantId === undefined ? place : getTenantPlace(tenantId);
    return withMappedErrors(
      this.#shardsOf(sql, limits, tenantId).then((shards) =>
        Promise.all(
          shards === undefined
            ? [this.#servers.anywhere(queryAllShards, { signal, place: preferredPlace })]
            : shards.map((shard) => this.#servers.onShard(shard, queryServer, signal)),
        ),
      ),
      queryError,
      signal,
    );
  }

  /**
   * The shards to query individually: the only shard that may have the requested rows, or every shard that may, if
   * individual queries are possible.
   */
  async #shardsOf(
    sql: string,
    { place, onEachServer = false }: QueryLimits,
    tenantId: string | undefined,
  ): Promise<readonly number[] | undefined> {
    if (!this.#isCluster) return undefined;
    if (tenantId === undefined) {
      const onlyShard = place === undefined ? undefined : await this.#placements.onlyOfPlace(place);
      return onlyShard === undefined ? undefined : [onlyShard];
    }
    const tables = findTables(sql);
    if (tables === undefined || tables.size === 0) return undefined;
    return this.#placements.ofTenant(tenantId, tables, onEachServer && readsSingleSource(sql));
  }

  /** A read in the form of the client. */
  #toClientQuery(
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
    for (const { columns } of this.listServers()) await columns.execute(sql);
  }

  async #writeLandings(sql: string, place: number, tenants: readonly string[]): Promise<void> {
    await this.#allowPlacement(landingsTable.name, place, tenants);
    await this.#servers.onShardOf(place, (server) =>
      server.runRepeatable(async (client) => {
        await client.command({ query: sql, clickhouse_settings: { wait_end_of_query: 1 } });
      }),
    );
  }

  listServers(): readonly { readonly name: string; readonly columns: ServerColumns }[] {
    return this.#servers.members.map(({ local }) => ({
      name: local.name,
      columns: new OneServer(local, this.#isCluster),
    }));
  }

  async handleTablesChanged(): Promise<void> {
    const { cluster, members } = this.#servers;
    if (this.#storage !== undefined) for (const { local } of members) await applyStoragePolicy(local, this.#storage);
    if (cluster === undefined) return;
    // Check this before tables read other shards than before.
    for (const member of members) await withMappedErrors(this.#placements.requireAllShards(member), queryError);
    for (const member of members) await createClusterTables(member, cluster);
    await this.#placements.begin();
  }

  async check(): Promise<void> {
    await this.query('SELECT 1');
    await withMappedErrors(this.#servers.check(), queryError);
    // A single server may have been one of several before.
    for (const member of this.#isCluster ? [] : this.#servers.members)
      await withMappedErrors(this.#placements.requireAllShards(member), queryError);
    // Nobody waits for this report, and it does not affect readiness.
    void this.#brokenParts.report(this.listServers());
  }

  async close(): Promise<void> {
    await this.#landings.close();
    await this.#servers.close();
  }
}

/** Total cost of a statement that ran on several servers in parallel. */
const sumCosts = (costs: readonly StatementCost[]): StatementCost => ({
  rowsRead: costs.reduce((sum, { rowsRead }) => sum + rowsRead, 0),
  bytesRead: costs.reduce((sum, { bytesRead }) => sum + bytesRead, 0),
  elapsedMs: Math.max(...costs.map(({ elapsedMs }) => elapsedMs)),
});

/**
 * Joins chunks into one buffer with its own memory: small `Buffer`s share memory and cannot be transferred to another
 * thread.
 */
const joinChunks = (chunks: readonly Uint8Array[]): Uint8Array => {
  const bytes = new Uint8Array(chunks.reduce((size, { length }) => size + length, 0));
  let position = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, position);
    position += chunk.length;
  }
  return bytes;
};

/** Opens the columns on servers. Does not wait for the servers: `check` reports whether they answer. */
export const clickhouseColumns = async ({
  urls,
  cluster,
  insertQuorum,
  storage,
  log = silentLog,
}: ClickhouseColumnsOptions): Promise<Columns> => {
  const servers = new ClickhouseServers(urls, cluster);
  const inserting: ClickHouseSettings = {
    ...(insertQuorum !== undefined && { insert_quorum: String(insertQuorum) }),
    // The default retries for minutes. Another replica may accept an insert that a replica without Keeper rejects, and
    // sinks repeat an insert that all replicas reject.
    ...(cluster !== undefined && { insert_keeper_max_retries: '2' }),
  };
  const columns = new ClickhouseColumns(servers, inserting, storage, log);
  log.info({ hosts: servers.members.map(({ local }) => local.name).join(', ') }, 'columns are on ClickHouse');
  return columns;
};
