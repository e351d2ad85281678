/**
 * Kubernetes events, which arrive as log records in two forms. The collector's `k8sobjects` receiver sends the full
 * object as the body: watched objects inside `object`, pulled objects unwrapped, of either API version. Its
 * `k8s_events` receiver sends the message, with the other fields in attributes of record and resource.
 */

import { z } from 'zod';
import { requireEntitlement } from '../../queries/entitlement.ts';
import { readLogPage, readLogsOfRange } from '../../queries/logs/pages.ts';
import { type ProjectScope, projectScopeCondition, projectScopeParameterValues } from '../../queries/project-scope.ts';
import type { Range } from '../../queries/range.ts';
import type { Reading } from '../../queries/reading.ts';
import type { Condition } from '../../queries/records.ts';
import type { LogPosition, LogWithPosition } from '../../queries/signals/log-record.ts';
import { type Fields, isFields } from '../../runtime/fields.ts';
import { quoteString } from '../../schemas/tables/literal.ts';
import { attributeEquals, buildBodyHasAllWords } from '../../schemas/tables/search.ts';

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

const resourceCondition = (condition: string): string =>
  `logs.resource_id IN (SELECT resource_id FROM resources WHERE tenant_id = {tenant:String} AND ${condition})`;
const isObjectRecord = attributeEquals("'k8s.resource.name'", "'events'");
const isEventRecord = resourceCondition(
  "(attributes['k8s.object.kind'] != '' OR mapContains(attributes, 'k8s.event.source'))",
);
/**
 * Condition for events. When a collector pulls objects, it marks the end of a pull by a record that is not an event.
 */
const isEvent = `((${isObjectRecord} AND JSONExtractString(body, 'type') != 'PullEnd') OR (${isEventRecord} AND attributes['k8s.event.uid'] != ''))`;

/** Returns a field of the event in the body, for wrapped and unwrapped objects. */
const bodyField = (...path: readonly string[]): string => {
  const names = path.map((name) => `'${name}'`).join(', ');
  return `coalesce(nullIf(JSONExtractString(body, 'object', ${names}), ''), JSONExtractString(body, ${names}))`;
};
const objectField = (name: string): string =>
  `coalesce(nullIf(${bodyField('involvedObject', name)}, ''), ${bodyField('regarding', name)})`;

// For a watched object, the `type` next to it is the watch operation.
const typeInBody =
  "if(JSONHas(body, 'object'), JSONExtractString(body, 'object', 'type'), JSONExtractString(body, 'type'))";

/** SQL of each filter in either form */
const filters: Readonly<
  Record<Exclude<keyof EventFilter, keyof ProjectScope>, readonly [body: string, attributes: string]>
> = {
  namespace: [
    `coalesce(nullIf(${objectField('namespace')}, ''), ${bodyField('metadata', 'namespace')}) = {namespace:String}`,
    `(attributes['k8s.namespace.name'] = {namespace:String} OR ${resourceCondition("attributes['k8s.namespace.name'] = {namespace:String}")})`,
  ],
  kind: [`${objectField('kind')} = {kind:String}`, resourceCondition("attributes['k8s.object.kind'] = {kind:String}")],
  name: [`${objectField('name')} = {name:String}`, resourceCondition("attributes['k8s.object.name'] = {name:String}")],
  uid: [`${objectField('uid')} = {uid:String}`, resourceCondition("attributes['k8s.object.uid'] = {uid:String}")],
  reason: [`${bodyField('reason')} = {reason:String}`, "attributes['k8s.event.reason'] = {reason:String}"],
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
    sql: [isEvent, ...conditions.map(({ sql }) => sql)].join(' AND ') + projectScopeCondition(filter),
    parameters: {
      ...Object.fromEntries(conditions.map(({ name, value }) => [name, value])),
      ...projectScopeParameterValues(filter),
    },
    usesIndex: true,
    hasSubquery: true,
  };
};

/** Returns a page of events, newest first. Checks the entitlement to logs. */
export const readEvents = async (
  reading: Reading,
  range: Range,
  filter: EventFilter,
  { limit, after }: { readonly limit: number; readonly after?: LogPosition | undefined },
): Promise<{ readonly items: KubernetesEvent[]; readonly more: LogPosition | undefined }> => {
  requireEntitlement(reading, 'logs');
  const page = await readLogPage(reading.columns, createCondition(filter), { limit, after, range });
  return { items: page.found.map(toEvent), more: page.nextPosition };
};

