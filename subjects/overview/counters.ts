/** Counters over all telemetry signals for a range. Each equals the result of the query in `detail`. */
import { z } from 'zod';
import {
  buildProjectScopeCondition,
  type ProjectScope,
  toProjectScopeParameters,
} from '../../queries/project-scope.ts';
import { findRangeProblem, type Range } from '../../queries/range.ts';
import { Unknown } from '../../queries/result.ts';
import { seriesSeenCondition, toSeriesSeenParameters } from '../../queries/series-first-seen.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { formatTime } from '../../queries/time.ts';
import { countPatterns, judgePattern } from '../log-patterns/patterns.ts';
import { buildActivityFilter } from '../services/activity-filter.ts';
import { readDeployments } from '../services/deployments.ts';
import {
  getDurationAtQuantile,
  type RequestCountRow,
  requestCountColumns,
  toRequestCounts,
} from '../services/request-counts.ts';
import { emptyVolume, readVolumes, sumVolumes } from '../usage/ledger.ts';

const Value = z.union([z.number(), Unknown]);
type Value = z.output<typeof Value>;

const Counter = z.strictObject({
  value: Value,
  previous: Value.describe('Value of the preceding range of the same length'),
  change: Value.describe('Relative change: (value - previous) / previous'),
  unit: z.string().describe('UCUM unit'),
  detail: z.string().describe('Query that returns the same number'),
});
type Counter = z.output<typeof Counter>;

/** Counters: unit, and the query with the same number */
const counterDefinitions = {
  logs: ['{record}', 'count of GET /api/logs/aggregate'],
  errorLogs: ['{record}', 'count of GET /api/logs/aggregate?search=severity:>=error'],
  logPatternsNew: ['{pattern}', 'items of GET /api/logs/patterns?only=new'],
  spans: ['{span}', 'sum of sends.spans of GET /api/services, and spans without a service'],
  requests: ['{request}', 'sum of figures.requests of GET /api/services, and requests without a service'],
  errors: ['{request}', 'sum of figures.errors of GET /api/services, and requests without a service'],
  errorRate: ['1', 'errors / requests'],
  p95: ['ns', 'duration of requests, with an error of at most 4.4 %'],
  servicesActive: ['{service}', 'items of GET /api/services that sent logs or spans'],
  seriesActive: ['{series}', 'sum of seriesCount of GET /api/metrics, at hourly resolution'],
  deployments: ['{deployment}', 'items of GET /api/deployments'],
  deadLetters: ['{message}', 'items of GET /api/dead-letter that were received in the range, in any state'],
  ingestedRecords: ['{record}', 'accepted of GET /api/usage/timeseries, for the whole hours that overlap the range'],
  ingestedBytes: ['By', 'accepted of GET /api/usage/timeseries, for the whole hours that overlap the range'],
} as const;
type Name = keyof typeof counterDefinitions;

export const Counters = z.strictObject(
  Object.fromEntries(Object.keys(counterDefinitions).map((name) => [name, Counter])) as Record<Name, typeof Counter>,
);
export type Counters = z.output<typeof Counters>;

const unknownValue = (reason: string): Value => ({ value: null, reason });

type CounterValues = Record<Name, Value>;

/** Reads several counters. If their telemetry signal cannot be read, each of them contains the reason. */
const readOrUnknown = async <CounterName extends Name>(
  names: readonly CounterName[],
  reason: string | undefined,
  count: () => Promise<Record<CounterName, Value>>,
): Promise<Record<CounterName, Value>> =>
  reason === undefined
    ? count()
    : (Object.fromEntries(names.map((name) => [name, unknownValue(reason)])) as Record<CounterName, Value>);

export interface OverviewQuery extends ProjectScope {
  /** Full minutes; `to` is exclusive */
  readonly minutes: Range;
}

const readCounterValues = async (
  reader: TenantReader,
  query: OverviewQuery,
): Promise<{ values: CounterValues; last: string | undefined }> => {
  const { columns, nowMs } = reader;
  const { minutes } = query;
  const range = { from: minutes.from, to: minutes.to - 1n };
  const findUnreadableReason = (signal: 'logs' | 'metrics' | 'traces') =>
    findRangeProblem(range, { caller: reader, signal, nowMs });
  const [logsProblem, tracesProblem, metricsProblem] = [
    findUnreadableReason('logs'),
    findUnreadableReason('traces'),
    findUnreadableReason('metrics'),
  ];
  const activity = await readActivity(reader, query);
  const requests = toRequestCounts(activity);
  const [logs, patterns, traces, series, deployments, deadLettersAndIngest] = await Promise.all([
    readOrUnknown(['logs', 'errorLogs'], logsProblem, async () => ({
      logs: Number(activity.all_logs),
      errorLogs: Number(activity.all_error_logs),
    })),
    readOrUnknown(['logPatternsNew'], logsProblem, async () => ({
      logPatternsNew: await countNewPatterns(reader, query),
    })),
    readOrUnknown(['spans', 'requests', 'errors', 'errorRate', 'p95'], tracesProblem, async () => ({
      spans: Number(activity.all_spans),
      requests: requests.requests,
      errors: requests.errors,
      errorRate: requests.requests === 0 ? unknownValue('there were no requests') : requests.errors / requests.requests,
      p95: getDurationAtQuantile(requests, 0.95) ?? unknownValue('there were no requests'),
    })),
    readOrUnknown(['seriesActive'], metricsProblem, async () => ({
      seriesActive: await countActiveSeries(reader, query),
    })),
    readOrUnknown(['deployments'], tracesProblem, async () => ({
      deployments: (await readDeployments(reader, { ...query, range })).deployments.length,
    })),
    Promise.all([countDeadLetters(columns, query), readIngest(reader, query)]),
  ]);
  const servicesActive =
    logsProblem === undefined && tracesProblem === undefined
      ? Number(activity.services)
      : unknownValue(logsProblem ?? tracesProblem ?? '');
  const [deadLetters, ingest] = deadLettersAndIngest;
  return {
    values: { ...logs, ...patterns, ...traces, ...series, ...deployments, servicesActive, deadLetters, ...ingest },
    last: activity.services === '0' ? undefined : formatTime(BigInt(activity.last)),
  };
};

