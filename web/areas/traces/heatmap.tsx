/**
 * Heatmap of span durations over time, with a cell per step and duration bucket. Dragging selects a region, whose spans
 * are compared with all others.
 */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { ApiQuery } from '../../client/query.ts';
import { readParam } from '../../frame/address.ts';
import { formatShortTime, formatTime } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { projectScope } from '../../frame/project.ts';
import { refreshCount, timeRange } from '../../frame/time-range.ts';
import { ScrollRegion } from '../../lists/scroll-region.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import { spansCall } from '../../search/suggest-span-fields.ts';
import { durationBounds, heatmapRows, region, setRegion, toDurationSearch } from './region.ts';

const heatmapQuery = new ApiQuery(spansCall);

const rowHeight = 10;
const height = heatmapRows.length * rowHeight;
const number = new Intl.NumberFormat('en');

const countsByRow = heatmapRows.map((row, index) => `count where "${toDurationSearch(row)}" as d${index}`).join(',');

interface HeatmapData {
  readonly steps: readonly number[];
  readonly stepMs: number;
  /** Counts by row and step; the first row has the shortest durations */
  readonly counts: readonly (readonly number[])[];
  readonly maxCount: number;
}

const toHeatmapData = (response: (typeof heatmapQuery)['state']['value']['response']): HeatmapData | undefined => {
  const result = response?.aggregate;
  if (result === null || result === undefined || result.stepMs === null) return undefined;
  const { stepMs } = result;
  const [from, to] = [Date.parse(result.from), Date.parse(result.to)];
  const first = Math.floor(from / stepMs) * stepMs;
  const steps = Array.from(
    { length: Math.max(1, Math.ceil((to - first) / stepMs)) },
    (_, index) => first + index * stepMs,
  );
  const counts = heatmapRows.map((_, row) => {
    const byStep = new Map(result.series.find(({ name }) => name === `d${row}`)?.points ?? []);
    return steps.map((step) => Number(byStep.get(step) ?? 0));
  });
  return { steps, stepMs, counts, maxCount: Math.max(1, ...counts.flat()) };
};

const formatBounds = ({ atLeast, below }: { readonly atLeast: string; readonly below: string }): string => {
  if (atLeast === '') return `below ${below}`;
  return below === '' ? `${atLeast} or more` : `${atLeast} to ${below}`;
};

const sum = (counts: readonly number[]): number => counts.reduce((all, count) => all + count, 0);

