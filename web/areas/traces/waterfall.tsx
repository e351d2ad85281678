/** Waterfall of spans over time, with the critical path and inline logs */
import { signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { readParam, setParams } from '../../frame/address.ts';
import { toColorClass } from '../../frame/colors.ts';
import { renderCellText, renderText, toText } from '../../frame/display-text.tsx';
import { formatDuration } from '../../frame/durations.ts';
import { toSeverityLevel } from '../../frame/severity.ts';
import { type Cell, Rows, type StyledCell } from '../../lists/rows.tsx';
import type { Trace, TraceLog } from './calls.ts';
import { isRepeat, type RepeatedSpans, toSpanRows } from './repeats.ts';
import { type OrderedSpan, removeFoldedSpans, toNanoseconds } from './span-order.ts';

/** ids of the spans whose descendants are hidden */
export const foldedIds = signal<ReadonlySet<string>>(new Set());

const setFolded = (id: string, isFolded: boolean): void => {
  const newIds = new Set(foldedIds.peek());
  if (isFolded) newIds.add(id);
  else newIds.delete(id);
  foldedIds.value = newIds;
};

/** ids of the expanded repetitions, or all of them */
export const expandedRepeats = signal<ReadonlySet<string> | 'all'>(new Set());

const toggleRepeat = (id: string, all: readonly string[]): void => {
  const expanded = expandedRepeats.peek();
  const ids = new Set(expanded === 'all' ? all : expanded);
  if (!ids.delete(id)) ids.add(id);
  expandedRepeats.value = ids;
};

interface LogRow {
  readonly log: TraceLog;
  readonly depth: number;
  readonly offsetNs: number;
  /** Service of the span that wrote the log; empty if unknown */
  readonly service: string;
}
type WaterfallRow = { readonly orderedSpan: OrderedSpan } | { readonly repeat: RepeatedSpans } | LogRow;

/** Segment of the critical path */
interface PathSegment {
  readonly offsetNs: number;
  readonly durationNs: number;
}

/** Returns the segments of the critical path by span id. */
const toCriticalPath = ({ criticalPath, startTime }: Trace): ReadonlyMap<string, readonly PathSegment[]> => {
  const begin = toNanoseconds(startTime);
  const segmentsBySpan = new Map<string, PathSegment[]>();
  for (const { spanId, startTime: start, durationNs } of criticalPath.segments) {
    const segments = segmentsBySpan.get(spanId) ?? [];
    segments.push({ offsetNs: Number(toNanoseconds(start) - begin), durationNs: Number(durationNs) });
    segmentsBySpan.set(spanId, segments);
  }
  return segmentsBySpan;
};

const toRows = (
  placed: readonly OrderedSpan[],
  logs: readonly TraceLog[],
  begin: string,
  openId: string,
): readonly WaterfallRow[] => {
  const expanded = expandedRepeats.value;
  const beginNs = toNanoseconds(begin);
  const bySpan = Map.groupBy(logs, ({ spanId }) => spanId);
  const rows: WaterfallRow[] = [];
  const logRow = (log: TraceLog, depth: number, service: string): WaterfallRow => ({
    log,
    depth,
    service,
    offsetNs: Number(toNanoseconds(log.timestamp) - beginNs),
  });
  for (const row of toSpanRows(placed, (id) => expanded === 'all' || expanded.has(id), openId)) {
    if (isRepeat(row)) {
      rows.push({ repeat: row });
      continue;
    }
    const orderedSpan = row;
    rows.push({ orderedSpan });
    const { spanId, service } = orderedSpan.span;
    for (const log of bySpan.get(spanId)?.toReversed() ?? []) rows.push(logRow(log, orderedSpan.depth + 1, service));
  }
  for (const log of bySpan.get(null)?.toReversed() ?? []) rows.push(logRow(log, 0, ''));
  return rows;
};

const toPercent = (part: number, whole: number): string => `${Math.min(100, Math.max(0, (part / whole) * 100))}%`;

const track = { class: 'track' };

const renderBarCell = ({ span, offsetNs }: OrderedSpan, whole: number, stretches: readonly PathSegment[]): Cell => ({
  attributes: track,
  content: [
    <span
      key="bar"
      class={span.status === 'error' ? 'bar failed' : `bar ${toColorClass(span.service)}`}
      style={{ left: toPercent(offsetNs, whole), width: toPercent(Number(span.durationNs), whole) }}
    />,
    ...stretches
      .slice(0, 50)
      .map(({ offsetNs: at, durationNs }) => (
        <span key={at} class="waited" style={{ left: toPercent(at, whole), width: toPercent(durationNs, whole) }} />
      )),
  ],
});

/** Maximum number of bars of a repetition */
const maxRepeatBars = 100;

const renderRepeatBars = ({ spans }: RepeatedSpans, whole: number): Cell => ({
  attributes: track,
  content: spans
    .slice(0, maxRepeatBars)
    .map(({ span, offsetNs }) => (
      <span
        key={span.spanId}
        class={span.status === 'error' ? 'bar failed' : `bar ${toColorClass(span.service)}`}
        style={{ left: toPercent(offsetNs, whole), width: toPercent(Number(span.durationNs), whole) }}
      />
    )),
});

/** The color is a pseudo-element, which saves an element per row. */
const renderServiceCell = (service: string): Cell => ({
  attributes: { class: service === '' ? '' : `service-cell ${toColorClass(service)}` },
  content: renderCellText(service),
});

const rulerParts = 4;

/** Times of the timeline, as its column header */
const Ruler = ({ whole }: { readonly whole: number }) => (
  <span class="ruler">
    {Array.from({ length: rulerParts + 1 }, (_, part) => (
      <i key={part} style={{ left: toPercent(part, rulerParts) }}>
        {formatDuration((whole * part) / rulerParts)}
      </i>
    ))}
  </span>
);

/** Visible texts of span warnings */
const warningTexts = {
  'missing-parent': 'missing parent',
  cycle: 'calls itself',
  'clock-skew': 'clock skew corrected',
} as const;

const FoldButton = ({
  below,
  isFolded,
  onToggle,
}: {
  /** Number of rows that the button shows or hides */
  readonly below: number;
  readonly isFolded: boolean;
  readonly onToggle: () => void;
}) => (
  <button
    type="button"
    class="fold"
    tabIndex={-1}
    aria-label={isFolded ? `Show ${below} below` : `Hide ${below} below`}
    onClick={(event) => {
      event.stopPropagation();
      onToggle();
    }}
  >
    {isFolded ? '▸' : '▾'}
  </button>
);

/** Returns the indentation by depth. Spans without a fold button get its width as padding. */
const toIndentation = (depth: number, hasFold: boolean): StyledCell['attributes'] => ({
  style: { paddingLeft: `calc(${Math.min(depth, 20)}em + ${hasFold ? 0 : 24}px)` },
});

const renderNameCell = ({ span, depth, descendantCount }: OrderedSpan, isMatch: boolean): Cell => {
  const name = renderText(span.name);
  const attributes = toIndentation(depth, descendantCount > 0);
  const hasFailed = span.status === 'error';
  // Most spans only have a name.
  if (descendantCount === 0 && !hasFailed && !isMatch && span.warnings.length === 0 && typeof name === 'string')
    return { attributes, content: name };
  const isFolded = foldedIds.value.has(span.spanId);
  const warnings = span.warnings.flatMap((warning) =>
    warning in warningTexts ? [warningTexts[warning as keyof typeof warningTexts]] : [],
  );
  return {
    attributes,
    content: (
      <>
        {descendantCount === 0 ? null : (
          <FoldButton below={descendantCount} isFolded={isFolded} onToggle={() => setFolded(span.spanId, !isFolded)} />
        )}
        {hasFailed ? <b class="text-error">failed </b> : null}
        <bdi class={isMatch ? 'match' : ''}>{name}</bdi>
        {isFolded ? <span class="soft"> and {descendantCount} below</span> : null}
        {warnings.length === 0 ? null : <span class="text-warn"> {warnings.join(', ')}</span>}
      </>
    ),
  };
};

/** Returns the key of a log record in the URL and in rows. The key of a span is its id. */
export const logKey = (id: string): string => `log ${id}`;
/** Returns the key of the row of a repetition. */
const repeatKey = (id: string): string => `repeat ${id}`;
const keyOf = (row: WaterfallRow): string => {
  if ('repeat' in row) return repeatKey(row.repeat.id);
  return 'orderedSpan' in row ? row.orderedSpan.span.spanId : logKey(row.log.id);
};

const numberFormat = new Intl.NumberFormat('en');

const renderRepeatName = ({ spans, errorCount }: RepeatedSpans, isCollapsed: boolean, onToggle: () => void): Cell => {
  const [first] = spans;
  return {
    attributes: toIndentation(first?.depth ?? 0, true),
    content: (
      <>
        <FoldButton below={spans.length} isFolded={isCollapsed} onToggle={onToggle} />
        <b>{numberFormat.format(spans.length)} ×</b> <bdi>{renderText(first?.span.name ?? '')}</bdi>
        {errorCount === 0 ? null : <b class="text-error"> {numberFormat.format(errorCount)} failed</b>}
      </>
    ),
  };
};

/** Columns between the name and the timeline that the reader chooses */
export const optionalColumns = {
  service: 'Service',
  start: 'Start',
  duration: 'Duration',
  self: 'Self time',
  kind: 'Kind',
  status: 'Status',
} as const;
export type OptionalColumn = keyof typeof optionalColumns;
const defaultColumns: readonly OptionalColumn[] = ['service', 'duration'];

/** Returns the columns in the URL, or the default columns. */
export const readColumns = (): readonly OptionalColumn[] => {
  const names = readParam('columns').split(',');
  const columns = (Object.keys(optionalColumns) as OptionalColumn[]).filter((name) => names.includes(name));
  return columns.length === 0 ? defaultColumns : columns;
};

/** Writes the columns to the URL, which omits the default. */
export const writeColumns = (columns: readonly OptionalColumn[]): void => {
  const isDefault = columns.length === defaultColumns.length && defaultColumns.every((name) => columns.includes(name));
  setParams({ columns: isDefault ? '' : columns.join(',') }, { replace: true });
};

const renderOptionalCell = (column: OptionalColumn, { span, offsetNs }: OrderedSpan): Cell => {
  if (column === 'service') return renderServiceCell(span.service);
  if (column === 'start') return formatDuration(offsetNs);
  if (column === 'duration') return formatDuration(span.durationNs);
  if (column === 'self') return span.selfTimeNs === null ? '' : formatDuration(span.selfTimeNs);
  return span[column];
};

const renderRepeatCell = (column: OptionalColumn, { spans, durationNs }: RepeatedSpans): Cell => {
  const [first] = spans;
  if (first === undefined) return '';
  if (column === 'duration') return `${formatDuration(durationNs)} total`;
  if (column === 'self') return '';
  return column === 'status' ? '' : renderOptionalCell(column, first);
};

/** Cells of a log row: the text over the full width, and its time on the timeline */
const renderLogCells = ({ log, depth, offsetNs, service }: LogRow, whole: number): readonly Cell[] => [
  {
    attributes: { ...toIndentation(depth, false), class: 'in-line' },
    content: (
      <>
        <b class={`text-${toSeverityLevel(log.severity)}`}>{renderText(log.severity || 'log')}</b> at{' '}
        {formatDuration(offsetNs)}
        {log.service === service ? ' ' : <> in {renderText(log.service)} </>}
        <bdi>{renderText(toText(log.body).slice(0, 300))}</bdi>
      </>
    ),
  },
  { attributes: track, content: <span class="moment" style={{ left: toPercent(offsetNs, whole) }} /> },
];

/** Returns whether a row is the first span of a repetition, which follows if the repetition is expanded. */
const isFirstOf = ({ id }: RepeatedSpans, row: WaterfallRow | undefined): boolean =>
  row !== undefined && 'orderedSpan' in row && row.orderedSpan.span.spanId === id;

export const Waterfall = ({
  trace,
  placed,
  logs,
  matches,
  currentId,
}: {
  readonly trace: Trace;
  readonly placed: readonly OrderedSpan[];
  readonly logs: readonly TraceLog[];
  /** ids of the spans that match the search */
  readonly matches: ReadonlySet<string>;
  /** Match to scroll to */
  readonly currentId: string;
}) => {
  const whole = Math.max(1, Number(trace.durationNs));
  const paths = useMemo(() => toCriticalPath(trace), [trace]);
  const open = readParam('span');
  const rows = useMemo(
    () => toRows(removeFoldedSpans(placed, foldedIds.value), logs, trace.startTime, open),
    [placed, foldedIds.value, expandedRepeats.value, logs, trace, open],
  );
  const toggle = (id: string): void =>
    toggleRepeat(
      id,
      rows.flatMap((row) => ('repeat' in row ? [row.repeat.id] : [])),
    );
  const columns = readColumns();
  const hasDefaultColumns = columns.join() === defaultColumns.join();
  return (
    <Rows<WaterfallRow>
      items={rows}
      label="Spans"
      class="waterfall"
      isDense={true}
      columns={['Span', ...columns.map((column) => optionalColumns[column]), 'Timeline']}
      {...(hasDefaultColumns
        ? {}
        : { widths: `minmax(0, 4fr) repeat(${columns.length}, minmax(3rem, 7rem)) minmax(0, 5fr)` })}
      headers={{ Timeline: <Ruler whole={whole} /> }}
      toKey={keyOf}
      toCells={(row) => {
        if ('repeat' in row) {
          const isCollapsed = !isFirstOf(row.repeat, rows[rows.indexOf(row) + 1]);
          return [
            renderRepeatName(row.repeat, isCollapsed, () => toggle(row.repeat.id)),
            ...columns.map((column) => renderRepeatCell(column, row.repeat)),
            renderRepeatBars(row.repeat, whole),
          ];
        }
        if (!('orderedSpan' in row)) return renderLogCells(row, whole);
        const { orderedSpan } = row;
        return [
          renderNameCell(orderedSpan, matches.has(orderedSpan.span.spanId)),
          ...columns.map((column) => renderOptionalCell(column, orderedSpan)),
          renderBarCell(orderedSpan, whole, paths.get(orderedSpan.span.spanId) ?? []),
        ];
      }}
      openKey={open}
      scrollToKey={currentId}
      onOpen={(key) =>
        key.startsWith(repeatKey(''))
          ? toggle(key.slice(repeatKey('').length))
          : setParams({ span: key }, { replace: open !== '' })
      }
      onKey={(key, row) => {
        if (!('orderedSpan' in row) || (key !== 'ArrowLeft' && key !== 'ArrowRight')) return false;
        setFolded(row.orderedSpan.span.spanId, key === 'ArrowLeft' && row.orderedSpan.descendantCount > 0);
        return true;
      }}
    />
  );
};
