/** The columns port in process, using ClickHouse's engine as a library. */
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Session } from 'chdb';
import { type ReusableMemory, releaseWhenIdle } from '../../runtime/idle-memory.ts';
import { UnavailableError } from '../../schemas/errors.ts';
import type { Columns, NativeBlock, QueryLimits, QueryParameters, TenantColumns } from '../../schemas/ports/columns.ts';
import { type Log, silentLog } from '../../schemas/ports/log.ts';
import { findBrokenParts } from '../../schemas/tables/broken-parts.ts';
import { quoteString } from '../../schemas/tables/literal.ts';
import { toInsertError, toQueryError } from '../columns-sql/engine-errors.ts';
import { buildInsertSettings, toLimitSettings } from '../columns-sql/query-settings.ts';
import { nativeFormat, parseRows, resultFormat } from '../columns-sql/rows.ts';
import { bindLiterals, quoteName } from '../columns-sql/sql-literals.ts';
import { buildTenantFilters, createTenantColumns } from '../columns-sql/tenant-filter.ts';
import { InMemoryWatermarks } from '../columns-sql/watermarks.ts';
import { type Abort, ChdbConnections, type Output } from './connections.ts';
import { NativeFiles } from './native-files.ts';

export interface ChdbColumnsOptions {
  /** Data directory; only one process at a time can use it. */
  readonly directory: string;
  /**
   * In-memory directory for blocks to be inserted. Default /dev/shm; the data directory is used if it is missing or
   * full.
   */
  readonly temporaryDirectory?: string;
  /**
   * Memory limit of the engine, which rejects statements above it. It does not include the rest of the process. Default
   * 1 GiB.
   */
  readonly maxMemoryBytes?: number;
  readonly log?: Log;
}

const mebibyte = 1024 ** 2;
const killIntervalMs = 100;
/**
 * Two more than the limit of user queries (`queries/limits/settings.ts`), so that alert rules find a free connection.
 */
const queryConnectionCount = 6;
const insertConnectionCount = 2;

const configurationPath = fileURLToPath(new URL('./engine.xml', import.meta.url));

/** The engine's defaults are meant for a server: gigabytes of caches, and all available memory. */
const buildEngineArguments = (maxMemoryBytes: number): string[] =>
  Object.entries({
    max_server_memory_usage: maxMemoryBytes,
    // Otherwise the engine counts all processes of its control group, and rejects everything when an editor in the same
    // group uses a gigabyte.
    memory_worker_use_cgroup: 0,
    // Each check reads the allocator's counters; the default is ten times a second.
    memory_worker_period_ms: 500,
    // Share of the memory limit that freed memory may occupy for the next insert.
    memory_worker_purge_dirty_pages_threshold_ratio: 0.15,
    mark_cache_size: 48 * mebibyte,
    primary_index_cache_size: 32 * mebibyte,
    index_mark_cache_size: 16 * mebibyte,
    index_uncompressed_cache_size: 0,
    uncompressed_cache_size: 64 * mebibyte,
    query_condition_cache_size: 8 * mebibyte,
    text_index_tokens_cache_size: 16 * mebibyte,
    text_index_header_cache_size: 16 * mebibyte,
    text_index_postings_cache_size: 32 * mebibyte,
    background_pool_size: 2,
    // By default a thousand threads that once ran concurrently stay alive, each with three open files.
    max_thread_pool_free_size: 16,
    background_merges_mutations_concurrency_ratio: 2,
    max_query_size: 64 * mebibyte,
    merges_mutations_memory_usage_soft_limit: Math.floor(maxMemoryBytes / 3),
    'config-file': configurationPath,
  }).map(([name, value]) => `--${name}=${value}`);

/** One thread reads a block, with read calls: mapped files would additionally count as memory of the process. */
const fileSettings = { max_threads: 1, storage_file_read_method: 'pread' } as const;

/**
 * By default the engine requires a free gigabyte for each thread of a read, so it uses a single thread when its limit
 * is one gigabyte in total.
 */
const threadSettings = { max_threads_min_free_memory_per_thread: 128 * mebibyte } as const;

/**
 * Decompressing granules takes a fifth to a half of the time of a small read, and the next read needs mostly the same
 * granules: the newest, or those of another page. Reads with more granules than the cache can hold would only evict
 * them.
 */
