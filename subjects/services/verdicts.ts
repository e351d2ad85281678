/** Verdicts on deployments: compares requests of the hour before with those of the hour after */
import { z } from 'zod';
import type { Range } from '../../queries/range.ts';
import { Unknown } from '../../queries/result.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { formatTime, parseTime } from '../../queries/time.ts';
import { type ActivityFilter, buildActivityFilter } from './activity-filter.ts';
import {
  type Aspect,
  type AspectComparison,
  aspects,
  compare,
  maxFalseAlarmRate,
  minMinutes,
  minRequests,
} from './comparison.ts';
import { Deployment } from './deployments.ts';
import { minuteMs } from './minutes.ts';
import {
  type RequestCountRow,
  type RequestCounts,
  RequestMetrics,
  requestCountColumns,
  sumRequestCounts,
  toRequestCounts,
  toRequestMetrics,
} from './request-counts.ts';

const windowMs = 60 * minuteMs;
/** Margin around a range in which other deployments may end the windows of its deployments */
const marginNs = 2n * BigInt(windowMs) * 1_000_000n;
const dayMs = 24 * 3_600_000;

const verdicts = ['better', 'worse', 'no difference', 'unknown'] as const;
const Window = z.strictObject({ from: z.string(), to: z.string(), figures: RequestMetrics });

export const JudgedDeployment = Deployment.extend({
  before: z.union([Window, Unknown]).describe('Hour before the deployment, starting after the previous deployment'),
  after: z
    .union([Window, Unknown])
    .describe('Hour after the deployment, starting with the next minute, up to the next deployment'),
  verdict: z
    .enum(verdicts)
    .describe(
      `Verdicts on \`errors\`, \`latency\` (whether a request takes longer than one before) and \`tail\` (requests slower than 95% of those before). At most ${maxFalseAlarmRate * 100} % of deployments without an effect are reported as better or worse`,
    ),
  confidence: z.union([z.number(), Unknown]).describe('Confidence, between 0 and 1'),
  reason: z.string().describe('Reason for the verdict'),
  aspects: z.array(
    z.strictObject({
      aspect: z.enum(aspects),
      verdict: z.enum(verdicts),
      before: z
        .number()
        .describe(
          '`errors`, `tail`: share of requests; `latency`: mean rank among all requests of both hours, between 0 and 1',
        ),
      after: z.number(),
      difference: z.number(),
      interval: z.tuple([z.number(), z.number()]).describe('95% confidence interval'),
      p: z.number(),
      confidence: z.number(),
    }),
  ),
});
export type JudgedDeployment = z.output<typeof JudgedDeployment>;

/** Returns the range in which deployments must be known to evaluate those of the given range. */
export const extendByMargin = ({ from, to }: Range): Range => ({ from: from - marginNs, to: to + marginNs });

interface TimePeriod {
  readonly fromMs: number;
  readonly toMs: number;
}
type MinuteCounts = readonly { readonly atMs: number; readonly counts: RequestCounts }[];

const parseMs = (time: string): number => Number((parseTime(time, 0) ?? 0n) / 1_000_000n);
const floorToMinute = (ms: number): number => Math.floor(ms / minuteMs) * minuteMs;

/** Returns the windows before and after a deployment, which end at the neighboring deployments; `toMs` is exclusive. */
const findWindows = (
  atMs: number,
  { otherTimesMs, nowMs }: { readonly otherTimesMs: readonly number[]; readonly nowMs: number },
): { readonly before: TimePeriod; readonly after: TimePeriod } => {
  const minute = floorToMinute(atMs);
  const windowStartLimit = Math.max(
    ...otherTimesMs.filter((other) => other < minute).map((other) => floorToMinute(other) + minuteMs),
    0,
  );
  const windowEndLimit = Math.min(
    ...otherTimesMs.filter((other) => other >= minute + minuteMs).map(floorToMinute),
    floorToMinute(nowMs),
  );
  return {
    before: { fromMs: Math.max(minute - windowMs, windowStartLimit), toMs: minute },
    after: { fromMs: minute + minuteMs, toMs: Math.min(minute + minuteMs + windowMs, windowEndLimit) },
  };
};

