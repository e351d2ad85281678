/** Waterfall of spans over time, with the critical path and inline logs */
import { signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { change, inAddress } from '../../frame/address.ts';
import { shownDuration } from '../../frame/durations.ts';
import { levelOf } from '../../frame/severity.ts';
import { inCell, shownText, textOf } from '../../frame/shown-text.tsx';
import { type Cell, Rows, type StyledCell } from '../../lists/rows.tsx';
import type { Trace, TraceLog } from './calls.ts';
import { nanosecondsOf, type PlacedSpan, unfolded } from './span-order.ts';

/** Ids of spans whose descendants are hidden */
export const folded = signal<ReadonlySet<string>>(new Set());

const fold = (id: string, isFolded: boolean): void => {
  const next = new Set(folded.peek());
  if (isFolded) next.add(id);
  else next.delete(id);
  folded.value = next;
};

interface LogRow {
  readonly log: TraceLog;
  readonly depth: number;
  readonly offsetNs: number;
  /** Service of the span that wrote the log; empty if unknown */
  readonly service: string;
}
type Row = { readonly of: PlacedSpan } | LogRow;

/** A period of the critical path */
interface Stretch {
  readonly offsetNs: number;
  readonly durationNs: number;
}

/** Returns the critical path by span id. */
const pathOf = ({ criticalPath, startTime }: Trace): ReadonlyMap<string, readonly Stretch[]> => {
  const begin = nanosecondsOf(startTime);
  const stretches = new Map<string, Stretch[]>();
  for (const { spanId, startTime: start, durationNs } of criticalPath.segments) {
    const known = stretches.get(spanId) ?? [];
    known.push({ offsetNs: Number(nanosecondsOf(start) - begin), durationNs: Number(durationNs) });
    stretches.set(spanId, known);
  }
  return stretches;
};

const rowsOf = (placed: readonly PlacedSpan[], logs: readonly TraceLog[], begin: string): readonly Row[] => {
  const beginNs = nanosecondsOf(begin);
  const bySpan = Map.groupBy(logs, ({ spanId }) => spanId);
  const rows: Row[] = [];
  const logRow = (log: TraceLog, depth: number, service: string): Row => ({
    log,
    depth,
    service,
    offsetNs: Number(nanosecondsOf(log.timestamp) - beginNs),
  });
  for (const of of placed) {
    rows.push({ of });
    const { spanId, service } = of.span;
    for (const log of bySpan.get(spanId)?.toReversed() ?? []) rows.push(logRow(log, of.depth + 1, service));
  }
  for (const log of bySpan.get(null)?.toReversed() ?? []) rows.push(logRow(log, 0, ''));
  return rows;
};

const percent = (part: number, whole: number): string => `${Math.min(100, Math.max(0, (part / whole) * 100))}%`;

const track = { class: 'track' };

const barCell = ({ span, offsetNs }: PlacedSpan, whole: number, stretches: readonly Stretch[]): Cell => ({
  attributes: track,
  content: [
    <span
      key="bar"
      class={span.status === 'error' ? 'bar failed' : 'bar'}
      style={{ left: percent(offsetNs, whole), width: percent(Number(span.durationNs), whole) }}
    />,
    ...stretches
      .slice(0, 50)
      .map(({ offsetNs: at, durationNs }) => (
        <span key={at} class="waited" style={{ left: percent(at, whole), width: percent(durationNs, whole) }} />
      )),
  ],
});

/** Texts of anomalies of a span */
const oddities = {
  'missing-parent': 'missing parent',
  cycle: 'calls itself',
  'clock-skew': 'clock skew corrected',
} as const;

const Fold = ({ id, below, isFolded }: { readonly id: string; readonly below: number; readonly isFolded: boolean }) => (
  <button
    type="button"
    class="fold"
    tabIndex={-1}
    aria-label={isFolded ? `Show ${below} below` : `Hide ${below} below`}
    onClick={(event) => {
      event.stopPropagation();
      fold(id, !isFolded);
    }}
  >
    {isFolded ? '▸' : '▾'}
  </button>
);

/** Indents by depth; a span without descendants has an empty fold position. */
const indented = (depth: number, hasFold: boolean): StyledCell['attributes'] => ({
  style: { paddingLeft: `calc(${Math.min(depth, 20)}em + ${hasFold ? 0 : 24}px)` },
});

const nameCell = ({ span, depth, below }: PlacedSpan, isMatch: boolean): Cell => {
  const name = shownText(span.name);
  const attributes = indented(depth, below > 0);
  const hasFailed = span.status === 'error';
  // Most spans only have a name.
  if (below === 0 && !hasFailed && !isMatch && span.warnings.length === 0 && typeof name === 'string')
    return { attributes, content: name };
  const isFolded = folded.value.has(span.spanId);
  const odd = span.warnings.flatMap((warning) =>
    warning in oddities ? [oddities[warning as keyof typeof oddities]] : [],
  );
  return {
    attributes,
    content: (
      <>
        {below === 0 ? null : <Fold id={span.spanId} below={below} isFolded={isFolded} />}
        {hasFailed ? <b class="text-error">failed </b> : null}
        <bdi class={isMatch ? 'match' : ''}>{name}</bdi>
        {isFolded ? <span class="soft"> and {below} below</span> : null}
        {odd.length === 0 ? null : <span class="text-warn"> {odd.join(', ')}</span>}
      </>
    ),
  };
};

/** Returns the key of a log in the URL and in rows; a span's key is its id. */
export const logKey = (id: string): string => `log ${id}`;
const keyOf = (row: Row): string => ('of' in row ? row.of.span.spanId : logKey(row.log.id));

/** A log line has the full width of the row, followed by its time. */
const logCells = ({ log, depth, offsetNs, service }: LogRow, whole: number): readonly Cell[] => [
  {
    attributes: { ...indented(depth, false), class: 'in-line' },
    content: (
      <>
        <b class={`text-${levelOf(log.severity)}`}>{log.severity || 'log'}</b> at {shownDuration(offsetNs)}
        {log.service === service ? ' ' : <> in {shownText(log.service)} </>}
        <bdi>{shownText(textOf(log.body).slice(0, 300))}</bdi>
      </>
    ),
  },
  { attributes: track, content: <span class="moment" style={{ left: percent(offsetNs, whole) }} /> },
];

export const Waterfall = ({
  trace,
  placed,
  logs,
  matches,
  held,
}: {
  readonly trace: Trace;
  readonly placed: readonly PlacedSpan[];
  readonly logs: readonly TraceLog[];
  /** Ids of spans that match the search */
  readonly matches: ReadonlySet<string>;
  /** Match to scroll to */
  readonly held: string;
}) => {
  const whole = Math.max(1, Number(trace.durationNs));
  const paths = useMemo(() => pathOf(trace), [trace]);
  const rows = useMemo(
    () => rowsOf(unfolded(placed, folded.value), logs, trace.startTime),
    [placed, folded.value, logs, trace],
  );
  const open = inAddress('span');
  return (
    <Rows<Row>
      items={rows}
      label="Spans"
      class="waterfall"
      columns={['Span', 'Service', 'Duration', 'Timeline']}
      keyOf={keyOf}
      cellsOf={(row) =>
        'of' in row
          ? [
              nameCell(row.of, matches.has(row.of.span.spanId)),
              inCell(row.of.span.service),
              shownDuration(row.of.span.durationNs),
              barCell(row.of, whole, paths.get(row.of.span.spanId) ?? []),
            ]
          : logCells(row, whole)
      }
      open={open}
      held={held}
      onOpen={(key) => change({ span: key }, { replace: open !== '' })}
      onKey={(key, row) => {
        if (!('of' in row) || (key !== 'ArrowLeft' && key !== 'ArrowRight')) return false;
        fold(row.of.span.spanId, key === 'ArrowLeft' && row.of.below > 0);
        return true;
      }}
    />
  );
};
