/** Panels of rows: tables, log records, and results without another visualization */
import { useState } from 'preact/hooks';
import { toNumberOrUndefined } from '../../../charts/reduce.ts';
import { renderText, toText } from '../../../frame/shown-text.tsx';
import { formatTime } from '../../../frame/shown-time.ts';
import { ScrollRegion } from '../../../lists/scrolled.tsx';
import { TableHeader } from '../../../lists/table-header.tsx';
import {
  type Field,
  fieldsOf,
  fieldsOfTable,
  isNumeric,
  type PanelTable,
  shownIn,
  tablesOf,
  toneIn,
} from '../fields.ts';
import type { PanelProps } from './panel-props.ts';

/** Maximum number of displayed rows */
const maxRows = 1_000;

/** Returns series as a table: one row each, with the last value. */
const lastValues = (fields: readonly Field[]): readonly (readonly [Field, unknown])[] =>
  fields
    .filter(({ times }) => times !== undefined)
    .map((field) => [field, field.values.findLast((value) => value !== null)]);

const compareValues = (one: unknown, other: unknown): number => {
  const [a, b] = [toNumberOrUndefined(one), toNumberOrUndefined(other)];
  return a !== undefined && b !== undefined ? a - b : toText(one).localeCompare(toText(other));
};

const TableRow = ({ fields, row }: { readonly fields: readonly Field[]; readonly row: number }) => (
  <tr>
    {fields.map((field) => {
      const value = field.values[row];
      const isColoured = (field.settings.cell?.as ?? 'auto').startsWith('coloured');
      return (
        <td
          key={field.key}
          class={`${isNumeric(field) ? 'number' : ''}${isColoured ? ` ink-${toneIn(field, value) ?? 'plain'}` : ''}`}
        >
          <bdi>{renderText(shownIn(field, value))}</bdi>
        </td>
      );
    })}
  </tr>
);

const SortableTable = ({ props, table }: { readonly props: PanelProps; readonly table: PanelTable }) => {
  const fields = fieldsOfTable(props.panel, table).filter(
    ({ settings }) => !(settings.hiddenIn ?? []).includes('table'),
  );
  const [initialSort] = (props.panel.visual['sortBy'] ?? []) as readonly {
    readonly field: string;
    readonly descending: boolean;
  }[];
  const [sort, setSort] = useState(initialSort);
  const sortField = fields.find(({ name }) => name === sort?.field);
  const rows = table.rows.map((_, row) => row);
  if (sortField !== undefined)
    rows.sort(
      (one, other) => (sort?.descending ? -1 : 1) * compareValues(sortField.values[one], sortField.values[other]),
    );
  return (
    <table class="figures panel-table">
      <thead>
        <tr>
          {fields.map(({ key, name }) => {
            const isSorted = sort?.field === name;
            return (
              <th key={key} scope="col" aria-sort={isSorted ? (sort.descending ? 'descending' : 'ascending') : 'none'}>
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

export const TablePanel = (props: PanelProps) => {
  const { panel } = props;
  const tables = tablesOf(panel);
  const series = tables.length === 0 ? lastValues(fieldsOf(panel)) : [];
  if (tables.every(({ rows }) => rows.length === 0) && series.length === 0)
    return <p class="soft">No data in this range.</p>;
  return (
    <ScrollRegion class="panel-rows" label={`Rows of ${panel.title === '' ? 'the panel' : panel.title}`}>
      {tables.map((table, at) => (
        <SortableTable key={`${table.query} ${at}`} props={props} table={table} />
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
                <td class="number">{renderText(shownIn(field, value))}</td>
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
  const records = tablesOf(panel).flatMap(({ columns, rows }) => {
    const columnIndex = (name: string): number => columns.findIndex((column) => column.name === name);
    const [time, level, service, body] = [
      columnIndex('timestamp'),
      columnIndex('severity'),
      columnIndex('service'),
      columnIndex('body'),
    ];
    return rows.map((row) => ({
      time: row[time],
      level: toText(row[level] ?? '').toLowerCase(),
      service: toText(row[service] ?? ''),
      body: body === -1 ? row.map(toText).join(' ') : toText(row[body]),
    }));
  });
  if (records.length === 0) return <p class="soft">No records in this range.</p>;
  return (
    <ScrollRegion class="panel-rows" label={`Records of ${panel.title === '' ? 'the panel' : panel.title}`}>
      <ol class="around">
        {records.slice(0, maxRows).map(({ time, level, service, body }, at) => (
          <li key={at}>
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
