/**
 * Heatmap of span durations over time, with a cell per step and duration. Dragging selects a region, which is compared
 * with the rest.
 */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { ApiQuery } from '../../client/query.ts';
import { inAddress } from '../../frame/address.ts';
import { Problem } from '../../frame/freshness.tsx';
import { projectScope } from '../../frame/project.ts';
import { shortTime, shownTime } from '../../frame/shown-time.ts';
import { refreshes, writtenRange } from '../../frame/time-range.ts';
import { Scrolled } from '../../lists/scrolled.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import { spansCall } from './calls.ts';
import { bounds, cellRows, region, searchOf, setRegion } from './region.ts';

const counted = new ApiQuery(spansCall);

const rowHeight = 10;
const height = cellRows.length * rowHeight;
const number = new Intl.NumberFormat('en');

const measure = cellRows.map((row, index) => `count where "${searchOf(row)}" as d${index}`).join(',');

interface Heat {
  readonly steps: readonly number[];
  readonly stepMs: number;
  /** By row, the shortest durations first, and step */
  readonly counts: readonly (readonly number[])[];
  readonly maxCount: number;
}

const heatOf = (answer: (typeof counted)['state']['value']['answer']): Heat | undefined => {
  const result = answer?.aggregate;
  if (result === null || result === undefined || result.stepMs === null) return undefined;
  const { stepMs } = result;
  const [from, to] = [Date.parse(result.from), Date.parse(result.to)];
  const first = Math.floor(from / stepMs) * stepMs;
  const steps = Array.from(
    { length: Math.max(1, Math.ceil((to - first) / stepMs)) },
    (_, index) => first + index * stepMs,
  );
  const counts = cellRows.map((_, row) => {
    const byStep = new Map(result.series.find(({ name }) => name === `d${row}`)?.points ?? []);
    return steps.map((step) => Number(byStep.get(step) ?? 0));
  });
  return { steps, stepMs, counts, maxCount: Math.max(1, ...counts.flat()) };
};

const nameOf = ({ atLeast, below }: { readonly atLeast: string; readonly below: string }): string => {
  if (atLeast === '') return `below ${below}`;
  return below === '' ? `${atLeast} or more` : `${atLeast} to ${below}`;
};

const sum = (counts: readonly number[]): number => counts.reduce((all, count) => all + count, 0);

