/** The columns port on a ClickHouse server, over HTTP. */
import { Readable } from 'node:stream';
import type { ClickHouseClient, ClickHouseSettings, ExecParams } from '@clickhouse/client';
import { createStoreMembers } from '../../runtime/store-members.ts';
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
import type { StoreMembers } from '../../schemas/ports/store-members.ts';
import { getTenantPartition } from '../../schemas/tables/sharding.ts';
import { watermarksTable } from '../../schemas/tables/watermarks.ts';
import { toInsertError, toQueryError } from '../columns-sql/engine-errors.ts';
import { buildInsertSettings } from '../columns-sql/query-settings.ts';
import { nativeFormat, parseRows, resultFormat } from '../columns-sql/rows.ts';
import { bindLiterals, quoteName } from '../columns-sql/sql-literals.ts';
import { createTenantColumns } from '../columns-sql/tenant-filter.ts';
import { StoredWatermarks } from '../columns-sql/watermarks.ts';
import { BrokenParts } from './broken-parts.ts';
import { createClusterTables } from './cluster-tables.ts';
import { findTables, readsSingleSource } from './find-tables.ts';
import { Placements } from './placements.ts';
import type { ClickhouseServer } from './server.ts';
import { ClickhouseServers, type Member } from './servers.ts';
import { buildReadSettings, countFailures, type MapError, SingleServer, withMappedErrors } from './single-server.ts';
import { applyStoragePolicy, type Storage } from './storage.ts';

export interface ClickhouseColumnsOptions {
  /**
   * `http(s)://user:password@host:port/database`, all with the same database. A missing database is created. Several
   * URLs are servers of a cluster, at least one per shard.
   */
  readonly urls: readonly string[];
  /** Name of the cluster in `system.clusters` */
  readonly cluster?: string | undefined;
  /**
   * How many replicas must have stored an insert, or `auto` for a majority; by default, only the replica that responds.
   */
  readonly insertQuorum?: number | 'auto' | undefined;
  /** By default, tables use the server's default storage policy. */
  readonly storage?: Storage | undefined;
  readonly log?: Log;
  /** Watches the servers. */
  readonly storeMembers?: StoreMembers;
}

class ClickhouseColumns implements Columns {
  readonly #servers: ClickhouseServers;
  readonly #placements: Placements;
  readonly #watermarks: StoredWatermarks;
  readonly #insertSettings: ClickHouseSettings;
  readonly #storage: Storage | undefined;
  readonly #brokenParts: BrokenParts;

  constructor(servers: ClickhouseServers, insertSettings: ClickHouseSettings, storage: Storage | undefined, log: Log) {
    this.#storage = storage;
    this.#servers = servers;
    this.#placements = new Placements(servers);
    this.#insertSettings = insertSettings;
    this.#brokenParts = new BrokenParts(log);
    this.#watermarks = new StoredWatermarks((...args) => this.#writeWatermarks(...args), log);
  }

