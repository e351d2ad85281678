/** Panels of rows: tables, log records, and results without another visualization */
import { useState } from 'preact/hooks';
import { toNumberOrUndefined } from '../../../charts/reduce.ts';
import { renderText, toText } from '../../../frame/shown-text.tsx';
import { formatTime } from '../../../frame/shown-time.ts';
import { ScrollRegion } from '../../../lists/scrolled.tsx';
import { TableHeader } from '../../../lists/table-header.tsx';
import {
  type Field,
  formatFieldValue,
  getFields,
  getTableFields,
  getTables,
  getValueTone,
  isNumeric,
  type PanelTable,
} from '../fields.ts';
import type { PanelProps } from './panel-props.ts';

/** Maximum number of displayed rows */
const maxRows = 1_000;

/** Returns series as a table: one row each, with the last value. */
const toLastValues = (fields: readonly Field[]): readonly (readonly [Field, unknown])[] =>
  fields
    .filter(({ times }) => times !== undefined)
    .map((field) => [field, field.values.findLast((value) => value !== null)]);

const compareValues = (left: unknown, right: unknown): number => {
  const [leftNumber, rightNumber] = [toNumberOrUndefined(left), toNumberOrUndefined(right)];
  return leftNumber !== undefined && rightNumber !== undefined
    ? leftNumber - rightNumber
    : toText(left).localeCompare(toText(right));
};

const TableRow = ({ fields, row }: { readonly fields: readonly Field[]; readonly row: number }) => (
  <tr>
    {fields.map((field) => {
      const value = field.values[row];
      const { as = 'auto' } = field.settings.cell ?? {};
      const tone = as.startsWith('coloured') ? ` ink-${getValueTone(field, value) ?? 'plain'}` : '';
      const filled = as === 'coloured-background' ? ' filled' : '';
      return (
        <td key={field.key} class={`${isNumeric(field) ? 'number' : ''}${tone}${filled}`}>
          <bdi>{renderText(formatFieldValue(field, value))}</bdi>
        </td>
      );
    })}
  </tr>
);

const SortableTable = ({ panelProps, table }: { readonly panelProps: PanelProps; readonly table: PanelTable }) => {
  const fields = getTableFields(panelProps.panel, table).filter(
    ({ settings }) => !(settings.hiddenIn ?? []).includes('table'),
  );
  const [initialSort] = (panelProps.panel.visual['sortBy'] ?? []) as readonly {
    readonly field: string;
    readonly descending: boolean;
  }[];
  const [sort, setSort] = useState(initialSort);
  const sortField = fields.find(({ name }) => name === sort?.field);
  const rows = table.rows.map((_, row) => row);
  if (sortField !== undefined)
    rows.sort(
      (leftRow, rightRow) =>
        (sort?.descending ? -1 : 1) * compareValues(sortField.values[leftRow], sortField.values[rightRow]),
    );
  return (
    <table class="figures panel-table">
      <thead class={panelProps.panel.visual['header'] === false ? 'sr-only' : ''}>
        <tr>
          {fields.map((field) => {
            const { key, name } = field;
            const isSorted = sort?.field === name;
            return (
              <th
                key={key}
                scope="col"
                class={isNumeric(field) ? 'number' : ''}
                aria-sort={isSorted ? (sort.descending ? 'descending' : 'ascending') : 'none'}
              >
                <button
                  type="button"
                  class="value"
                  onClick={() => setSort({ field: name, descending: isSorted && !sort.descending })}
                >
                  {renderText(name)}
                  {isSorted ? (sort.descending ? ' ↓' : ' ↑') : ''}
                </button>
              </th>
            );
          })}
        </tr>
      </thead>
      <tbody>
        {rows.slice(0, maxRows).map((row) => (
          <TableRow key={row} fields={fields} row={row} />
        ))}
      </tbody>
    </table>
  );
};

export const TablePanel = (panelProps: PanelProps) => {
  const { panel } = panelProps;
  const tables = getTables(panel);
  const series = tables.length === 0 ? toLastValues(getFields(panel)) : [];
  if (tables.every(({ rows }) => rows.length === 0) && series.length === 0)
    return <p class="soft">No data in this range.</p>;
  return (
    <ScrollRegion class="panel-rows" label={`Rows of ${panel.title === '' ? 'the panel' : panel.title}`}>
      {tables.map((table, tableIndex) => (
        <SortableTable key={`${table.query} ${tableIndex}`} panelProps={panelProps} table={table} />
      ))}
      {series.length === 0 ? null : (
        <table class="figures panel-table">
          <TableHeader columns={['Series', 'Last value']} />
          <tbody>
            {series.map(([field, value]) => (
              <tr key={field.key}>
                <td>
                  <bdi>{renderText(field.name)}</bdi>
                </td>
                <td class="number">{renderText(formatFieldValue(field, value))}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {tables.some(({ rows }) => rows.length > maxRows) ? <p class="soft">First {maxRows} rows shown.</p> : null}
    </ScrollRegion>
  );
};

/** Log records, one per line. */
export const LogsPanel = ({ panel }: PanelProps) => {
  const records = getTables(panel).flatMap(({ columns, rows }) => {
    const findColumnIndex = (name: string): number => columns.findIndex((column) => column.name === name);
    const [time, level, service, body] = [
      findColumnIndex('timestamp'),
      findColumnIndex('severity'),
      findColumnIndex('service'),
      findColumnIndex('body'),
    ];
    return rows.map((row) => ({
      time: row[time],
      level: toText(row[level] ?? '').toLowerCase(),
      service: toText(row[service] ?? ''),
      body: body === -1 ? row.map(toText).join(' ') : toText(row[body]),
    }));
  });
  if (records.length === 0) return <p class="soft">No records in this range.</p>;
  // Queries return the newest records first.
  if (panel.visual['order'] === 'oldest') records.reverse();
  return (
    <ScrollRegion class="panel-rows" label={`Records of ${panel.title === '' ? 'the panel' : panel.title}`}>
      <ol class="around">
        {records.slice(0, maxRows).map(({ time, level, service, body }, recordIndex) => (
          <li key={recordIndex}>
            {time === undefined ? null : <time class="soft">{formatTime(Date.parse(String(time)))}</time>}{' '}
            <span class={/^(?:fatal|error|warn)/.test(level) ? `text-${/^[a-z]+/.exec(level)?.[0]}` : 'soft'}>
              {renderText(level)}
            </span>{' '}
            <bdi>{renderText(service)}</bdi> <bdi>{renderText(body)}</bdi>
          </li>
        ))}
      </ol>
    </ScrollRegion>
  );
};
