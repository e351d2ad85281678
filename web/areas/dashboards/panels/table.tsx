/** Panels of rows: tables, log records, and results without another visualization */
import { ChevronLeft, ChevronRight } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { reduceValues, toNumberOrUndefined } from '../../../charts/reduce.ts';
import { IconButton } from '../../../components/button.tsx';
import { Sparkline } from '../../../components/sparkline.tsx';
import { renderText, toText } from '../../../frame/display-text.tsx';
import { formatTime } from '../../../frame/format-time.ts';
import { toBreakClass } from '../../../frame/line-breaks.ts';
import { ScrollRegion } from '../../../lists/scroll-region.tsx';
import { TableHeader } from '../../../lists/table-header.tsx';
import { calculations } from '../calculations.ts';
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
import { isSafeUrl } from '../safe-url.ts';
import { type LinkValues, resolveLinkTitle, resolveLinkUrl } from './field-links.ts';
import { removeDuplicates } from './log-duplicates.ts';
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

/** Link of a value: the first one of its field, to an address that is safe */
const ValueLink = ({
  field,
  row,
  fields,
  text,
  children,
}: {
  readonly field: Field;
  readonly row: number;
  readonly fields: readonly Field[];
  readonly text: string;
  readonly children: ComponentChildren;
}) => {
  const [link] = field.settings.links ?? [];
  if (link === undefined) return <>{children}</>;
  const values: LinkValues = {
    text,
    raw: toText(field.values[row] ?? ''),
    seriesName: field.name,
    fields: Object.fromEntries(fields.map((other) => [other.name, toText(other.values[row] ?? '')])),
  };
  const url = resolveLinkUrl(link.url, values);
  if (!isSafeUrl(url)) return <>{children}</>;
  return (
    <a
      href={url}
      title={resolveLinkTitle(link.title, values)}
      rel="noreferrer"
      {...(link.newTab ? { target: '_blank' } : {})}
    >
      {children}
    </a>
  );
};

/** Returns the value and the points of a series in a cell; `undefined` for other values. */
const readTrend = (value: unknown): { readonly value: unknown; readonly points: readonly unknown[] } | undefined =>
  typeof value === 'object' && value !== null && 'points' in value && Array.isArray(value.points)
    ? { value: 'value' in value ? value.value : undefined, points: value.points }
    : undefined;

const TrendCell = ({
  field,
  trend,
}: {
  readonly field: Field;
  readonly trend: NonNullable<ReturnType<typeof readTrend>>;
}) => (
  <span class="cell-trend">
    <Sparkline values={trend.points.map((point) => toNumberOrUndefined(Array.isArray(point) ? point[1] : undefined))} />
    <b>{renderText(formatFieldValue({ ...field, type: 'number' }, trend.value))}</b>
  </span>
);

/** Returns the extent of the numbers of a field, for gauges. */
const getExtent = ({ settings: { min, max }, unit, values }: Field): readonly [min: number, max: number] => {
  const numbers = values.map(toNumberOrUndefined).filter((value) => value !== undefined);
  const highest = unit === '%' ? 100 : numbers.reduce((high, value) => Math.max(high, value), 0);
  return [min ?? 0, max ?? (highest || 1)];
};

const GaugeCell = ({
  field,
  value,
  text,
}: {
  readonly field: Field;
  readonly value: unknown;
  readonly text: string;
}) => {
  const [min, max] = getExtent(field);
  const share = Math.max(0, Math.min(1, ((toNumberOrUndefined(value) ?? min) - min) / (max - min || 1)));
  return (
    <span class="cell-gauge">
      <span class="track">
        <span class={`bar tone-${getValueTone(field, value) ?? 'blue'}`} style={{ width: `${100 * share}%` }} />
      </span>
      {field.settings.cell?.value === 'hidden' ? null : <b>{renderText(text)}</b>}
    </span>
  );
};

const CellContent = ({
  field,
  row,
  fields,
}: {
  readonly field: Field;
  readonly row: number;
  readonly fields: readonly Field[];
}) => {
  const value = field.values[row];
  const trend = readTrend(value);
  if (trend !== undefined) return <TrendCell field={field} trend={trend} />;
  const text = formatFieldValue(field, value);
  const { as = 'auto' } = field.settings.cell ?? {};
  if (as === 'gauge' && isNumeric(field)) return <GaugeCell field={field} value={value} text={text} />;
  if (as === 'image') return <ImageCell value={value} text={text} />;
  if (as === 'json') return <pre class="cell-json">{renderText(formatJson(value), { lines: true })}</pre>;
  return (
    <ValueLink field={field} row={row} fields={fields} text={text}>
      <bdi class={toBreakClass(text)}>{renderText(text)}</bdi>
    </ValueLink>
  );
};

