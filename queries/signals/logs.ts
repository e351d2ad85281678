import { logFields } from '../../schemas/fields.ts';
import type { LogRecord } from '../../schemas/records/log-record.ts';
import { bodySearch } from '../../schemas/tables/search.ts';
import { topics } from '../../schemas/topics.ts';
import { defineSignal, json, number, text, time, wholeRecords } from './definition.ts';
import { foundLogs, type LogRow, logSelection } from './log-record.ts';

const columns = {
  timestamp: time,
  severity: text,
  service: text,
  body: json,
  attributes: json,
  resource: json,
  traceId: text,
  spanId: text,
  id: text,
  observedTimestamp: time,
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
  passing: { words: (log: LogRecord) => log.body },
  queryable: {
    table: 'logs',
    unit: '{record}',
    whole: wholeRecords(columns, logSelection, async (tenant, rows: readonly LogRow[]) =>
      (await foundLogs(tenant, rows)).map(({ record }) => record),
    ),
  },
});
