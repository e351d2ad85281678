/** The columns port on a ClickHouse server, over HTTP. */
import { Agent } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import { Readable } from 'node:stream';
import {
  type ClickHouseClient,
  ClickHouseError,
  ClickHouseLogLevel,
  type ClickHouseSettings,
  createClient,
  type ExecParams,
} from '@clickhouse/client';
import { PermanentError, UnavailableError } from '../schemas/errors.ts';
import type { Columns, NativeBlock, QueryLimits, QueryParameters, TenantColumns } from '../schemas/ports/columns.ts';
import { type Log, silent } from '../schemas/ports/log.ts';
import { insertError, queryError } from './columns-sql/engine-errors.ts';
import { StoredLandings } from './columns-sql/landings.ts';
import { filterSettings, insertSettings, limitSettings } from './columns-sql/query-settings.ts';
import { nativeFormat, resultFormat, rowsOf } from './columns-sql/rows.ts';
import { bindLiterals, quoteName } from './columns-sql/sql-literals.ts';
import { fencedColumns } from './columns-sql/tenant-fence.ts';

export interface ClickhouseColumnsOptions {
  /** `http(s)://user:password@host:port/database`. The database is created when it is missing. */
  readonly url: string;
  readonly log?: Log;
}

/** Requests at once to a server; more wait for a connection. */
export const maxConnections = 16;
const requestTimeoutMs = 60_000;
/** Kept sockets end before the server's `keep_alive_timeout` (10 s, 3 s before 23.11). */
const idleSocketMs = 2500;
/** Connections are opened again after every this many failed requests. */
const failuresBeforeFresh = 3;
const unknownDatabase = 81;
/** Long lists of ids are part of the statement. */
const maxQueryBytes = 64 * 1024 ** 2;
const loopback = /^(?:localhost|127\..*|\[::1\])$/;

const codeOf = (error: unknown): number | undefined =>
  error instanceof ClickHouseError ? Number(error.code) : undefined;
const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
const unreachable = (error: unknown): UnavailableError =>
  new UnavailableError(`ClickHouse cannot be reached: ${asError(error).message}`, { cause: error });

/**
 * Runs what may be repeated (a read, an insert with its token) a second time when the connection broke: the server may close
 * a kept socket at the moment at which it is used again.
 */
const onceMore = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work();
  } catch (error) {
    if (
      !/socket hang up|ECONNRESET|EPIPE/.test(`${asError(error).message} ${String((error as { code?: unknown }).code)}`)
    )
      throw error;
    return work();
  }
};

class ClickhouseColumns implements Columns {
  readonly #url: URL;
  #client: ClickHouseClient;
  readonly #landings: StoredLandings;
  #failures = 0;

  constructor(url: string, log: Log) {
    this.#url = new URL(url);
    this.#landings = new StoredLandings((sql) => this.execute(sql), log);
    this.#client = this.#connect();
  }

  #connect(): ClickHouseClient {
    return createClient({
      url: this.#url,
      request_timeout: requestTimeoutMs,
      // The client's own timers of idle sockets would also end a busy one, after a request was aborted that waited for a socket.
      http_agent: new (this.#url.protocol === 'https:' ? TlsAgent : Agent)({
        keepAlive: true,
        maxSockets: maxConnections,
        timeout: idleSocketMs,
      }),
      keep_alive: { enabled: true, idle_socket_ttl: 0 },
      // Within a machine compression costs more than it saves; results of another one are worth it.
      compression: { request: false, response: !loopback.test(this.#url.hostname) },
      log: { level: ClickHouseLogLevel.OFF },
    });
  }

  /**
   * A load balancer may go on answering 5xx on a connection after the server is back, so that failures are followed by fresh
   * ones. Requests on the earlier ones end by themselves, and idle sockets soon.
   */
  #failed(failure: Error): Error {
    if (failure instanceof PermanentError) return failure;
    this.#failures++;
    if (this.#failures % failuresBeforeFresh === 0) this.#client = this.#connect();
    return failure;
  }

