/** Verdicts on deployments: compares requests of the hour before with those of the hour after */
import { z } from 'zod';
import type { Range } from '../../queries/range.ts';
import type { Reading } from '../../queries/reading.ts';
import { Unknown } from '../../queries/result.ts';
import { formatTime, parseTime } from '../../queries/time.ts';
import { type Choice, chosenActivity } from './chosen-activity.ts';
import {
  type Aspect,
  aspects,
  type Compared,
  compare,
  maxFalseAlarmRate,
  minMinutes,
  minRequests,
} from './comparison.ts';
import { Deployment } from './deployments.ts';
import {
  type CountedRow,
  countedOf,
  type RequestCounts,
  RequestMetrics,
  requestCountColumns,
  sumOfCounted,
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
export const withMargin = ({ from, to }: Range): Range => ({ from: from - marginNs, to: to + marginNs });

interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}
type Minutes = readonly { readonly atMs: number; readonly counted: RequestCounts }[];

const msOf = (time: string): number => Number((parseTime(time, 0) ?? 0n) / 1_000_000n);
const floor = (ms: number): number => Math.floor(ms / minuteMs) * minuteMs;

/** Returns the windows of a deployment between its neighbors; `to` is exclusive. */
const windowsOf = (
  atMs: number,
  { others, nowMs }: { readonly others: readonly number[]; readonly nowMs: number },
): { readonly before: Span; readonly after: Span } => {
  const minute = floor(atMs);
  const last = Math.max(...others.filter((other) => other < minute).map((other) => floor(other) + minuteMs), 0);
  const next = Math.min(...others.filter((other) => other >= minute + minuteMs).map(floor), floor(nowMs));
  return {
    before: { fromMs: Math.max(minute - windowMs, last), toMs: minute },
    after: { fromMs: minute + minuteMs, toMs: Math.min(minute + minuteMs + windowMs, next) },
  };
};

interface Judgement {
  readonly sides: readonly [
    before: { readonly span: Span; minutes: Minutes },
    after: { readonly span: Span; minutes: Minutes },
  ];
  readonly judged: JudgedSides;
}

/**
 * Returns the effect of a deployment on its service. `all` are the deployments of the service, including those around
 * the range, whose periods are excluded.
 */
export const evaluateDeployment = async (
  reading: Reading,
  choice: Omit<Choice, 'minutes'> & { readonly service: string },
  deployment: Deployment,
  all: readonly Deployment[],
): Promise<Judgement> => {
  const others = all
    .filter(({ id, environment }) => id !== deployment.id && isSameEnvironment(environment, deployment.environment))
    .map(({ time }) => msOf(time));
  const { before, after } = windowsOf(msOf(deployment.time), { others, nowMs: reading.nowMs });
  const environment = deployment.environment === '' ? choice.environment : deployment.environment;
  const read = (span: Span): Promise<Minutes> => minutesIn(reading, { ...choice, environment }, span);
  const sides = await Promise.all([read(before), read(after)]);
  return {
    sides: [
      { span: before, minutes: sides[0] },
      { span: after, minutes: sides[1] },
    ],
    judged: await judgedOf(sides, () => Promise.all([read(dayBefore(before)), read(dayBefore(after))])),
  };
};

const dayBefore = ({ fromMs, toMs }: Span): Span => ({ fromMs: fromMs - dayMs, toMs: toMs - dayMs });

/** The same hours of the previous day are only read if something changed. */
const judgedOf = async (sides: Sides, readDayBefore: () => Promise<Sides>): Promise<JudgedSides> => {
  const judged = verdictOf(sides, [[], []]);
  return judged.verdict === 'better' || judged.verdict === 'worse' ? verdictOf(sides, await readDayBefore()) : judged;
};

/** Returns a deployment with its verdict, and the metrics before and after. */
export const toJudgedDeployment = async (
  reading: Reading,
  choice: Omit<Choice, 'minutes'> & { readonly service: string },
  deployment: Deployment,
  { all, apdexThresholdMs }: { readonly all: readonly Deployment[]; readonly apdexThresholdMs: number },
): Promise<JudgedDeployment> => {
  const { sides, judged } = await evaluateDeployment(reading, choice, deployment, all);
  const [before, after] = sides.map(({ span, minutes }): JudgedDeployment['before'] => {
    if (span.toMs <= span.fromMs)
      return { value: null, reason: 'there is no whole minute until the next deployment or now' };
    const seconds = (span.toMs - span.fromMs) / 1000;
    return {
      ...rangeText(span),
      figures: toRequestMetrics(sumOfCounted(minutes.map(({ counted }) => counted)), seconds, apdexThresholdMs),
    };
  }) as [JudgedDeployment['before'], JudgedDeployment['after']];
  return { ...deployment, before, after, ...judged };
};

