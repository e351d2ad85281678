/** Line chart: series, values at the pointer or at the end, and a table of values. Dragging selects a range. */
import { useState } from 'preact/hooks';
import { renderText } from '../frame/shown-text.tsx';
import { formatShortTime, formatTime } from '../frame/shown-time.ts';
import { setRangeInMs } from '../frame/time-range.ts';
import { ScrollRegion } from '../lists/scrolled.tsx';
import { TableHeader } from '../lists/table-header.tsx';
import { findStep, useDrag } from './drag.ts';
import { formatQuantity, type Line } from './values.ts';

const height = 160;
/** Number of line styles; further lines reuse them */
const lineStyles = 8;
/** Maximum number of series in the data table */
const maxColumns = 20;

export interface LinesProps {
  /** Short title of the chart */
  readonly title: string;
  /** Label of its tables, if a view has several */
  readonly name?: string;
  readonly unit: string;
  /** Epoch milliseconds. */
  readonly steps: readonly number[];
  readonly stepMs: number;
  readonly lines: readonly Line[];
}

const removeMissing = (values: Line['values']): number[] => values.filter((value) => value !== undefined);
const findLastValue = ({ values }: Line): number | undefined => values.findLast((value) => value !== undefined);

/** Returns the range from 0, or a lower minimum, to the maximum. */
const toExtent = (lines: readonly Line[]): { readonly low: number; readonly high: number } => {
  let [low, high] = [0, 0];
  for (const { values } of lines)
    for (const value of removeMissing(values)) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  return { low, high: high === low ? low + 1 : high };
};

/** Returns a path with gaps for missing values. An isolated value is a short stroke. */
const toPath = ({ values }: Line, { low, high }: ReturnType<typeof toExtent>): string => {
  const parts: string[] = [];
  for (const [index, value] of values.entries()) {
    if (value === undefined) continue;
    const y = (height - ((value - low) / (high - low)) * height).toFixed(2);
    const isFirst = values[index - 1] === undefined;
    parts.push(isFirst ? `M${index + 0.3},${y}L${index + 0.5},${y}` : `L${index + 0.5},${y}`);
  }
  return parts.join('');
};

const describeChart = ({ title, unit, lines }: LinesProps): string => {
  const values = lines.flatMap(({ values }) => removeMissing(values));
  if (values.length === 0) return `${title}: no values.`;
  const { low, high } = values.reduce(
    ({ low, high }, value) => ({ low: Math.min(low, value), high: Math.max(high, value) }),
    { low: Number.POSITIVE_INFINITY, high: Number.NEGATIVE_INFINITY },
  );
  return `${title}: ${lines.length} series, from ${formatQuantity(low, unit)} to ${formatQuantity(high, unit)}.`;
};

const Plot = (props: LinesProps & { readonly onPointerStep: (step: number | undefined) => void }) => {
  const { steps, stepMs, lines, onPointerStep } = props;
  const { selection, dragHandlers } = useDrag(steps.length, (first, last) => {
    const [from, to] = [steps[first], steps[last]];
    if (from !== undefined && to !== undefined && last > first) setRangeInMs(from, to + stepMs - 1);
  });
  const extent = toExtent(lines);
  return (
    <svg
      class="lines"
      role="img"
      aria-label={describeChart(props)}
      viewBox={`0 0 ${steps.length} ${height}`}
      preserveAspectRatio="none"
      {...dragHandlers}
      onPointerMove={(event) => {
        onPointerStep(findStep(event, steps.length));
        dragHandlers.onPointerMove(event);
      }}
      onPointerLeave={() => onPointerStep(undefined)}
    >
      {lines.map((line, index) => (
        <path key={line.name} class={`line-${index % lineStyles}`} d={toPath(line, extent)} />
      ))}
      {selection === undefined ? null : (
        <rect class="chosen" x={selection.first} width={selection.last - selection.first + 1} y={0} height={height} />
      )}
    </svg>
  );
};

const Legend = ({
  name = 'the chart',
  lines,
  unit,
  cursorIndex,
}: LinesProps & { readonly cursorIndex: number | undefined }) => (
  <ScrollRegion class="numbers" label={`Series of ${name}`}>
    <table>
      <TableHeader columns={['Series', cursorIndex === undefined ? 'Last' : 'At cursor', 'Min', 'Max']} />
      <tbody>
        {lines.map((line, index) => {
          const values = removeMissing(line.values);
          return (
            <tr key={line.name}>
              <td>
                <span class={`swatch line-${index % lineStyles}`} /> <bdi>{renderText(line.name)}</bdi>
              </td>
              <td>
                {formatQuantity(cursorIndex === undefined ? findLastValue(line) : line.values[cursorIndex], unit)}
              </td>
              <td>{values.length === 0 ? '' : formatQuantity(Math.min(...values), unit)}</td>
              <td>{values.length === 0 ? '' : formatQuantity(Math.max(...values), unit)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  </ScrollRegion>
);

/** Data table of a chart, rendered when it is opened */
export const ChartDataTable = ({
  steps,
  lines,
  name = 'the chart',
  formatCell,
}: Pick<LinesProps, 'steps' | 'lines' | 'name'> & {
  /** Formats a value of the line at an index */
  readonly formatCell: (value: number | undefined, index: number) => string;
}) => {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <details class="numbers-of" onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>Data table</summary>
      {isOpen ? (
        <ScrollRegion class="numbers" label={`Data of ${name}`}>
          <table>
            <thead>
              <tr>
                <th scope="col">From</th>
                {lines.slice(0, maxColumns).map(({ name }) => (
                  <th key={name} scope="col">
                    {renderText(name)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {steps.map((step, index) => (
                <tr key={step}>
                  <td>{formatTime(step)}</td>
                  {lines.slice(0, maxColumns).map(({ name, values }, column) => (
                    <td key={name}>{formatCell(values[index], column)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
          {lines.length > maxColumns ? <p class="soft">Only the first {maxColumns} series are shown.</p> : null}
        </ScrollRegion>
      ) : null}
    </details>
  );
};

export const LineChart = (props: LinesProps) => {
  const [cursorIndex, setCursorIndex] = useState<number>();
  const { steps, stepMs, lines, unit } = props;
  const first = steps[0];
  const last = steps.at(-1);
  if (first === undefined || last === undefined) return null;
  const { low, high } = toExtent(lines);
  const cursorTime = cursorIndex === undefined ? undefined : steps[cursorIndex];
  return (
    <div>
      <p class="axis">
        <span>{formatQuantity(high, unit)}</span>
        <span>{cursorTime === undefined ? '' : formatTime(cursorTime)}</span>
      </p>
      <Plot {...props} onPointerStep={setCursorIndex} />
      <p class="axis">
        <span>
          {formatQuantity(low, unit)} · {formatShortTime(first)}
        </span>
        <span>{formatShortTime(last + stepMs)}</span>
      </p>
      <Legend {...props} cursorIndex={cursorIndex} />
      <ChartDataTable {...props} formatCell={(value) => formatQuantity(value, unit)} />
    </div>
  );
};