/**
 * Image of a cell. The policy of the page permits no requests to other sites, and a path of this site could be any
 * address, so only embedded images are displayed; the address of another one is a link.
 */
const ImageCell = ({ value, text }: { readonly value: unknown; readonly text: string }) => {
  const address = typeof value === 'string' ? value.trim() : '';
  if (/^data:image\/(?:png|jpeg|gif|webp|avif);base64,[\w+/=]+$/.test(address))
    return <img class="cell-image" src={address} alt="" />;
  if (/^https?:\/\//i.test(address))
    return (
      <a href={address} target="_blank" rel="noreferrer">
        {renderText(address)}
      </a>
    );
  return <bdi>{renderText(text)}</bdi>;
};

const formatJson = (value: unknown): string => {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'string') return JSON.stringify(value, undefined, 2);
  try {
    return JSON.stringify(JSON.parse(value), undefined, 2);
  } catch {
    return value;
  }
};

/** Returns the class of a column: its alignment, and whether its texts wrap. */
const getColumnClass = (field: Field): string => {
  const { align = 'auto', wraps = false } = field.settings.cell ?? {};
  const alignment =
    align === 'auto' ? (isNumeric(field) ? 'number' : '') : { left: '', center: 'center', right: 'number' }[align];
  return wraps ? `${alignment} wraps` : alignment;
};

const getCellColor = (field: Field, row: number): string => {
  const { as = 'auto' } = field.settings.cell ?? {};
  if (!as.startsWith('coloured')) return '';
  const color = ` ink-${getValueTone(field, field.values[row]) ?? 'plain'}`;
  return as === 'coloured-background' ? `${color} filled` : color;
};

const TableRow = ({ fields, row }: { readonly fields: readonly Field[]; readonly row: number }) => {
  const rowField = fields.find(({ settings }) => settings.cell?.wholeRow === true);
  const rowColor = rowField === undefined ? '' : getCellColor(rowField, row);
  return (
    <tr>
      {fields.map((field) => (
        <td key={field.key} class={`${getColumnClass(field)}${rowColor || getCellColor(field, row)}`}>
          <CellContent field={field} row={row} fields={fields} />
        </td>
      ))}
    </tr>
  );
};

interface FooterSettings {
  readonly reducers: readonly string[];
  readonly fields: readonly string[];
}

/** Calculated values below the columns */
const TableFooter = ({ fields, footer }: { readonly fields: readonly Field[]; readonly footer: FooterSettings }) => {
  const hasFooter = (field: Field): boolean =>
    footer.fields.length === 0 ? isNumeric(field) : footer.fields.includes(field.name);
  return (
    <tfoot>
      {footer.reducers.map((reducer) => {
        const title = calculations.find(([name]) => name === reducer)?.[1] ?? reducer;
        return (
          <tr key={reducer}>
            {fields.map((field, index) => {
              const value = hasFooter(field) ? reduceValues(field.values, reducer) : undefined;
              const text = value === undefined ? '' : formatFieldValue(field, value);
              return (
                <td key={field.key} class={getColumnClass(field)}>
                  {index === 0 && text === '' ? title : renderText(text)}
                </td>
              );
            })}
          </tr>
        );
      })}
    </tfoot>
  );
};

const pageSize = 50;

const Pages = ({
  page,
  count,
  onSelect,
}: {
  readonly page: number;
  readonly count: number;
  readonly onSelect: (page: number) => void;
}) => (
  <p class="table-pages">
    <IconButton label="Previous page" icon={ChevronLeft} disabled={page === 0} onClick={() => onSelect(page - 1)} />
    Page {page + 1} of {count}
    <IconButton
      label="Next page"
      icon={ChevronRight}
      disabled={page === count - 1}
      onClick={() => onSelect(page + 1)}
    />
  </p>
);

const toPixels = (pixels: number | undefined): string | undefined => (pixels === undefined ? undefined : `${pixels}px`);

