import { spanFields } from '../../schemas/fields.ts';
import type { Span } from '../../schemas/records/span.ts';
import { spanSearch } from '../../schemas/tables/search.ts';
import { topics } from '../../schemas/topics.ts';
import { getResources } from '../resources.ts';
import {
  defineCompleteRecords,
  defineSignal,
  durationFormat,
  jsonFormat,
  numberFormat,
  spanParts,
  textFormat,
  timeFormat,
} from './definition.ts';
import { type SpanRow, spanColumns, toSpan } from './span-record.ts';

const columns = {
  startTime: timeFormat,
  service: textFormat,
  name: textFormat,
  durationNs: durationFormat,
  kind: textFormat,
  status: textFormat,
  statusMessage: textFormat,
  attributes: jsonFormat,
  resource: jsonFormat,
  traceId: textFormat,
  spanId: textFormat,
  parentSpanId: textFormat,
  traceState: textFormat,
  flags: numberFormat,
  dropped: jsonFormat,
  resourceDroppedAttributes: numberFormat,
  resourceSchemaUrl: textFormat,
  scope: jsonFormat,
  events: jsonFormat,
  links: jsonFormat,
  projectId: textFormat,
} as const;

export const traces = defineSignal({
  records: 'spans',
  entitlement: 'traces',
  group: 'traces',
  retentionDays: (days) => days.traces,
  newest: { table: 'spans', time: 'timestamp' },
  fields: spanFields,
  text: spanSearch,
  hasAttributeIndex: true,
  parts: spanParts,
  countedBy: topics.traces,
  streamSearch: {
    words: ({ name, service, attributes, nestedAttributes }: Span) => [
      name,
      service,
      ...[...attributes, ...nestedAttributes].map(({ text }) => text),
    ],
  },
  queryable: {
    table: 'spans',
    unit: '{span}',
    whole: defineCompleteRecords(columns, spanColumns, async (tenant, rows: readonly SpanRow[]) => {
      const resources = await getResources(
        tenant,
        rows.map(({ resource }) => resource),
      );
      return rows.map((row) => toSpan(row, resources.get(row.resource)));
    }),
  },
});
