/** Verdicts on deployments: compares requests of the hour before with those of the hour after */
import { z } from 'zod';
import type { Range } from '../../queries/range.ts';
import type { Reading } from '../../queries/reading.ts';
import { Unknown } from '../../queries/result.ts';
import { formatTime, parseTime } from '../../queries/time.ts';
import { type ActivityFilter, buildActivityFilter } from './chosen-activity.ts';
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
import {
  type RequestCountRow,
  type RequestCounts,
  RequestMetrics,
  requestCountColumns,
  sumRequestCounts,
  toRequestCounts,
  toRequestMetrics,
} from './figures.ts';
import { minuteMs } from './minutes.ts';

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

interface TimeSpan {
  readonly fromMs: number;
  readonly toMs: number;
}
type CountedMinutes = readonly { readonly atMs: number; readonly counted: RequestCounts }[];

const parseMs = (time: string): number => Number((parseTime(time, 0) ?? 0n) / 1_000_000n);
const floorToMinute = (ms: number): number => Math.floor(ms / minuteMs) * minuteMs;

/** Returns the windows of a deployment between its neighbors; `to` is exclusive. */
const findWindows = (
  atMs: number,
  { others, nowMs }: { readonly others: readonly number[]; readonly nowMs: number },
): { readonly before: TimeSpan; readonly after: TimeSpan } => {
  const minute = floorToMinute(atMs);
  const last = Math.max(...others.filter((other) => other < minute).map((other) => floorToMinute(other) + minuteMs), 0);
  const next = Math.min(
    ...others.filter((other) => other >= minute + minuteMs).map(floorToMinute),
    floorToMinute(nowMs),
  );
  return {
    before: { fromMs: Math.max(minute - windowMs, last), toMs: minute },
    after: { fromMs: minute + minuteMs, toMs: Math.min(minute + minuteMs + windowMs, next) },
  };
};

interface DeploymentEvaluation {
  readonly sides: readonly [
    before: { readonly span: TimeSpan; minutes: CountedMinutes },
    after: { readonly span: TimeSpan; minutes: CountedMinutes },
  ];
  readonly judged: JudgedSides;
}

/**
 * Returns the effect of a deployment on its service. `all` are the deployments of the service, including those around
 * the range, whose periods are excluded.
 */
export const evaluateDeployment = async (
  reading: Reading,
  choice: Omit<ActivityFilter, 'minutes'> & { readonly service: string },
  deployment: Deployment,
  all: readonly Deployment[],
): Promise<DeploymentEvaluation> => {
  const others = all
    .filter(({ id, environment }) => id !== deployment.id && isSameEnvironment(environment, deployment.environment))
    .map(({ time }) => parseMs(time));
  const { before, after } = findWindows(parseMs(deployment.time), { others, nowMs: reading.nowMs });
  const environment = deployment.environment === '' ? choice.environment : deployment.environment;
  const read = (span: TimeSpan): Promise<CountedMinutes> => readMinutes(reading, { ...choice, environment }, span);
  const sides = await Promise.all([read(before), read(after)]);
  return {
    sides: [
      { span: before, minutes: sides[0] },
      { span: after, minutes: sides[1] },
    ],
    judged: await judgeSides(sides, () => Promise.all([read(dayBefore(before)), read(dayBefore(after))])),
  };
};

const dayBefore = ({ fromMs, toMs }: TimeSpan): TimeSpan => ({ fromMs: fromMs - dayMs, toMs: toMs - dayMs });

/** The same hours of the previous day are only read if something changed. */
const judgeSides = async (sides: BothSides, readDayBefore: () => Promise<BothSides>): Promise<JudgedSides> => {
  const judged = computeVerdict(sides, [[], []]);
  return judged.verdict === 'better' || judged.verdict === 'worse'
    ? computeVerdict(sides, await readDayBefore())
    : judged;
};

/** Returns a deployment with its verdict, and the metrics before and after. */
export const toJudgedDeployment = async (
  reading: Reading,
  choice: Omit<ActivityFilter, 'minutes'> & { readonly service: string },
  deployment: Deployment,
  { all, apdexThresholdMs }: { readonly all: readonly Deployment[]; readonly apdexThresholdMs: number },
): Promise<JudgedDeployment> => {
  const { sides, judged } = await evaluateDeployment(reading, choice, deployment, all);
  const [before, after] = sides.map(({ span, minutes }): JudgedDeployment['before'] => {
    if (span.toMs <= span.fromMs)
      return { value: null, reason: 'there is no whole minute until the next deployment or now' };
    const seconds = (span.toMs - span.fromMs) / 1000;
    return {
      ...formatSpan(span),
      figures: toRequestMetrics(sumRequestCounts(minutes.map(({ counted }) => counted)), seconds, apdexThresholdMs),
    };
  }) as [JudgedDeployment['before'], JudgedDeployment['after']];
  return { ...deployment, before, after, ...judged };
};

