/** Regressions in a range: services with slower requests, and deployments after which requests are worse */
import type { Range } from '../../queries/range.ts';
import type { Reading } from '../../queries/reading.ts';
import { parseTime } from '../../queries/time.ts';
import { type ActivityFilter, buildActivityFilter } from './chosen-activity.ts';
import { type AspectComparison, compare, minMinutes, minRequests } from './comparison.ts';
import { type Deployment, type DeploymentQuery, readDeployments } from './deployments.ts';
import {
  durationAtQuantile,
  type RequestCountRow,
  type RequestCounts,
  requestCountColumns,
  sumRequestCounts,
  toRequestCounts,
} from './figures.ts';
import { minuteMs } from './minutes.ts';
import { evaluateDeployment, extendByMargin, type JudgedSides } from './verdicts.ts';

/** Maximum number of steps in a comparison of two ranges; more steps do not improve the result */
const maxSteps = 60;
const maxServices = 1_000;
/** Significance level: fewer than one in a thousand unchanged services are reported as slower */
const significanceLevel = 0.001;

/** A service with a larger share of slow requests than in the previous range */
export interface SlowerService {
  readonly service: string;
  readonly requests: number;
  /** Share of requests that took longer than 95% of those in the previous range */
  readonly slowShare: number;
  /** Nanoseconds. */
  readonly p95: number;
  readonly p95Before: number;
}

type SlowerServicesQuery = Omit<ActivityFilter, 'minutes'> & { readonly minutes: Range; readonly previous: Range };

/**
 * Returns services that became significantly slower, compared over the steps of both ranges as verdicts are over
 * minutes.
 */
export const readSlowerServices = async (
  reading: Reading,
  { minutes, previous, ...choice }: SlowerServicesQuery,
): Promise<readonly SlowerService[]> => {
  const [now, before] = await Promise.all(
    [minutes, previous].map((range) => readStepsByService(reading, { ...choice, minutes: range })),
  );
  return [...(now ?? [])].flatMap(([service, after]) => {
    const earlier = before?.get(service) ?? [];
    const slow = hasEnoughRequests(earlier) && hasEnoughRequests(after) ? findTail(compare(earlier, after)) : undefined;
    if (slow === undefined || slow.verdict !== 'worse' || slow.p >= significanceLevel) return [];
    const [earlierCounts, currentCounts] = [sumRequestCounts(earlier), sumRequestCounts(after)];
    const [p95Before, p95] = [
      durationAtQuantile(earlierCounts, 0.95) ?? 0,
      durationAtQuantile(currentCounts, 0.95) ?? 0,
    ];
    return [{ service, requests: currentCounts.requests, slowShare: slow.after, p95, p95Before }];
  });
};

const findTail = (aspects: readonly AspectComparison[]): AspectComparison | undefined =>
  aspects.find(({ aspect }) => aspect === 'tail');
const hasEnoughRequests = (steps: readonly RequestCounts[]): boolean =>
  steps.length >= minMinutes && sumRequestCounts(steps).requests >= minRequests;

const readStepsByService = async (
  { columns }: Reading,
  choice: ActivityFilter,
): Promise<ReadonlyMap<string, RequestCounts[]>> => {
  const { where, parameters } = buildActivityFilter(choice);
  const rangeMinutes = Number((choice.minutes.to - choice.minutes.from) / 1_000_000n) / minuteMs;
  const seconds = Math.ceil(rangeMinutes / maxSteps) * 60;
  const rows = await columns.query<RequestCountRow & { readonly of: string }>(
    `SELECT service AS of, intDiv(toUnixTimestamp(minute), ${seconds}) AS step, ${requestCountColumns} FROM resource_activity
    WHERE ${where} AND service IN (
      SELECT service FROM resource_activity WHERE ${where} AND service != '' GROUP BY service
      HAVING sum(requests) >= ${minRequests} ORDER BY sum(requests) DESC LIMIT ${maxServices}
    ) GROUP BY of, step HAVING sum(requests) > 0 LIMIT ${maxServices * (maxSteps + 1)}`,
    parameters,
  );
  const byService = new Map<string, RequestCounts[]>();
  for (const row of rows) {
    const steps = byService.get(row.of) ?? [];
    steps.push(toRequestCounts(row));
    byService.set(row.of, steps);
  }
  return byService;
};

/** Returns those of the newest deployments of a range after which requests became worse. */
export const readWorseDeployments = async (
  reading: Reading,
  question: DeploymentQuery,
  maxDeployments: number,
): Promise<readonly { readonly deployment: Deployment; readonly judged: JudgedSides }[]> => {
  const { range } = question;
  const { deployments } = await readDeployments(reading, { ...question, range: extendByMargin(range) });
  const inRange = deployments.filter(({ time }) => {
    const at = parseTime(time, 0) ?? 0n;
    return at >= range.from && at <= range.to;
  });
  const worse: { deployment: Deployment; judged: JudgedSides }[] = [];
  // In sequence, so that they do not occupy all slots of the query engine.
  for (const deployment of inRange.slice(0, maxDeployments)) {
    const { service } = deployment;
    const all = deployments.filter((other) => other.service === service);
    const { judged } = await evaluateDeployment(reading, { ...question, service }, deployment, all);
    if (judged.verdict === 'worse') worse.push({ deployment, judged });
  }
  return worse;
};