  async insert(
    { table, columns, rows, chunks }: NativeBlock,
    token: string,
    slot = 0,
    tenants?: readonly string[],
  ): Promise<void> {
    if (rows === 0) return;
    await this.#allowPlacement(table, slot, tenants);
    const names = columns.map(({ name }) => quoteName(name)).join(', ');
    const insert = async (client: ClickHouseClient): Promise<void> => {
      const { stream } = await client.exec({
        query: `INSERT INTO ${quoteName(table)} (${names}) FORMAT Native`,
        values: Readable.from(chunks, { objectMode: false }),
        clickhouse_settings: { ...buildInsertSettings(token), ...this.#insertSettings, wait_end_of_query: 1 },
      });
      for await (const _ of stream);
    };
    const mapError: MapError = (code, cause) => toInsertError(table, code, cause);
    await withMappedErrors(
      this.#placements
        .getShard(table, slot)
        .then((shard) => this.#servers.runOnShard(shard, (server) => countFailures(server, insert, mapError))),
      mapError,
    );
  }

  async #allowPlacement(table: string, slot: number, tenants: readonly string[] | undefined): Promise<void> {
    if (this.#isCluster) await withMappedErrors(this.#placements.allow(table, slot, tenants), toQueryError);
  }

  get #isCluster(): boolean {
    return this.#servers.cluster !== undefined;
  }

  recordWatermark(table: string, newest: ReadonlyMap<string, number>, slot = 0): void {
    this.#watermarks.record(table, newest, slot);
  }

  forTenant(tenantId: string): TenantColumns {
    return createTenantColumns(tenantId, this, {
      queryRows: (...args) => this.#queryRows(...args),
      queryNative: (...args) => this.#queryNative(...args),
      getWatermark: (tenant, table) => this.#watermarks.getWatermark(tenant, table),
    });
  }

  async query<Row>(sql: string, parameters: QueryParameters = {}, limits: QueryLimits = {}): Promise<Row[]> {
    return this.#queryRows<Row>(sql, parameters, limits);
  }

  async #queryRows<Row>(
    sql: string,
    parameters: QueryParameters,
    limits: QueryLimits,
    tenantId?: string,
  ): Promise<Row[]> {
    const clientQuery = this.#toClientQuery(sql, parameters, limits, tenantId);
    const responseTexts = await this.#read(sql, limits, tenantId, async (client) => {
      const result = await client.query({ ...clientQuery, format: resultFormat });
      return result.text();
    });
    const results = await Promise.all(responseTexts.map((text) => parseRows<Row>(text)));
    limits.onCost?.(sumCosts(results.map(({ cost }) => cost)));
    return results.flatMap(({ rows }) => rows);
  }

  async #queryNative(
    sql: string,
    parameters: QueryParameters,
    limits: QueryLimits,
    tenantId: string,
  ): Promise<Uint8Array> {
    const clientQuery = this.#toClientQuery(`${sql}\nFORMAT ${nativeFormat}`, parameters, limits, tenantId);
    const responses = await this.#read(sql, limits, tenantId, async (client) => {
      const { stream, summary } = await client.exec(clientQuery);
      const chunks: Uint8Array[] = [];
      for await (const chunk of stream) chunks.push(chunk as Uint8Array);
      return { chunks, summary };
    });
    const costs = responses.map(({ summary }) => ({
      rowsRead: Number(summary?.read_rows ?? 0),
      bytesRead: Number(summary?.read_bytes ?? 0),
      elapsedMs: Number(summary?.elapsed_ns ?? 0) / 1e6,
    }));
    limits.onCost?.(sumCosts(costs));
    return joinChunks(responses.flatMap(({ chunks }) => chunks));
  }

  /** Returns the result of a statement; several results when servers are queried individually. */
  async #read<Result>(
    sql: string,
    limits: QueryLimits,
    tenantId: string | undefined,
    work: (client: ClickHouseClient) => Promise<Result>,
  ): Promise<readonly Result[]> {
    const { signal, shardKey } = limits;
    signal?.throwIfAborted();
    const queryServer = (server: ClickhouseServer): Promise<Result> =>
      countFailures(server, work, toQueryError, signal);
    const queryAllShards = async (member: Member): Promise<Result> => {
      if (this.#isCluster) await this.#placements.requireAllShards(member);
      return queryServer(member.whole);
    };
    const preferredPartition = tenantId === undefined ? shardKey : getTenantPartition(tenantId);
    return withMappedErrors(
      this.#selectShards(sql, limits, tenantId).then((shards) =>
        Promise.all(
          shards === undefined
            ? [
                this.#servers.readAllShards(() =>
                  this.#servers.runAnywhere(queryAllShards, { signal, partition: preferredPartition }),
                ),
              ]
            : shards.map((shard) => this.#servers.runOnShard(shard, queryServer, signal)),
        ),
      ),
      toQueryError,
      signal,
    );
  }

  /**
   * The shards to query individually: the only shard that may have the requested rows, or every shard that may, if
   * individual queries are possible.
   */
  async #selectShards(
    sql: string,
    { shardKey, runsOnEachServer = false }: QueryLimits,
    tenantId: string | undefined,
  ): Promise<readonly number[] | undefined> {
    if (!this.#isCluster) return undefined;
    if (tenantId === undefined) {
      const onlyShard = shardKey === undefined ? undefined : await this.#placements.findOnlyShard(shardKey);
      return onlyShard === undefined ? undefined : [onlyShard];
    }
    const tables = findTables(sql);
    if (tables === undefined || tables.size === 0) return undefined;
    return this.#placements.findShardsOfTenant(tenantId, tables, runsOnEachServer && readsSingleSource(sql));
  }

  /** Converts a read to the parameters of the client. */
  #toClientQuery(
    sql: string,
    parameters: QueryParameters,
    limits: QueryLimits,
    tenantId: string | undefined,
  ): Pick<ExecParams, 'query' | 'clickhouse_settings' | 'abort_signal'> {
    return {
      query: bindLiterals(sql, parameters),
      clickhouse_settings: buildReadSettings(limits, tenantId, this.#servers),
      ...(limits.signal === undefined ? {} : { abort_signal: limits.signal }),
    };
  }

  async execute(sql: string): Promise<void> {
    for (const { columns } of this.listServers()) await columns.execute(sql);
  }

  async #writeWatermarks(sql: string, slot: number, tenants: readonly string[]): Promise<void> {
    await this.#allowPlacement(watermarksTable.name, slot, tenants);
    await this.#servers.runOnShardOfSlot(slot, (server) =>
      server.runRepeatable(async (client) => {
        await client.command({ query: sql, clickhouse_settings: { wait_end_of_query: 1 } });
      }),
    );
  }

  listServers(): readonly { readonly name: string; readonly columns: ServerColumns }[] {
    return this.#servers.members.map(({ local }) => ({
      name: local.name,
      columns: new SingleServer(local, this.#isCluster),
    }));
  }

  async handleTablesChanged(): Promise<void> {
    const { cluster, members } = this.#servers;
    if (this.#storage !== undefined) for (const { local } of members) await applyStoragePolicy(local, this.#storage);
    if (cluster === undefined) return;
    // Check this before the tables read from other shards than before.
    for (const member of members) await withMappedErrors(this.#placements.requireAllShards(member), toQueryError);
    for (const member of members) await createClusterTables(member, cluster);
    await this.#placements.publishShards();
  }

  async check(): Promise<void> {
    // A read of all shards reports one that left the cluster. It would fail while a shard does not respond.
    if (this.#servers.areAllAvailable) await this.query('SELECT 1');
    else
      await withMappedErrors(
        this.#servers.runAnywhere(({ local }) => local.select('SELECT 1')),
        toQueryError,
      );
    await withMappedErrors(this.#servers.check(), toQueryError);
    // A single server may have been one of several before.
    for (const member of this.#isCluster ? [] : this.#servers.members)
      await withMappedErrors(this.#placements.requireAllShards(member), toQueryError);
    // Nobody waits for this report, and it does not affect readiness.
    void this.#brokenParts.report(this.listServers());
  }

  async close(): Promise<void> {
    await this.#watermarks.close();
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

/** Opens the columns on servers. Does not wait for the servers: `check` reports whether they respond. */
export const openClickhouseColumns = async ({
  urls,
  cluster,
  insertQuorum,
  storage,
  log = silentLog,
  storeMembers = createStoreMembers(),
}: ClickhouseColumnsOptions): Promise<Columns> => {
  const servers = new ClickhouseServers(urls, cluster, storeMembers);
  const clientSettings: ClickHouseSettings = {
    ...(insertQuorum !== undefined && { insert_quorum: String(insertQuorum) }),
    // The default retries for minutes. Another replica may accept an insert that a replica without Keeper rejects, and
    // sinks repeat an insert that all replicas reject.
    ...(cluster !== undefined && { insert_keeper_max_retries: '2' }),
  };
  const columns = new ClickhouseColumns(servers, clientSettings, storage, log);
  log.info({ hosts: servers.members.map(({ local }) => local.name).join(', ') }, 'columns are on ClickHouse');
  return columns;
};
