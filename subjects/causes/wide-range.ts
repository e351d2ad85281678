/** Selects the part of a wide range that is analyzed by the minute: a sample of the whole range shows where it degraded. */
import {
  buildProjectScopeCondition,
  type ProjectScope,
  toProjectScopeParameters,
} from '../../queries/project-scope.ts';
import type { Range } from '../../queries/range.ts';
import type { TenantColumns } from '../../schemas/ports/columns.ts';
import { minutesCondition, toMinutesParameters } from '../services/minutes.ts';
import { minuteMs } from './incident-context.ts';

/** Maximum number of steps of the sample */
const maxSteps = 720;
/** Number of steps before an increase that it is compared with, and since it that must be higher on average */
const comparedSteps = { before: 12, after: 2 };
const minStepsBefore = 3;
const minRequests = 20;
/** Differences below these are noise: share of errors, and logarithm of the mean duration. */
const minSpread = { errors: 0.01, duration: 0.05 };

/** Requests in a step */
export interface SampledStep {
  readonly atMs: number;
  readonly requests: number;
  readonly errors: number;
  /** In nanoseconds */
  readonly durationSum: number;
}

interface StepRow {
  readonly at: number;
  readonly requests_in: string;
  readonly errors_in: string;
  readonly duration: number;
}

/** Returns the length of a step of the sample, in full minutes. */
export const getSampleStepMs = (rangeMs: number): number => Math.ceil(rangeMs / maxSteps / minuteMs) * minuteMs;

/** Returns the requests of services over a range, by step. */
export const readSample = async (
  columns: TenantColumns,
  services: readonly string[],
  minutes: Range,
  scope: ProjectScope,
): Promise<SampledStep[]> => {
  const stepMs = getSampleStepMs(Number((minutes.to - minutes.from) / 1_000_000n));
  const rows = await columns.query<StepRow>(
    `SELECT toUnixTimestamp(toStartOfInterval(minute, INTERVAL ${stepMs / minuteMs} MINUTE)) AS at,
      toString(sum(requests)) AS requests_in, toString(sum(errors)) AS errors_in, toFloat64(sum(duration_sum)) AS duration
    FROM resource_activity
    WHERE tenant_id = {tenant:String} AND ${minutesCondition}${buildProjectScopeCondition(scope)} AND service IN {services:Array(String)}
    GROUP BY at HAVING sum(requests) > 0 ORDER BY at LIMIT ${maxSteps + 2}`,
    { ...toMinutesParameters(minutes), ...toProjectScopeParameters(scope), services },
  );
  return rows.map(({ at, requests_in, errors_in, duration }) => ({
    atMs: at * 1000,
    requests: Number(requests_in),
    errors: Number(errors_in),
    durationSum: duration,
  }));
};

const scores = {
  errors: ({ requests, errors }: SampledStep): number => errors / requests,
  duration: ({ requests, durationSum }: SampledStep): number => Math.log(1 + durationSum / requests),
};

const getMean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);

/**
 * Returns the step with the clearest increase of errors or durations over the steps before it, in units of their
 * spread; undefined if there are too few.
 */
export const findLargestIncrease = (steps: readonly SampledStep[]): SampledStep | undefined => {
  const counted = steps.filter(({ requests }) => requests >= minRequests);
  const getIncrease = (index: number): number =>
    Math.max(
      ...(['errors', 'duration'] as const).map((aspect) => {
        const before = counted.slice(Math.max(0, index - comparedSteps.before), index).map(scores[aspect]);
        const after = counted.slice(index, index + comparedSteps.after).map(scores[aspect]);
        const mean = getMean(before);
        const spread = Math.sqrt(getMean(before.map((value) => (value - mean) ** 2)));
        return (getMean(after) - mean) / Math.max(spread, minSpread[aspect]);
      }),
    );
  const [best] = counted
    .map((step, index) => ({ step, increase: index < minStepsBefore ? 0 : getIncrease(index) }))
    .toSorted((left, right) => right.increase - left.increase);
  return best === undefined || best.increase <= 0 ? undefined : best.step;
};
