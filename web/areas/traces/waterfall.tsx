/** Waterfall of spans over time, with the critical path and inline logs */
import { signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { readParam, setParams } from '../../frame/address.ts';
import { toColorClass } from '../../frame/colors.ts';
import { formatDuration } from '../../frame/durations.ts';
import { toSeverityLevel } from '../../frame/severity.ts';
import { renderCellText, renderText, toText } from '../../frame/shown-text.tsx';
import { type Cell, Rows, type StyledCell } from '../../lists/rows.tsx';
import type { Trace, TraceLog } from './calls.ts';
import { type OrderedSpan, removeFoldedSpans, toNanoseconds } from './span-order.ts';

/** ids of the spans whose descendants are hidden */
export const foldedIds = signal<ReadonlySet<string>>(new Set());

const setFolded = (id: string, isFolded: boolean): void => {
  const newIds = new Set(foldedIds.peek());
  if (isFolded) newIds.add(id);
  else newIds.delete(id);
  foldedIds.value = newIds;
};

interface LogRow {
  readonly log: TraceLog;
  readonly depth: number;
  readonly offsetNs: number;
  /** Service of the span that wrote the log; empty if unknown */
  readonly service: string;
}
type WaterfallRow = { readonly orderedSpan: OrderedSpan } | LogRow;

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

const toRows = (placed: readonly OrderedSpan[], logs: readonly TraceLog[], begin: string): readonly WaterfallRow[] => {
  const beginNs = toNanoseconds(begin);
  const bySpan = Map.groupBy(logs, ({ spanId }) => spanId);
  const rows: WaterfallRow[] = [];
  const logRow = (log: TraceLog, depth: number, service: string): WaterfallRow => ({
    log,
    depth,
    service,
    offsetNs: Number(toNanoseconds(log.timestamp) - beginNs),
  });
  for (const orderedSpan of placed) {
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
  id,
  below,
  isFolded,
}: {
  readonly id: string;
  readonly below: number;
  readonly isFolded: boolean;
}) => (
  <button
    type="button"
    class="fold"
    tabIndex={-1}
    aria-label={isFolded ? `Show ${below} below` : `Hide ${below} below`}
    onClick={(event) => {
      event.stopPropagation();
      setFolded(id, !isFolded);
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
        {descendantCount === 0 ? null : <FoldButton id={span.spanId} below={descendantCount} isFolded={isFolded} />}
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
const keyOf = (row: WaterfallRow): string => ('orderedSpan' in row ? row.orderedSpan.span.spanId : logKey(row.log.id));

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
  const rows = useMemo(
    () => toRows(removeFoldedSpans(placed, foldedIds.value), logs, trace.startTime),
    [placed, foldedIds.value, logs, trace],
  );
  const open = readParam('span');
  return (
    <Rows<WaterfallRow>
      items={rows}
      label="Spans"
      class="waterfall"
      columns={['Span', 'Service', 'Duration', 'Timeline']}
      headers={{ Timeline: <Ruler whole={whole} /> }}
      toKey={keyOf}
      toCells={(row) =>
        'orderedSpan' in row
          ? [
              renderNameCell(row.orderedSpan, matches.has(row.orderedSpan.span.spanId)),
              renderServiceCell(row.orderedSpan.span.service),
              formatDuration(row.orderedSpan.span.durationNs),
              renderBarCell(row.orderedSpan, whole, paths.get(row.orderedSpan.span.spanId) ?? []),
            ]
          : renderLogCells(row, whole)
      }
      openKey={open}
      scrollToKey={currentId}
      onOpen={(key) => setParams({ span: key }, { replace: open !== '' })}
      onKey={(key, row) => {
        if (!('orderedSpan' in row) || (key !== 'ArrowLeft' && key !== 'ArrowRight')) return false;
        setFolded(row.orderedSpan.span.spanId, key === 'ArrowLeft' && row.orderedSpan.descendantCount > 0);
        return true;
      }}
    />
  );
};
