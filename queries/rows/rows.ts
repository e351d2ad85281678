/** Records as a table: whole ones, or chosen columns of them. */

import { signalFields } from '../../schemas/tables/found-signals.ts';
import { type Answer, type Asked, tableAnswer } from '../answer.ts';
import { invalid } from '../errors.ts';
import { foundLogs, type LogRow, logSelection } from '../logs/record.ts';
import type { RowsQuery } from '../query.ts';
import type { Reading } from '../reading.ts';
import { recordsCondition } from '../records.ts';
import { resourcesOf } from '../resources.ts';
import type { Incompleteness, TableColumn } from '../result.ts';
import { type SpanRow, spanOf, spanSelection } from '../traces/span.ts';
import { type ChosenRow, chosenColumn } from './columns.ts';
import { rowsInOrder } from './in-order.ts';

type Form = Pick<TableColumn, 'type' | 'unit'>;
const time: Form = { type: 'time', unit: '' };
const duration: Form = { type: 'duration', unit: 'ns' };
const number: Form = { type: 'number', unit: '' };
const text: Form = { type: 'text', unit: '' };
const json: Form = { type: 'json', unit: '' };

/** Columns of whole records: the fields of a record as lists answer it, in their order. */
const logColumns = {
  ...{ timestamp: time, severity: text, service: text, body: json, attributes: json, resource: json },
  ...{ traceId: text, spanId: text, id: text, observedTimestamp: time, severityNumber: number, eventName: text },
  ...{ droppedAttributes: number, flags: number, resourceDroppedAttributes: number, resourceSchemaUrl: text },
  ...{ scope: json, projectId: text, patternId: text },
} as const;
const spanColumns = {
  ...{ startTime: time, service: text, name: text, durationNs: duration, kind: text },
  ...{ status: text, statusMessage: text, attributes: json, resource: json, traceId: text, spanId: text },
  ...{ parentSpanId: text, traceState: text, flags: number, dropped: json, resourceDroppedAttributes: number },
  ...{ resourceSchemaUrl: text, scope: json, events: json, links: json, projectId: text },
} as const;

const columnsOf = (columns: Readonly<Record<string, Form>>): TableColumn[] =>
  Object.entries(columns).map(([name, form]) => ({ name, ...form }));

/** Records of a range. One more than the limit is read, so that the answer can say whether there are more. */
export const runRows = async (query: RowsQuery, reading: Reading, { range, stepMs }: Asked): Promise<Answer> => {
  if (stepMs !== undefined) throw invalid('step', 'is not for rows: ask for an aggregate');
  const { signal, order, limit } = query;
  const fields = query.fields ?? (signal === 'detections' ? signalFields.map(({ name }) => name) : undefined);
  const { columns } = reading;
  const condition = recordsCondition(query);
  const read = <Row>(selection: string): Promise<Row[]> =>
    rowsInOrder<Row>(columns, { signal, range, order, limit: limit + 1 }, selection, condition);

  if (fields !== undefined) {
    const chosen = fields.map((name, index) => chosenColumn(name, signal, index));
    const selection = ['toString(resource_id) AS resource', ...chosen.flatMap((each) => each.selection)].join(', ');
    const { shown, partial } = cut(await read<ChosenRow>(selection), limit, order);
    const ids = chosen.some(({ needsResource }) => needsResource) ? shown.map(({ resource }) => String(resource)) : [];
    const resources = await resourcesOf(columns, ids);
    const rows = shown.map((row) =>
      chosen.map((each) => each.read(row, resources.get(String(row['resource']))?.attributes)),
    );
    return tableAnswer(
      chosen.map(({ column }) => column),
      rows,
      partial,
    );
  }
  if (signal === 'logs') {
    const { shown, partial } = cut(await read<LogRow>(logSelection), limit, order);
    const found = await foundLogs(columns, shown);
    return whole(
      logColumns,
      found.map(({ record }) => record),
      partial,
    );
  }
  const { shown, partial } = cut(await read<SpanRow>(spanSelection), limit, order);
  const resources = await resourcesOf(
    columns,
    shown.map(({ resource }) => resource),
  );
  return whole(
    spanColumns,
    shown.map((row) => spanOf(row, resources.get(row.resource))),
    partial,
  );
};

const whole = <Name extends string>(
  columns: Readonly<Record<Name, Form>>,
  records: readonly Readonly<Record<Name, unknown>>[],
  partial: readonly Incompleteness[],
): Answer =>
  tableAnswer(
    columnsOf(columns),
    records.map((record) => (Object.keys(columns) as Name[]).map((name) => record[name])),
    partial,
  );

const cut = <Row>(
  found: readonly Row[],
  limit: number,
  order: RowsQuery['order'],
): { shown: readonly Row[]; partial: Incompleteness[] } => ({
  shown: found.slice(0, limit),
  partial:
    found.length > limit ? [{ code: 'rows', message: `there are more records: these are the ${order} ${limit}` }] : [],
});