const describeHeatmap = ({ counts }: HeatmapData): string => {
  const all = sum(counts.flat());
  const rowTexts = counts
    .map((row, index) => [formatBounds(heatmapRows[index] ?? { atLeast: '', below: '' }), sum(row)] as const)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${name} ${number.format(count)}`);
  return `${number.format(all)} spans by duration and time: ${rowTexts.join(', ') || 'none'}.`;
};

/** Returns the cell under the pointer. */
const findCell = (event: PointerEvent, steps: number): readonly [step: number, row: number] => {
  const rect = (event.currentTarget as Element).getBoundingClientRect();
  const toIndex = (share: number, count: number): number => Math.max(0, Math.min(count - 1, Math.floor(share * count)));
  return [
    toIndex((event.clientX - rect.left) / rect.width, steps),
    heatmapRows.length - 1 - toIndex((event.clientY - rect.top) / rect.height, heatmapRows.length),
  ];
};

interface Drag {
  readonly begin: readonly [step: number, row: number];
  readonly end: readonly [step: number, row: number];
}

const toCorners = ({ begin, end }: Drag) => ({
  first: Math.min(begin[0], end[0]),
  last: Math.max(begin[0], end[0]),
  low: Math.min(begin[1], end[1]),
  high: Math.max(begin[1], end[1]),
});

/** Returns the corners of the selected region. */
const findSelectedCorners = ({ steps }: HeatmapData) => {
  const selectedRegion = region.value;
  if (selectedRegion === undefined) return undefined;
  const [since, until] = [Date.parse(selectedRegion.since), Date.parse(selectedRegion.until)];
  const low = heatmapRows.findIndex(({ atLeast }) => atLeast === selectedRegion.atLeast);
  const high = heatmapRows.findIndex(({ below }) => below === selectedRegion.below);
  if (low < 0 || high < 0) return undefined;
  return {
    low,
    high,
    first: selectedRegion.since === '' ? 0 : Math.max(0, steps.indexOf(since)),
    last: selectedRegion.until === '' ? steps.length - 1 : steps.findLastIndex((step) => step < until),
  };
};

const HeatmapCells = ({ heat }: { readonly heat: HeatmapData }) => {
  const [drag, setDrag] = useState<Drag>();
  const { steps, stepMs, counts, maxCount } = heat;
  const corners = drag === undefined ? findSelectedCorners(heat) : toCorners(drag);
  const selectRegion = (): void => {
    setDrag(undefined);
    if (drag === undefined) return;
    const { first, last, low, high } = toCorners(drag);
    setRegion({
      atLeast: heatmapRows[low]?.atLeast ?? '',
      below: heatmapRows[high]?.below ?? '',
      since: new Date(steps[first] ?? 0).toISOString(),
      until: new Date((steps[last] ?? 0) + stepMs).toISOString(),
    });
  };
  return (
    <svg
      class="heatmap"
      role="img"
      aria-label={describeHeatmap(heat)}
      viewBox={`0 0 ${steps.length} ${height}`}
      preserveAspectRatio="none"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        const cell = findCell(event, steps.length);
        setDrag({ begin: cell, end: cell });
      }}
      onPointerMove={(event) => {
        if (drag !== undefined) setDrag({ ...drag, end: findCell(event, steps.length) });
      }}
      onPointerUp={selectRegion}
      onPointerCancel={() => setDrag(undefined)}
    >
      {counts.map((row, index) =>
        row.map((count, step) =>
          count === 0 ? null : (
            <rect
              key={`${heatmapRows[index]?.atLeast} ${steps[step]}`}
              x={step}
              width={1}
              y={height - (index + 1) * rowHeight}
              height={rowHeight}
              // Small counts remain visible, because slow spans are rare.
              opacity={0.25 + 0.75 * (Math.log1p(count) / Math.log1p(maxCount))}
            />
          ),
        ),
      )}
      {corners === undefined ? null : (
        <rect
          class="chosen"
          x={corners.first}
          width={corners.last - corners.first + 1}
          y={height - (corners.high + 1) * rowHeight}
          height={(corners.high - corners.low + 1) * rowHeight}
        />
      )}
    </svg>
  );
};

const HeatmapDataTable = ({ heat: { steps, counts } }: { readonly heat: HeatmapData }) => {
  const nonEmptyRows = heatmapRows
    .map((row, index) => ({ row, index }))
    .filter(({ index }) => sum(counts[index] ?? []) > 0);
  return (
    <details>
      <summary>Data table</summary>
      <ScrollRegion class="numbers" label="Chart data">
        <table>
          <TableHeader columns={['From', ...nonEmptyRows.map(({ row }) => formatBounds(row))]} />
          <tbody>
            {steps
              .map((step, at) => ({ step, at }))
              .filter(({ at }) => counts.some((row) => (row[at] ?? 0) > 0))
              .map(({ step, at }) => (
                <tr key={step}>
                  <td>{formatTime(step)}</td>
                  {nonEmptyRows.map(({ index }) => (
                    <td key={index}>{number.format(counts[index]?.[at] ?? 0)}</td>
                  ))}
                </tr>
              ))}
          </tbody>
        </table>
      </ScrollRegion>
    </details>
  );
};

/** Selects for a range of durations, as a keyboard alternative to dragging */
const DurationRangeSelect = () => {
  const chosen = region.value;
  const renderBoundSelect = (label: string, none: string, value: string, onChoose: (bound: string) => void) => (
    <label>
      {label}{' '}
      <select value={value} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
        <option value="">{none}</option>
        {durationBounds.map((bound) => (
          <option key={bound}>{bound}</option>
        ))}
      </select>
    </label>
  );
  const changeBounds = (ends: { readonly atLeast?: string; readonly below?: string }): void => {
    const newRegion = { atLeast: '', below: '', since: '', until: '', ...region.peek(), ...ends };
    setRegion(newRegion.atLeast + newRegion.below + newRegion.since + newRegion.until === '' ? undefined : newRegion);
  };
  return (
    <div class="toolbar">
      <span>Compare with the rest</span>
      {renderBoundSelect('Min duration', 'any', chosen?.atLeast ?? '', (atLeast) => changeBounds({ atLeast }))}
      {renderBoundSelect('Max duration', 'any', chosen?.below ?? '', (below) => changeBounds({ below }))}
      {chosen === undefined ? null : (
        <button type="button" class="plain" onClick={() => setRegion(undefined)}>
          Clear selection
        </button>
      )}
    </div>
  );
};

/** Placeholder that prevents a layout shift when the cells are loaded */
const CellsPlaceholder = () => (
  <>
    <p class="axis">{'\u00A0'}</p>
    <svg class="heatmap still" aria-hidden="true" />
    <p class="axis">{'\u00A0'}</p>
    <p class="axis">{'\u00A0'}</p>
  </>
);

export const Heatmap = () => {
  const { from, to } = timeRange.value;
  const search = readParam('search');
  useEffect(() => {
    heatmapQuery.run({ query: { from, to, ...projectScope.value, search, measure: countsByRow, step: 'auto' } });
    return () => heatmapQuery.cancel();
  }, [from, to, search, projectScope.value, refreshCount.value]);
  const { response, error, isLoading } = heatmapQuery.state.value;
  const heat = useMemo(() => toHeatmapData(response), [response]);
  return (
    <div class={isLoading ? 'chart old' : 'chart'}>
      {error?.of('search') === undefined ? <ErrorMessage error={error} /> : null}
      {heat === undefined ? (
        error === undefined && <CellsPlaceholder />
      ) : (
        <>
          <p class="axis">
            <span>≥ 30 s</span>
          </p>
          <HeatmapCells heat={heat} />
          <p class="axis">
            <span>&lt; 1 ms · {formatShortTime(heat.steps[0] ?? 0)}</span>
            <span>{formatShortTime((heat.steps.at(-1) ?? 0) + heat.stepMs)}</span>
          </p>
          <HeatmapDataTable heat={heat} />
        </>
      )}
      <DurationRangeSelect />
    </div>
  );
};
