import type { Bus, Message } from '../../schemas/ports/bus.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import { DeadLetterMark, topics } from '../../schemas/topics.ts';
import type { DeadLetter } from '../../subjects/dead-letters/dead-letters.ts';
import { landedMarkOffsets, landedMarks } from '../../subjects/dead-letters/marks.ts';

const topic = topics.deadLetterMarks.name;

export const keyOf = ({ tenantId, id }: { readonly tenantId: string; readonly id: string }): string =>
  `${tenantId}\n${id}`;

export const markMessage = (mark: DeadLetterMark): Message => ({
  topic,
  key: mark.tenantId,
  value: Buffer.from(JSON.stringify(mark)),
  headers: { tenant: mark.tenantId },
});

/**
 * Marks of the given letters, by `keyOf`: those that have landed, and those on the topic's tail that have not. Where
 * landing stands is asked before the landed ones are read, so that a mark landing meanwhile is seen at least once.
 */
export const readMarks = async (
  bus: Bus,
  columns: Columns,
  deadLetters: readonly DeadLetter[],
): Promise<ReadonlyMap<string, DeadLetterMark>> => {
  const keys = new Set(deadLetters.map(keyOf));
  const marks = new Map<string, DeadLetterMark>();
  const landedUpTo = await landedMarkOffsets(columns);
  for (const mark of await landedMarks(columns, deadLetters)) marks.set(keyOf(mark), mark);
  for (const { partition, earliest, end } of await bus.offsets(topic)) {
    const from = Math.max(earliest, (landedUpTo.get(partition) ?? -1) + 1);
    if (from >= end) continue;
    for await (const record of bus.read(topic, partition, from, end)) {
      const mark = DeadLetterMark.safeParse(JSON.parse(record.value.toString('utf8')));
      if (mark.success && keys.has(keyOf(mark.data))) marks.set(keyOf(mark.data), mark.data);
    }
  }
  return marks;
};
