/** Events of browsers as a data source. Of the reports of a web vital, only the last one is a record. */
import type { rumEventsTable } from '../../schemas/tables/rum.ts';
import { type ColumnFieldDefinition, defineColumnFields, selectComputed } from './source-fields.ts';

type Column = keyof (typeof rumEventsTable)['columns'];

/** Columns in addition to the table's own. Only those named in a statement are read. */
const derivedColumns = {
  body: "concat(toString(name), ' ', message, ' ', toString(page), ' ', element, ' ', target)",
  attribute_types: "repeat('s', length(attributes))",
  scope_attributes: "''",
  resource_id: 'toUInt64(0)',
} as const;

const rangeSql =
  "timestamp >= fromUnixTimestamp64Nano({from:Int64}, 'UTC') AND timestamp <= fromUnixTimestamp64Nano({to:Int64}, 'UTC')";
const vitalKey = 'cityHash64(session_id, name, event_id)';
const position = '(timestamp, partition, offset, ordinal)';

/** Condition for events other than earlier reports of a vital. Reports without an id are separate vitals. */
const lastReportSql = `(kind != 'vital' OR event_id = '' OR (${vitalKey}, ${position}) IN (
    SELECT ${vitalKey}, max(${position}) FROM rum_events
    WHERE tenant_id = {tenant:String} AND kind = 'vital' AND ${rangeSql} GROUP BY ${vitalKey}))`;

const buildSource = (condition: string): string =>
  `(SELECT *, ${selectComputed(derivedColumns)} FROM rum_events WHERE tenant_id = {tenant:String} AND ${rangeSql}${condition}) AS rum_events`;

/** FROM clause: the tenant's events between `{from:Int64}` and `{to:Int64}`, in nanoseconds, with each vital once. */
export const rumEventsSource = buildSource(` AND ${lastReportSql}`);
/** FROM clause as above with all reports of vitals, for reads of other kinds and those that choose the last report. */
export const rumReportsSource = buildSource('');
/**
 * FROM clause: web vitals whose last report is between `{from:Int64}` and `{to:Int64}`, once each. It has the columns that
 * parameters compare, and no others.
 */
export const rumVitalsSource = `(SELECT * FROM rum_vitals FINAL WHERE tenant_id = {tenant:String} AND ${rangeSql}) AS rum_events`;

const fieldDefinitions: Readonly<Record<string, ColumnFieldDefinition<Column>>> = {
  timestamp: ['time', 'timestamp', 'Time of the event', { expression: 'toUnixTimestamp64Nano(timestamp)' }],
  application: ['text', 'service', 'Application: service.name of the page', { aliases: ['service'] }],
  kind: [
    'text',
    'kind',
    'view, vital, action, frustration, error, resource, request, navigation, session, log or custom',
  ],
  name: ['text', 'name', 'Name of the vital, action, sign of frustration, log level or custom event'],
  page: ['text', 'page', 'Page group: route, or host and path with * for ids'],
  url: ['text', 'url', 'URL of the page'],
  referrer: ['text', 'referrer', 'URL of the previous page'],
  sessionId: ['text', 'session_id', 'Session', { aliases: ['session', 'session.id'] }],
  viewId: ['text', 'view_id', 'View of the session', { aliases: ['view'] }],
  userId: ['text', 'user_id', 'User', { aliases: ['user', 'user.id'] }],
  value: ['number', 'value', 'Value of the vital: milliseconds, or the score of CLS'],
  rating: ['text', 'rating', 'Rating of the vital: good, needs-improvement or poor'],
  navigationType: ['text', 'navigation_type', 'How the page was reached, such as navigate or back-forward-cache'],
  element: ['text', 'element', 'Selector of the element'],
  elementText: ['text', 'element_text', 'Text of the element'],
  durationMs: ['number', 'duration_ms', 'Duration in milliseconds'],
  target: ['text', 'target', 'URL of the resource or request'],
  resourceType: ['text', 'resource_type', 'Type of the resource, such as script or img'],
  host: ['text', 'host', 'Host of the resource or request'],
  party: ['text', 'party', 'first for resources of the same site, third for others'],
  bytes: ['number', 'bytes', 'Transferred bytes'],
  cached: ['text', 'cached', 'Whether the resource came from the cache'],
  blocking: ['text', 'blocking', 'Whether the resource blocked rendering'],
  method: ['text', 'method', 'HTTP method of the request'],
  status: ['number', 'status', 'HTTP status; 0 if unknown'],
  message: ['text', 'message', 'Message of the error or log'],
  errorType: ['text', 'error_type', 'Type of the error'],
  handled: ['text', 'handled', 'Whether the error was handled'],
  fingerprint: ['text', 'fingerprint', 'Error group'],
  traceId: ['text', 'trace_id', 'Trace of the event', { aliases: ['trace_id', 'trace.id'] }],
  device: ['text', 'device', 'desktop, mobile, tablet or other'],
  browser: ['text', 'browser', 'Browser'],
  browserVersion: ['text', 'browser_version', 'Version of the browser'],
  os: ['text', 'os', 'Operating system'],
  osVersion: ['text', 'os_version', 'Version of the operating system'],
  country: ['text', 'country', 'Country: two letters'],
  environment: ['text', 'environment', 'Deployment environment'],
  release: ['text', 'release', 'service.version of the page', { aliases: ['version'] }],
  sdk: ['text', 'sdk', 'SDK that sent the event'],
  projectId: ['text', 'project_id', 'Project', { aliases: ['project'] }],
};

/** Fields of events. A number that the SDK does not report is absent. */
export const rumFields = defineColumnFields(fieldDefinitions);
