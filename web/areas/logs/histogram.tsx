/**
 * Number of records over time by the values of a field. Dragging, or a click on an interval in the data table, selects
 * a time range.
 */
import { useDrag } from '../../charts/drag.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatShortTime, formatTime } from '../../frame/format-time.ts';
import { markHiddenCharacters } from '../../frame/hidden-characters.ts';
import { toSeverityLevel } from '../../frame/severity.ts';
import { setRangeInMs } from '../../frame/time-range.ts';
import { ScrollRegion } from '../../lists/scroll-region.tsx';
import type { Histogram } from './calls.ts';

const chartHeight = 80;
const colorCount = 8;

interface Bar {
  readonly start: number;
  readonly total: number;
  readonly counts: readonly number[];
}

/** A value of the field, with its color in both themes */
interface HistogramSeries {
  readonly name: string;
  readonly cssClass: string;
  readonly records: number;
}

/** Returns the values of the field, and the remainder. */
const toSeries = ({ series, rest }: Histogram, field: string): HistogramSeries[] => {
  const isSeverity = field === 'severity';
  const missingValueLabel = isSeverity ? 'no severity' : `no ${field}`;
  const histogramSeries = series.map(({ value, records }, index) => ({
    name: value === '' ? missingValueLabel : value,
    records,
    cssClass: isSeverity ? `level-${toSeverityLevel(value)}` : `line-${index % colorCount}`,
  }));
  return rest === null
    ? histogramSeries
    : [...histogramSeries, { name: 'other', cssClass: 'level-none', records: rest.records }];
};

const toBars = ({ steps, series, rest }: Histogram): Bar[] =>
  steps.map(({ start }, index) => {
    const allSeries = rest === null ? series : [...series, rest];
    const counts = allSeries.map(({ counts }) => counts[index] ?? 0);
    return { start: Date.parse(start), counts, total: counts.reduce((sum, count) => sum + count, 0) };
  });

const numberFormat = new Intl.NumberFormat('en');

const StackedBar = ({
  bar,
  index,
  maxCount,
  histogramSeries,
}: {
  readonly bar: Bar;
  readonly index: number;
  readonly maxCount: number;
  readonly histogramSeries: readonly HistogramSeries[];
}) => {
  let stackedHeight = 0;
  return (
    <>
      {bar.counts.map((count, seriesIndex) => {
        const size = (count / maxCount) * chartHeight;
        stackedHeight += size;
        return (
          <rect
            key={histogramSeries[seriesIndex]?.name}
            class={histogramSeries[seriesIndex]?.cssClass}
            x={index + 0.05}
            width={0.9}
            y={chartHeight - stackedHeight}
            height={size}
          />
        );
      })}
    </>
  );
};

interface HistogramData {
  readonly response: Histogram;
  readonly bars: readonly Bar[];
  readonly histogramSeries: readonly HistogramSeries[];
}

const DataTable = ({ response: { stepMs }, bars, histogramSeries }: HistogramData) => (
  <details>
    <summary>Data table</summary>
    <ScrollRegion class="numbers" label="Chart data">
      <table>
        <thead>
          <tr>
            <th scope="col">From</th>
            {histogramSeries.map(({ name }) => (
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
                {histogramSeries.map(({ name }, index) => (
                  <td key={name}>{numberFormat.format(counts[index] ?? 0)}</td>
                ))}
                <td>{numberFormat.format(total)}</td>
              </tr>
            ))}
        </tbody>
      </table>
    </ScrollRegion>
  </details>
);

const HistogramChart = ({ response, bars, histogramSeries }: HistogramData) => {
  const maxCount = Math.max(1, ...bars.map(({ total }) => total));
  const countsText = histogramSeries
    .map(({ name, records }) => `${markHiddenCharacters(name)} ${numberFormat.format(records)}`)
    .join(', ');
  const { selection, dragHandlers } = useDrag(bars.length, (low, high) => {
    const [first, last] = [bars[low], bars[high]];
    if (first !== undefined && last !== undefined) setRangeInMs(first.start, last.start + response.stepMs - 1);
  });
  return (
    <svg
      class="histogram"
      role="img"
      aria-label={`${numberFormat.format(response.records)} records by time: ${countsText}. Maximum in one interval: ${numberFormat.format(maxCount)}.`}
      viewBox={`0 0 ${bars.length} ${chartHeight}`}
      preserveAspectRatio="none"
      {...dragHandlers}
    >
      {bars.map((bar, index) => (
        <StackedBar key={bar.start} bar={bar} index={index} maxCount={maxCount} histogramSeries={histogramSeries} />
      ))}
      {selection === undefined ? null : (
        <rect
          class="chosen"
          x={selection.first}
          width={selection.last - selection.first + 1}
          y={0}
          height={chartHeight}
        />
      )}
    </svg>
  );
};

export const LogHistogram = ({
  answer: response,
  field,
  isStale,
}: {
  readonly answer: Histogram | undefined;
  /** Field whose values group the record counts */
  readonly field: string;
  /** Whether a newer request is pending */
  readonly isStale: boolean;
}) => {
  if (response === undefined) return <div class="chart" />;
  const histogramData = { response, bars: toBars(response), histogramSeries: toSeries(response, field) };
  return (
    <div class={isStale ? 'chart old' : 'chart'}>
      <p class="legend">
        <b id="count">{numberFormat.format(response.records)}</b> records
        {histogramData.histogramSeries.map(({ name, cssClass, records }) => (
          <span key={name}>
            {' '}
            <span class={`swatch ${cssClass}`} /> <bdi>{renderText(name.slice(0, 80))}</bdi>{' '}
            {numberFormat.format(records)}
          </span>
        ))}
      </p>
      <HistogramChart {...histogramData} />
      <p class="axis">
        <span>{formatShortTime(Date.parse(response.from))}</span>
        <span>{formatShortTime(Date.parse(response.to))}</span>
      </p>
      <DataTable {...histogramData} />
    </div>
  );
};
