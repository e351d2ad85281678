import { logFields } from '../../schemas/fields.ts';
import type { LogRecord } from '../../schemas/records/log-record.ts';
import { bodySearch } from '../../schemas/tables/search.ts';
import { topics } from '../../schemas/topics.ts';
import { defineCompleteRecords, defineSignal, jsonFormat, numberFormat, textFormat, timeFormat } from './definition.ts';
import { type LogRow, logColumns, toLogs } from './log-record.ts';

const columns = {
  timestamp: timeFormat,
  severity: textFormat,
  service: textFormat,
  body: jsonFormat,
  attributes: jsonFormat,
  resource: jsonFormat,
  traceId: textFormat,
  spanId: textFormat,
  id: textFormat,
  observedTimestamp: timeFormat,
  severityNumber: numberFormat,
  eventName: textFormat,
  droppedAttributes: numberFormat,
  flags: numberFormat,
  resourceDroppedAttributes: numberFormat,
  resourceSchemaUrl: textFormat,
  scope: jsonFormat,
  projectId: textFormat,
  patternId: textFormat,
} as const;

export const logs = defineSignal({
  records: 'log records',
  entitlement: 'logs',
  group: 'logs',
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
