/** Deployments: recorded ones, and those detected from version changes */
import { z } from 'zod';
import {
  buildProjectScopeCondition,
  type ProjectScope,
  toProjectScopeParameters,
} from '../../queries/project-scope.ts';
import type { Range } from '../../queries/range.ts';
import type { Incompleteness } from '../../queries/result.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { formatTime, parseTime } from '../../queries/time.ts';
import { computeHashId } from '../../runtime/hash-id.ts';
import { toTextOrEmpty } from '../../schemas/text.ts';
import { type FeedEvent, readEvents } from '../events/events.ts';
import { buildEnvironmentSql } from './activity-filter.ts';
import { type DetectedDeployment, detectDeployments, type VersionActivity } from './detection.ts';
import { minuteMs, minutesCondition, toMinutesParameters } from './minutes.ts';

export const deploymentSources = ['recorded', 'detected'] as const;

export const Deployment = z.strictObject({
  id: z.string(),
  service: z.string(),
  version: z.string(),
  environment: z.string(),
  projectId: z.string(),
  time: z
    .string()
    .describe(
      'Time as recorded; otherwise the start of the minute in which the version was first seen (of a longer step for long ranges)',
    ),
  sources: z
    .array(z.enum(deploymentSources))
    .describe('`recorded`: through `POST /api/deployments`; `detected`: `service.version` changed'),
  previousVersion: z.string().nullable().describe('Previous version; `null` if unknown'),
  isRollback: z.boolean().nullable().describe('Whether the version is older than the previous one; `null` if unknown'),
  commit: z.string(),
  link: z.string(),
  description: z.string(),
});
export type Deployment = z.output<typeof Deployment>;

export interface DeploymentQuery extends ProjectScope {
  readonly range: Range;
  readonly service?: string | undefined;
  readonly environment?: string | undefined;
}

const maxDeployments = 5_000;
/** Period before a range from which the versions active at its start are read */
const lookbackMs = 24 * 3_600_000;
/** Time without telemetry after which a version counts as stopped */
const inactivityMs = 5 * minuteMs;
/** Maximum time between a recorded and a detected deployment of one version that are merged */
const maxMergeDistanceMs = 30 * minuteMs;

const parseTimeMs = (time: string): number => Number((parseTime(time, 0) ?? 0n) / 1_000_000n);

/** Returns all deployments of a range, the newest first. */
export const readDeployments = async (
  reader: TenantReader,
  query: DeploymentQuery,
): Promise<{ readonly deployments: readonly Deployment[]; readonly partial: readonly Incompleteness[] }> => {
  const { range, environment, service } = query;
  const widerRange = {
    from: range.from - BigInt(maxMergeDistanceMs) * 1_000_000n,
    to: range.to + BigInt(maxMergeDistanceMs) * 1_000_000n,
  };
  const [events, { detected, stepMs }] = await Promise.all([
    readEvents(reader, { ...query, range: widerRange, kinds: ['deployment'] }, { limit: maxDeployments + 1 }),
    readDetectedDeployments(reader, query),
  ]);
  const recorded = events
    .slice(0, maxDeployments)
    .map(toRecordedDeployment)
    .filter((each) => environment === undefined || each.environment === environment);
  const all = [...recorded];
  for (const detectedDeployment of detected) {
    const atMs = detectedDeployment.step * stepMs;
    const sameIndex = all.findIndex((each) => isSameDeployment(each, detectedDeployment, atMs));
    const recordedDeployment = all[sameIndex];
    if (recordedDeployment === undefined) all.push(toDetectedDeployment(detectedDeployment, atMs));
    else
      all[sameIndex] = {
        ...recordedDeployment,
        sources: ['recorded', 'detected'],
        previousVersion: detectedDeployment.previousVersion,
        isRollback: detectedDeployment.isRollback,
      };
  }
  const inRange = all.filter(({ time, service: deploymentService }) => {
    const at = parseTime(time, 0) ?? 0n;
    return at >= range.from && at <= range.to && (service === undefined || deploymentService === service);
  });
  return {
    deployments: inRange.sort((left, right) =>
      left.time === right.time ? (left.id < right.id ? 1 : -1) : left.time < right.time ? 1 : -1,
    ),
    partial:
      events.length > maxDeployments
        ? [
            {
              code: 'rows',
              message: `there are more than ${maxDeployments} recorded deployments; only the newest are included`,
            },
          ]
        : [],
  };
};

