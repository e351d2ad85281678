/**
 * Kubernetes events, which arrive as log records in two forms. The collector's `k8sobjects` receiver sends the full
 * object as the body: watched objects inside `object`, pulled objects unwrapped, of either API version. Its
 * `k8s_events` receiver sends the message, with the other fields in attributes of record and resource.
 */

import { z } from 'zod';
import { requireReadAccess } from '../../queries/entitlement.ts';
import { readLogPage, readLogsOfRange } from '../../queries/logs/pages.ts';
import {
  buildProjectScopeCondition,
  type ProjectScope,
  toProjectScopeParameters,
} from '../../queries/project-scope.ts';
import type { Range } from '../../queries/range.ts';
import type { Condition } from '../../queries/records.ts';
import type { LogPosition, LogWithPosition } from '../../queries/signals/log-record.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { type Fields, isFields, toFields } from '../../runtime/fields.ts';
import { quoteString } from '../../schemas/tables/literal.ts';
import { buildAttributeEqualsSql, buildBodyHasAllWords } from '../../schemas/tables/search.ts';

export const KubernetesEvent = z.strictObject({
  id: z.string().describe('Id of the log record that contains the event'),
  timestamp: z.string().describe('Time of the log record'),
  eventTime: z.string().nullable().describe('Time of the last occurrence, as the cluster writes it'),
  type: z.string().nullable().describe('`Normal` or `Warning`'),
  reason: z.string().nullable(),
  message: z.string(),
  count: z.int().nullable().describe('Number of occurrences so far'),
  action: z.string().nullable().describe('Action; for watched events `ADDED`, `MODIFIED` or `DELETED`'),
  cluster: z.string().nullable(),
  namespace: z.string().nullable(),
  node: z.string().nullable().describe('Node of the event'),
  source: z.string().nullable().describe('Component that reported the event'),
  object: z.strictObject({
    kind: z.string().nullable(),
    name: z.string().nullable(),
    uid: z.string().nullable(),
    fieldPath: z.string().nullable(),
  }),
});
export type KubernetesEvent = z.output<typeof KubernetesEvent>;

export const eventParameters = {
  namespace: z.string().max(256).optional(),
  kind: z.string().max(256).optional().describe('Kind of the object, such as `Pod`'),
  name: z.string().max(512).optional().describe('Name of the object'),
  uid: z.string().max(256).optional().describe('UID of the object'),
  reason: z.string().max(256).optional().describe('Reason, such as `BackOff`'),
  type: z.enum(['Normal', 'Warning']).optional(),
};

export interface EventFilter extends ProjectScope {
  readonly namespace?: string | undefined;
  readonly kind?: string | undefined;
  readonly name?: string | undefined;
  readonly uid?: string | undefined;
  readonly reason?: string | undefined;
  readonly type?: 'Normal' | 'Warning' | undefined;
}

const buildResourceCondition = (condition: string): string =>
  `logs.resource_id IN (SELECT resource_id FROM resources WHERE tenant_id = {tenant:String} AND ${condition})`;
const isObjectRecord = buildAttributeEqualsSql("'k8s.resource.name'", "'events'");
const isEventRecord = buildResourceCondition(
  "(attributes['k8s.object.kind'] != '' OR mapContains(attributes, 'k8s.event.source'))",
);
/**
 * Condition for events. When a collector pulls objects, it marks the end of a pull by a record that is not an event.
 */
const isEvent = `((${isObjectRecord} AND JSONExtractString(body, 'type') != 'PullEnd') OR (${isEventRecord} AND attributes['k8s.event.uid'] != ''))`;

/** Returns a field of the event in the body, for wrapped and unwrapped objects. */
const buildBodyFieldSql = (...path: readonly string[]): string => {
  const names = path.map((name) => `'${name}'`).join(', ');
  return `coalesce(nullIf(JSONExtractString(body, 'object', ${names}), ''), JSONExtractString(body, ${names}))`;
};
const buildObjectFieldSql = (name: string): string =>
  `coalesce(nullIf(${buildBodyFieldSql('involvedObject', name)}, ''), ${buildBodyFieldSql('regarding', name)})`;

