/** Counts of log patterns per minute, as stored: under the ids at that time */

import { buildProjectScopeCondition, toProjectScopeParameters } from '../../queries/project-scope.ts';
import type { Range } from '../../queries/range.ts';
import type { SeverityLevel } from '../../schemas/log-patterns.ts';
import type { QueryParameters, TenantColumns } from '../../schemas/ports/columns.ts';
import { earlierDays } from './pattern-verdicts.ts';

export const minuteMs = 60_000;
const hourMs = 3_600_000;
const dayMs = 86_400_000;
/** Maximum number of services and ids in one result */
const maxRows = 200_000;

/** Filter of counts */
export interface CountFilter {
  readonly service?: string | undefined;
  readonly severity?: SeverityLevel | undefined;
  readonly projectId?: string | undefined;
  readonly scope?: 'account' | undefined;
  /** Current or former ids; without it, all patterns */
  readonly ids?: readonly string[];
}

/** Range of full minutes, end inclusive */
interface Minutes {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Returns the minutes that a range overlaps. */
const toMinutes = ({ from, to }: Range): Minutes => ({
  fromMs: Math.floor(Number(from / 1_000_000n) / minuteMs) * minuteMs,
  toMs: Math.floor(Number(to / 1_000_000n) / minuteMs) * minuteMs,
});

const buildMinuteCondition = ({ fromMs, toMs }: Minutes): string =>
  `minute BETWEEN toDateTime(${Math.max(0, fromMs) / 1000}, 'UTC') AND toDateTime(${Math.max(0, toMs) / 1000}, 'UTC')`;

const buildCondition = (filter: CountFilter): string =>
  [
    'tenant_id = {tenant:String}',
    ...(filter.service === undefined ? [] : ['service = {service:String}']),
    ...(filter.severity === undefined ? [] : ['severity = {severity:String}']),
    ...(filter.ids === undefined ? [] : ['pattern_id IN {ids:Array(String)}']),
  ].join(' AND ') + buildProjectScopeCondition(filter);

const buildParameters = (filter: CountFilter): QueryParameters => ({
  ...toProjectScopeParameters(filter),
  ...(filter.service !== undefined && { service: filter.service }),
  ...(filter.severity !== undefined && { severity: filter.severity }),
  ...(filter.ids !== undefined && { ids: filter.ids }),
});

export interface CountRow {
  readonly service: string;
  readonly id: string;
  readonly severity: SeverityLevel;
  readonly count: number;
  readonly firstMs: number;
  readonly lastMs: number;
}

const runQuery = async <Row>(columns: TenantColumns, sql: string, filter: CountFilter): Promise<Row[]> =>
  columns.query<Row>(`${sql} LIMIT ${maxRows}`, buildParameters(filter), { maxResultRows: maxRows });

/** Returns the records of a range by service, id and severity. */
export const readCounts = async (columns: TenantColumns, range: Range, filter: CountFilter): Promise<CountRow[]> => {
  const rows = await runQuery<{
    service: string;
    id: string;
    severity: SeverityLevel;
    n: string;
    a: number;
    z: number;
  }>(
    columns,
    `SELECT service, pattern_id AS id, severity, toString(sum(count)) AS n, toUnixTimestamp(min(minute)) AS a,
      toUnixTimestamp(max(minute)) AS z
    FROM log_pattern_counts WHERE ${buildCondition(filter)} AND ${buildMinuteCondition(toMinutes(range))} GROUP BY service, id, severity ORDER BY sum(count) DESC`,
    filter,
  );
  return rows.map(({ service, id, severity, n, a, z }) => ({
    service,
    id,
    severity,
    count: Number(n),
    firstMs: a * 1000,
    lastMs: z * 1000,
  }));
};

/** Records of a service and id over time */
export interface SeriesRow {
  readonly service: string;
  readonly id: string;
  /** Number of records by step; empty steps are omitted */
  readonly steps: ReadonlyMap<number, number>;
}

/** Returns a step of full minutes that divides a range into at most `maxSteps` + 1 steps. */
export const chooseStep = (range: Range, maxSteps: number): number => {
  const { fromMs, toMs } = toMinutes(range);
  return Math.max(1, Math.ceil((toMs + minuteMs - fromMs) / maxSteps / minuteMs)) * minuteMs;
};

/** Returns the records of ids by step, keyed by the start of the step. */
export const readSeries = async (
  columns: TenantColumns,
  range: Range,
  stepMs: number,
  filter: CountFilter,
): Promise<SeriesRow[]> => {
  const rows = await runQuery<{ service: string; id: string; at: number[]; n: string[] }>(
    columns,
    `SELECT service, id, groupArray(at) AS at, groupArray(toString(n)) AS n FROM (
      SELECT service, pattern_id AS id, intDiv(toUnixTimestamp(minute), ${stepMs / 1000}) AS at, sum(count) AS n
      FROM log_pattern_counts WHERE ${buildCondition(filter)} AND ${buildMinuteCondition(toMinutes(range))} GROUP BY service, id, at
    ) GROUP BY service, id`,
    filter,
  );
  return rows.map(({ service, id, at, n }) => ({
    service,
    id,
    steps: new Map(at.map((step, index) => [step * stepMs, Number(n[index])])),
  }));
};

/** Returns the compared hour: the last full hour of a range whose counts are available. */
export const getComparedHour = (range: Range, nowMs: number): Minutes => {
  const endMs = Math.floor(Math.min(Number(range.to / 1_000_000n), nowMs - 2 * minuteMs) / minuteMs) * minuteMs;
  return { fromMs: endMs - hourMs, toMs: endMs - minuteMs };
};

/** Records of an hour and of the same hour one, two … days before, within the retention */
export interface HourCounts {
  /** By service and id */
  readonly rows: readonly {
    readonly service: string;
    readonly id: string;
    readonly counts: readonly number[];
    /** Last minute with a record, in any of the hours */
    readonly lastMs: number;
  }[];
  /** Records of all patterns of a service */
  readonly sent: ReadonlyMap<string, readonly number[]>;
}

/** Returns the counts of an hour and of the same hour of earlier days, within the retention. */
export const readHourCounts = async (
  columns: TenantColumns,
  hour: Minutes,
  filter: CountFilter,
  retainedSinceMs: number,
): Promise<HourCounts> => {
  const days = Array.from({ length: earlierDays + 1 }, (_, day) => day).filter(
    (day) => day === 0 || hour.fromMs - day * dayMs >= retainedSinceMs,
  );
  const windows = days.map((day) =>
    buildMinuteCondition({ fromMs: hour.fromMs - day * dayMs, toMs: hour.toMs - day * dayMs }),
  );
  const daySql = `intDiv(${(hour.toMs + minuteMs) / 1000} - toUnixTimestamp(minute) - 1, 86400)`;
  const buildSelect = (group: string, countFilter: CountFilter): string =>
    `SELECT ${group}, sumForEach(arrayMap(d -> if(d = ${daySql}, count, 0), range(${days.length}))) AS n, toUnixTimestamp(max(minute)) AS z
    FROM log_pattern_counts WHERE ${buildCondition(countFilter)} AND (${windows.join(' OR ')}) GROUP BY ${group}`;
  // Whether a service sent logs does not depend on the requested patterns or severities.
  const { ids: _ids, severity: _severity, ...serviceFilter } = filter;
  const [rows, sent] = await Promise.all([
    runQuery<{ service: string; pattern_id: string; n: string[]; z: number }>(
      columns,
      buildSelect('service, pattern_id', filter),
      filter,
    ),
    runQuery<{ service: string; n: string[] }>(columns, buildSelect('service', serviceFilter), serviceFilter),
  ]);
  return {
    rows: rows.map(({ service, pattern_id: id, n, z }) => ({ service, id, counts: n.map(Number), lastMs: z * 1000 })),
    sent: new Map(sent.map(({ service, n }) => [service, n.map(Number)])),
  };
};