const buildCacheSettings = (maxGranules: number) =>
  ({
    use_uncompressed_cache: 1,
    // The engine uses the larger of both limits, in granules of 8,192 rows and 10 MiB.
    merge_tree_max_rows_to_use_cache: maxGranules * 8192,
    merge_tree_max_bytes_to_use_cache: maxGranules * 10 * mebibyte,
  }) as const;
/** For records, which use two megabytes per granule. */
const rowsCacheSettings = buildCacheSettings(32);
/** For numbers, which use two hundred kilobytes per granule. */
const nativeCacheSettings = buildCacheSettings(128);

/** The engine only reports that it cannot open the directory; its `status` file names the process that uses it. */
const findHolderPid = (directory: string): string | undefined => {
  try {
    const pid = /^PID: (\d+)/m.exec(readFileSync(join(directory, 'status'), 'utf8'))?.[1];
    if (pid === undefined || Number(pid) === process.pid) return undefined;
    process.kill(Number(pid), 0);
    return pid;
  } catch {
    return undefined;
  }
};

const openSession = (directory: string, args: readonly string[]): Session => {
  try {
    return new Session(directory, { connectionArgs: args });
  } catch (cause) {
    const holderPid = findHolderPid(directory);
    const reason =
      holderPid === undefined
        ? String(cause)
        : `process ${holderPid} uses it: stop that process, or choose another directory`;
    throw new UnavailableError(`cannot open the columns in ${directory}: ${reason}`, { cause });
  }
};

const getErrorCode = (error: unknown): number | undefined =>
  (error as { clickhouseCode?: number } | undefined)?.clickhouseCode;
const toError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

const formatSettings = (settings: Readonly<Record<string, string | number>>): string =>
  Object.entries(settings)
    .map(([name, value]) => `${name} = ${typeof value === 'number' ? value : quoteString(value)}`)
    .join(', ');

class ChdbColumns implements Columns, ReusableMemory {
  readonly #queries: ChdbConnections;
  readonly #inserts: ChdbConnections;
  readonly #control: ChdbConnections;
  readonly #files: NativeFiles;
  readonly #maxQueryMemory: number;
  readonly #log: Log;
  /** Only this process uses the directory, so every insert passes through this object. */
  readonly #watermarks = new InMemoryWatermarks();
  /** Inserted blocks by table */
  readonly #insertCounts = new Map<string, number>();
  #executedCount = 0;
  #hasRead = false;

  constructor({
    directory,
    temporaryDirectory,
    maxMemoryBytes = 1024 * mebibyte,
    log = silentLog,
  }: ChdbColumnsOptions) {
    const path = join(resolve(directory), 'engine');
    mkdirSync(path, { recursive: true });
    const args = buildEngineArguments(maxMemoryBytes);
    const open = (): Session => openSession(path, args);
    this.#control = new ChdbConnections(open, 1);
    this.#queries = new ChdbConnections(open, queryConnectionCount);
    this.#inserts = new ChdbConnections(open, insertConnectionCount);
    this.#files = new NativeFiles(directory, temporaryDirectory);
    this.#log = log;
    this.#maxQueryMemory = Math.floor(maxMemoryBytes / 2);
    releaseWhenIdle(this);
  }

  /** Drops decompressed granules, which would otherwise occupy the memory of an idle process. */
  release(): void {
    if (!this.#hasRead) return;
    this.#hasRead = false;
    this.#control
      .run('SYSTEM DROP UNCOMPRESSED CACHE', 'Null')
      .catch((error: unknown) => this.#log.warn({ error: String(error) }, 'memory of reads could not be released'));
  }

  async insert({ table, columns, rows, chunks }: NativeBlock, token: string): Promise<void> {
    if (rows === 0) return;
    const names = columns.map(({ name }) => quoteName(name)).join(', ');
    const structure = columns.map(({ name, type }) => `${quoteName(name)} ${type}`).join(', ');
    try {
      await this.#files.withFile(chunks, (path) =>
        this.#inserts.run(
          `INSERT INTO ${quoteName(table)} (${names}) SELECT ${names} FROM file(${quoteString(path)}, Native, ${quoteString(structure)})
SETTINGS ${formatSettings({ ...buildInsertSettings(token), ...fileSettings })}`,
          'Null',
        ),
      );
    } catch (error) {
      throw error instanceof UnavailableError ? error : toInsertError(table, getErrorCode(error), toError(error));
    } finally {
      this.#insertCounts.set(table, (this.#insertCounts.get(table) ?? 0) + 1);
    }
  }