interface ActivityRow extends RequestCountRow {
  readonly all_logs: string;
  readonly all_error_logs: string;
  readonly all_spans: string;
  readonly services: string;
  readonly last: string;
}

const readActivity = async ({ columns }: TenantReader, query: OverviewQuery): Promise<ActivityRow> => {
  const { where, parameters } = buildActivityFilter(query);
  const [row] = await columns.query<ActivityRow>(
    `SELECT toString(sum(logs)) AS all_logs, toString(sum(error_logs)) AS all_error_logs, toString(sum(spans)) AS all_spans,
      toString(uniqExactIf(service, service != '')) AS services, toString(toUnixTimestamp64Nano(max(last_seen))) AS last, ${requestCountColumns}
    FROM resource_activity WHERE ${where}`,
    parameters,
  );
  if (row === undefined) throw new Error('an aggregate without groups has one row');
  return row;
};

const countNewPatterns = async (
  { columns, plan, nowMs }: TenantReader,
  { minutes, ...scope }: OverviewQuery,
): Promise<number> => {
  const range = { from: minutes.from, to: minutes.to - 1n };
  const retainedSinceMs = nowMs - plan.retentionDays.logs * 24 * 3_600_000;
  const query = { range, filter: scope, nowMs, retainedFromMs: retainedSinceMs };
  const totals = await countPatterns(columns, query);
  return [...totals.byId.values()].filter((total) => judgePattern(totals, total, query).isNew === true).length;
};

const countActiveSeries = async ({ columns }: TenantReader, { minutes, ...scope }: OverviewQuery): Promise<number> => {
  const rows = await columns.query<{ n: string }>(
    `SELECT toString(uniqExact(metric, series_id)) AS n FROM series WHERE tenant_id = {tenant:String} AND ${seriesSeenCondition}${buildProjectScopeCondition(scope)}`,
    { ...toSeriesSeenParameters({ from: minutes.from, to: minutes.to - 1n }), ...toProjectScopeParameters(scope) },
  );
  return Number(rows[0]?.n ?? 0);
};

const countDeadLetters = async (
  columns: TenantReader['columns'],
  { minutes, ...scope }: OverviewQuery,
): Promise<number> => {
  const rows = await columns.query<{ n: string }>(
    `SELECT toString(uniqExact(id)) AS n FROM dead_letters WHERE tenant_id = {tenant:String}
      AND received_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND received_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')${buildProjectScopeCondition(scope)}`,
    {
      from: String(minutes.from / 1_000_000n),
      to: String(minutes.to / 1_000_000n),
      ...toProjectScopeParameters(scope),
    },
  );
  return Number(rows[0]?.n ?? 0);
};

const hourMs = 3_600_000;

const readIngest = async (
  { columns }: TenantReader,
  { minutes, projectId, scope }: OverviewQuery,
): Promise<Pick<CounterValues, 'ingestedRecords' | 'ingestedBytes'>> => {
  const fromMs = Math.floor(Number(minutes.from / 1_000_000n) / hourMs) * hourMs;
  const toMs = Math.ceil(Number(minutes.to / 1_000_000n) / hourMs) * hourMs;
  const filter = scope === 'account' ? {} : { projectId };
  const { accepted } = fromMs < toMs ? sumVolumes(await readVolumes(columns, filter, { fromMs, toMs })) : emptyVolume();
  return { ingestedRecords: accepted.records, ingestedBytes: accepted.bytes };
};

const computeRelativeChange = (value: Value, previous: Value): Value => {
  if (typeof value !== 'number') return value;
  if (typeof previous !== 'number') return previous;
  return previous === 0 ? unknownValue('the previous value is 0') : (value - previous) / previous;
};

/**
 * Returns the counters of a range and of the preceding range of equal length; `last` is the time of the newest record
 * or span in them.
 */
export const readCounters = async (
  reader: TenantReader,
  query: OverviewQuery,
): Promise<{ readonly counters: Counters; readonly previous: Range; readonly last: string | undefined }> => {
  const { from, to } = query.minutes;
  // Rounded up to full minutes, because the range may end now.
  const length = ((to - from + 59_999_999_999n) / 60_000_000_000n) * 60_000_000_000n;
  const previous = { from: from - length, to: from };
  const [now, before] = await Promise.all([
    readCounterValues(reader, query),
    readCounterValues(reader, { ...query, minutes: previous }),
  ]);
  const counters = Object.entries(counterDefinitions).map(([key, [unit, detail]]): [string, Counter] => {
    const name = key as Name;
    const [value, earlier] = [now.values[name], before.values[name]];
    return [name, { value, previous: earlier, change: computeRelativeChange(value, earlier), unit, detail }];
  });
  return { counters: Object.fromEntries(counters) as Counters, previous, last: now.last };
};
