/** The columns port in process: ClickHouse's own engine as a library. */
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Session } from 'chdb';
import { type Reused, releaseWhenIdle } from '../../runtime/idle-memory.ts';
import { UnavailableError } from '../../schemas/errors.ts';
import type { Columns, NativeBlock, QueryLimits, QueryParameters, TenantColumns } from '../../schemas/ports/columns.ts';
import { type Log, silent } from '../../schemas/ports/log.ts';
import { brokenParts } from '../../schemas/tables/broken-parts.ts';
import { quote } from '../../schemas/tables/literal.ts';
import { insertError, queryError } from '../columns-sql/engine-errors.ts';
import { LandingsInMemory } from '../columns-sql/landings.ts';
import { insertSettings, limitSettings } from '../columns-sql/query-settings.ts';
import { nativeFormat, resultFormat, rowsOf } from '../columns-sql/rows.ts';
import { bindLiterals, quoteName } from '../columns-sql/sql-literals.ts';
import { fencedColumns, tenantFilters } from '../columns-sql/tenant-filter.ts';
import { type Abort, ChdbConnections, type Output } from './connections.ts';
import { NativeFiles } from './native-files.ts';

export interface ChdbColumnsOptions {
  /** Data directory; one process at a time. */
  readonly directory: string;
  /** In memory, for blocks on their way in. Default /dev/shm; the data directory serves where it is missing or full. */
  readonly temporaryDirectory?: string;
  /** At this size of its own memory the engine refuses more; the rest of the process is not counted. Default 1 GiB. */
  readonly maxMemoryBytes?: number;
  readonly log?: Log;
}

const mebibyte = 1024 ** 2;
const killIntervalMs = 100;
/** Two more than people's queries take (`queries/limits/settings.ts`), so that alert rules find one free. */
const queryConnections = 6;
const insertConnections = 2;

const configuration = fileURLToPath(new URL('./engine.xml', import.meta.url));

/** The engine's own defaults are a server's: gigabytes of caches, and all memory there is. */
const engineArguments = (maxMemoryBytes: number): string[] =>
  Object.entries({
    max_server_memory_usage: maxMemoryBytes,
    // Else it counts all processes of its control group, and refuses everything where an editor beside it has a gigabyte.
    memory_worker_use_cgroup: 0,
    // It looks at its allocator's counters each time, by its own default ten times a second.
    memory_worker_period_ms: 500,
    // Of the limit: what was freed and is kept for the next insert.
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
    // By its own default a thousand threads that once ran at the same time stay, each with three open files.
    max_thread_pool_free_size: 16,
    background_merges_mutations_concurrency_ratio: 2,
    max_query_size: 64 * mebibyte,
    merges_mutations_memory_usage_soft_limit: Math.floor(maxMemoryBytes / 3),
    'config-file': configuration,
  }).map(([name, value]) => `--${name}=${value}`);

/** A block is read by one thread, and by calls: what is mapped counts as the process' memory besides. */
const fileSettings = { max_threads: 1, storage_file_read_method: 'pread' } as const;

/** By its own default the engine wants a gigabyte free for each thread of a read, and so reads everything with one where it may take one in all. */
const threadSettings = { max_threads_min_free_memory_per_thread: 128 * mebibyte } as const;

/**
 * A fifth to a half of what a small read takes is decompressing granules, and the next one wants mostly the same: the newest, or another
 * page. What reads more granules than there is room for would only take the room from those.
 */
const cacheSettings = (maxGranules: number) =>
  ({
    use_uncompressed_cache: 1,
    // The engine takes the larger of both, in granules of 8,192 rows and 10 MiB.
    merge_tree_max_rows_to_use_cache: maxGranules * 8192,
    merge_tree_max_bytes_to_use_cache: maxGranules * 10 * mebibyte,
  }) as const;
/** Of records, which are two megabytes a granule. */
const rowsCache = cacheSettings(32);
/** Of numbers, which are two hundred kilobytes. */
const nativeCache = cacheSettings(128);

/** The engine says only that it cannot open; its `status` file says who has the directory. */
const holderOf = (directory: string): string | undefined => {
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
    const holder = holderOf(directory);
    const reason =
      holder === undefined ? String(cause) : `process ${holder} has it: stop that one, or choose another directory`;
    throw new UnavailableError(`cannot open the columns in ${directory}: ${reason}`, { cause });
  }
};

const codeOf = (error: unknown): number | undefined =>
  (error as { clickhouseCode?: number } | undefined)?.clickhouseCode;
const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

const settingsText = (settings: Readonly<Record<string, string | number>>): string =>
  Object.entries(settings)
    .map(([name, value]) => `${name} = ${typeof value === 'number' ? value : quote(value)}`)
    .join(', ');

class ChdbColumns implements Columns, Reused {
  readonly #queries: ChdbConnections;
  readonly #inserts: ChdbConnections;
  readonly #control: ChdbConnections;
  readonly #files: NativeFiles;
  readonly #maxQueryMemory: number;
  readonly #log: Log;
  /** One process has the directory: what lands, lands through this. */
  readonly #landings = new LandingsInMemory();
  /** Blocks by table. */
  readonly #inserted = new Map<string, number>();
  #executed = 0;
  #hasRead = false;