interface DeploymentEvaluation {
  readonly sides: readonly [
    before: { readonly period: TimePeriod; minutes: MinuteCounts },
    after: { readonly period: TimePeriod; minutes: MinuteCounts },
  ];
  readonly judgment: Judgment;
}

/**
 * Returns the effect of a deployment on its service. `all` are the deployments of the service, including those around
 * the range, whose periods are excluded.
 */
export const evaluateDeployment = async (
  reader: TenantReader,
  filter: Omit<ActivityFilter, 'minutes'> & { readonly service: string },
  deployment: Deployment,
  all: readonly Deployment[],
): Promise<DeploymentEvaluation> => {
  const otherTimesMs = all
    .filter(({ id, environment }) => id !== deployment.id && isSameEnvironment(environment, deployment.environment))
    .map(({ time }) => parseMs(time));
  const { before, after } = findWindows(parseMs(deployment.time), { otherTimesMs, nowMs: reader.nowMs });
  const environment = deployment.environment === '' ? filter.environment : deployment.environment;
  const read = (period: TimePeriod): Promise<MinuteCounts> => readMinutes(reader, { ...filter, environment }, period);
  const sides = await Promise.all([read(before), read(after)]);
  return {
    sides: [
      { period: before, minutes: sides[0] },
      { period: after, minutes: sides[1] },
    ],
    judgment: await judgeSides(sides, () =>
      Promise.all([read(shiftToDayBefore(before)), read(shiftToDayBefore(after))]),
    ),
  };
};

const shiftToDayBefore = ({ fromMs, toMs }: TimePeriod): TimePeriod => ({ fromMs: fromMs - dayMs, toMs: toMs - dayMs });

/** Reads the same hours of the previous day only if the verdict is better or worse. */
const judgeSides = async (
  sides: MinutesOnBothSides,
  readDayBefore: () => Promise<MinutesOnBothSides>,
): Promise<Judgment> => {
  const judgment = computeVerdict(sides, [[], []]);
  return judgment.verdict === 'better' || judgment.verdict === 'worse'
    ? computeVerdict(sides, await readDayBefore())
    : judgment;
};

/** Returns a deployment with its verdict, and the metrics before and after. */
export const toJudgedDeployment = async (
  reader: TenantReader,
  filter: Omit<ActivityFilter, 'minutes'> & { readonly service: string },
  deployment: Deployment,
  { all, apdexThresholdMs }: { readonly all: readonly Deployment[]; readonly apdexThresholdMs: number },
): Promise<JudgedDeployment> => {
  const { sides, judgment } = await evaluateDeployment(reader, filter, deployment, all);
  const [before, after] = sides.map(({ period, minutes }): JudgedDeployment['before'] => {
    if (period.toMs <= period.fromMs)
      return { value: null, reason: 'there is no whole minute until the next deployment or now' };
    const seconds = (period.toMs - period.fromMs) / 1000;
    return {
      ...formatPeriod(period),
      figures: toRequestMetrics(sumRequestCounts(minutes.map(({ counts }) => counts)), seconds, apdexThresholdMs),
    };
  }) as [JudgedDeployment['before'], JudgedDeployment['after']];
  return { ...deployment, before, after, ...judgment };
};

/** Deployments of one environment do not affect those of another. */
const isSameEnvironment = (left: string, right: string): boolean => left === '' || right === '' || left === right;

const formatPeriod = ({ fromMs, toMs }: TimePeriod) => ({ from: formatMs(fromMs), to: formatMs(toMs) });
const formatMs = (ms: number): string => formatTime(BigInt(ms) * 1_000_000n);
const toRange = ({ fromMs, toMs }: TimePeriod): Range => ({
  from: BigInt(fromMs) * 1_000_000n,
  to: BigInt(toMs) * 1_000_000n,
});

const readMinutes = async (
  { columns }: TenantReader,
  filter: Omit<ActivityFilter, 'minutes'>,
  period: TimePeriod,
): Promise<MinuteCounts> => {
  if (period.toMs <= period.fromMs) return [];
  const { where, parameters } = buildActivityFilter({ ...filter, minutes: toRange(period) });
  const rows = await columns.query<RequestCountRow & { readonly at: number }>(
    `SELECT toUnixTimestamp(minute) AS at, ${requestCountColumns} FROM resource_activity WHERE ${where} GROUP BY at HAVING sum(requests) > 0`,
    parameters,
  );
  return rows.map((row) => ({ atMs: row.at * 1000, counts: toRequestCounts(row) }));
};

