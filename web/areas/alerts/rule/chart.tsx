/** Chart of the evaluated values, the thresholds, and the times at which the rule would have started to fire */
import { useMemo } from 'preact/hooks';
import { type TimeSeries, TimeSeriesChart } from '../../../charts/time-series.tsx';
import { formatQuantity, toLines } from '../../../charts/values.ts';
import type { RulePreview } from '../calls.ts';

const severityColors: Readonly<Record<string, string>> = { critical: 'red', error: 'orange', warning: 'yellow' };

type PastValues = NonNullable<RulePreview['past']>;

const toTimeSeries = (lines: ReturnType<typeof toLines>['lines'], unit: string): TimeSeries[] =>
  lines.map(({ name, values }) => ({
    name,
    unit,
    values,
    drawStyle: 'lines',
    area: 0,
    isStacked: false,
    connectsGaps: false,
    formatValue: (value) => formatQuantity(value, unit),
  }));

/** Returns the axis range, with margins for thresholds beyond all values. */
const axisRangeFor = (values: readonly number[], limits: readonly number[]) => {
  const [min, max] = [Math.min(0, ...values, ...limits), Math.max(0, ...values, ...limits)];
  return { low: min, high: max === min ? min + 1 : max + (max - min) * 0.08 };
};

const noRanges: readonly (readonly [from: number, to: number])[] = [];

export const PastChart = ({
  past,
  firings,
  ranges = noRanges,
  group = 'rule',
}: {
  readonly past: PastValues;
  /** Starts of firing, in epoch milliseconds */
  readonly firings: readonly number[];
  /** Shaded times, in which an alert fires */
  readonly ranges?: readonly (readonly [from: number, to: number])[];
  readonly group?: string;
}) => {
  const { limits } = past;
  const unit = past.series[0]?.unit ?? '';
  const { steps, lines } = useMemo(() => toLines(past), [past]);
  const series = useMemo(() => toTimeSeries(lines, unit), [lines, unit]);
  const thresholdLines = limits.flatMap(({ severity, value, upper }) =>
    [value, ...(upper === null ? [] : [upper])].map(
      (threshold) => [threshold, severityColors[severity] ?? 'blue'] as const,
    ),
  );
  const thresholdTexts = limits.map(
    ({ severity, operator, value, upper }) =>
      `${severity} ${operator} ${formatQuantity(value, unit)}${upper === null ? '' : ` to ${formatQuantity(upper, unit)}`}`,
  );
  const marks = useMemo(() => firings.map((at) => ({ at, title: 'Starts firing' })), [firings]);
  const values = lines.flatMap((line) => line.values.filter((value) => value !== undefined));
  return (
    <TimeSeriesChart
      title={['Compared value', ...thresholdTexts].join(', ')}
      steps={steps}
      series={series}
      legend={true}
      group={group}
      height={180}
      marks={marks}
      ranges={ranges}
      limits={thresholdLines}
      {...axisRangeFor(
        values.slice(0, 50_000),
        thresholdLines.map(([value]) => value),
      )}
      from={Date.parse(past.from)}
      to={Date.parse(past.to)}
    />
  );
};
