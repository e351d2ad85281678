/** One pod with its containers, events and newest log records */
import { z } from 'zod';
import { readPage } from '../../queries/logs/pages.ts';
import { type ProjectScope, projectScopeCondition, projectScopeValues } from '../../queries/project-scope.ts';
import type { Range } from '../../queries/range.ts';
import type { Reading } from '../../queries/reading.ts';
import { fieldIs } from '../../queries/search/query-parts.ts';
import { LogRecord } from '../../queries/signals/log-record.ts';
import type { CellQuery } from '../infrastructure/cell-points.ts';
import { Container, containersOf, readHappened, reportedMetricsOf } from './containers.ts';
import { KubernetesEvent, readEvents } from './events.ts';
import { type Place, podKeys, podsOf, readPlaced } from './objects.ts';
import { Pod, podMetrics, podOf } from './pods.ts';

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

const firstPage = 50;

/** Returns one pod at the end of a range; `undefined` if no series belongs to it. */
export const readPod = async (
  reading: Reading,
  range: Range,
  scope: ProjectScope,
  id: string,
): Promise<OnePod | undefined> => {
  const { cells } = await readPlaced(reading, range, scope, podMetrics);
  const pod = podsOf(cells).get(id);
  if (pod === undefined) return undefined;
  const [happened, events, logs] = await Promise.all([
    readHappened(reading, range, scope, podKeys(cells), seriesOf(pod.place)),
    eventsOf(reading, range, scope, pod.place.podUid),
    logsOf(reading, range, scope, pod.place.podUid),
  ]);
  return { ...podOf(pod), containers: containersOf(pod, happened, reportedMetricsOf(cells)), events, logs };
};

/** Returns series that may belong to a pod, under any of its resources. */
const seriesOf = ({ pod, podUid }: Place): NonNullable<CellQuery['series']> => {
  const matchers = [
    ...(pod === '' ? [] : [['pod', ['k8s.pod.name'], ['pod', 'exported_pod', 'pod_name']] as const]),
    ...(podUid === '' ? [] : [['podUid', ['k8s.pod.uid'], ['uid']] as const]),
  ];
  const is = (parameter: string) => (key: string) => `attributes['${key}'] = {${parameter}:String}`;
  return {
    sql: matchers
      .map(([parameter, ofResource, ofSeries]) => {
        const resources = ofResource.map(is(parameter)).join(' OR ');
        const own = ofSeries.map((key) => `series.${is(parameter)(key)}`).join(' OR ');
        return `series.resource_id IN (SELECT resource_id FROM resources WHERE tenant_id = {tenant:String} AND (${resources})) OR ${own}`;
      })
      .join(' OR '),
    parameters: { ...(pod === '' ? {} : { pod }), ...(podUid === '' ? {} : { podUid }) },
  };
};

const noUid = 'no sender reports the uid of this pod, which identifies its records';
const missingLogsReason = (reading: Reading): string => `the plan ${reading.plan.name} does not include logs`;
const includesLogs = (reading: Reading): boolean => reading.plan.entitlements.includes('logs');
const query = (
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

const eventsOf = async (
  reading: Reading,
  range: Range,
  scope: ProjectScope,
  uid: string,
): Promise<OnePod['events']> => {
  if (!includesLogs(reading)) return { value: null, reason: missingLogsReason(reading) };
  if (uid === '') return { value: null, reason: noUid };
  const { items, more } = await readEvents(reading, range, { ...scope, uid }, { limit: firstPage });
  return { items, more: more === undefined ? null : `/api/kubernetes/events?${query(range, scope, { uid })}` };
};

const logsOf = async (reading: Reading, range: Range, scope: ProjectScope, uid: string): Promise<OnePod['logs']> => {
  if (!includesLogs(reading)) return { value: null, reason: missingLogsReason(reading) };
  if (uid === '') return { value: null, reason: noUid };
  const ofPod =
    "logs.resource_id IN (SELECT resource_id FROM resources WHERE tenant_id = {tenant:String} AND attributes['k8s.pod.uid'] = {uid:String})";
  const { found, more } = await readPage(
    reading.columns,
    {
      sql: `${ofPod}${projectScopeCondition(scope)}`,
      parameters: { uid, ...projectScopeValues(scope) },
      usesIndex: false,
      hasSubquery: true,
    },
    { limit: firstPage, range },
  );
  const search = fieldIs('resource.k8s.pod.uid', uid);
  return {
    items: found.map(({ record }) => record),
    more: more === undefined ? null : `/api/logs?${query(range, scope, { search })}`,
  };
};
