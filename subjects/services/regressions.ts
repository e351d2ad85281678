/** Regressions in a range: services with slower requests, and deployments after which requests are worse */
import type { Range } from '../../queries/range.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { parseTime } from '../../queries/time.ts';
import { type ActivityFilter, buildActivityFilter } from './activity-filter.ts';
import { type AspectComparison, compare, minMinutes, minRequests } from './comparison.ts';
import { type Deployment, type DeploymentQuery, readDeployments } from './deployments.ts';
import { minuteMs } from './minutes.ts';
import {
  getDurationAtQuantile,
  type RequestCountRow,
  type RequestCounts,
  requestCountColumns,
  sumRequestCounts,
  toRequestCounts,
} from './request-counts.ts';
import { evaluateDeployment, extendByMargin, type Judgment } from './verdicts.ts';

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

type SlowerServicesQuery = Omit<ActivityFilter, 'minutes'> & {
  readonly minutes: Range;
  readonly previousMinutes: Range;
};

/**
 * Returns services that became significantly slower. Steps of both ranges are compared in the same way as the
 * minutes of a verdict.
 */
export const readSlowerServices = async (
  reader: TenantReader,
  { minutes, previousMinutes, ...filter }: SlowerServicesQuery,
): Promise<readonly SlowerService[]> => {
  const [now, before] = await Promise.all(
    [minutes, previousMinutes].map((range) => readStepsByService(reader, { ...filter, minutes: range })),
  );
  return [...(now ?? [])].flatMap(([service, stepsAfter]) => {
    const stepsBefore = before?.get(service) ?? [];
    const tailComparison =
      hasEnoughRequests(stepsBefore) && hasEnoughRequests(stepsAfter)
        ? findTail(compare(stepsBefore, stepsAfter))
        : undefined;
    if (tailComparison === undefined || tailComparison.verdict !== 'worse' || tailComparison.p >= significanceLevel)
      return [];
    const [earlierCounts, currentCounts] = [sumRequestCounts(stepsBefore), sumRequestCounts(stepsAfter)];
    const [p95Before, p95] = [
      getDurationAtQuantile(earlierCounts, 0.95) ?? 0,
      getDurationAtQuantile(currentCounts, 0.95) ?? 0,
    ];
    return [{ service, requests: currentCounts.requests, slowShare: tailComparison.after, p95, p95Before }];
  });
};

const findTail = (aspects: readonly AspectComparison[]): AspectComparison | undefined =>
  aspects.find(({ aspect }) => aspect === 'tail');
const hasEnoughRequests = (steps: readonly RequestCounts[]): boolean =>
  steps.length >= minMinutes && sumRequestCounts(steps).requests >= minRequests;

const readStepsByService = async (
  { columns }: TenantReader,
  filter: ActivityFilter,
): Promise<ReadonlyMap<string, RequestCounts[]>> => {
  const { where, parameters } = buildActivityFilter(filter);
  const rangeMinutes = Number((filter.minutes.to - filter.minutes.from) / 1_000_000n) / minuteMs;
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
  reader: TenantReader,
  query: DeploymentQuery,
  maxDeployments: number,
): Promise<readonly { readonly deployment: Deployment; readonly judgment: Judgment }[]> => {
  const { range } = query;
  const { deployments } = await readDeployments(reader, { ...query, range: extendByMargin(range) });
  const inRange = deployments.filter(({ time }) => {
    const at = parseTime(time, 0) ?? 0n;
    return at >= range.from && at <= range.to;
  });
  const worseDeployments: { deployment: Deployment; judgment: Judgment }[] = [];
  // Deployments are evaluated in sequence, because parallel evaluations could occupy all slots of the query engine.
  for (const deployment of inRange.slice(0, maxDeployments)) {
    const { service } = deployment;
    const serviceDeployments = deployments.filter((other) => other.service === service);
    const { judgment } = await evaluateDeployment(reader, { ...query, service }, deployment, serviceDeployments);
    if (judgment.verdict === 'worse') worseDeployments.push({ deployment, judgment });
  }
  return worseDeployments;
};