export type Judgment = Pick<JudgedDeployment, 'verdict' | 'confidence' | 'reason' | 'aspects'>;
type MinutesOnBothSides = readonly [before: MinuteCounts, after: MinuteCounts];

const countRequests = (minutes: MinuteCounts): number => minutes.reduce((sum, { counts }) => sum + counts.requests, 0);
const hasEnoughRequests = (minutes: MinuteCounts): boolean =>
  minutes.length >= minMinutes && countRequests(minutes) >= minRequests;
const compareSides = ([before, after]: MinutesOnBothSides): readonly AspectComparison[] =>
  compare(
    before.map(({ counts }) => counts),
    after.map(({ counts }) => counts),
  );

const aspectTexts: Readonly<Record<Aspect, string>> = { errors: 'errors', latency: 'latency', tail: 'slow requests' };

/** Returns the verdict on two sides; the same hours of the previous day are the baseline. */
const computeVerdict = (sides: MinutesOnBothSides, previousDaySides: MinutesOnBothSides): Judgment => {
  const [before, after] = sides;
  const noVerdict = { aspects: [], confidence: { value: null, reason: 'there is no verdict' } };
  if (!sides.every(hasEnoughRequests))
    return {
      ...noVerdict,
      verdict: 'unknown',
      reason: `${countRequests(before)} requests in ${before.length} minutes before and ${countRequests(after)} in ${after.length} after: at least ${minRequests} in ${minMinutes} minutes of each are required`,
    };
  const comparisons = compareSides(sides).map((aspectComparison) => ({
    ...aspectComparison,
    interval: [...aspectComparison.interval] as [number, number],
  }));
  const changedAspects = comparisons.filter(({ verdict }) => verdict === 'better' || verdict === 'worse');
  const dayBeforeChanges = previousDaySides.every(hasEnoughRequests) ? compareSides(previousDaySides) : [];
  const isExpected = ({ aspect, verdict, difference }: AspectComparison): boolean =>
    dayBeforeChanges.some(
      (dayBeforeChange) =>
        dayBeforeChange.aspect === aspect &&
        dayBeforeChange.verdict === verdict &&
        Math.abs(dayBeforeChange.difference) >= Math.abs(difference) / 2,
    );
  const unexpectedChanges = changedAspects.filter((changedAspect) => !isExpected(changedAspect));
  const worseAspects = unexpectedChanges.filter(({ verdict }) => verdict === 'worse');
  const decisiveAspects = worseAspects.length > 0 ? worseAspects : unexpectedChanges;
  if (decisiveAspects.length > 0)
    return {
      aspects: comparisons,
      verdict: worseAspects.length > 0 ? 'worse' : 'better',
      confidence: Math.max(...decisiveAspects.map(({ confidence }) => confidence)),
      reason: `${unexpectedChanges.map(({ aspect, verdict }) => `${aspectTexts[aspect]} ${verdict}`).join(', ')}${dayBeforeChanges.length > 0 ? '; not at these hours on the previous day' : '; no data of the previous day to compare with'}`,
    };
  if (changedAspects.length > 0)
    return {
      ...noVerdict,
      aspects: comparisons,
      verdict: 'unknown',
      reason: `${changedAspects.map(({ aspect, verdict }) => `${aspectTexts[aspect]} ${verdict}`).join(', ')}, as at these hours on the previous day`,
    };
  const uncertainAspects = comparisons.filter(({ verdict }) => verdict === 'unknown');
  if (uncertainAspects.length > 0)
    return {
      ...noVerdict,
      aspects: comparisons,
      verdict: 'unknown',
      reason: `too few requests to distinguish a change of ${uncertainAspects.map(({ aspect }) => aspectTexts[aspect]).join(' and ')} from chance`,
    };
  return {
    aspects: comparisons,
    verdict: 'no difference',
    confidence: Math.min(...comparisons.map(({ confidence }) => confidence)),
    reason: 'every difference is insignificant',
  };
};
