import type { Bus, Message } from '../../../../schemas/ports/bus.ts';
import type { Columns } from '../../../../schemas/ports/columns.ts';
import { DeadLetterMark, topics } from '../../../../schemas/topics.ts';
import type { DeadLetter } from '../../../../subjects/dead-letters/dead-letters.ts';
import { readStoredMarkOffsets, readStoredMarks } from '../../../../subjects/dead-letters/marks.ts';

const topic = topics.deadLetterMarks.name;

export const toMarkKey = ({ tenantId, id }: { readonly tenantId: string; readonly id: string }): string =>
  `${tenantId}\n${id}`;

export const toMarkMessage = (mark: DeadLetterMark): Message => ({
  topic,
  key: mark.tenantId,
  value: Buffer.from(JSON.stringify(mark)),
  headers: { tenant: mark.tenantId },
});

/**
 * Returns the marks of the given dead letters, by `toMarkKey`: the marks in the table, and those at the end of the topic
 * that are not in the table yet. The stored offsets are read before the stored marks, so that a mark inserted in between
 * is read at least once.
 */
export const readMarks = async (
  bus: Bus,
  columns: Columns,
  deadLetters: readonly DeadLetter[],
): Promise<ReadonlyMap<string, DeadLetterMark>> => {
  const keys = new Set(deadLetters.map(toMarkKey));
  const marks = new Map<string, DeadLetterMark>();
  const storedOffsets = await readStoredMarkOffsets(columns);
  for (const mark of await readStoredMarks(columns, deadLetters)) marks.set(toMarkKey(mark), mark);
  for (const { partition, earliest, end } of await bus.offsets(topic)) {
    const from = Math.max(earliest, (storedOffsets.get(partition) ?? -1) + 1);
    if (from >= end) continue;
    for await (const record of bus.read(topic, partition, from, end)) {
      const mark = DeadLetterMark.safeParse(JSON.parse(record.value.toString('utf8')));
      if (mark.success && keys.has(toMarkKey(mark.data))) marks.set(toMarkKey(mark.data), mark.data);
    }
  }
  return marks;
};
