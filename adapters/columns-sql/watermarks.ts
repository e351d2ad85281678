/**
 * The newest stored receive time per table and tenant. The inserting process reports it, so no query has to count
 * records.
 */
import type { Columns, TenantColumns } from '../../schemas/ports/columns.ts';
import { type Log, silentLog } from '../../schemas/ports/log.ts';
import { quoteString } from '../../schemas/tables/literal.ts';
import { watermarksTable } from '../../schemas/tables/watermarks.ts';

type NewestByTenant = Parameters<Columns['recordWatermark']>[1];

/** Epoch milliseconds by table and tenant; the newest value wins. */
class NewestByTable {
  readonly tables = new Map<string, Map<string, number>>();

  add(table: string, newestByTenant: NewestByTenant): void {
    const tableWatermarks = this.tables.get(table) ?? new Map<string, number>();
    this.tables.set(table, tableWatermarks);
    for (const [tenantId, newestMs] of newestByTenant)
      tableWatermarks.set(tenantId, Math.max(newestMs, tableWatermarks.get(tenantId) ?? Number.NEGATIVE_INFINITY));
  }
}

/** Watermarks for writers and readers in the same process. */
export class InMemoryWatermarks {
  readonly #newest = new NewestByTable();

  record(table: string, newestByTenant: NewestByTenant): void {
    this.#newest.add(table, newestByTenant);
  }

  async getWatermark(tenantId: string, table: string): Promise<number | undefined> {
    return this.#newest.tables.get(table)?.get(tenantId);
  }
}

type Watermarks = ReadonlyMap<string, number>;

/** Maximum delay before reported watermarks are written. Queries of one tenant within this time share a read. */
const batchIntervalMs = 1_000;
const maxCachedTenants = 10_000;

/** Writes rows of these tenants to a slot. */
type Execute = (sql: string, slot: number, tenants: readonly string[]) => Promise<void>;

/** Watermarks that several processes share through a small table. Writes and reads are at least a second apart. */
export class StoredWatermarks {
  readonly #execute: Execute;
  readonly #log: Log;
  /** Pending watermarks by slot, so that the watermarks of a tenant are on the same shard as its rows. */
  #pendingBySlot = new Map<number, NewestByTable>();
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();
  #failures = 0;
  /** Cached watermarks by tenant, the most recently requested ones last. */
  readonly #cache = new Map<string, { readonly watermarks: Promise<Watermarks>; readonly requestedAtMs: number }>();

  constructor(execute: Execute, log: Log = silentLog) {
    this.#execute = execute;
    this.#log = log;
  }

  record(table: string, newestByTenant: NewestByTenant, slot = 0): void {
    const slotPending = this.#pendingBySlot.get(slot) ?? new NewestByTable();
    this.#pendingBySlot.set(slot, slotPending);
    slotPending.add(table, newestByTenant);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#writing = this.#writing.then(() => this.#write());
    }, batchIntervalMs).unref();
  }

  async #write(): Promise<void> {
    const pending = this.#pendingBySlot;
    this.#pendingBySlot = new Map();
    await Promise.all(Array.from(pending, ([slot, { tables }]) => this.#writeSlot(slot, tables)));
  }

  async #writeSlot(slot: number, tables: NewestByTable['tables']): Promise<void> {
    const rows = [...tables].flatMap(([table, newestByTenant]) =>
      [...newestByTenant].map(
        ([tenantId, newestMs]) =>
          `(${quoteString(tenantId)}, ${quoteString(table)}, fromUnixTimestamp64Milli(toInt64(${newestMs}), 'UTC'))`,
      ),
    );
    if (rows.length === 0) return;
    try {
      await this.#execute(
        `INSERT INTO ${watermarksTable.name} (tenant_id, landed_in, newest) SELECT tupleElement(watermark, 1), tupleElement(watermark, 2), tupleElement(watermark, 3) FROM (SELECT arrayJoin([${rows.join(', ')}]) AS watermark)`,
        slot,
        [...new Set([...tables.values()].flatMap((newestByTenant) => [...newestByTenant.keys()]))],
      );
      this.#failures = 0;
    } catch (error) {
      // Until they are written, responses report an older watermark than the actual one.
      if (this.#failures++ === 0)
        this.#log.warn({ error }, 'the freshness of the tables could not be reported; retrying every second');
      for (const [table, newestByTenant] of tables) this.record(table, newestByTenant, slot);
    }
  }

  async getWatermark(
    { tenantId, query }: Pick<TenantColumns, 'tenantId' | 'query'>,
    table: string,
  ): Promise<number | undefined> {
    const nowMs = performance.now();
    const cachedEntry = this.#cache.get(tenantId);
    if (cachedEntry !== undefined && nowMs - cachedEntry.requestedAtMs < batchIntervalMs)
      return (await cachedEntry.watermarks).get(table);
    const watermarks = fetchWatermarks(query);
    this.#cache.delete(tenantId);
    this.#cache.set(tenantId, { watermarks, requestedAtMs: nowMs });
    for (const oldestKey of this.#cache.keys()) {
      if (this.#cache.size <= maxCachedTenants) break;
      this.#cache.delete(oldestKey);
    }
    try {
      return (await watermarks).get(table);
    } catch (error) {
      if (this.#cache.get(tenantId)?.watermarks === watermarks) this.#cache.delete(tenantId);
      throw error;
    }
  }

  /** Writes the pending watermarks. */
  async close(): Promise<void> {
    await this.#writing;
    await this.#write();
    clearTimeout(this.#timer);
  }
}

/** Returns the newest watermark per table; unmerged rows can contain several. */
const fetchWatermarks = async (query: TenantColumns['query']): Promise<Watermarks> => {
  const rows = await query<{ table_name: string; newest: string }>(
    `SELECT landed_in AS table_name, toString(toUnixTimestamp64Milli(max(newest))) AS newest FROM ${watermarksTable.name}
    WHERE tenant_id = {tenant:String} GROUP BY table_name`,
    {},
    { runsOnEachServer: true },
  );
  const watermarks = new Map<string, number>();
  for (const { table_name: table, newest } of rows)
    watermarks.set(table, Math.max(Number(newest), watermarks.get(table) ?? Number.NEGATIVE_INFINITY));
  return watermarks;
};