const sentenceOf = ({ counts }: Heat): string => {
  const all = sum(counts.flat());
  const rowTexts = counts
    .map((row, index) => [nameOf(cellRows[index] ?? { atLeast: '', below: '' }), sum(row)] as const)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${name} ${number.format(count)}`);
  return `${number.format(all)} spans by duration and time: ${rowTexts.join(', ') || 'none'}.`;
};

/** Returns the cell at the pointer. */
const cellAt = (event: PointerEvent, steps: number): readonly [step: number, row: number] => {
  const box = (event.currentTarget as Element).getBoundingClientRect();
  const within = (share: number, count: number): number => Math.max(0, Math.min(count - 1, Math.floor(share * count)));
  return [
    within((event.clientX - box.left) / box.width, steps),
    cellRows.length - 1 - within((event.clientY - box.top) / box.height, cellRows.length),
  ];
};

interface Drag {
  readonly begin: readonly [step: number, row: number];
  readonly end: readonly [step: number, row: number];
}

const cornersOf = ({ begin, end }: Drag) => ({
  first: Math.min(begin[0], end[0]),
  last: Math.max(begin[0], end[0]),
  low: Math.min(begin[1], end[1]),
  high: Math.max(begin[1], end[1]),
});

/** Returns the corners of the selected region. */
const selectedIn = ({ steps }: Heat) => {
  const chosen = region.value;
  if (chosen === undefined) return undefined;
  const [since, until] = [Date.parse(chosen.since), Date.parse(chosen.until)];
  const low = cellRows.findIndex(({ atLeast }) => atLeast === chosen.atLeast);
  const high = cellRows.findIndex(({ below }) => below === chosen.below);
  if (low < 0 || high < 0) return undefined;
  return {
    low,
    high,
    first: chosen.since === '' ? 0 : Math.max(0, steps.indexOf(since)),
    last: chosen.until === '' ? steps.length - 1 : steps.findLastIndex((step) => step < until),
  };
};

const Cells = ({ heat }: { readonly heat: Heat }) => {
  const [drag, setDrag] = useState<Drag>();
  const { steps, stepMs, counts, maxCount } = heat;
  const corners = drag === undefined ? selectedIn(heat) : cornersOf(drag);
  const choose = (): void => {
    setDrag(undefined);
    if (drag === undefined) return;
    const { first, last, low, high } = cornersOf(drag);
    setRegion({
      atLeast: cellRows[low]?.atLeast ?? '',
      below: cellRows[high]?.below ?? '',
      since: new Date(steps[first] ?? 0).toISOString(),
      until: new Date((steps[last] ?? 0) + stepMs).toISOString(),
    });
  };
  return (
    <svg
      class="heatmap"
      role="img"
      aria-label={sentenceOf(heat)}
      viewBox={`0 0 ${steps.length} ${height}`}
      preserveAspectRatio="none"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        const at = cellAt(event, steps.length);
        setDrag({ begin: at, end: at });
      }}
      onPointerMove={(event) => {
        if (drag !== undefined) setDrag({ ...drag, end: cellAt(event, steps.length) });
      }}
      onPointerUp={choose}
      onPointerCancel={() => setDrag(undefined)}
    >
      {counts.map((row, index) =>
        row.map((count, step) =>
          count === 0 ? null : (
            <rect
              key={`${cellRows[index]?.atLeast} ${steps[step]}`}
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

const Numbers = ({ heat: { steps, counts } }: { readonly heat: Heat }) => {
  const shown = cellRows.map((row, index) => ({ row, index })).filter(({ index }) => sum(counts[index] ?? []) > 0);
  return (
    <details>
      <summary>Data table</summary>
      <Scrolled class="numbers" label="Chart data">
        <table>
          <TableHeader columns={['From', ...shown.map(({ row }) => nameOf(row))]} />
          <tbody>
            {steps
              .map((step, at) => ({ step, at }))
              .filter(({ at }) => counts.some((row) => (row[at] ?? 0) > 0))
              .map(({ step, at }) => (
                <tr key={step}>
                  <td>{shownTime(step)}</td>
                  {shown.map(({ index }) => (
                    <td key={index}>{number.format(counts[index]?.[at] ?? 0)}</td>
                  ))}
                </tr>
              ))}
          </tbody>
        </table>
      </Scrolled>
    </details>
  );
};

/** Keyboard alternative: selects a range of durations. */
const Between = () => {
  const chosen = region.value;
  const choices = (label: string, none: string, value: string, onChoose: (bound: string) => void) => (
    <label>
      {label}{' '}
      <select value={value} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
        <option value="">{none}</option>
        {bounds.map((bound) => (
          <option key={bound}>{bound}</option>
        ))}
      </select>
    </label>
  );
  const change = (ends: { readonly atLeast?: string; readonly below?: string }): void => {
    const next = { atLeast: '', below: '', since: '', until: '', ...region.peek(), ...ends };
    setRegion(next.atLeast + next.below + next.since + next.until === '' ? undefined : next);
  };
  return (
    <div class="toolbar">
      <span>Compare with the rest:</span>
      {choices('at least', 'any', chosen?.atLeast ?? '', (atLeast) => change({ atLeast }))}
      {choices('below', 'any', chosen?.below ?? '', (below) => change({ below }))}
      {chosen === undefined ? null : (
        <button type="button" class="plain" onClick={() => setRegion(undefined)}>
          Clear selection
        </button>
      )}
    </div>
  );
};

/** Reserves the space of the cells until they are loaded, so that the layout does not shift. */
const Place = () => (
  <>
    <p class="axis">{'\u00A0'}</p>
    <svg class="heatmap still" aria-hidden="true" />
    <p class="axis">{'\u00A0'}</p>
    <p class="axis">{'\u00A0'}</p>
  </>
);

export const Heatmap = () => {
  const { from, to } = writtenRange.value;
  const search = inAddress('search');
  useEffect(() => {
    counted.run({ query: { from, to, ...projectScope.value, search, measure, step: 'auto' } });
    return () => counted.cancel();
  }, [from, to, search, projectScope.value, refreshes.value]);
  const { answer, error, isLoading } = counted.state.value;
  const heat = useMemo(() => heatOf(answer), [answer]);
  return (
    <div class={isLoading ? 'chart old' : 'chart'}>
      {error?.of('search') === undefined ? <Problem error={error} /> : null}
      {heat === undefined ? (
        error === undefined && <Place />
      ) : (
        <>
          <p class="axis">
            <span>30 s or more</span>
          </p>
          <Cells heat={heat} />
          <p class="axis">
            <span>below 1 ms · {shortTime(heat.steps[0] ?? 0)}</span>
            <span>{shortTime((heat.steps.at(-1) ?? 0) + heat.stepMs)}</span>
          </p>
          <Numbers heat={heat} />
        </>
      )}
      <Between />
    </div>
  );
};
