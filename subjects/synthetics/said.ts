/** What was said last of checks. */
import { checksTogether } from '../../queries/checks/asked.ts';
import type { Reading } from '../../queries/reading.ts';
import type { checkStates } from '../../schemas/synthetic-runs.ts';

export interface Said {
  readonly state: (typeof checkStates)[number];
  readonly isMaintenance: boolean;
  readonly says: string;
}

/** The last verdict of each check, as its alert rule sees it. Those that were not judged lately are absent. */
export const readSaid = async (
  reading: Pick<Reading, 'columns'>,
  checkIds: readonly string[],
  nowMs: number,
): Promise<ReadonlyMap<string, Said>> => {
  const queries = checkIds.map((checkId) => ({ kind: 'check', checkId }) as const);
  const at = BigInt(Math.trunc(nowMs)) * 1_000_000n;
  const answers = await checksTogether(queries, reading, { range: { from: at, to: at } });
  return new Map(
    answers.flatMap(({ answer: { columns, rows } }, index): [string, Said][] => {
      const [row] = rows;
      if (row === undefined) return [];
      const of = (name: string): unknown => row[columns.findIndex((column) => column.name === name)];
      const isMaintenance = of('maintenance') === 1;
      return [
        [checkIds[index] ?? '', { state: of('state') as Said['state'], isMaintenance, says: String(of('says')) }],
      ];
    }),
  );
};
