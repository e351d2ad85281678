import { z } from 'zod';
import type { TenantColumns } from '../../schemas/ports/columns.ts';
import { getSeverityText } from '../../schemas/records/severity.ts';
import { Attributes, decodeAttributes, decodeValue } from '../attributes.ts';
import { InstrumentationScope, type ScopeRow, scopeColumns, toInstrumentationScope } from '../instrumentation-scope.ts';
import { findPatternIds } from '../log-patterns/pattern-ids.ts';
import type { RowPosition } from '../merge-series.ts';
import { getResources, type Resource, resourceFields, toResourceFields } from '../resources.ts';
import { formatTime } from '../time.ts';

/** A log record in responses. */
export const LogRecord = z.strictObject({
  id: z.string(),
  timestamp: z.string().describe('ISO 8601 UTC with 9 fractional digits'),
  observedTimestamp: z.string(),
  severity: z.string().nullable(),
  severityNumber: z.int(),
  service: z.string(),
  body: z.unknown(),
  eventName: z.string().nullable(),
  attributes: Attributes,
  droppedAttributes: z.int().describe('Number of attributes dropped by the sender'),
  flags: z.int().describe('Trace flags (W3C)'),
  ...resourceFields,
  scope: InstrumentationScope,
  traceId: z.string().nullable(),
  spanId: z.string().nullable(),
  projectId: z.string(),
  patternId: z
    .string()
    .nullable()
    .describe('Id of the pattern of its body (`GET /api/logs/patterns/{id}`); `null` if none is known yet'),
});
export type LogRecord = z.output<typeof LogRecord>;

/** Position of a record in the order of lists. Unique for each record. */
export type LogPosition = RowPosition;

/** A row of `logColumns`. */
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

/** The engine already returns 64-bit integers as text. */
export const logColumns = `toUnixTimestamp64Nano(timestamp) AS time, toUnixTimestamp64Nano(observed_timestamp) AS observed,
  toString(partition) AS partition, offset, toString(ordinal) AS ordinal, severity_number, severity_text, service,
  resource_id AS resource, project_id, body, body_type, event_name, mapKeys(attributes) AS keys, mapValues(attributes) AS values,
  attribute_types AS types, dropped_attributes, flags, ${scopeColumns}, lower(hex(trace_id)) AS trace, lower(hex(span_id)) AS span`;

export interface LogWithPosition {
  readonly record: LogRecord;
  readonly position: LogPosition;
  /** As sent; `severity` of the record may derive from its number. */
  readonly severityText: string;
}

/** Returns the records of rows, with their resources and patterns. */
export const toLogs = async (columns: TenantColumns, rows: readonly LogRow[]): Promise<LogWithPosition[]> => {
  const [resources, patternIds] = await Promise.all([
    getResources(
      columns,
      rows.map(({ resource }) => resource),
    ),
    findPatternIds(columns, rows),
  ]);
  return rows.map((row, index) => ({
    record: toLogRecord(row, resources.get(row.resource), patternIds[index] ?? null),
    position: getPosition(row),
    severityText: row.severity_text,
  }));
};

const getPosition = ({ time, partition, offset, ordinal }: LogPosition): LogPosition => ({
  time,
  partition,
  offset,
  ordinal,
});

const toLogRecord = (row: LogRow, resource: Resource | undefined, patternId: string | null): LogRecord => ({
  id: formatLogId(row),
  timestamp: formatTime(BigInt(row.time)),
  observedTimestamp: formatTime(BigInt(row.observed)),
  severity: getSeverityText(row.severity_text, row.severity_number) || null,
  severityNumber: row.severity_number,
  service: row.service,
  body: decodeValue(row.body, row.body_type),
  eventName: row.event_name === '' ? null : row.event_name,
  attributes: decodeAttributes(row.keys, row.values, row.types),
  droppedAttributes: row.dropped_attributes,
  flags: row.flags,
  ...toResourceFields(resource),
  scope: toInstrumentationScope(row),
  traceId: /^0*$/.test(row.trace) ? null : row.trace,
  spanId: /^0*$/.test(row.span) ? null : row.span,
  projectId: row.project_id,
  patternId,
});

/** Returns the id, which contains the position, so that a record can be found without an index of ids. */
export const formatLogId = ({ time, partition, offset, ordinal }: LogPosition): string =>
  `${time}-${partition}-${offset}-${ordinal}`;

/** Returns the position in an id; `undefined` if it is not an id. */
export const parseLogId = (id: string): LogPosition | undefined => {
  const match = /^(-?\d{1,19})-(\d{1,5})-(\d{1,20})-(\d{1,10})$/.exec(id);
  if (match === null) return undefined;
  const [, time = '', partition = '', offset = '', ordinal = ''] = match;
  return { time, partition, offset, ordinal };
};
