import { randomUUID } from 'node:crypto';
import { PermanentError } from '../../schemas/errors.ts';
import type { Batch, BusRecord } from '../../schemas/ports/bus.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import type { Metrics } from '../../schemas/ports/metrics.ts';
import { coversOffsetRange, isMerging } from '../../schemas/tables/table.ts';
import { usageTable } from '../../schemas/tables/usage.ts';
import type { EncodedBlock } from '../native/rows.ts';
import { countLandedRows, countLandedUsage, coversSeveralDays, type LandedRows } from './row-counts.ts';
import type { ScanPool, ScanResult } from './scan-pool.ts';

/** A message that cannot land, and the reason */
export interface UnlandableMessage {
  readonly record: BusRecord;
  readonly reason: string;
  readonly message: string;
}

export interface LandingOptions {
  readonly sink: string;
  readonly topic: string;
  /** As stored. */
  readonly partition: number;
  /** Whether the range, or part of it, may already have landed. */
  readonly mayHaveLanded: boolean;
  /** For telemetry: all tenants with records in the range. */
  readonly tenants?: readonly string[];
  readonly pool: ScanPool;
  readonly columns: Columns;
  readonly metrics: Metrics;
}

type Range = readonly [BusRecord, ...BusRecord[]];

/**
 * Lands a range of one partition exactly once, with one insert per table. Ranges in doubt are first counted in each
 * table separately, because one table may contain the range and another may not.
 */
export class Landing {
  readonly #options: LandingOptions;
  readonly #batch: Batch;
  readonly #landedCounts = new Map<string, LandedRows>();
  readonly #unlandable: UnlandableMessage[] = [];

  constructor(batch: Batch, options: LandingOptions) {
    this.#batch = batch;
    this.#options = options;
  }

  /** Resolves with the messages that could not land, after all others have landed. */
  async land(records: readonly BusRecord[]): Promise<readonly UnlandableMessage[]> {
    if (isRange(records)) await this.#landRange(records, this.#batch, new Set());
    return this.#unlandable;
  }

  /** `completedTables` names tables that already contain these records, as part of a larger range. */
  async #landRange(
    records: Range,
    bounds: Pick<Batch, 'first' | 'last'>,
    completedTables: ReadonlySet<string>,
  ): Promise<void> {
    const { sink, topic, partition, pool } = this.#options;
    const scanResult = await pool.scan(sink, topic, partition, records);
    const landedTables = new Set(completedTables);
    let rejection: PermanentError | undefined;
    let hasLanded = false;
    try {
      rejection = await this.#insertAll(scanResult, records, bounds, landedTables);
      hasLanded = rejection === undefined;
    } finally {
      scanResult.settle(hasLanded);
    }
    if (rejection !== undefined) {
      await this.#bisect(records, landedTables, rejection);
      return;
    }
    for (const { index, reason, message } of scanResult.rejected) {
      const record = records[index];
      if (record !== undefined) this.#unlandable.push({ record, reason, message });
    }
  }

  /** Returns the error of a table that can never accept the range, or that has accepted part of it. */
  async #insertAll(
    { blocks, rejected }: ScanResult,
    records: Range,
    bounds: Pick<Batch, 'first' | 'last'>,
    landedTables: Set<string>,
  ): Promise<PermanentError | undefined> {
    // The dead letter of a rejected message counts it, under its offset.
    const rejectedIndexes = new Set(rejected.map(({ index }) => index));
    const acceptedRecords =
      rejectedIndexes.size === 0 ? records : records.filter((_, index) => !rejectedIndexes.has(index));
    for (const block of blocks) {
      if (landedTables.has(block.table)) continue;
      const rejection = await this.#insertMissing(block, acceptedRecords, bounds);
      if (rejection !== undefined) return rejection;
      if (!isMerging(block.declaration)) landedTables.add(block.table);
    }
    return undefined;
  }

  async #insertMissing(
    block: EncodedBlock,
    records: readonly BusRecord[],
    bounds: Pick<Batch, 'first' | 'last'>,
  ): Promise<PermanentError | undefined> {
    const existingRows = await this.#countExistingRows(block, records);
    const isByRange = coversOffsetRange(block.declaration);
    if (existingRows >= (isByRange ? records.length : block.rows)) return undefined;
    // An insert that spans midnight creates two parts, of which one may already be stored, so it needs its own token. Rows
    // that cover a range are one part.
    if (existingRows > 0 && records.length > 1 && (isByRange || !coversSeveralDays(records))) {
      return new PermanentError('landed-in-part', `table ${block.table} contains part of the range`);
    }
    try {
      await this.#insert(block, bounds);
      return undefined;
    } catch (error) {
      if (error instanceof PermanentError) return error;
      throw error;
    }
  }

  async #insert(block: EncodedBlock, { first, last }: Pick<Batch, 'first' | 'last'>): Promise<void> {
    const { topic, columns, metrics, tenants } = this.#options;
    const { table, declaration, rows, bytes } = block;
    const range = `${topic}:${this.#batch.partition}:${first}-${last}`;
    const start = performance.now();
    // This process omits recently stored rows of resources and series, so a redelivered range may contain other rows.
    const token = isMerging(declaration) ? `${range}:${randomUUID()}` : range;
    const insertBlock = { table, columns: block.columns, rows, chunks: [bytes] };
    await columns.insert(insertBlock, token, this.#batch.partition, tenants);
    metrics.observe('oiq_insert_duration_seconds', (performance.now() - start) / 1_000, { table });
    metrics.add('oiq_landed_rows_total', rows, { table });
  }

  /** Returns the number of rows of these records in the table. */
  async #countExistingRows({ table, declaration }: EncodedBlock, records: readonly BusRecord[]): Promise<number> {
    const { mayHaveLanded, columns, partition, sink, tenants } = this.#options;
    const ledgerTenants = table === usageTable.name ? tenants : undefined;
    if (!mayHaveLanded || (isMerging(declaration) && ledgerTenants === undefined)) return 0;
    let counts = this.#landedCounts.get(table);
    if (counts === undefined) {
      counts =
        ledgerTenants === undefined
          ? await countLandedRows(columns, declaration, partition, this.#batch)
          : await countLandedUsage(columns, this.#batch, { partition, signal: sink, tenants: ledgerTenants });
      this.#landedCounts.set(table, counts);
    }
    let rows = 0;
    if (counts.size > 0) for (const { offset } of records) rows += counts.get(offset) ?? 0;
    return rows;
  }

  /** Finds the faulty message by bisection. Tokens identify the contents of each half. */
  async #bisect(records: Range, landedTables: ReadonlySet<string>, rejection: PermanentError): Promise<void> {
    if (records.length === 1) {
      this.#unlandable.push({ record: records[0], reason: rejection.reason, message: rejection.message });
      return;
    }
    const middle = records.length >> 1;
    for (const half of [records.slice(0, middle), records.slice(middle)]) {
      if (isRange(half))
        await this.#landRange(half, { first: half[0].offset, last: half.at(-1)?.offset ?? 0 }, landedTables);
    }
  }
}

const isRange = (records: readonly BusRecord[]): records is Range => records.length > 0;
