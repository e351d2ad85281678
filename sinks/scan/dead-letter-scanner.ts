import { type DeadLetterHeaders, decodeDeadLetter } from '../../schemas/dead-letter.ts';
import { deadLetterMarksTable, deadLettersTable } from '../../schemas/tables/dead-letters.ts';
import { DeadLetterMark } from '../../schemas/topics.ts';
import { NumberColumn, WordsColumn } from '../native/fixed.ts';
import { NullableColumn } from '../native/nested.ts';
import { rowsOf } from '../native/rows.ts';
import { DictionaryColumn, StringColumn } from '../native/strings.ts';
import { deadLetterUsage } from './dead-letter-usage.ts';
import type { ScanMessage, Scanner } from './scanner.ts';
import { UsageColumns } from './usage-columns.ts';

const milliseconds = "DateTime64(3, 'UTC')";

/** Milliseconds since the epoch, or now's lack of an answer: the epoch. */
const instant = (value: number): number => (Number.isSafeInteger(value) && value > 0 ? value : 0);

class LetterRows {
  readonly #columns = {
    tenant_id: new DictionaryColumn(),
    id: new StringColumn(),
    project_id: new DictionaryColumn(),
    key_id: new DictionaryColumn(),
    signal: new DictionaryColumn(),
    origin: new DictionaryColumn(),
    kind: new DictionaryColumn(),
    reason: new DictionaryColumn(),
    message: new StringColumn(),
    position: new NullableColumn('UInt64'),
    received_at: new WordsColumn(milliseconds),
    source: new StringColumn(),
    size: new WordsColumn('UInt64'),
    cut: new NumberColumn('Bool'),
    chunks: new NumberColumn('UInt32'),
    partition: new NumberColumn('UInt16'),
    offset: new WordsColumn('UInt64'),
  } as const;
  readonly rows = rowsOf(deadLettersTable, this.#columns);

  push(letter: DeadLetterHeaders, partition: number, offset: number): void {
    const columns = this.#columns;
    columns.tenant_id.pushText(letter.tenantId);
    columns.id.pushText(letter.id);
    columns.project_id.pushText(letter.projectId);
    columns.key_id.pushText(letter.keyId);
    columns.signal.pushText(letter.signal);
    columns.origin.pushText(letter.origin);
    columns.kind.pushText(letter.kind);
    columns.reason.pushText(letter.reason);
    columns.message.pushText(letter.message);
    if (letter.position === undefined) columns.position.pushNull();
    else columns.position.push(letter.position >>> 0, Math.floor(letter.position / 4_294_967_296));
    columns.received_at.pushInteger(instant(letter.receivedAtMs));
    columns.source.pushText(letter.source);
    columns.size.pushInteger(letter.size);
    columns.cut.push(letter.cut ? 1 : 0);
    columns.chunks.push(letter.chunks);
    columns.partition.push(partition);
    columns.offset.pushInteger(offset);
  }
}

class MarkRows {
  readonly #columns = {
    tenant_id: new DictionaryColumn(),
    id: new StringColumn(),
    outcome: new DictionaryColumn(),
    marked_at: new WordsColumn(milliseconds),
    actor: new StringColumn(),
    partition: new NumberColumn('UInt16'),
    offset: new WordsColumn('UInt64'),
  } as const;
  readonly rows = rowsOf(deadLetterMarksTable, this.#columns);

  push(mark: DeadLetterMark, partition: number, offset: number): void {
    const columns = this.#columns;
    columns.tenant_id.pushText(mark.tenantId);
    columns.id.pushText(mark.id);
    columns.outcome.pushText(mark.outcome);
    columns.marked_at.pushInteger(instant(Date.parse(mark.markedAt)));
    columns.actor.pushText(mark.actor);
    columns.partition.push(partition);
    columns.offset.pushInteger(offset);
  }
}

/** The scanner of the dead-letters sink. Few messages: plain objects do. A letter's further chunks make no row. What could not land is counted here. */
export const deadLetterScanner = (): Scanner => {
  const letters = new LetterRows();
  const marks = new MarkRows();
  const usage = new UsageColumns();
  return {
    tables: [letters.rows, marks.rows, usage.rows],
    seen: [],
    scan({ headers, value, offset }: ScanMessage, partition: number): void {
      if (headers['dead-letter'] === undefined) {
        marks.push(DeadLetterMark.parse(JSON.parse(Buffer.from(value).toString('utf8'))), partition, offset);
        return;
      }
      const letter = decodeDeadLetter(headers);
      if (letter.chunk !== 0) return;
      letters.push(letter, partition, offset);
      for (const row of deadLetterUsage(letter)) usage.push(row);
    },
    abandon() {},
  };
};
