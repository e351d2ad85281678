/** Reads the stored marks of dead letters: whether they were replayed or discarded. */
import type { Columns } from '../../schemas/ports/columns.ts';
import type { DeadLetterMark } from '../../schemas/topics.ts';
import type { DeadLetter } from './dead-letters.ts';

/** Returns the offset of the last stored mark, by partition. */
export const readStoredMarkOffsets = async (columns: Columns): Promise<ReadonlyMap<number, number>> => {
  const rows = await columns.query<{ partition: number; last: string }>(
    'SELECT partition, toString(max(dead_letter_marks.offset)) AS last FROM dead_letter_marks GROUP BY partition',
  );
  return new Map(rows.map(({ partition, last }) => [partition, Number(last)]));
};

/** Returns the marks of dead letters. */
export const readStoredMarks = async (
  columns: Columns,
  deadLetters: readonly DeadLetter[],
): Promise<DeadLetterMark[]> => {
  const rows = await columns.query<{ tenantId: string; id: string; outcome: string; marked: string; actor: string }>(
    `SELECT tenant_id AS tenantId, id, outcome, toString(toUnixTimestamp64Milli(marked_at)) AS marked, actor
    FROM dead_letter_marks WHERE tenant_id IN {tenants:Array(String)} AND id IN {ids:Array(String)}`,
    { tenants: [...new Set(deadLetters.map(({ tenantId }) => tenantId))], ids: deadLetters.map(({ id }) => id) },
  );
  return rows.map(({ tenantId, id, outcome, marked, actor }) => ({
    tenantId,
    id,
    outcome: outcome === 'discarded' ? 'discarded' : 'replayed',
    markedAt: new Date(Number(marked)).toISOString(),
    actor,
  }));
};
