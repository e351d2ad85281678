import { z } from 'zod';
import type { TenantColumns } from '../../schemas/ports/columns.ts';
import { severityOf } from '../../schemas/records/severity.ts';
import { Attributes, attributesOf, restoredValue } from '../attributes.ts';
import {
  InstrumentationScope,
  instrumentationScopeOf,
  type ScopeRow,
  scopeSelection,
} from '../instrumentation-scope.ts';
import { patternIdsOf } from '../log-patterns/pattern-ids.ts';
import type { RowPlace } from '../merge-series.ts';
import { type Resource, resourceFields, resourceFieldsOf, resourcesOf } from '../resources.ts';
import { formatTime } from '../time.ts';

/** A log record in answers. */
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
export type LogPosition = RowPlace;

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

/** The engine already returns 64-bit integers as text. */
export const logSelection = `toUnixTimestamp64Nano(timestamp) AS time, toUnixTimestamp64Nano(observed_timestamp) AS observed,
  toString(partition) AS partition, offset, toString(ordinal) AS ordinal, severity_number, severity_text, service,
  resource_id AS resource, project_id, body, body_type, event_name, mapKeys(attributes) AS keys, mapValues(attributes) AS values,
  attribute_types AS types, dropped_attributes, flags, ${scopeSelection}, lower(hex(trace_id)) AS trace, lower(hex(span_id)) AS span`;

export interface FoundLog {
  readonly record: LogRecord;
  readonly position: LogPosition;
  /** As sent; `severity` of the record may derive from its number. */
  readonly severityText: string;
}

/** Returns the records of rows, with their resources and patterns. */
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
    severityText: row.severity_text,
  }));
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

/** Returns the id, which contains the position, so that a record is found without an index of ids. */
export const logId = ({ time, partition, offset, ordinal }: LogPosition): string =>
  `${time}-${partition}-${offset}-${ordinal}`;

/** Returns the position in an id; `undefined` if it is not an id. */
export const logPositionOf = (id: string): LogPosition | undefined => {
  const match = /^(-?\d{1,19})-(\d{1,5})-(\d{1,20})-(\d{1,10})$/.exec(id);
  if (match === null) return undefined;
  const [, time = '', partition = '', offset = '', ordinal = ''] = match;
  return { time, partition, offset, ordinal };
};
