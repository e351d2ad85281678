import { PermanentError } from '../../schemas/errors.ts';
import { countRows, type EncodedBlock, encodeBlock } from '../native/rows.ts';
import type { ScanMessage, Scanner } from '../scan/scanner.ts';
import type { RejectedMessage } from './scan-messages.ts';

export interface BatchScan {
  readonly blocks: EncodedBlock[];
  readonly rejected: RejectedMessage[];
}

/**
 * Scans messages into one block per table. A message is stored completely or not at all: after an error, its
 * appended rows are removed. `serial` identifies the batch in `landedHours`.
 */
export const scanBatch = (
  scanner: Scanner,
  messages: Iterable<ScanMessage>,
  partition: number,
  batchId: number,
  allocate: (bytes: number) => Uint8Array,
): BatchScan => {
  const rejected: RejectedMessage[] = [];
  for (const hours of scanner.landedHours) hours.begin(batchId);
  applyToColumns(scanner, 'reset');
  let index = 0;
  let firstOffset = 0;
  let lastOffset = 0;
  for (const message of messages) {
    if (index === 0) firstOffset = message.offset;
    lastOffset = message.offset;
    applyToColumns(scanner, 'mark');
    for (const hours of scanner.landedHours) hours.mark();
    try {
      scanner.scan(message, partition);
    } catch (error) {
      rejected.push({ index, ...toRejection(error) });
      applyToColumns(scanner, 'rollback');
      for (const hours of scanner.landedHours) hours.rollback();
      scanner.discardRow();
    }
    index++;
  }
  scanner.finish?.(firstOffset, lastOffset);
  for (const hours of scanner.landedHours) hours.end();
  const blocks = scanner.tables.filter((rows) => countRows(rows) > 0).map((rows) => encodeBlock(rows, allocate));
  return { blocks, rejected };
};

const applyToColumns = ({ tables }: Scanner, action: 'reset' | 'mark' | 'rollback'): void => {
  for (const { columns } of tables) for (const column of columns.values()) column[action]();
};

/** The reason depends only on the bytes, and not on the name of the error. */
const toRejection = (error: unknown): { reason: string; message: string } => {
  if (error instanceof PermanentError) return { reason: error.reason, message: error.message };
  return { reason: 'unprocessable', message: error instanceof Error ? error.message : String(error) };
};
