/**
 * Number of records over time by the values of a field. Dragging, or a click on an interval in the data table, selects
 * a time range.
 */
import { useDrag } from '../../charts/drag.ts';
import { toSeverityLevel } from '../../frame/severity.ts';
import { markHiddenCharacters, renderText } from '../../frame/shown-text.tsx';
import { formatShortTime, formatTime } from '../../frame/shown-time.ts';
import { setRangeInMs } from '../../frame/time-range.ts';
import { ScrollRegion } from '../../lists/scrolled.tsx';
import type { Histogram } from './calls.ts';

const height = 80;
const styleCount = 8;

interface Bar {
  readonly start: number;
  readonly total: number;
  readonly counts: readonly number[];
}

/** A value of the field, with its color in both themes */
interface HistogramSeries {
  readonly name: string;
  readonly style: string;
  readonly records: number;
}

/** Returns the values of the field, and the remainder. */
const toSeries = ({ series, rest }: Histogram, field: string): HistogramSeries[] => {
  const isSeverity = field === 'severity';
  const missingValueLabel = isSeverity ? 'no severity' : `no ${field}`;
  const parts = series.map(({ value, records }, index) => ({
    name: value === '' ? missingValueLabel : value,
    records,
    style: isSeverity ? `level-${toSeverityLevel(value)}` : `line-${index % styleCount}`,
  }));
  return rest === null ? parts : [...parts, { name: 'others', style: 'level-none', records: rest.records }];
};

const toBars = ({ steps, series, rest }: Histogram): Bar[] =>
  steps.map(({ start }, index) => {
    const all = rest === null ? series : [...series, rest];
    const counts = all.map(({ counts }) => counts[index] ?? 0);
    return { start: Date.parse(start), counts, total: counts.reduce((sum, count) => sum + count, 0) };
  });

const number = new Intl.NumberFormat('en');

const StackedBar = ({
  bar,
  index,
  maxCount,
  parts,
}: {
  readonly bar: Bar;
  readonly index: number;
  readonly maxCount: number;
  readonly parts: readonly HistogramSeries[];
}) => {
  let stackedHeight = 0;
  return (
    <>
      {bar.counts.map((count, part) => {
        const size = (count / maxCount) * height;
        stackedHeight += size;
        return (
          <rect
            key={parts[part]?.name}
            class={parts[part]?.style}
            x={index + 0.05}
            width={0.9}
            y={height - stackedHeight}
            height={size}
          />
        );
      })}
    </>
  );
};

interface HistogramData {
  readonly answer: Histogram;
  readonly bars: readonly Bar[];
  readonly parts: readonly HistogramSeries[];
}

const DataTable = ({ answer: { stepMs }, bars, parts }: HistogramData) => (
  <details>
    <summary>Data table</summary>
    <ScrollRegion class="numbers" label="Chart data">
      <table>
        <thead>
          <tr>
            <th scope="col">From</th>
            {parts.map(({ name }) => (
              <th key={name} scope="col">
                {renderText(name)}
              </th>
            ))}
            <th scope="col">All</th>
          </tr>
        </thead>
        <tbody>
          {bars
            .filter(({ total }) => total > 0)
            .map(({ start, counts, total }) => (
              <tr key={start}>
                <td>
                  <button
                    type="button"
                    class="value"
                    title="Zoom to this interval"
                    onClick={() => setRangeInMs(start, start + stepMs - 1)}
                  >
                    {formatTime(start)}
                  </button>
                </td>
                {parts.map(({ name }, index) => (
                  <td key={name}>{number.format(counts[index] ?? 0)}</td>
                ))}
                <td>{number.format(total)}</td>
              </tr>
            ))}
        </tbody>
      </table>
    </ScrollRegion>
  </details>
);

const Chart = ({ answer, bars, parts }: HistogramData) => {
  const maxCount = Math.max(1, ...bars.map(({ total }) => total));
  const countsText = parts
    .map(({ name, records }) => `${markHiddenCharacters(name)} ${number.format(records)}`)
    .join(', ');
  const { selection, dragHandlers } = useDrag(bars.length, (low, high) => {
    const [first, last] = [bars[low], bars[high]];
    if (first !== undefined && last !== undefined) setRangeInMs(first.start, last.start + answer.stepMs - 1);
  });
  return (
    <svg
      class="histogram"
      role="img"
      aria-label={`${number.format(answer.records)} records by time: ${countsText}. Maximum in one interval: ${number.format(maxCount)}.`}
      viewBox={`0 0 ${bars.length} ${height}`}
      preserveAspectRatio="none"
      {...dragHandlers}
    >
      {bars.map((bar, index) => (
        <StackedBar key={bar.start} bar={bar} index={index} maxCount={maxCount} parts={parts} />
      ))}
      {selection === undefined ? null : (
        <rect class="chosen" x={selection.first} width={selection.last - selection.first + 1} y={0} height={height} />
      )}
    </svg>
  );
};

export const LogHistogram = ({
  answer,
  field,
  isOld,
}: {
  readonly answer: Histogram | undefined;
  /** Field by whose values records are counted */
  readonly field: string;
  /** Whether a newer request is pending */
  readonly isOld: boolean;
}) => {
  if (answer === undefined) return <div class="chart" />;
  const charted = { answer, bars: toBars(answer), parts: toSeries(answer, field) };
  return (
    <div class={isOld ? 'chart old' : 'chart'}>
      <p class="legend">
        <b id="count">{number.format(answer.records)}</b> records
        {charted.parts.map(({ name, style, records }) => (
          <span key={name}>
            {' '}
            <span class={`swatch ${style}`} /> <bdi>{renderText(name.slice(0, 80))}</bdi> {number.format(records)}
          </span>
        ))}
      </p>
      <Chart {...charted} />
      <p class="axis">
        <span>{formatShortTime(Date.parse(answer.from))}</span>
        <span>{formatShortTime(Date.parse(answer.to))}</span>
      </p>
      <DataTable {...charted} />
    </div>
  );
};