/** Deployments of one environment do not affect those of another. */
const isSameEnvironment = (one: string, other: string): boolean => one === '' || other === '' || one === other;

const rangeText = ({ fromMs, toMs }: Span) => ({ from: timeText(fromMs), to: timeText(toMs) });
const timeText = (ms: number): string => formatTime(BigInt(ms) * 1_000_000n);
const rangeOfSpan = ({ fromMs, toMs }: Span): Range => ({
  from: BigInt(fromMs) * 1_000_000n,
  to: BigInt(toMs) * 1_000_000n,
});

const minutesIn = async ({ columns }: Reading, choice: Omit<Choice, 'minutes'>, span: Span): Promise<Minutes> => {
  if (span.toMs <= span.fromMs) return [];
  const { where, parameters } = chosenActivity({ ...choice, minutes: rangeOfSpan(span) });
  const rows = await columns.query<CountedRow & { readonly at: number }>(
    `SELECT toUnixTimestamp(minute) AS at, ${requestCountColumns} FROM resource_activity WHERE ${where} GROUP BY at HAVING sum(requests) > 0`,
    parameters,
  );
  return rows.map((row) => ({ atMs: row.at * 1000, counted: countedOf(row) }));
};

export type JudgedSides = Pick<JudgedDeployment, 'verdict' | 'confidence' | 'reason' | 'aspects'>;
type Sides = readonly [before: Minutes, after: Minutes];

const requestsOf = (minutes: Minutes): number => minutes.reduce((sum, { counted }) => sum + counted.requests, 0);
const isEnough = (minutes: Minutes): boolean => minutes.length >= minMinutes && requestsOf(minutes) >= minRequests;
const compareSides = ([before, after]: Sides): readonly Compared[] =>
  compare(
    before.map(({ counted }) => counted),
    after.map(({ counted }) => counted),
  );

const words: Readonly<Record<Aspect, string>> = { errors: 'errors', latency: 'latency', tail: 'slow requests' };

/** Returns the verdict on two sides; the same hours of the previous day are the baseline. */
const verdictOf = (sides: Sides, dayBefore: Sides): JudgedSides => {
  const [before, after] = sides;
  const nothing = { aspects: [], confidence: { value: null, reason: 'there is no verdict' } };
  if (!sides.every(isEnough))
    return {
      ...nothing,
      verdict: 'unknown',
      reason: `${requestsOf(before)} requests in ${before.length} minutes before and ${requestsOf(after)} in ${after.length} after: at least ${minRequests} in ${minMinutes} minutes of each are required`,
    };
  const found = compareSides(sides).map((each) => ({ ...each, interval: [...each.interval] as [number, number] }));
  const changed = found.filter(({ verdict }) => verdict === 'better' || verdict === 'worse');
  const dayBeforeChanges = dayBefore.every(isEnough) ? compareSides(dayBefore) : [];
  const isExpected = ({ aspect, verdict, difference }: Compared): boolean =>
    dayBeforeChanges.some(
      (each) =>
        each.aspect === aspect && each.verdict === verdict && Math.abs(each.difference) >= Math.abs(difference) / 2,
    );
  const news = changed.filter((each) => !isExpected(each));
  const worse = news.filter(({ verdict }) => verdict === 'worse');
  const decisive = worse.length > 0 ? worse : news;
  if (decisive.length > 0)
    return {
      aspects: found,
      verdict: worse.length > 0 ? 'worse' : 'better',
      confidence: Math.max(...decisive.map(({ confidence }) => confidence)),
      reason: `${news.map(({ aspect, verdict }) => `${words[aspect]} ${verdict}`).join(', ')}${dayBeforeChanges.length > 0 ? '; not at these hours on the previous day' : '; no data of the previous day to compare with'}`,
    };
  if (changed.length > 0)
    return {
      ...nothing,
      aspects: found,
      verdict: 'unknown',
      reason: `${changed.map(({ aspect, verdict }) => `${words[aspect]} ${verdict}`).join(', ')}, as at these hours on the previous day`,
    };
  const unsure = found.filter(({ verdict }) => verdict === 'unknown');
  if (unsure.length > 0)
    return {
      ...nothing,
      aspects: found,
      verdict: 'unknown',
      reason: `too few requests to distinguish a change of ${unsure.map(({ aspect }) => words[aspect]).join(' and ')} from chance`,
    };
  return {
    aspects: found,
    verdict: 'no difference',
    confidence: Math.min(...found.map(({ confidence }) => confidence)),
    reason: 'every difference is insignificant',
  };
};