// For a watched object, the `type` next to it is the watch operation.
const typeInBody =
  "if(JSONHas(body, 'object'), JSONExtractString(body, 'object', 'type'), JSONExtractString(body, 'type'))";

/** SQL of each filter in either form */
const filters: Readonly<
  Record<Exclude<keyof EventFilter, keyof ProjectScope>, readonly [body: string, attributes: string]>
> = {
  namespace: [
    `coalesce(nullIf(${buildObjectFieldSql('namespace')}, ''), ${buildBodyFieldSql('metadata', 'namespace')}) = {namespace:String}`,
    `(attributes['k8s.namespace.name'] = {namespace:String} OR ${buildResourceCondition("attributes['k8s.namespace.name'] = {namespace:String}")})`,
  ],
  kind: [
    `${buildObjectFieldSql('kind')} = {kind:String}`,
    buildResourceCondition("attributes['k8s.object.kind'] = {kind:String}"),
  ],
  name: [
    `${buildObjectFieldSql('name')} = {name:String}`,
    buildResourceCondition("attributes['k8s.object.name'] = {name:String}"),
  ],
  uid: [
    `${buildObjectFieldSql('uid')} = {uid:String}`,
    buildResourceCondition("attributes['k8s.object.uid'] = {uid:String}"),
  ],
  reason: [`${buildBodyFieldSql('reason')} = {reason:String}`, "attributes['k8s.event.reason'] = {reason:String}"],
  type: [`${typeInBody} = {type:String}`, 'severity_text = {type:String}'],
};
/** Returns whether a value has the same words in JSON, because nothing in it is escaped. */
const isUnescapedText = (value: string): boolean => /^[ !#-[\]-~]*$/.test(value) && /[0-9A-Za-z]/.test(value);
const wordIndexedFilters: ReadonlySet<string> = new Set(['name', 'uid', 'reason']);

const createCondition = (filter: EventFilter): Condition => {
  const conditions = Object.entries(filters).flatMap(([name, [body, attributes]]) => {
    const value = filter[name as keyof typeof filters];
    if (value === undefined) return [];
    const sql = `if(body_type = 'j', ${body}, ${attributes})`;
    // A body without the words of the value is not parsed as JSON.
    const hasWords = wordIndexedFilters.has(name) && isUnescapedText(value);
    return [{ name, value, sql: hasWords ? `(body_type != 'j' OR ${buildBodyHasAllWords(value)}) AND ${sql}` : sql }];
  });
  return {
    sql: [isEvent, ...conditions.map(({ sql }) => sql)].join(' AND ') + buildProjectScopeCondition(filter),
    parameters: {
      ...Object.fromEntries(conditions.map(({ name, value }) => [name, value])),
      ...toProjectScopeParameters(filter),
    },
    usesIndex: true,
    hasSubquery: true,
  };
};

/** Returns a page of events, newest first. Checks the entitlement to logs. */
export const readEvents = async (
  reader: TenantReader,
  range: Range,
  filter: EventFilter,
  { limit, after }: { readonly limit: number; readonly after?: LogPosition | undefined },
): Promise<{ readonly items: KubernetesEvent[]; readonly more: LogPosition | undefined }> => {
  requireReadAccess(reader, 'logs');
  const page = await readLogPage(reader.columns, createCondition(filter), { limit, after, range });
  return { items: page.found.map(toEvent), more: page.nextPosition };
};

/** Reasons with which nodes report out-of-memory events: the node problem detector and the kubelet */
const memoryReasons = ['OOMKilling', 'SystemOOM'] as const;
const maxNodeEvents = 2000;
const memoryReasonsList = memoryReasons.map(quoteString).join(', ');
/** The words have indexes and are checked first, so few bodies are parsed as JSON. */
const memoryCondition = `(${memoryReasons.map((reason) => `${buildBodyHasAllWords(reason)} OR ${buildAttributeEqualsSql("'k8s.event.reason'", quoteString(reason))}`).join(' OR ')})
  AND if(body_type = 'j', ${buildBodyFieldSql('reason')}, attributes['k8s.event.reason']) IN (${memoryReasonsList})`;

/** Returns how often each node reported out of memory in a range. */
export const countNodeMemoryEvents = async (
  reader: TenantReader,
  range: Range,
  scope: ProjectScope,
): Promise<ReadonlyMap<string, number>> => {
  const counts = new Map<string, number>();
  const eventCondition = createCondition({ projectId: scope.projectId, scope: scope.scope });
  const nodeRecords = await readLogsOfRange(
    reader.columns,
    { ...eventCondition, sql: `${eventCondition.sql} AND ${memoryCondition}` },
    { limit: maxNodeEvents, range },
  );
  for (const { object, node } of nodeRecords.map(toEvent)) {
    const name = object.kind === 'Node' ? object.name : node;
    if (name !== null) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
};

const findText = (...values: readonly unknown[]): string | null => {
  const firstValue = values.find((value) => typeof value === 'string' && value !== '');
  return firstValue === undefined ? null : String(firstValue);
};
const findPositiveInteger = (...values: readonly unknown[]): number | null => {
  const firstValue = values.map(Number).find((value) => Number.isInteger(value) && value > 0);
  return firstValue ?? null;
};

/** Returns an event from a record of either form. */
export const toEvent = (logRecord: Pick<LogWithPosition, 'record' | 'severityText'>): KubernetesEvent =>
  isFields(logRecord.record.body)
    ? parseBodyEvent(logRecord.record, logRecord.record.body)
    : parseAttributeEvent(logRecord);

const parseBodyEvent = ({ id, timestamp, resource }: LogWithPosition['record'], body: Fields): KubernetesEvent => {
  const isWatched = isFields(body['object']);
  const event = isWatched ? toFields(body['object']) : body;
  const metadata = toFields(event['metadata']);
  const object = toFields(event['involvedObject'] ?? event['regarding']);
  const series = toFields(event['series']);
  const source = toFields(event['source'] ?? event['deprecatedSource']);
  return {
    id,
    timestamp,
    eventTime: findText(
      series['lastObservedTime'],
      event['lastTimestamp'],
      event['deprecatedLastTimestamp'],
      event['eventTime'],
      metadata['creationTimestamp'],
    ),
    type: findText(event['type']),
    reason: findText(event['reason']),
    message: findText(event['message'], event['note']) ?? '',
    count: findPositiveInteger(series['count'], event['count'], event['deprecatedCount']),
    action: findText(event['action'], isWatched ? body['type'] : undefined),
    cluster: findText(resource['k8s.cluster.name'], resource['k8s.cluster.uid']),
    namespace: findText(object['namespace'], metadata['namespace'], resource['k8s.namespace.name']),
    node: findText(source['host'], resource['k8s.node.name']),
    source: findText(source['component'], event['reportingComponent'], event['reportingController']),
    object: {
      kind: findText(object['kind']),
      name: findText(object['name']),
      uid: findText(object['uid']),
      fieldPath: findText(object['fieldPath']),
    },
  };
};

const parseAttributeEvent = ({
  record,
  severityText,
}: Pick<LogWithPosition, 'record' | 'severityText'>): KubernetesEvent => {
  const { id, timestamp, resource, attributes, body, eventName } = record;
  return {
    id,
    timestamp,
    eventTime: findText(attributes['k8s.event.start_time']),
    type: findText(severityText),
    reason: findText(attributes['k8s.event.reason'], eventName),
    message: typeof body === 'string' ? body : '',
    count: findPositiveInteger(attributes['k8s.event.count']),
    action: findText(attributes['k8s.event.action']),
    cluster: findText(resource['k8s.cluster.name'], resource['k8s.cluster.uid']),
    namespace: findText(attributes['k8s.namespace.name'], resource['k8s.namespace.name']),
    node: findText(resource['k8s.node.name']),
    source: findText(resource['k8s.event.source']),
    object: {
      kind: findText(resource['k8s.object.kind']),
      name: findText(resource['k8s.object.name']),
      uid: findText(resource['k8s.object.uid']),
      fieldPath: findText(resource['k8s.object.fieldpath']),
    },
  };
};
