/** States of synthetic checks, from stored verdicts; many checks are read in one statement. */

import { createValidationError } from '../../queries/errors.ts';
import { buildTableResult, type QueryContext, type ResultData } from '../../queries/query-result.ts';
import type { TableColumn } from '../../queries/result.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { type checkStates, verdictIntervalMs } from '../../schemas/synthetic-runs.ts';
import type { CheckQuery } from './query.ts';

/** Maximum number of checks in one statement. */
export const maxChecksPerBatch = 1000;

type State = (typeof checkStates)[number];

/** Numeric values of states, so that thresholds apply: 1 is a location that fails alone. */
export const stateValues: Readonly<Record<Exclude<State, 'unknown'>, number>> = { up: 0, degraded: 2, down: 3 };
export const failsAloneValue = 1;

interface VerdictRow {
  readonly id: string;
  readonly state: State;
  readonly planned: number;
  readonly details: string;
  readonly locations: string;
}

const verdictColumns: readonly TableColumn[] = [
  { name: 'location', type: 'text', unit: '' },
  { name: 'value', type: 'number', unit: '' },
  { name: 'state', type: 'text', unit: '' },
  { name: 'says', type: 'text', unit: '' },
  { name: 'maintenance', type: 'number', unit: '' },
];

interface LocationVerdict {
  readonly location: string;
  readonly fails: boolean;
  readonly says: string;
}

/** Returns a row for the check, and a row for each location that fails alone or recently failed alone. */
const toRows = ({ state, planned, details, locations }: VerdictRow): unknown[][] => [
  ['', state === 'unknown' ? null : stateValues[state], state, details, planned],
  ...(JSON.parse(locations) as readonly LocationVerdict[]).map((locationVerdict) => [
    ...[
      locationVerdict.location,
      locationVerdict.fails ? failsAloneValue : 0,
      locationVerdict.fails ? 'fails alone' : 'passes',
      locationVerdict.says,
      planned,
    ],
  ]),
];

/** Validity of a verdict. Verdicts are repeated at this interval, and an older one is outdated. */
const verdictValidityMs = 3 * verdictIntervalMs;

const readVerdicts = async (
  checkIds: readonly string[],
  { columns: tenantColumns }: Pick<TenantReader, 'columns'>,
  toMs: number,
): Promise<ReadonlyMap<string, VerdictRow>> => {
  const rows = await tenantColumns.query<VerdictRow & Record<string, unknown>>(
    `SELECT check_id AS id, state, is_maintenance AS planned, says AS details, locations FROM synthetic_verdicts
    WHERE tenant_id = {tenant:String} AND check_id IN {ids:Array(String)}
      AND judged > fromUnixTimestamp64Milli({from:Int64}) AND judged <= fromUnixTimestamp64Milli({to:Int64})
    ORDER BY check_id, judged DESC LIMIT 1 BY check_id`,
    { ids: [...new Set(checkIds)], from: String(toMs - verdictValidityMs), to: String(toMs) },
  );
  return new Map(rows.map((row) => [row.id, row]));
};

/** Returns the states of checks at the end of the range. A check without a valid verdict has no rows. */
export const runCheckBatch = async (
  queries: readonly CheckQuery[],
  reader: Pick<TenantReader, 'columns'>,
  { range, stepMs }: QueryContext,
): Promise<{ readonly result: ResultData }[]> => {
  if (stepMs !== undefined)
    throw createValidationError('step', 'is not supported for checks, which have one state at a time');
  const ids = queries.map(({ checkId }) => checkId);
  const verdicts = await readVerdicts(ids, reader, Number(range.to / 1_000_000n));
  return ids.map((id) => {
    const row = verdicts.get(id);
    return { result: buildTableResult(verdictColumns, row === undefined ? [] : toRows(row)) };
  });
};

/** Returns the state of one check. */
export const runCheck = async (
  query: CheckQuery,
  reader: Pick<TenantReader, 'columns'>,
  context: QueryContext,
): Promise<ResultData> =>
  (await runCheckBatch([query], reader, context))[0]?.result ?? buildTableResult(verdictColumns, []);