  recordWatermark(table: string, newest: ReadonlyMap<string, number>): void {
    this.#watermarks.record(table, newest);
  }

  forTenant(tenantId: string): TenantColumns {
    return createTenantColumns(tenantId, this, {
      queryRows: (...args) => this.#queryRows(...args),
      queryNative: (...args) => this.#queryNative(...args),
      getWatermark: ({ tenantId: callerTenantId }, table) => this.#watermarks.getWatermark(callerTenantId, table),
      getChangeCount: (table) => this.#executedCount + (this.#insertCounts.get(table) ?? 0),
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
    const { bytes } = await this.#read(sql, parameters, limits, { format: resultFormat, tenantId });
    const { rows, cost } = await parseRows<Row>(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    limits.onCost?.(cost);
    return rows;
  }

  async #queryNative(
    sql: string,
    parameters: QueryParameters,
    limits: QueryLimits,
    tenantId: string,
  ): Promise<Uint8Array> {
    const { bytes, cost } = await this.#read(sql, parameters, limits, { format: nativeFormat, tenantId });
    limits.onCost?.(cost);
    return bytes;
  }

  async #read(
    sql: string,
    parameters: QueryParameters,
    limits: QueryLimits,
    { format, tenantId }: { readonly format: string; readonly tenantId: string | undefined },
  ): Promise<Output> {
    const comment = randomUUID();
    const filters = buildTenantFilters(tenantId);
    const settings = [
      formatSettings({
        ...toLimitSettings(limits, tenantId, this.#maxQueryMemory),
        ...threadSettings,
        ...(format === nativeFormat ? nativeCacheSettings : rowsCacheSettings),
        log_comment: comment,
      }),
      ...(filters === undefined ? [] : [`additional_table_filters = ${filters}`]),
    ].join(', ');
    const statement = `${bindLiterals(sql, parameters)}\nFORMAT ${format} SETTINGS ${settings}`;
    const { signal } = limits;
    this.#hasRead = true;
    try {
      return await this.#queries.run(statement, format, signal && this.#createAbort(signal, comment));
    } catch (error) {
      signal?.throwIfAborted();
      throw error instanceof UnavailableError ? error : toQueryError(getErrorCode(error), toError(error));
    }
  }

  /**
   * Kills the statement with this `log_comment`. Repeats the kill, since the engine may not have begun the statement
   * yet, and uses `ASYNC`, since `SYNC` hangs.
   */
  #createAbort(signal: AbortSignal, comment: string): Abort {
    const kill = async (hasEnded: () => boolean): Promise<void> => {
      while (!hasEnded()) {
        await this.#control.run(
          `KILL QUERY WHERE Settings['log_comment'] = ${quoteString(comment)} ASYNC FORMAT Null`,
          'Null',
        );
        await sleep(killIntervalMs);
      }
    };
    const stop: Abort['stop'] = (ended) => {
      kill(ended).catch((error: unknown) =>
        this.#log.warn({ error: String(error) }, 'an aborted query could not be stopped'),
      );
    };
    return { signal, stop };
  }

  listServers(): ReturnType<Columns['listServers']> {
    return [{ name: 'the data directory', columns: this }];
  }

  async handleTablesChanged(): Promise<void> {}

  async execute(sql: string): Promise<void> {
    try {
      await this.#queries.run(sql, 'Null');
    } catch (error) {
      throw new Error(`the statement failed: ${toError(error).message}`, { cause: error });
    } finally {
      this.#executedCount++;
    }
  }

  async check(): Promise<void> {
    await this.query('SELECT 1');
  }

  async close(): Promise<void> {
    await this.#queries.close();
    await this.#inserts.close();
    await this.#control.close();
  }
}

/** Reports broken parts: the engine detaches unreadable parts without any report. */
const reportBrokenParts = async (columns: Columns, directory: string, log: Log): Promise<void> => {
  const parts = await findBrokenParts(columns);
  if (parts.length > 0)
    log.error(
      { directory, parts },
      'parts of tables are damaged and were set aside: their rows are missing. Restore the directory from a backup, or remove these parts',
    );
};

/** Opens the columns in a directory of this machine. Rejects with a readable message when another process uses it. */
export const openChdbColumns = async (options: ChdbColumnsOptions): Promise<Columns> => {
  const { directory, log = silentLog } = options;
  const columns = new ChdbColumns(options);
  await reportBrokenParts(columns, directory, log);
  log.info({ directory }, 'columns are open in process');
  return columns;
};
