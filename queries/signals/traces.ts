import { spanFields } from '../../schemas/fields.ts';
import type { Span } from '../../schemas/records/span.ts';
import { spanSearch } from '../../schemas/tables/search.ts';
import { topics } from '../../schemas/topics.ts';
import { resourcesOf } from '../resources.ts';
import { defineSignal, duration, json, number, spanParts, text, time, wholeRecords } from './definition.ts';
import { type SpanRow, spanOf, spanSelection } from './span-record.ts';

const columns = {
  startTime: time,
  service: text,
  name: text,
  durationNs: duration,
  kind: text,
  status: text,
  statusMessage: text,
  attributes: json,
  resource: json,
  traceId: text,
  spanId: text,
  parentSpanId: text,
  traceState: text,
  flags: number,
  dropped: json,
  resourceDroppedAttributes: number,
  resourceSchemaUrl: text,
  scope: json,
  events: json,
  links: json,
  projectId: text,
} as const;

export const traces = defineSignal({
  records: 'spans',
  entitlement: 'traces',
  retentionDays: (days) => days.traces,
  newest: { table: 'spans', time: 'timestamp' },
  fields: spanFields,
  text: spanSearch,
  hasAttributeIndex: true,
  parts: spanParts,
  countedBy: topics.traces,
  passing: {
    words: ({ name, service, attributes }: Span) => [name, service, ...attributes.map(({ text: value }) => value)],
  },
  queryable: {
    table: 'spans',
    unit: '{span}',
    whole: wholeRecords(columns, spanSelection, async (tenant, rows: readonly SpanRow[]) => {
      const resources = await resourcesOf(
        tenant,
        rows.map(({ resource }) => resource),
      );
      return rows.map((row) => spanOf(row, resources.get(row.resource)));
    }),
  },
});
