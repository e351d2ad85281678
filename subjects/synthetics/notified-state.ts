/** Last reported states of checks */

import type { TenantReader } from '../../queries/tenant-reader.ts';
import type { checkStates } from '../../schemas/synthetic-runs.ts';
import { runCheckBatch } from './run-check.ts';

export interface LastVerdict {
  readonly state: (typeof checkStates)[number];
  readonly isMaintenance: boolean;
  readonly says: string;
}

/** Returns the last verdict of each check, as its alert rule reads it. Checks without a recent verdict are omitted. */
export const readLastVerdicts = async (
  reader: Pick<TenantReader, 'columns'>,
  checkIds: readonly string[],
  nowMs: number,
): Promise<ReadonlyMap<string, LastVerdict>> => {
  const queries = checkIds.map((checkId) => ({ kind: 'check', checkId }) as const);
  const at = BigInt(Math.trunc(nowMs)) * 1_000_000n;
  const results = await runCheckBatch(queries, reader, { range: { from: at, to: at } });
  return new Map(
    results.flatMap(({ result: { columns, rows } }, index): [string, LastVerdict][] => {
      const [row] = rows;
      if (row === undefined) return [];
      const getCellValue = (name: string): unknown => row[columns.findIndex((column) => column.name === name)];
      const isMaintenance = getCellValue('maintenance') === 1;
      return [
        [
          checkIds[index] ?? '',
          { state: getCellValue('state') as LastVerdict['state'], isMaintenance, says: String(getCellValue('says')) },
        ],
      ];
    }),
  );
};
