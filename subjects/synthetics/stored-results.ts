/** Stored results of checks: runs, latest results, states */
import type { TenantReader } from '../../queries/tenant-reader.ts';
import type { checkStates } from '../../schemas/synthetic-runs.ts';
import type { Outcome } from './state.ts';
import type { StateChange } from './uptime.ts';

type ColumnsReader = Pick<TenantReader, 'columns'>;

export interface CheckResult {
  readonly checkId: string;
  readonly location: string;
  readonly startedAtMs: number;
  readonly outcome: Outcome;
  /** Start of the message */
  readonly message?: string;
}

/** Returns the latest result of each check and location. */
export const readLatest = async ({ columns }: ColumnsReader): Promise<readonly CheckResult[]> => {
  const rows = await columns.query<{
    check_id: string;
    place: string;
    began: string;
    result: Outcome;
    message: string;
  }>(
    `SELECT check_id, location AS place, toString(started_ms) AS began, outcome AS result, message
    FROM synthetic_latest FINAL WHERE tenant_id = {tenant:String}`,
    {},
    { maxResultRows: 100_000 },
  );
  return rows.map(({ check_id, place, began, result, message }) => ({
    checkId: check_id,
    location: place,
    startedAtMs: Number(began),
    outcome: result,
    message,
  }));
};

/** Returns results of a check that began in a period, in order. */
export const readResults = async (
  { columns }: ColumnsReader,
  { checkId, fromMs, toMs }: { readonly checkId: string; readonly fromMs: number; readonly toMs: number },
): Promise<readonly CheckResult[]> => {
  const rows = await columns.query<{ place: string; began: string; result: Outcome }>(
    `SELECT location AS place, toString(toUnixTimestamp64Milli(started)) AS began, outcome AS result
    FROM synthetic_runs FINAL
    WHERE tenant_id = {tenant:String} AND check_id = {check:String} AND is_manual = 0
      AND due >= fromUnixTimestamp64Milli({from:Int64}) AND due < fromUnixTimestamp64Milli({to:Int64})
    ORDER BY started`,
    { check: checkId, from: String(fromMs), to: String(toMs) },
    { maxResultRows: 100_000 },
  );
  return rows.map(({ place, began, result }) => ({
    checkId,
    location: place,
    startedAtMs: Number(began),
    outcome: result,
  }));
};

/** Returns when the last run of each of the given heartbeats was started or due. */
export const readLastDue = async (
  { columns }: ColumnsReader,
  checkIds: readonly string[],
): Promise<ReadonlyMap<string, number>> => {
  const rows = await columns.query<{ id: string; due: string }>(
    `SELECT check_id AS id, toString(max(toUnixTimestamp64Milli(last_seen))) AS due
    FROM synthetic_latest WHERE tenant_id = {tenant:String} AND check_id IN {ids:Array(String)} GROUP BY check_id`,
    { ids: [...checkIds] },
  );
  return new Map(rows.map(({ id, due }) => [id, Number(due)]));
};

export interface RunsQuery {
  readonly checkId: string;
  readonly location?: string | undefined;
  readonly outcome?: string | undefined;
  readonly fromMs: number;
  readonly toMs: number;
  readonly limit: number;
  /** Position after which the page begins, as due time and location */
  readonly before?: { readonly dueMs: number; readonly location: string } | undefined;
}

interface RunRow {
  readonly place: string;
  readonly due_ms: string;
  readonly started_ms: string;
  readonly manual: number;
  readonly outcome: Outcome;
  readonly attempts: number;
  readonly duration: number;
  readonly phases: string;
  readonly steps: string;
  readonly message: string;
  readonly trace_id: string;
}

/** Returns runs of a check, the latest first. */
export const readRuns = async (
  { columns }: ColumnsReader,
  { checkId, location = '', outcome = '', fromMs, toMs, limit, before }: RunsQuery,
): Promise<readonly RunRow[]> =>
  columns.query<RunRow & Record<string, unknown>>(
    `SELECT location AS place, toString(toUnixTimestamp64Milli(due)) AS due_ms,
      toString(toUnixTimestamp64Milli(started)) AS started_ms, is_manual AS manual,
      outcome, attempts, duration_ms AS duration, phases, steps, message, trace_id
    FROM synthetic_runs FINAL
    WHERE tenant_id = {tenant:String} AND check_id = {check:String}
      AND due >= fromUnixTimestamp64Milli({from:Int64}) AND due < fromUnixTimestamp64Milli({to:Int64})
      AND ({location:String} = '' OR location = {location:String})
      AND ({outcome:String} = '' OR outcome = {outcome:String})
      AND (due < fromUnixTimestamp64Milli({before:Int64})
        OR (due = fromUnixTimestamp64Milli({before:Int64}) AND location < {beforeLocation:String}))
    ORDER BY due DESC, location DESC, is_manual DESC LIMIT {limit:UInt32}`,
    {
      check: checkId,
      from: String(fromMs),
      to: String(toMs),
      location,
      outcome,
      limit,
      before: String(before?.dueMs ?? toMs),
      beforeLocation: before?.location ?? '',
    },
  );