  constructor({ directory, temporaryDirectory, maxMemoryBytes = 1024 * mebibyte, log = silent }: ChdbColumnsOptions) {
    const path = join(resolve(directory), 'engine');
    mkdirSync(path, { recursive: true });
    const args = engineArguments(maxMemoryBytes);
    const open = (): Session => openSession(path, args);
    this.#control = new ChdbConnections(open, 1);
    this.#queries = new ChdbConnections(open, queryConnections);
    this.#inserts = new ChdbConnections(open, insertConnections);
    this.#files = new NativeFiles(directory, temporaryDirectory);
    this.#log = log;
    this.#maxQueryMemory = Math.floor(maxMemoryBytes / 2);
    releaseWhenIdle(this);
  }

  /** Lets go of decompressed granules: an idle process would keep them. */
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
      await this.#files.with(chunks, (path) =>
        this.#inserts.run(
          `INSERT INTO ${quoteName(table)} (${names}) SELECT ${names} FROM file(${quote(path)}, Native, ${quote(structure)})
SETTINGS ${settingsText({ ...insertSettings(token), ...fileSettings })}`,
          'Null',
        ),
      );
    } catch (error) {
      throw error instanceof UnavailableError ? error : insertError(table, codeOf(error), asError(error));
    } finally {
      this.#inserted.set(table, (this.#inserted.get(table) ?? 0) + 1);
    }
  }

  recordWatermark(table: string, newest: ReadonlyMap<string, number>): void {
    this.#landings.record(table, newest);
  }

  of(tenantId: string): TenantColumns {
    return fencedColumns(tenantId, this, {
      rows: (...question) => this.#rows(...question),
      native: (...question) => this.#native(...question),
      landedUpTo: ({ tenantId: callerTenantId }, table) => this.#landings.upTo(callerTenantId, table),
      changesOf: (table) => this.#executed + (this.#inserted.get(table) ?? 0),
    });
  }

  async query<Row>(sql: string, parameters: QueryParameters = {}, limits: QueryLimits = {}): Promise<Row[]> {
    return this.#rows<Row>(sql, parameters, limits);
  }

  async #rows<Row>(sql: string, parameters: QueryParameters, limits: QueryLimits, tenantId?: string): Promise<Row[]> {
    const { bytes } = await this.#read(sql, parameters, limits, { format: resultFormat, tenantId });
    const { rows, cost } = rowsOf<Row>(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString());
    limits.onCost?.(cost);
    return rows;
  }

  async #native(sql: string, parameters: QueryParameters, limits: QueryLimits, tenantId: string): Promise<Uint8Array> {
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
    const filters = tenantFilters(tenantId);
    const settings = [
      settingsText({
        ...limitSettings(limits, tenantId, this.#maxQueryMemory),
        ...threadSettings,
        ...(format === nativeFormat ? nativeCache : rowsCache),
        log_comment: comment,
      }),
      ...(filters === undefined ? [] : [`additional_table_filters = ${filters}`]),
    ].join(', ');
    const statement = `${bindLiterals(sql, parameters)}\nFORMAT ${format} SETTINGS ${settings}`;
    const { signal } = limits;
    this.#hasRead = true;
    try {
      return await this.#queries.run(statement, format, signal && this.#abort(signal, comment));
    } catch (error) {
      signal?.throwIfAborted();
      throw error instanceof UnavailableError ? error : queryError(codeOf(error), asError(error));
    }
  }

  /** Stops the statement that carries this `log_comment`: again and again, since the engine may not have begun it yet, and `ASYNC`, since `SYNC` hangs. */
  #abort(signal: AbortSignal, comment: string): Abort {
    const kill = async (ended: () => boolean): Promise<void> => {
      while (!ended()) {
        await this.#control.run(
          `KILL QUERY WHERE Settings['log_comment'] = ${quote(comment)} ASYNC FORMAT Null`,
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

  each(): ReturnType<Columns['each']> {
    return [{ name: 'the data directory', columns: this }];
  }

  async tablesChanged(): Promise<void> {}

  async execute(sql: string): Promise<void> {
    try {
      await this.#queries.run(sql, 'Null');
    } catch (error) {
      throw new Error(`the statement failed: ${asError(error).message}`, { cause: error });
    } finally {
      this.#executed++;
    }
  }

  async check(): Promise<void> {
    await this.query('SELECT 1');
  }

  async close(): Promise<void> {
    await this.#queries.close();
    await this.#inserts.close();
    this.#files.close();
    await this.#control.close();
  }
}

/** The engine sets parts aside that it cannot read, and says nothing. */
const reportBrokenParts = async (columns: Columns, directory: string, log: Log): Promise<void> => {
  const parts = await brokenParts(columns);
  if (parts.length > 0)
    log.error(
      { directory, parts },
      'parts of tables are damaged and were set aside: their rows are missing. Restore the directory from a backup, or remove these parts',
    );
};

/** Opens the columns in a directory of this machine. Rejects with a message for people when another process has it. */
export const chdbColumns = async (options: ChdbColumnsOptions): Promise<Columns> => {
  const { directory, log = silent } = options;
  const columns = new ChdbColumns(options);
  await reportBrokenParts(columns, directory, log);
  log.info({ directory }, 'columns are open in process');
  return columns;
};