  async insert({ table, columns, rows, chunks }: NativeBlock, token: string): Promise<void> {
    if (rows === 0) return;
    const names = columns.map(({ name }) => quoteName(name)).join(', ');
    const insert = async (): Promise<void> => {
      const { stream } = await this.#client.exec({
        query: `INSERT INTO ${quoteName(table)} (${names}) FORMAT Native`,
        values: Readable.from(chunks, { objectMode: false }),
        clickhouse_settings: { ...insertSettings(token), wait_end_of_query: 1 },
      });
      for await (const _ of stream);
    };
    try {
      await onceMore(insert);
    } catch (error) {
      throw this.#failed(
        codeOf(error) === undefined ? unreachable(error) : insertError(table, codeOf(error), asError(error)),
      );
    }
  }

  tellLanded(table: string, newest: ReadonlyMap<string, number>): void {
    this.#landings.tell(table, newest);
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
    const text = await this.#read(limits.signal, async () => {
      const result = await this.#client.query({
        ...questionOf(sql, parameters, limits, tenantId),
        format: resultFormat,
      });
      return result.text();
    });
    const { rows, cost } = rowsOf<Row>(text);
    limits.onCost?.(cost);
    return rows;
  }

  async #native(sql: string, parameters: QueryParameters, limits: QueryLimits, tenantId: string): Promise<Uint8Array> {
    const question = questionOf(`${sql}\nFORMAT ${nativeFormat}`, parameters, limits, tenantId);
    const { bytes, summary } = await this.#read(limits.signal, async () => {
      const { stream, summary } = await this.#client.exec(question);
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

  async #read<Result>(signal: AbortSignal | undefined, work: () => Promise<Result>): Promise<Result> {
    signal?.throwIfAborted();
    try {
      return await onceMore(work);
    } catch (error) {
      signal?.throwIfAborted();
      throw this.#failed(codeOf(error) === undefined ? unreachable(error) : queryError(codeOf(error), asError(error)));
    }
  }

  async execute(sql: string): Promise<void> {
    try {
      await this.#client.command({ query: sql, clickhouse_settings: { wait_end_of_query: 1 } });
    } catch (error) {
      if (codeOf(error) === undefined) throw unreachable(error);
      if (codeOf(error) !== unknownDatabase)
        throw new Error(`the statement failed: ${asError(error).message}`, { cause: error });
      await this.#createDatabase();
      await this.#client.command({ query: sql });
    }
  }

  async #createDatabase(): Promise<void> {
    const url = new URL(this.#url);
    const database = decodeURIComponent(url.pathname.slice(1));
    url.pathname = '/default';
    const client = createClient({ url, log: { level: ClickHouseLogLevel.OFF } });
    await client
      .command({ query: `CREATE DATABASE IF NOT EXISTS ${quoteName(database)}` })
      .finally(() => client.close());
  }

  async check(): Promise<void> {
    await this.query('SELECT 1');
  }

  async close(): Promise<void> {
    await this.#landings.close();
    await this.#client.close();
  }
}

/** A read as the client takes it. */
const questionOf = (
  sql: string,
  parameters: QueryParameters,
  limits: QueryLimits,
  tenantId: string | undefined,
): Pick<ExecParams, 'query' | 'clickhouse_settings' | 'abort_signal'> => ({
  query: bindLiterals(sql, parameters),
  clickhouse_settings: readSettings(limits, tenantId),
  ...(limits.signal === undefined ? {} : { abort_signal: limits.signal }),
});

const readSettings = (limits: QueryLimits, tenantId: string | undefined): ClickHouseSettings => {
  const filters = filterSettings(tenantId);
  const settings: Record<string, string | number> = {
    ...limitSettings(limits, tenantId),
    // An error in the middle of a result is then an error, not its last line.
    wait_end_of_query: 1,
    cancel_http_readonly_queries_on_client_close: 1,
    max_query_size: maxQueryBytes,
    ...(filters === undefined ? {} : { additional_table_filters: filters }),
  };
  return settings;
};

/** Columns on a server. Does not wait for it: `check` says whether it answers. */
export const clickhouseColumns = async ({ url, log = silent }: ClickhouseColumnsOptions): Promise<Columns> => {
  const columns = new ClickhouseColumns(url, log);
  log.info({ host: new URL(url).host }, 'columns are on ClickHouse');
  return columns;
};