/** Returns state changes of a check and its locations up to a time, in order; the check itself has the key ''. */
export const readStates = async (
  { columns }: ColumnsReader,
  checkId: string,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): Promise<ReadonlyMap<string, readonly StateChange[]>> => {
  const rows = await columns.query<{ place: string; at_ms: string; state: StateChange['state'] }>(
    `SELECT place, at_ms, state FROM (
      SELECT location AS place, toString(toUnixTimestamp64Milli(at)) AS at_ms, state
      FROM synthetic_states FINAL WHERE tenant_id = {tenant:String} AND check_id = {check:String}
        AND at >= fromUnixTimestamp64Milli({from:Int64}) AND at < fromUnixTimestamp64Milli({to:Int64})
      UNION ALL
      SELECT location AS place, toString(toUnixTimestamp64Milli(max(at))) AS at_ms, argMax(state, at) AS state
      FROM synthetic_states FINAL WHERE tenant_id = {tenant:String} AND check_id = {check:String}
        AND at < fromUnixTimestamp64Milli({from:Int64})
      GROUP BY location
    ) ORDER BY place, toUInt64(at_ms)`,
    { check: checkId, from: String(fromMs), to: String(toMs) },
    { maxResultRows: 1_000_000 },
  );
  // A change that was corrected repeats the state before it.
  const changed = rows.filter(({ place, state }, index) => {
    const before = rows[index - 1];
    return before?.place !== place || before.state !== state;
  });
  const byLocation = Map.groupBy(changed, ({ place }) => place);
  return new Map(
    [...byLocation].map(([place, locationRows]) => [
      place,
      locationRows.map(({ at_ms, state }) => ({ atMs: Number(at_ms), state })),
    ]),
  );
};

const dayMs = 86_400_000;
export const uptimeDays = [1, 30, 90] as const;

/** Current state of a check, and its uptime in the last days */
export interface CheckStatus {
  readonly state: (typeof checkStates)[number];
  readonly sinceMs: number;
  /**
   * up / (up + down) for the last 1, 30 and 90 days, without exclusions; `null` if there is neither up nor down time
   */
  readonly uptime: readonly (number | null)[];
  /** The same for each of the last 24 hours, the latest last */
  readonly hours: readonly (number | null)[];
}

const toShare = (up: number, down: number): number | null => (up + down === 0 ? null : up / (up + down));

const hourMs = 3_600_000;
const hoursOfDay = 24;

/** Returns the states of checks in one statement. Checks without a state are omitted. */
export const readCheckStatuses = async (
  { columns }: ColumnsReader,
  checkIds: readonly string[],
  nowMs: number,
): Promise<ReadonlyMap<string, CheckStatus>> => {
  if (checkIds.length === 0) return new Map();
  const durationSql = (days: number, states: string): string =>
    `sumIf(greatest(0, least(until, {now:Int64}) - greatest(from_ms, {now:Int64} - ${days * dayMs})), state IN (${states}))`;
  const uptimeColumns = uptimeDays.map(
    (days) =>
      `toString(${durationSql(days, `'up', 'degraded'`)}) AS up_${days}, toString(${durationSql(days, `'down'`)}) AS down_${days}`,
  );
  const hoursSql = (states: string): string =>
    `arrayMap(ms -> toString(ms), sumForEachIf(arrayMap(hour -> greatest(0, least(until, {now:Int64} - hour * ${hourMs}) - greatest(from_ms, {now:Int64} - (hour + 1) * ${hourMs})), reverse(range(${hoursOfDay}))), state IN (${states})))`;
  const checkCondition = `tenant_id = {tenant:String} AND check_id IN {ids:Array(String)} AND location = ''`;
  const since = `fromUnixTimestamp64Milli({now:Int64} - ${Math.max(...uptimeDays) * dayMs})`;
  // From the time before these days, only the last state counts. It is read without FINAL, which would merge years
  // of rows.
  const rows = await columns.query<{ up_hours: string[]; down_hours: string[] } & Record<string, string | string[]>>(
    `SELECT id, argMax(state, from_ms) AS now_state, toString(maxIf(from_ms, before != state)) AS since, ${uptimeColumns.join(', ')},
      ${hoursSql(`'up', 'degraded'`)} AS up_hours, ${hoursSql(`'down'`)} AS down_hours
    FROM (
      SELECT id, state, from_ms,
        leadInFrame(from_ms, 1, {now:Int64}) OVER (
          PARTITION BY id ORDER BY from_ms ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS until,
        lagInFrame(toString(state), 1, '') OVER (
          PARTITION BY id ORDER BY from_ms ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS before
      FROM (
        SELECT check_id AS id, state, toUnixTimestamp64Milli(at) AS from_ms
        FROM synthetic_states FINAL WHERE ${checkCondition} AND at > ${since} AND at <= fromUnixTimestamp64Milli({now:Int64})
        UNION ALL
        SELECT check_id AS id, argMax(state, at) AS state, toUnixTimestamp64Milli(max(at)) AS from_ms
        FROM synthetic_states WHERE ${checkCondition} AND at <= ${since} GROUP BY check_id
      )
    ) GROUP BY id`,
    { ids: [...checkIds], now: String(nowMs) },
  );
  return new Map(
    rows.map((row) => [
      String(row['id']),
      {
        state: row['now_state'] as CheckStatus['state'],
        sinceMs: Number(row['since']),
        uptime: uptimeDays.map((days) => {
          const [up, down] = [Number(row[`up_${days}`]), Number(row[`down_${days}`])];
          return toShare(up, down);
        }),
        // An hour without a state in it has no sum.
        hours: Array.from({ length: hoursOfDay }, (_, hour) =>
          toShare(Number(row.up_hours[hour] ?? 0), Number(row.down_hours[hour] ?? 0)),
        ),
      },
    ]),
  );
};
