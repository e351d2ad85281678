import { decodeDeadLetter } from '../../schemas/dead-letter.ts';
import { deadLetterMarksTable, deadLettersTable } from '../../schemas/tables/dead-letters.ts';
import { DeadLetterMark } from '../../schemas/topics.ts';
import { ValueRows } from '../native/value-rows.ts';
import { toUsageRows } from './dead-letter-usage.ts';
import type { ScanMessage, Scanner } from './scanner.ts';
import { UsageColumns } from './usage-columns.ts';

/** Milliseconds since the epoch; an invalid time becomes the epoch. */
const toValidTime = (value: number): number => (Number.isSafeInteger(value) && value > 0 ? value : 0);

/**
 * Returns the scanner of the dead-letters sink. Further chunks of a dead letter create no row. The scanner also counts
 * the messages that could not land.
 */
export const createDeadLetterScanner = (): Scanner => {
  const deadLetters = new ValueRows(deadLettersTable);
  const marks = new ValueRows(deadLetterMarksTable);
  const usage = new UsageColumns();
  return {
    tables: [deadLetters.rows, marks.rows, usage.rows],
    landedHours: [],
    scan({ headers, value, offset }: ScanMessage, partition: number): void {
      if (headers['dead-letter'] === undefined) {
        const mark = DeadLetterMark.parse(JSON.parse(Buffer.from(value).toString('utf8')));
        const { tenantId: tenant_id, id, outcome, markedAt: marked_at, actor } = mark;
        marks.push({ tenant_id, id, outcome, marked_at, actor, partition, offset });
        return;
      }
      const deadLetter = decodeDeadLetter(headers);
      if (deadLetter.chunk !== 0) return;
      const { id, signal, origin, kind, reason, message, position = null, source, size, cut, chunks } = deadLetter;
      deadLetters.push({
        id,
        signal,
        origin,
        kind,
        reason,
        message,
        position,
        source,
        size,
        cut,
        chunks,
        partition,
        offset,
        tenant_id: deadLetter.tenantId,
        project_id: deadLetter.projectId,
        key_id: deadLetter.keyId,
        received_at: toValidTime(deadLetter.receivedAtMs),
      });
      for (const row of toUsageRows(deadLetter)) usage.push(row);
    },
    discardRow() {},
  };
};
