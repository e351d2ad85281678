/** One ClickHouse server, over HTTP. */
import { Agent } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import { type ClickHouseClient, ClickHouseError, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { UnavailableError } from '../../schemas/errors.ts';
import type { MemberWatch } from '../../schemas/ports/store-members.ts';
import { toRejectionError } from '../columns-sql/engine-errors.ts';
import { quoteName } from '../columns-sql/sql-literals.ts';
import { onlyServerGraceMs, runWhileAvailable } from './unavailability.ts';

/** Maximum concurrent requests to a server; more requests wait for a connection. */
export const maxConnections = 16;
const requestTimeoutMs = 60_000;
/** Idle sockets are closed before the server's `keep_alive_timeout` (10 s, 3 s before 23.11). */
const idleSocketMs = 2500;
/** Connections are reopened whenever this many more requests have failed. */
const failuresBeforeReconnect = 3;
/** How long a server that did not respond is tried after the others */
const avoidanceMs = 5000;
/** Ends the connection of a ping that nobody waits for any more. */
const pingTimeoutMs = 5000;
const unknownDatabase = 81;
const loopbackPattern = /^(?:localhost|127\..*|\[::1\])$/;

/** The engine's error code; undefined if the server did not respond. */
export const getErrorCode = (error: unknown): number | undefined =>
  error instanceof ClickHouseError ? Number(error.code) : undefined;
export const toError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

/** Returns the reason of a failed `fetch`, which is its cause. */
const toConnectionError = (error: Error): Error => (error.cause instanceof Error ? error.cause : error);

/**
 * Retries repeatable work once when the connection broke (a read, or an insert with its token): the server may close an
 * idle socket at the moment of its reuse.
 */
const withRetry = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work();
  } catch (error) {
    if (
      !/socket hang up|ECONNRESET|EPIPE/.test(`${toError(error).message} ${String((error as { code?: unknown }).code)}`)
    )
      throw error;
    return work();
  }
};

export class ClickhouseServer {
  readonly #url: URL;
  #client: ClickHouseClient;
  #failures = 0;
  #avoidedUntil = Number.NEGATIVE_INFINITY;
  readonly #watch: MemberWatch;

  /** `url` is `http(s)://user:password@host:port/database`; `watch` probes the server under its name. */
  constructor(url: string, watch: MemberWatch) {
    this.#url = new URL(url);
    this.#watch = watch;
    this.#client = this.#connect();
  }

  /** Host and port, for messages. */
  get name(): string {
    return this.#url.host;
  }

