import type { Batch, BusRecord } from '../../schemas/ports/bus.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import { ConsumedPositions, type EmittedPosition, emittedPosition } from '../../schemas/records/emitted.ts';
import { quote } from '../../schemas/tables/literal.ts';
import type { Table } from '../../schemas/tables/table.ts';
import { instant } from './landed.ts';
import type { SinkInput } from './sink.ts';

/** What a message says of its position; the scanner refuses one that cannot be read. */
const positionOf = ({ headers }: BusRecord): EmittedPosition | undefined => {
  try {
    return emittedPosition(headers);
  } catch {
    return undefined;
  }
};

/** What was taken of a partition up to an offset. */
interface ConsumedRange {
  readonly positions: ConsumedPositions;
  readonly last: number;
}

/**
 * Leaves out messages of derived topics whose emitter's position landed at an earlier offset of the partition. What a range leaves out
 * follows from the rows before it, so it is the same whenever the range comes, also when a part of it has landed. The
 * highest positions are read from the table unless the range follows the last one of this process.
 */
export class Duplicates {
  readonly #table: Table;
  readonly #columns: Columns;
  readonly #consumed = new Map<string, ConsumedRange>();

  constructor(table: Table, columns: Columns) {
    this.#table = table;
    this.#columns = columns;
  }

  /** The records of a batch that are to land. */
  async without(
    { topic, partitionOffset }: SinkInput,
    batch: Batch,
    records: readonly BusRecord[],
  ): Promise<readonly BusRecord[]> {
    const key = `${batch.topic}:${batch.partition}`;
    const known = this.#consumed.get(key);
    // A range that comes again begins below, and between others that went to another member there is a gap.
    let positions = known?.last === batch.first - 1 ? known.positions : undefined;
    if (positions === undefined && records.some(({ headers }) => headers['position'] !== undefined)) {
      const retainedFromMs = (records[0]?.timestampMs ?? 0) - topic.retentionHours * 3_600_000;
      const landed = await this.#landedBefore(batch, batch.partition + partitionOffset, retainedFromMs);
      positions = new ConsumedPositions(landed);
    }
    if (positions === undefined) return records;
    this.#consumed.set(key, { positions, last: batch.last });
    const consumed = positions;
    return records.filter((record) => {
      const position = positionOf(record);
      return position === undefined || consumed.accept(position);
    });
  }

  /** A message that the topic no longer keeps is not looked for: its row is not worth reading all that the table keeps. */
  async #landedBefore(
    { topic, first, partition: place }: Batch,
    partition: number,
    fromMs: number,
  ): Promise<readonly EmittedPosition[]> {
    const rows = await this.#columns.query<Record<'emitter' | 'offset' | 'part', string>>(
      `SELECT emitter, toString(tupleElement(highest, 1)) AS offset, toString(tupleElement(highest, 2)) AS part
FROM (
  SELECT emitter, max((emitted_offset, emitted_part)) AS highest FROM ${this.#table.name}
  WHERE topic = ${quote(topic)} AND partition = ${partition} AND offset < ${first} AND received_at >= ${instant(Math.max(0, Math.floor(fromMs)))} AND emitter != ''
  GROUP BY emitter
)`,
      {},
      { maxResultRows: 1_000_000, maxExecutionSeconds: 120, place },
    );
    return rows.map(({ emitter, offset, part }) => ({ emitter, offset: Number(offset), part: Number(part) }));
  }
}
