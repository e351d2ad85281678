import type { Bus, Message } from '../../schemas/ports/bus.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import { DeadLetterMark, topics } from '../../schemas/topics.ts';
import type { DeadLetter } from './rows.ts';

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
  letters: readonly DeadLetter[],
): Promise<ReadonlyMap<string, DeadLetterMark>> => {
  const wanted = new Set(letters.map(keyOf));
  const marks = new Map<string, DeadLetterMark>();
  const landedUpTo = await landedOffsets(columns);
  for (const mark of await landedMarks(columns, letters)) marks.set(keyOf(mark), mark);
  for (const { partition, earliest, end } of await bus.offsets(topic)) {
    const from = Math.max(earliest, (landedUpTo.get(partition) ?? -1) + 1);
    if (from >= end) continue;
    for await (const record of bus.read(topic, partition, from, end)) {
      const mark = DeadLetterMark.safeParse(JSON.parse(record.value.toString('utf8')));
      if (mark.success && wanted.has(keyOf(mark.data))) marks.set(keyOf(mark.data), mark.data);
    }
  }
  return marks;
};

const landedOffsets = async (columns: Columns): Promise<ReadonlyMap<number, number>> => {
  const rows = await columns.query<{ partition: number; last: string }>(
    'SELECT partition, toString(max(dead_letter_marks.offset)) AS last FROM dead_letter_marks GROUP BY partition',
  );
  return new Map(rows.map(({ partition, last }) => [partition, Number(last)]));
};

const landedMarks = async (columns: Columns, letters: readonly DeadLetter[]): Promise<DeadLetterMark[]> => {
  const rows = await columns.query<{ tenantId: string; id: string; outcome: string; marked: string; actor: string }>(
    `SELECT tenant_id AS tenantId, id, outcome, toString(toUnixTimestamp64Milli(marked_at)) AS marked, actor
    FROM dead_letter_marks WHERE tenant_id IN {tenants:Array(String)} AND id IN {ids:Array(String)}`,
    { tenants: [...new Set(letters.map(({ tenantId }) => tenantId))], ids: letters.map(({ id }) => id) },
  );
  return rows.map(({ tenantId, id, outcome, marked, actor }) => ({
    tenantId,
    id,
    outcome: outcome === 'discarded' ? 'discarded' : 'replayed',
    markedAt: new Date(Number(marked)).toISOString(),
    actor,
  }));
};
