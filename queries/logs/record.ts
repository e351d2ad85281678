import { z } from 'zod';
import type { QueryParameters, TenantColumns } from '../../schemas/ports/columns.ts';
import { severityOf } from '../../schemas/records/severity.ts';
import { Attributes, attributesOf, restoredValue } from '../attributes.ts';
import {
  InstrumentationScope,
  instrumentationScopeOf,
  type ScopeRow,
  scopeSelection,
} from '../instrumentation-scope.ts';
import { type Resource, resourceFields, resourceFieldsOf, resourcesOf } from '../resources.ts';
import { formatTime } from '../time.ts';
import { patternIdsOf } from './pattern-ids.ts';

/** A log record as answers carry it. */
export const LogRecord = z.strictObject({
  id: z.string(),
  timestamp: z.string().describe('ISO-8601 UTC with 9 digits'),
  observedTimestamp: z.string(),
  severity: z.string().nullable(),
  severityNumber: z.int(),
  service: z.string(),
  body: z.unknown(),
  eventName: z.string().nullable(),
  attributes: Attributes,
  droppedAttributes: z.int().describe('Number of attributes that the sender dropped'),
  flags: z.int().describe('Trace flags (W3C)'),
  ...resourceFields,
  scope: InstrumentationScope,
  traceId: z.string().nullable(),
  spanId: z.string().nullable(),
  projectId: z.string(),
  patternId: z
    .string()
    .nullable()
    .describe('Id of the pattern of its body (`GET /api/logs/patterns/{id}`); null where none is known yet'),
});
export type LogRecord = z.output<typeof LogRecord>;

/** Position of a record in time order, newest first. Unique for each record. */
export interface LogPosition {
  readonly time: string;
  readonly partition: string;
  readonly offset: string;
  readonly ordinal: string;
}

/** A row of `logSelection`. */
export interface LogRow extends LogPosition, ScopeRow {
  readonly observed: string;
  readonly severity_number: number;
  readonly severity_text: string;
  readonly service: string;
  readonly resource: string;
  readonly project_id: string;
  readonly body: string;
  readonly body_type: string;
  readonly event_name: string;
  readonly keys: readonly string[];
  readonly values: readonly string[];
  readonly types: string;
  readonly dropped_attributes: number;
  readonly flags: number;
  readonly trace: string;
  readonly span: string;
}

export const logSelection = `toString(toUnixTimestamp64Nano(timestamp)) AS time, toString(toUnixTimestamp64Nano(observed_timestamp)) AS observed,
  toString(partition) AS partition, toString(offset) AS offset, toString(ordinal) AS ordinal, severity_number, severity_text, service,
  toString(resource_id) AS resource, project_id, body, body_type, event_name, mapKeys(attributes) AS keys, mapValues(attributes) AS values,
  attribute_types AS types, dropped_attributes, flags, ${scopeSelection}, lower(hex(trace_id)) AS trace, lower(hex(span_id)) AS span`;

/** The order in which records are listed. The columns' own names are qualified: aliases of the same name are text. */
const order = 'logs.timestamp DESC, logs.partition DESC, logs.offset DESC, logs.ordinal DESC';

/** Records after a position in that order; its parameters are the position's fields. */
export const afterPosition = `(logs.timestamp, logs.partition, logs.offset, logs.ordinal) <
  (fromUnixTimestamp64Nano({time:Int64}, 'UTC'), {partition:UInt16}, {offset:UInt64}, {ordinal:UInt32})`;

export interface FoundLog {
  readonly record: LogRecord;
  readonly position: LogPosition;
}

/** Records that satisfy a condition, newest first, with the position of each. */
export const readLogs = async (
  columns: TenantColumns,
  condition: string,
  parameters: QueryParameters,
  limit: number,
): Promise<FoundLog[]> => {
  const rows = await columns.query<LogRow>(
    `SELECT ${logSelection} FROM logs WHERE tenant_id = {tenant:String} AND ${condition} ORDER BY ${order} LIMIT ${limit}`,
    parameters,
  );
  return foundLogs(columns, rows);
};

/** The records of rows, with their resources and patterns. */
export const foundLogs = async (columns: TenantColumns, rows: readonly LogRow[]): Promise<FoundLog[]> => {
  const [resources, patternIds] = await Promise.all([
    resourcesOf(
      columns,
      rows.map(({ resource }) => resource),
    ),
    patternIdsOf(columns, rows),
  ]);
  return rows.map((row, index) => ({
    record: recordOf(row, resources.get(row.resource), patternIds[index] ?? null),
    position: positionOf(row),
  }));
};

/** A page of a list, and where the next one begins after. */
export interface LogPage {
  readonly found: readonly FoundLog[];
  /** `undefined` where there is no next page. */
  readonly more: LogPosition | undefined;
}

/** Records that satisfy a condition, newest first, up to `limit`. `after` is where the page before ended. */
export const readPage = async (
  columns: TenantColumns,
  condition: string,
  parameters: QueryParameters,
  { limit, after }: { readonly limit: number; readonly after?: LogPosition | undefined },
): Promise<LogPage> => {
  const at = after === undefined ? '' : ` AND ${afterPosition}`;
  const found = await readLogs(columns, condition + at, { ...parameters, ...after }, limit + 1);
  const shown = found.slice(0, limit);
  return { found: shown, more: found.length > limit ? shown.at(-1)?.position : undefined };
};

const positionOf = ({ time, partition, offset, ordinal }: LogPosition): LogPosition => ({
  time,
  partition,
  offset,
  ordinal,
});

const recordOf = (row: LogRow, resource: Resource | undefined, patternId: string | null): LogRecord => ({
  id: logId(row),
  timestamp: formatTime(BigInt(row.time)),
  observedTimestamp: formatTime(BigInt(row.observed)),
  severity: severityOf(row.severity_text, row.severity_number) || null,
  severityNumber: row.severity_number,
  service: row.service,
  body: restoredValue(row.body, row.body_type),
  eventName: row.event_name === '' ? null : row.event_name,
  attributes: attributesOf(row.keys, row.values, row.types),
  droppedAttributes: row.dropped_attributes,
  flags: row.flags,
  ...resourceFieldsOf(resource),
  scope: instrumentationScopeOf(row),
  traceId: /^0*$/.test(row.trace) ? null : row.trace,
  spanId: /^0*$/.test(row.span) ? null : row.span,
  projectId: row.project_id,
  patternId,
});

/** The id holds the position, so that a record is found without an index of ids. */
export const logId = ({ time, partition, offset, ordinal }: LogPosition): string =>
  `${time}-${partition}-${offset}-${ordinal}`;

/** The position in an id; `undefined` if it is not an id. */
export const logPositionOf = (id: string): LogPosition | undefined => {
  const match = /^(-?\d{1,19})-(\d{1,5})-(\d{1,20})-(\d{1,10})$/.exec(id);
  if (match === null) return undefined;
  const [, time = '', partition = '', offset = '', ordinal = ''] = match;
  return { time, partition, offset, ordinal };
};
