/** Records that cannot be read any more: what is known of them, and what is kept of them. */
import { unprocessable } from '../../schemas/dead-letter.ts';
import type { Message } from '../../schemas/ports/bus.ts';
import type { Disk } from './disk.ts';

/** A dead letter holds at most this much of a damaged stretch; its message says where the rest lies. */
const maxDeadLetterBytes = 50 * 1024 * 1024;

export interface Lost {
  /** First offset that cannot be read, … */
  readonly from: number;
  /** … and the next one that can be, or is still to come. */
  readonly to: number;
  readonly file: string;
  /** Where in the file the damage begins, … */
  readonly byte: number;
  /** … and how long it is; 0 where the records left nothing behind. */
  readonly bytes: number;
  readonly reason: string;
  /** Of the next record, or else of the file: the same whenever the same damage is met. */
  readonly timestampMs: number;
}

/** The lost records and their position, for people. */
export const describeLost = (title: string, { from, to, file, byte, bytes, reason }: Lost): string => {
  const further = to - from - 1;
  if (bytes === 0) {
    const offsets = further === 0 ? `offset ${from}` : `offsets ${from} to ${to - 1}`;
    return `${title}: ${offsets} cannot be read, ${reason} (at byte ${byte} of ${file})`;
  }
  // How many records a stretch held is known only where another one follows.
  const offsets = further === 0 ? `offset ${from}` : `offset ${from} and up to ${further} more`;
  const rest = bytes > maxDeadLetterBytes ? `; the first ${maxDeadLetterBytes} of them are kept` : '';
  return `${title}: ${file} is damaged at byte ${byte} (${offsets}): ${reason}; ${bytes} bytes cannot be read as records${rest}`;
};

/**
 * The dead letter of what a group cannot read: the bytes as they lie in the file. It is the platform's own, whatever tenant
 * they name: nothing in a record whose checksum fails can be relied on.
 */
export const toDeadLetters = async (
  disk: Disk,
  lost: Lost,
  { group, topic, partition }: { readonly group: string; readonly topic: string; readonly partition: number },
  message: string,
): Promise<Message[]> => {
  const value = Buffer.allocUnsafeSlow(Math.min(lost.bytes, maxDeadLetterBytes));
  if (value.length > 0) {
    const file = await disk.open(lost.file, 'read');
    try {
      await file.read(value, lost.byte);
    } finally {
      await file.close();
    }
  }
  const { from: offset, timestampMs } = lost;
  const record = { offset, timestampMs, key: '', headers: {}, value };
  // The same for all groups: lists show one dead letter for the damage.
  return unprocessable({
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