  get database(): string {
    return decodeURIComponent(this.#url.pathname.slice(1)) || 'default';
  }

  /** Whether the server recently did not respond. */
  get isAvoided(): boolean {
    return this.isUnavailable || performance.now() < this.#avoidedUntil;
  }

  /** Whether the server does not respond to probes. */
  get isUnavailable(): boolean {
    return this.#watch.isUnavailable(this.name);
  }

  /**
   * Runs repeatable work. Rejects when the server hangs, because a dead machine closes no connection: at once if it hangs
   * already, and later for the only server with some rows. The running request itself continues, but nothing waits for
   * it: neither a caller nor, for a connection, a later request.
   */
  rejectIfHanging<Result>(
    work: () => Promise<Result>,
    { isOnlyServer }: { readonly isOnlyServer: boolean },
  ): Promise<Result> {
    const client = this.#client;
    return runWhileAvailable(work, {
      watch: this.#watch,
      findError: () => (this.isUnavailable ? this.createUnavailableError() : undefined),
      graceMs: isOnlyServer ? onlyServerGraceMs : 0,
      onAbandoned: () => {
        if (this.#client === client) this.#client = this.#connect();
      },
    });
  }

  createUnavailableError(): UnavailableError {
    return new UnavailableError(`the ClickHouse server ${this.name} does not answer`);
  }

  /** Rejects if the server does not respond: also while it hangs or rejects all requests. */
  async ping(): Promise<void> {
    const { protocol, host } = this.#url;
    const response = await fetch(`${protocol}//${host}/ping`, { signal: AbortSignal.timeout(pingTimeoutMs) }).catch(
      (error: Error) => {
        throw toConnectionError(error);
      },
    );
    await response.body?.cancel();
  }

  #connect(): ClickHouseClient {
    return createClient({
      url: this.#url,
      request_timeout: requestTimeoutMs,
      // The client's own timers for idle sockets would also close a busy socket, after the abort of a request that
      // waited for a socket.
      http_agent: new (this.#url.protocol === 'https:' ? TlsAgent : Agent)({
        keepAlive: true,
        maxSockets: maxConnections,
        timeout: idleSocketMs,
      }),
      keep_alive: { enabled: true, idle_socket_ttl: 0 },
      // Within a machine compression costs more than it saves; for results of another machine it is worth its cost.
      compression: { request: false, response: !loopbackPattern.test(this.#url.hostname) },
      log: { level: ClickHouseLogLevel.OFF },
    });
  }

  /**
   * Runs repeatable work. Rejects with the client's error; `getErrorCode` returns undefined for it if the server did not respond. A server
   * that rejects the user counts as unavailable.
   */
  async runRepeatable<Result>(
    work: (client: ClickHouseClient) => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    try {
      const result = await withRetry(() => work(this.#client));
      this.#avoidedUntil = Number.NEGATIVE_INFINITY;
      return result;
    } catch (error) {
      const readableError = this.#toReadableError(error);
      if (getErrorCode(readableError) === undefined && !signal?.aborted)
        this.#avoidedUntil = performance.now() + avoidanceMs;
      throw readableError;
    }
  }

  /** Replaces an authentication failure by a readable error; returns other errors unchanged. */
  #toReadableError(error: unknown): unknown {
    return toRejectionError(this.name, getErrorCode(error), toError(error)) ?? error;
  }

  /** Returns the rows of a statement that the platform itself runs. */
  async select<Row>(sql: string): Promise<readonly Row[]> {
    return this.runRepeatable(async (client) => {
      const result = await client.query({ query: sql, format: 'JSONEachRow' });
      return result.json<Row>();
    });
  }

  /**
   * Counts a failure. A load balancer may continue to answer 5xx on a connection after the server is back, so failures
   * lead to new connections. Requests on earlier connections complete, and their idle sockets close soon.
   */
  recordFailure(): void {
    this.#failures++;
    if (this.#failures % failuresBeforeReconnect === 0) this.#client = this.#connect();
  }

  /** Runs DDL and maintenance statements. Creates the database if it is missing. */
  async runCommand(sql: string): Promise<void> {
    await this.#withDatabase(() =>
      this.#client.command({ query: sql, clickhouse_settings: { wait_end_of_query: 1 } }).catch((error: unknown) => {
        throw this.#toReadableError(error);
      }),
    );
  }

  async #withDatabase<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      if (getErrorCode(error) !== unknownDatabase) throw error;
      await this.createDatabase(this.database);
      return work();
    }
  }

  /** Whether the server has the macros that identify shard and replica: then its tables are replicated. */
  hasReplicaMacros(): Promise<boolean> {
    return this.#withDatabase(async () => {
      const [row] = await this.select<{ macros: string | number }>(
        "SELECT count() AS macros FROM system.macros WHERE macro IN ('shard', 'replica')",
      );
      return Number(row?.macros) === 2;
    });
  }

  /** Whether the server shares tables itself, like ClickHouse Cloud. */
  isManaged(): Promise<boolean> {
    return this.#withDatabase(async () => {
      const rows = await this.select(
        "SELECT 1 FROM system.settings WHERE name = 'cloud_mode' AND value IN ('1', 'true')",
      );
      return rows.length > 0;
    });
  }

  async createDatabase(database: string): Promise<void> {
    const url = new URL(this.#url);
    url.pathname = '/default';
    const client = createClient({ url, log: { level: ClickHouseLogLevel.OFF } });
    await client
      .command({ query: `CREATE DATABASE IF NOT EXISTS ${quoteName(database)}` })
      .finally(() => client.close());
  }

  close(): Promise<void> {
    return this.#client.close();
  }
}
