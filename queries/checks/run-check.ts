/** How synthetic checks stand, from what was judged of them: those of many checks are asked with one statement. */
import { type checkStates, verdictIntervalMs } from '../../schemas/synthetic-runs.ts';
import { type Answer, type QueryContext, tableAnswer } from '../answer.ts';
import { invalid } from '../errors.ts';
import type { CheckQuery } from '../query.ts';
import type { Reading } from '../reading.ts';
import type { TableColumn } from '../result.ts';

/** Checks of one statement. */
export const maxChecksPerBatch = 1000;

type State = (typeof checkStates)[number];

/** What states count, so that a threshold is a state: 1 is a location that fails alone. */
export const stateValues: Readonly<Record<Exclude<State, 'unknown'>, number>> = { up: 0, degraded: 2, down: 3 };
export const aloneValue = 1;

interface Row {
  readonly id: string;
  readonly state: State;
  readonly planned: number;
  readonly says: string;
  readonly locations: string;
}

const columns: readonly TableColumn[] = [
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

/** A row for the check, and one for each location that fails alone, or did so until lately. */
const rowsOf = ({ state, planned, says, locations }: Row): unknown[][] => [
  ['', state === 'unknown' ? null : stateValues[state], state, says, planned],
  ...(JSON.parse(locations) as readonly LocationVerdict[]).map((one) => [
    ...[one.location, one.fails ? aloneValue : 0, one.fails ? 'fails alone' : 'passes', one.says, planned],
  ]),
];

/** What holds is told again so often; one that is later by as much says nothing any more. */
const holdsMs = 3 * verdictIntervalMs;

const readVerdicts = async (
  checkIds: readonly string[],
  { columns: tenant }: Pick<Reading, 'columns'>,
  toMs: number,
): Promise<ReadonlyMap<string, Row>> => {
  const rows = await tenant.query<Row & Record<string, unknown>>(
    `SELECT check_id AS id, state, is_maintenance AS planned, says, locations FROM synthetic_verdicts
    WHERE tenant_id = {tenant:String} AND check_id IN {ids:Array(String)}
      AND judged > fromUnixTimestamp64Milli({from:Int64}) AND judged <= fromUnixTimestamp64Milli({to:Int64})
    ORDER BY check_id, judged DESC LIMIT 1 BY check_id`,
    { ids: [...new Set(checkIds)], from: String(toMs - holdsMs), to: String(toMs) },
  );
  return new Map(rows.map((row) => [row.id, row]));
};

/** How checks stood at the end of the range. One that was not judged then has no rows. */
export const runCheckBatch = async (
  queries: readonly CheckQuery[],
  reading: Pick<Reading, 'columns'>,
  { range, stepMs }: QueryContext,
): Promise<{ readonly answer: Answer }[]> => {
  if (stepMs !== undefined) throw invalid('step', 'is not for checks, which have one state at a time');
  const ids = queries.map(({ checkId }) => checkId);
  const verdicts = await readVerdicts(ids, reading, Number(range.to / 1_000_000n));
  return ids.map((id) => {
    const row = verdicts.get(id);
    return { answer: tableAnswer(columns, row === undefined ? [] : rowsOf(row)) };
  });
};

/** How one check stood. */
export const runCheck = async (
  query: CheckQuery,
  reading: Pick<Reading, 'columns'>,
  context: QueryContext,
): Promise<Answer> => (await runCheckBatch([query], reading, context))[0]?.answer ?? tableAnswer(columns, []);
