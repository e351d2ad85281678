import { logFields } from '../../schemas/fields.ts';
import type { LogRecord } from '../../schemas/records/log-record.ts';
import { bodySearch } from '../../schemas/tables/search.ts';
import { topics } from '../../schemas/topics.ts';
import { defineCompleteRecords, defineSignal, json, number, text, timeFormat } from './definition.ts';
import { type LogRow, logColumns, toLogs } from './log-record.ts';

const columns = {
  timestamp: timeFormat,
  severity: text,
  service: text,
  body: json,
  attributes: json,
  resource: json,
  traceId: text,
  spanId: text,
  id: text,
  observedTimestamp: timeFormat,
  severityNumber: number,
  eventName: text,
  droppedAttributes: number,
  flags: number,
  resourceDroppedAttributes: number,
  resourceSchemaUrl: text,
  scope: json,
  projectId: text,
  patternId: text,
} as const;

export const logs = defineSignal({
  records: 'log records',
  entitlement: 'logs',
  retentionDays: (days) => days.logs,
  newest: { table: 'logs', time: 'timestamp' },
  fields: logFields,
  text: bodySearch,
  hasAttributeIndex: true,
  countedBy: topics.logs,
  streamSearch: { words: (log: LogRecord) => log.body },
  queryable: {
    table: 'logs',
    unit: '{record}',
    whole: defineCompleteRecords(columns, logColumns, async (tenant, rows: readonly LogRow[]) =>
      (await toLogs(tenant, rows)).map(({ record }) => record),
    ),
  },
});
