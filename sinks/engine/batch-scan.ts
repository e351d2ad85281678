import { PermanentError } from '../../schemas/errors.ts';
import { countRows, type EncodedBlock, encodeBlock } from '../native/rows.ts';
import type { ScanMessage, Scanner } from '../scan/scanner.ts';
import type { RejectedMessage } from './scan-messages.ts';

export interface BatchScan {
  readonly blocks: EncodedBlock[];
  readonly rejected: RejectedMessage[];
}

/**
 * Scans messages into one block per table. A message lands completely or not at all: after a fault, its appended rows
 * are removed. `serial` identifies the batch in `seen`.
 */
export const scanBatch = (
  scanner: Scanner,
  messages: Iterable<ScanMessage>,
  partition: number,
  serial: number,
  allocate: (bytes: number) => Uint8Array,
): BatchScan => {
  const rejected: RejectedMessage[] = [];
  for (const seen of scanner.landedHours) seen.begin(serial);
  applyToColumns(scanner, 'reset');
  let index = 0;
  let first = 0;
  let last = 0;
  for (const message of messages) {
    if (index === 0) first = message.offset;
    last = message.offset;
    applyToColumns(scanner, 'mark');
    for (const seen of scanner.landedHours) seen.mark();
    try {
      scanner.scan(message, partition);
    } catch (error) {
      rejected.push({ index, ...toReason(error) });
      applyToColumns(scanner, 'rollback');
      for (const seen of scanner.landedHours) seen.rollback();
      scanner.discardRow();
    }
    index++;
  }
  scanner.finish?.(first, last);
  for (const seen of scanner.landedHours) seen.end();
  const blocks = scanner.tables.filter((rows) => countRows(rows) > 0).map((rows) => encodeBlock(rows, allocate));
  return { blocks, rejected };
};

const applyToColumns = ({ tables }: Scanner, action: 'reset' | 'mark' | 'rollback'): void => {
  for (const { columns } of tables) for (const column of columns.values()) column[action]();
};

/** The reason depends only on the bytes, regardless of the error's name. */
const toReason = (error: unknown): { reason: string; message: string } => {
  if (error instanceof PermanentError) return { reason: error.reason, message: error.message };
  return { reason: 'unprocessable', message: error instanceof Error ? error.message : String(error) };
};
