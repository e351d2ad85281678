/** One pod with its containers, events and newest log records */
import { z } from 'zod';
import { readLogPage } from '../../queries/logs/pages.ts';
import {
  buildProjectScopeCondition,
  type ProjectScope,
  toProjectScopeParameters,
} from '../../queries/project-scope.ts';
import type { Range } from '../../queries/range.ts';
import { buildFieldEquals } from '../../queries/search/query-parts.ts';
import { LogRecord } from '../../queries/signals/log-record.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import type { CellQuery } from '../infrastructure/cell-points.ts';
import { Container, collectMetrics, readContainerHistory, toContainers } from './containers.ts';
import { KubernetesEvent, readEvents } from './events.ts';
import { createPodKeys, groupByPod, type ObjectPosition, readPositionedCells } from './objects.ts';
import { Pod, podMetrics, toPod } from './pods.ts';

const Missing = z.strictObject({ value: z.null(), reason: z.string() });

export const OnePod = z.strictObject({
  ...Pod.shape,
  containers: z.array(Container),
  events: z.union([
    z.strictObject({
      items: z.array(KubernetesEvent),
      more: z.string().nullable().describe('Path of the full list; `null` if all items are included'),
    }),
    Missing,
  ]),
  logs: z.union([
    z.strictObject({
      items: z.array(LogRecord).describe('Newest log records of the range'),
      more: z.string().nullable().describe('Path of the full list; `null` if all items are included'),
    }),
    Missing,
  ]),
});
export type OnePod = z.output<typeof OnePod>;

const pageSize = 50;

/** Returns one pod at the end of a range; `undefined` if no series belongs to it. */
export const readPod = async (
  reader: TenantReader,
  range: Range,
  scope: ProjectScope,
  id: string,
): Promise<OnePod | undefined> => {
  const { cells } = await readPositionedCells(reader, range, scope, podMetrics);
  const pod = groupByPod(cells).get(id);
  if (pod === undefined) return undefined;
  const [history, events, logs] = await Promise.all([
    readContainerHistory(reader, range, scope, createPodKeys(cells), buildSeriesCondition(pod.position)),
    readPodEvents(reader, range, scope, pod.position.podUid),
    readPodLogs(reader, range, scope, pod.position.podUid),
  ]);
  return { ...toPod(pod), containers: toContainers(pod, history, collectMetrics(cells)), events, logs };
};

/** Returns series that may belong to a pod, under any of its resources. */
const buildSeriesCondition = ({ pod, podUid }: ObjectPosition): NonNullable<CellQuery['series']> => {
  const matchers = [
    ...(pod === '' ? [] : [['pod', ['k8s.pod.name'], ['pod', 'exported_pod', 'pod_name']] as const]),
    ...(podUid === '' ? [] : [['podUid', ['k8s.pod.uid'], ['uid']] as const]),
  ];
  const isEqual = (parameter: string) => (key: string) => `attributes['${key}'] = {${parameter}:String}`;
  return {
    sql: matchers
      .map(([parameter, resourceKeys, seriesKeys]) => {
        const resources = resourceKeys.map(isEqual(parameter)).join(' OR ');
        const seriesSql = seriesKeys.map((key) => `series.${isEqual(parameter)(key)}`).join(' OR ');
        return `series.resource_id IN (SELECT resource_id FROM resources WHERE tenant_id = {tenant:String} AND (${resources})) OR ${seriesSql}`;
      })
      .join(' OR '),
    parameters: { ...(pod === '' ? {} : { pod }), ...(podUid === '' ? {} : { podUid }) },
  };
};

const noUidReason = 'no sender reports the uid of this pod, which identifies its records';
const missingLogsReason = (reader: TenantReader): string => `the plan ${reader.plan.name} does not include logs`;
const includesLogs = (reader: TenantReader): boolean => reader.plan.entitlements.includes('logs');
const buildQuery = (
  range: Range,
  { projectId, scope }: ProjectScope,
  parameters: Readonly<Record<string, string>>,
): string =>
  new URLSearchParams({
    ...(projectId === undefined || scope === 'account' ? {} : { projectId }),
    from: String(range.from / 1_000_000n),
    to: String(range.to / 1_000_000n),
    ...parameters,
  }).toString();

const readPodEvents = async (
  reader: TenantReader,
  range: Range,
  scope: ProjectScope,
  uid: string,
): Promise<OnePod['events']> => {
  if (!includesLogs(reader)) return { value: null, reason: missingLogsReason(reader) };
  if (uid === '') return { value: null, reason: noUidReason };
  const { items, more } = await readEvents(reader, range, { ...scope, uid }, { limit: pageSize });
  return { items, more: more === undefined ? null : `/api/kubernetes/events?${buildQuery(range, scope, { uid })}` };
};

const readPodLogs = async (
  reader: TenantReader,
  range: Range,
  scope: ProjectScope,
  uid: string,
): Promise<OnePod['logs']> => {
  if (!includesLogs(reader)) return { value: null, reason: missingLogsReason(reader) };
  if (uid === '') return { value: null, reason: noUidReason };
  const podCondition =
    "logs.resource_id IN (SELECT resource_id FROM resources WHERE tenant_id = {tenant:String} AND attributes['k8s.pod.uid'] = {uid:String})";
  const { found: logs, nextPosition } = await readLogPage(
    reader.columns,
    {
      sql: `${podCondition}${buildProjectScopeCondition(scope)}`,
      parameters: { uid, ...toProjectScopeParameters(scope) },
      usesIndex: false,
      hasSubquery: true,
    },
    { limit: pageSize, range },
  );
  const search = buildFieldEquals('resource.k8s.pod.uid', uid);
  return {
    items: logs.map(({ record }) => record),
    more: nextPosition === undefined ? null : `/api/logs?${buildQuery(range, scope, { search })}`,
  };
};
