/** Line chart: series, values at the pointer or at the end, and a table of values. Dragging selects a range. */
import { useState } from 'preact/hooks';
import { shownText } from '../frame/shown-text.tsx';
import { shortTime, shownTime } from '../frame/shown-time.ts';
import { setMoments } from '../frame/time-range.ts';
import { Scrolled } from '../lists/scrolled.tsx';
import { TableHeader } from '../lists/table-header.tsx';
import { stepAt, useDrag } from './drag.ts';
import { type Line, shownValue } from './values.ts';

const height = 160;
/** Number of line styles, after which colors and dashes repeat */
const styles = 8;
/** Maximum number of columns in the table of values */
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

const known = (values: Line['values']): number[] => values.filter((value) => value !== undefined);
const lastOf = ({ values }: Line): number | undefined => values.findLast((value) => value !== undefined);

/** Returns the range from 0, or a lower minimum, to the maximum. */
const extentOf = (lines: readonly Line[]): { readonly low: number; readonly high: number } => {
  let [low, high] = [0, 0];
  for (const { values } of lines)
    for (const value of known(values)) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  return { low, high: high === low ? low + 1 : high };
};

/** Returns a path with gaps for missing values; an isolated value is a short stroke. */
const pathOf = ({ values }: Line, { low, high }: ReturnType<typeof extentOf>): string => {
  const parts: string[] = [];
  for (const [index, value] of values.entries()) {
    if (value === undefined) continue;
    const y = (height - ((value - low) / (high - low)) * height).toFixed(2);
    const isFirst = values[index - 1] === undefined;
    parts.push(isFirst ? `M${index + 0.3},${y}L${index + 0.5},${y}` : `L${index + 0.5},${y}`);
  }
  return parts.join('');
};

const sentenceOf = ({ title, unit, lines }: LinesProps): string => {
  const values = lines.flatMap(({ values }) => known(values));
  if (values.length === 0) return `${title}: no values.`;
  const { low, high } = values.reduce(
    ({ low, high }, value) => ({ low: Math.min(low, value), high: Math.max(high, value) }),
    { low: Number.POSITIVE_INFINITY, high: Number.NEGATIVE_INFINITY },
  );
  return `${title}: ${lines.length} series, from ${shownValue(low, unit)} to ${shownValue(high, unit)}.`;
};

const Plot = (props: LinesProps & { readonly onPoint: (step: number | undefined) => void }) => {
  const { steps, stepMs, lines, onPoint } = props;
  const { chosen, dragHandlers } = useDrag(steps.length, (first, last) => {
    const [from, to] = [steps[first], steps[last]];
    if (from !== undefined && to !== undefined && last > first) setMoments(from, to + stepMs - 1);
  });
  const extent = extentOf(lines);
  return (
    <svg
      class="lines"
      role="img"
      aria-label={sentenceOf(props)}
      viewBox={`0 0 ${steps.length} ${height}`}
      preserveAspectRatio="none"
      {...dragHandlers}
      onPointerMove={(event) => {
        onPoint(stepAt(event, steps.length));
        dragHandlers.onPointerMove(event);
      }}
      onPointerLeave={() => onPoint(undefined)}
    >
      {lines.map((line, index) => (
        <path key={line.name} class={`line-${index % styles}`} d={pathOf(line, extent)} />
      ))}
      {chosen === undefined ? null : (
        <rect class="chosen" x={chosen.first} width={chosen.last - chosen.first + 1} y={0} height={height} />
      )}
    </svg>
  );
};

const Legend = ({ name = 'the chart', lines, unit, at }: LinesProps & { readonly at: number | undefined }) => (
  <Scrolled class="numbers" label={`Series of ${name}`}>
    <table>
      <TableHeader columns={['Series', at === undefined ? 'Last' : 'At cursor', 'Min', 'Max']} />
      <tbody>
        {lines.map((line, index) => {
          const values = known(line.values);
          return (
            <tr key={line.name}>
              <td>
                <span class={`swatch line-${index % styles}`} /> <bdi>{shownText(line.name)}</bdi>
              </td>
              <td>{shownValue(at === undefined ? lastOf(line) : line.values[at], unit)}</td>
              <td>{values.length === 0 ? '' : shownValue(Math.min(...values), unit)}</td>
              <td>{values.length === 0 ? '' : shownValue(Math.max(...values), unit)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  </Scrolled>
);

/** Table of a chart's values, rendered on demand. */
export const ValueTable = ({
  steps,
  lines,
  name = 'the chart',
  shown,
}: Pick<LinesProps, 'steps' | 'lines' | 'name'> & {
  /** Formats a value of the line at an index */
  readonly shown: (value: number | undefined, index: number) => string;
}) => {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="numbers-of" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Data table</summary>
      {isOpen ? (
        <Scrolled class="numbers" label={`Data of ${name}`}>
          <table>
            <thead>
              <tr>
                <th scope="col">From</th>
                {lines.slice(0, maxColumns).map(({ name }) => (
                  <th key={name} scope="col">
                    {shownText(name)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {steps.map((step, index) => (
                <tr key={step}>
                  <td>{shownTime(step)}</td>
                  {lines.slice(0, maxColumns).map(({ name, values }, column) => (
                    <td key={name}>{shown(values[index], column)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
          {lines.length > maxColumns ? <p class="soft">First {maxColumns} series shown.</p> : null}
        </Scrolled>
      ) : null}
    </details>
  );
};

export const Lines = (props: LinesProps) => {
  const [at, setAt] = useState<number>();
  const { steps, stepMs, lines, unit } = props;
  const first = steps[0];
  const last = steps.at(-1);
  if (first === undefined || last === undefined) return null;
  const { low, high } = extentOf(lines);
  const here = at === undefined ? undefined : steps[at];
  return (
    <div>
      <p class="axis">
        <span>{shownValue(high, unit)}</span>
        <span>{here === undefined ? '' : shownTime(here)}</span>
      </p>
      <Plot {...props} onPoint={setAt} />
      <p class="axis">
        <span>
          {shownValue(low, unit)} · {shortTime(first)}
        </span>
        <span>{shortTime(last + stepMs)}</span>
      </p>
      <Legend {...props} at={at} />
      <ValueTable {...props} shown={(value) => shownValue(value, unit)} />
    </div>
  );
};