/** Deployments of one environment do not affect those of another. */
const isSameEnvironment = (one: string, other: string): boolean => one === '' || other === '' || one === other;

const formatSpan = ({ fromMs, toMs }: TimeSpan) => ({ from: formatMs(fromMs), to: formatMs(toMs) });
const formatMs = (ms: number): string => formatTime(BigInt(ms) * 1_000_000n);
const toRange = ({ fromMs, toMs }: TimeSpan): Range => ({
  from: BigInt(fromMs) * 1_000_000n,
  to: BigInt(toMs) * 1_000_000n,
});

const readMinutes = async (
  { columns }: Reading,
  choice: Omit<ActivityFilter, 'minutes'>,
  span: TimeSpan,
): Promise<CountedMinutes> => {
  if (span.toMs <= span.fromMs) return [];
  const { where, parameters } = buildActivityFilter({ ...choice, minutes: toRange(span) });
  const rows = await columns.query<RequestCountRow & { readonly at: number }>(
    `SELECT toUnixTimestamp(minute) AS at, ${requestCountColumns} FROM resource_activity WHERE ${where} GROUP BY at HAVING sum(requests) > 0`,
    parameters,
  );
  return rows.map((row) => ({ atMs: row.at * 1000, counted: toRequestCounts(row) }));
};

export type JudgedSides = Pick<JudgedDeployment, 'verdict' | 'confidence' | 'reason' | 'aspects'>;
type BothSides = readonly [before: CountedMinutes, after: CountedMinutes];

const countRequests = (minutes: CountedMinutes): number =>
  minutes.reduce((sum, { counted }) => sum + counted.requests, 0);
const hasEnoughRequests = (minutes: CountedMinutes): boolean =>
  minutes.length >= minMinutes && countRequests(minutes) >= minRequests;
const compareSides = ([before, after]: BothSides): readonly AspectComparison[] =>
  compare(
    before.map(({ counted }) => counted),
    after.map(({ counted }) => counted),
  );

const aspectTexts: Readonly<Record<Aspect, string>> = { errors: 'errors', latency: 'latency', tail: 'slow requests' };

/** Returns the verdict on two sides; the same hours of the previous day are the baseline. */
const computeVerdict = (sides: BothSides, dayBefore: BothSides): JudgedSides => {
  const [before, after] = sides;
  const nothing = { aspects: [], confidence: { value: null, reason: 'there is no verdict' } };
  if (!sides.every(hasEnoughRequests))
    return {
      ...nothing,
      verdict: 'unknown',
      reason: `${countRequests(before)} requests in ${before.length} minutes before and ${countRequests(after)} in ${after.length} after: at least ${minRequests} in ${minMinutes} minutes of each are required`,
    };
  const found = compareSides(sides).map((each) => ({ ...each, interval: [...each.interval] as [number, number] }));
  const changed = found.filter(({ verdict }) => verdict === 'better' || verdict === 'worse');
  const dayBeforeChanges = dayBefore.every(hasEnoughRequests) ? compareSides(dayBefore) : [];
  const isExpected = ({ aspect, verdict, difference }: AspectComparison): boolean =>
    dayBeforeChanges.some(
      (each) =>
        each.aspect === aspect && each.verdict === verdict && Math.abs(each.difference) >= Math.abs(difference) / 2,
    );
  const unexpectedChanges = changed.filter((each) => !isExpected(each));
  const worse = unexpectedChanges.filter(({ verdict }) => verdict === 'worse');
  const decisive = worse.length > 0 ? worse : unexpectedChanges;
  if (decisive.length > 0)
    return {
      aspects: found,
      verdict: worse.length > 0 ? 'worse' : 'better',
      confidence: Math.max(...decisive.map(({ confidence }) => confidence)),
      reason: `${unexpectedChanges.map(({ aspect, verdict }) => `${aspectTexts[aspect]} ${verdict}`).join(', ')}${dayBeforeChanges.length > 0 ? '; not at these hours on the previous day' : '; no data of the previous day to compare with'}`,
    };
  if (changed.length > 0)
    return {
      ...nothing,
      aspects: found,
      verdict: 'unknown',
      reason: `${changed.map(({ aspect, verdict }) => `${aspectTexts[aspect]} ${verdict}`).join(', ')}, as at these hours on the previous day`,
    };
  const uncertainAspects = found.filter(({ verdict }) => verdict === 'unknown');
  if (uncertainAspects.length > 0)
    return {
      ...nothing,
      aspects: found,
      verdict: 'unknown',
      reason: `too few requests to distinguish a change of ${uncertainAspects.map(({ aspect }) => aspectTexts[aspect]).join(' and ')} from chance`,
    };
  return {
    aspects: found,
    verdict: 'no difference',
    confidence: Math.min(...found.map(({ confidence }) => confidence)),
    reason: 'every difference is insignificant',
  };
};