const SortableTable = ({ panelProps, table }: { readonly panelProps: PanelProps; readonly table: PanelTable }) => {
  const fields = getTableFields(panelProps.panel, table).filter(
    ({ settings }) => !(settings.hiddenIn ?? []).includes('table'),
  );
  const [initialSort] = (panelProps.panel.visual['sortBy'] ?? []) as readonly {
    readonly field: string;
    readonly descending: boolean;
  }[];
  const {
    rowHeight = 'small',
    paged = false,
    footer,
  } = panelProps.panel.visual as Partial<{
    readonly rowHeight: string;
    readonly paged: boolean;
    readonly footer: FooterSettings | null;
  }>;
  const [sort, setSort] = useState(initialSort);
  const [selectedPage, setSelectedPage] = useState(0);
  const sortField = fields.find(({ name }) => name === sort?.field);
  const rows = table.rows.map((_, row) => row);
  if (sortField !== undefined)
    rows.sort(
      (leftRow, rightRow) =>
        (sort?.descending ? -1 : 1) * compareValues(sortField.values[leftRow], sortField.values[rightRow]),
    );
  const pageCount = paged ? Math.max(1, Math.ceil(rows.length / pageSize)) : 1;
  const page = Math.min(selectedPage, pageCount - 1);
  const pageRows = paged ? rows.slice(page * pageSize, (page + 1) * pageSize) : rows.slice(0, maxRows);
  return (
    <>
      <table class={`figures panel-table rows-${rowHeight}`}>
        <thead class={panelProps.panel.visual['header'] === false ? 'sr-only' : ''}>
          <tr>
            {fields.map((field) => {
              const { key, name } = field;
              const isSorted = sort?.field === name;
              return (
                <th
                  key={key}
                  scope="col"
                  class={getColumnClass(field)}
                  style={{
                    width: toPixels(field.settings.cell?.width),
                    minWidth: toPixels(field.settings.cell?.minWidth),
                  }}
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
          {pageRows.map((row) => (
            <TableRow key={row} fields={fields} row={row} />
          ))}
        </tbody>
        {footer === null || footer === undefined ? null : <TableFooter fields={fields} footer={footer} />}
      </table>
      {pageCount === 1 ? null : <Pages page={page} count={pageCount} onSelect={setSelectedPage} />}
    </>
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
      {panel.visual['paged'] !== true && tables.some(({ rows }) => rows.length > maxRows) ? (
        <p class="soft">First {maxRows} rows shown.</p>
      ) : null}
    </ScrollRegion>
  );
};

interface LogRecordRow {
  readonly time: unknown;
  readonly level: string;
  readonly service: string;
  readonly body: string;
}

/** Log records, one per line. */
export const LogsPanel = ({ panel }: PanelProps) => {
  const {
    time: hasTime = true,
    wraps = true,
    pretty = false,
    order,
    duplicates,
  } = panel.visual as Partial<
    Readonly<Record<'time' | 'wraps' | 'pretty', boolean>> & Readonly<Record<'order' | 'duplicates', string>>
  >;
  const allRecords = getTables(panel).flatMap(({ columns, rows }): readonly LogRecordRow[] => {
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
  if (allRecords.length === 0) return <p class="soft">No records in this range.</p>;
  // Queries return the newest records first.
  const records = removeDuplicates(order === 'oldest' ? allRecords.toReversed() : allRecords, duplicates);
  return (
    <ScrollRegion class="panel-rows" label={`Records of ${panel.title === '' ? 'the panel' : panel.title}`}>
      <ol class={wraps ? 'around' : 'around unwrapped'}>
        {records.slice(0, maxRows).map(({ time, level, service, body }, recordIndex) => (
          <li key={recordIndex}>
            {time === undefined || !hasTime ? null : <time class="soft">{formatTime(Date.parse(String(time)))}</time>}{' '}
            <span class={/^(?:fatal|error|warn)/.test(level) ? `text-${/^[a-z]+/.exec(level)?.[0]}` : 'soft'}>
              {renderText(level)}
            </span>{' '}
            <bdi>{renderText(service)}</bdi>{' '}
            {pretty && /^\s*[[{]/.test(body) ? (
              <pre>{renderText(formatJson(body), { lines: true })}</pre>
            ) : (
              <bdi>{renderText(body)}</bdi>
            )}
          </li>
        ))}
      </ol>
    </ScrollRegion>
  );
};