const isSameDeployment = (
  { service, version, environment, time, sources }: Deployment,
  detectedDeployment: DetectedDeployment,
  atMs: number,
): boolean =>
  sources.length === 1 &&
  sources[0] === 'recorded' &&
  service === detectedDeployment.service &&
  version === detectedDeployment.version &&
  (environment === '' || environment === detectedDeployment.environment) &&
  Math.abs(parseTimeMs(time) - atMs) <= maxMergeDistanceMs;

/** Returns the deployment in an event. */
export const toRecordedDeployment = ({
  id,
  service,
  environment,
  projectId,
  time,
  text: description,
  link,
  details,
}: FeedEvent): Deployment => ({
  id,
  service,
  environment,
  projectId,
  time,
  description,
  link,
  version: toTextOrEmpty(details['version']),
  commit: toTextOrEmpty(details['commit']),
  sources: ['recorded'],
  previousVersion: null,
  isRollback: null,
});

const toDetectedDeployment = (
  { service, version, environment, previousVersion, isRollback }: DetectedDeployment,
  atMs: number,
): Deployment => ({
  id: computeHashId(service, environment, version, atMs),
  service,
  version,
  environment,
  previousVersion,
  isRollback,
  time: formatTime(BigInt(atMs) * 1_000_000n),
  sources: ['detected'],
  projectId: '',
  commit: '',
  link: '',
  description: '',
});

/** Returns a step of full minutes, large enough that the range has at most 3,000 steps. */
const chooseStep = (fromMs: number, toMs: number): number =>
  Math.max(1, Math.ceil((toMs - fromMs) / minuteMs / 3_000)) * minuteMs;

const readDetectedDeployments = async (
  { columns, nowMs }: TenantReader,
  { range, service, environment, ...scope }: DeploymentQuery,
): Promise<{ readonly detected: readonly DetectedDeployment[]; readonly stepMs: number }> => {
  const fromMs = Number(range.from / 1_000_000n) - lookbackMs;
  const toMs = Math.min(Number(range.to / 1_000_000n) + inactivityMs, nowMs);
  const stepMs = chooseStep(fromMs, toMs);
  const rows = await columns.query<{ of: string; place: string; version: string; steps: number[]; received: string }>(
    `SELECT service AS of, said.place AS place, said.version AS version, arraySort(groupUniqArray(toUInt32(intDiv(toUnixTimestamp(minute), ${stepMs / 1000})))) AS steps, toString(toUnixTimestamp64Milli(min(said.first))) AS received
    FROM resource_activity INNER JOIN (
      SELECT resource_id, any(attributes['service.version']) AS version, any(${buildEnvironmentSql('attributes')}) AS place, min(first_seen) AS first
      FROM resources WHERE tenant_id = {tenant:String} AND attributes['service.version'] != '' AND ({service:String} = '' OR service = {service:String}) GROUP BY resource_id
    ) AS said ON resource_activity.resource_id = said.resource_id
    WHERE tenant_id = {tenant:String} AND ${minutesCondition} AND service != '' AND ({service:String} = '' OR service = {service:String}) AND ({environment:String} = '' OR said.place = {environment:String})${buildProjectScopeCondition(scope)}
    GROUP BY of, place, version ORDER BY of, place, version LIMIT 100000`,
    {
      ...toMinutesParameters({ from: BigInt(fromMs) * 1_000_000n, to: BigInt(toMs) * 1_000_000n + 1n }),
      service: service ?? '',
      environment: environment ?? '',
      ...toProjectScopeParameters(scope),
    },
  );
  const activity = rows.map(
    (row): VersionActivity => ({
      service: row.of,
      environment: row.place,
      version: row.version,
      steps: row.steps,
      firstReceivedMs: Number(row.received),
    }),
  );
  const lastKnownStep = Math.floor(toMs / stepMs);
  return {
    detected: detectDeployments(activity, { maxQuietSteps: Math.ceil(inactivityMs / stepMs), lastKnownStep }),
    stepMs,
  };
};

/** Returns a deployment as an event of the feed. */
export const toDeploymentEvent = (deployment: Deployment): FeedEvent => {
  const { id, service, version, environment, projectId, time, description, link, sources, ...rest } = deployment;
  return {
    id,
    kind: 'deployment',
    severity: 'info',
    time,
    text: description,
    projectId,
    service,
    environment,
    link,
    title: `${service} ${version}`,
    tags: {},
    // The audit log contains the user who recorded it.
    actor: { type: 'system', id: '' },
    details: {
      version,
      sources,
      previousVersion: rest.previousVersion,
      isRollback: rest.isRollback,
      commit: rest.commit,
    },
  };
};
