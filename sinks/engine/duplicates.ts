import type { Batch, BusRecord } from '../../schemas/ports/bus.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import {
  ConsumedPositions,
  type EmittedPosition,
  parseEmittedPosition,
} from '../../schemas/records/emitted-position.ts';
import { quoteString } from '../../schemas/tables/literal.ts';
import type { Table } from '../../schemas/tables/table.ts';
import { toSqlInstant } from './row-counts.ts';
import type { SinkInput } from './sink.ts';

/** Returns the position in a message's headers. The scanner rejects a message with an unreadable position. */
const parsePosition = ({ headers }: BusRecord): EmittedPosition | undefined => {
  try {
    return parseEmittedPosition(headers);
  } catch {
    return undefined;
  }
};

/** Positions consumed from a partition up to an offset */
interface ConsumedRange {
  readonly positions: ConsumedPositions;
  readonly last: number;
}

/**
 * Excludes messages of derived topics whose emitter position landed at an earlier offset of the partition. The
 * exclusions in a range depend only on the rows before it, so they are the same for every redelivery, even if part of
 * the range has already landed. The highest positions are read from the table, unless the range directly follows the
 * last range of this process.
 */
export class Duplicates {
  readonly #table: Table;
  readonly #columns: Columns;
  readonly #consumed = new Map<string, ConsumedRange>();

  constructor(table: Table, columns: Columns) {
    this.#table = table;
    this.#columns = columns;
  }

  /** Returns the records of a batch that should land. */
  async excludeDuplicates(
    { topic, partitionOffset }: SinkInput,
    batch: Batch,
    records: readonly BusRecord[],
  ): Promise<readonly BusRecord[]> {
    const key = `${batch.topic}:${batch.partition}`;
    const previousRange = this.#consumed.get(key);
    // A redelivered range starts at a lower offset, and ranges that another member consumed leave a gap.
    let positions = previousRange?.last === batch.first - 1 ? previousRange.positions : undefined;
    if (positions === undefined && records.some(({ headers }) => headers['position'] !== undefined)) {
      const retainedFromMs = (records[0]?.timestampMs ?? 0) - topic.retentionHours * 3_600_000;
      const landedPositions = await this.#readLandedPositions(batch, batch.partition + partitionOffset, retainedFromMs);
      positions = new ConsumedPositions(landedPositions);
    }
    if (positions === undefined) return records;
    this.#consumed.set(key, { positions, last: batch.last });
    const consumedPositions = positions;
    return records.filter((record) => {
      const position = parsePosition(record);
      return position === undefined || consumedPositions.accept(position);
    });
  }

  /** Messages beyond the topic's retention are not looked up, since that would read the complete table. */
  async #readLandedPositions(
    { topic, first, partition: partitionId }: Batch,
    storedPartition: number,
    fromMs: number,
  ): Promise<readonly EmittedPosition[]> {
    const rows = await this.#columns.query<Record<'emitter' | 'offset' | 'part', string>>(
      `SELECT emitter, toString(tupleElement(highest, 1)) AS offset, toString(tupleElement(highest, 2)) AS part
FROM (
  SELECT emitter, max((emitted_offset, emitted_part)) AS highest FROM ${this.#table.name}
  WHERE topic = ${quoteString(topic)} AND partition = ${storedPartition} AND offset < ${first} AND received_at >= ${toSqlInstant(Math.max(0, Math.floor(fromMs)))} AND emitter != ''
  GROUP BY emitter
)`,
      {},
      { maxResultRows: 1_000_000, maxExecutionSeconds: 120, shardKey: partitionId },
    );
    return rows.map(({ emitter, offset, part }) => ({ emitter, offset: Number(offset), part: Number(part) }));
  }
}