/** Reasons with which nodes report out-of-memory events: the node problem detector and the kubelet */
const memoryReasons = ['OOMKilling', 'SystemOOM'] as const;
const maxNodeEvents = 2000;
const memoryReasonsList = memoryReasons.map(quoteString).join(', ');
/** The words have indexes and are checked first, so few bodies are parsed as JSON. */
const memoryCondition = `(${memoryReasons.map((reason) => `${buildBodyHasAllWords(reason)} OR ${attributeEquals("'k8s.event.reason'", quoteString(reason))}`).join(' OR ')})
  AND if(body_type = 'j', ${bodyField('reason')}, attributes['k8s.event.reason']) IN (${memoryReasonsList})`;

/** Returns how often each node reported out of memory in a range. */
export const countNodeMemoryEvents = async (
  reading: Reading,
  range: Range,
  scope: ProjectScope,
): Promise<ReadonlyMap<string, number>> => {
  const counts = new Map<string, number>();
  const eventCondition = createCondition({ projectId: scope.projectId, scope: scope.scope });
  const found = await readLogsOfRange(
    reading.columns,
    { ...eventCondition, sql: `${eventCondition.sql} AND ${memoryCondition}` },
    { limit: maxNodeEvents, range },
  );
  for (const { object, node } of found.map(toEvent)) {
    const name = object.kind === 'Node' ? object.name : node;
    if (name !== null) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
};

const textOf = (...values: readonly unknown[]): string | null => {
  const found = values.find((value) => typeof value === 'string' && value !== '');
  return found === undefined ? null : String(found);
};
const numberOf = (...values: readonly unknown[]): number | null => {
  const found = values.map(Number).find((value) => Number.isInteger(value) && value > 0);
  return found ?? null;
};

const toFields = (value: unknown): Fields => (isFields(value) ? value : {});

/** Returns an event from a record of either form. */
export const toEvent = (found: Pick<LogWithPosition, 'record' | 'severityText'>): KubernetesEvent =>
  isFields(found.record.body) ? parseBodyEvent(found.record, found.record.body) : parseAttributeEvent(found);

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
    eventTime: textOf(
      series['lastObservedTime'],
      event['lastTimestamp'],
      event['deprecatedLastTimestamp'],
      event['eventTime'],
      metadata['creationTimestamp'],
    ),
    type: textOf(event['type']),
    reason: textOf(event['reason']),
    message: textOf(event['message'], event['note']) ?? '',
    count: numberOf(series['count'], event['count'], event['deprecatedCount']),
    action: textOf(event['action'], isWatched ? body['type'] : undefined),
    cluster: textOf(resource['k8s.cluster.name'], resource['k8s.cluster.uid']),
    namespace: textOf(object['namespace'], metadata['namespace'], resource['k8s.namespace.name']),
    node: textOf(source['host'], resource['k8s.node.name']),
    source: textOf(source['component'], event['reportingComponent'], event['reportingController']),
    object: {
      kind: textOf(object['kind']),
      name: textOf(object['name']),
      uid: textOf(object['uid']),
      fieldPath: textOf(object['fieldPath']),
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
    eventTime: textOf(attributes['k8s.event.start_time']),
    type: textOf(severityText),
    reason: textOf(attributes['k8s.event.reason'], eventName),
    message: typeof body === 'string' ? body : '',
    count: numberOf(attributes['k8s.event.count']),
    action: textOf(attributes['k8s.event.action']),
    cluster: textOf(resource['k8s.cluster.name'], resource['k8s.cluster.uid']),
    namespace: textOf(attributes['k8s.namespace.name'], resource['k8s.namespace.name']),
    node: textOf(resource['k8s.node.name']),
    source: textOf(resource['k8s.event.source']),
    object: {
      kind: textOf(resource['k8s.object.kind']),
      name: textOf(resource['k8s.object.name']),
      uid: textOf(resource['k8s.object.uid']),
      fieldPath: textOf(resource['k8s.object.fieldpath']),
    },
  };
};
