/** Describes records that are no longer readable, and creates their dead letters. */
import { buildUnprocessable } from '../../schemas/dead-letter.ts';
import type { Message } from '../../schemas/ports/bus.ts';
import type { Disk } from './disk.ts';

/** Maximum bytes of a damaged range in a dead letter; the message names the location of the rest. */
const maxDeadLetterBytes = 50 * 1024 * 1024;

export interface LostRange {
  /** First unreadable offset. */
  readonly from: number;
  /** Next readable offset, which may not be written yet. */
  readonly to: number;
  readonly file: string;
  /** Position in the file where the damage begins. */
  readonly position: number;
  /** Length of the damage; 0 if no bytes of the records remain. */
  readonly bytes: number;
  readonly reason: string;
  /** Time of the next record, or otherwise of the file: identical whenever the same damage is found. */
  readonly timestampMs: number;
}

/** Describes the lost records and their position in readable text. */
export const describeLostRange = (title: string, { from, to, file, position, bytes, reason }: LostRange): string => {
  const moreRecords = to - from - 1;
  if (bytes === 0) {
    const offsets = moreRecords === 0 ? `offset ${from}` : `offsets ${from} to ${to - 1}`;
    return `${title}: ${offsets} cannot be read, ${reason} (at byte ${position} of ${file})`;
  }
  // The number of records in a damaged range is known only if another record follows.
  const offsets = moreRecords === 0 ? `offset ${from}` : `offset ${from} and up to ${moreRecords} more`;
  const truncationNote = bytes > maxDeadLetterBytes ? `; the first ${maxDeadLetterBytes} of them are stored` : '';
  return `${title}: ${file} is damaged at byte ${position} (${offsets}): ${reason}; ${bytes} bytes cannot be read as records${truncationNote}`;
};

/**
 * Creates the dead letter for records that a group cannot read, with the bytes as they are in the file. It belongs to
 * the platform, whatever tenant the bytes name, because nothing in a record with a wrong checksum is reliable.
 */
export const createDeadLetters = async (
  disk: Disk,
  lostRange: LostRange,
  { group, topic, partition }: { readonly group: string; readonly topic: string; readonly partition: number },
  message: string,
): Promise<Message[]> => {
  const value = Buffer.allocUnsafeSlow(Math.min(lostRange.bytes, maxDeadLetterBytes));
  if (value.length > 0) {
    const file = await disk.open(lostRange.file, 'read');
    try {
      await file.read(value, lostRange.position);
    } finally {
      await file.close();
    }
  }
  const { from: offset, timestampMs } = lostRange;
  const record = { offset, timestampMs, key: '', headers: {}, value };
  // The id is the same for all groups, so lists show one dead letter per damage.
  return buildUnprocessable({
    group,
    identity: 'damaged',
    topic,
    partition,
    record,
    reason: 'damaged',
    message,
    receivedAtMs: timestampMs,
  });
};
