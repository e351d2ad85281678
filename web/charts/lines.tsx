/** Chart of series with one unit: lines, or the shares of a sum as stacked bars */
import { useMemo } from 'preact/hooks';
import { type Mark, type TimeSeries, TimeSeriesChart } from './time-series.tsx';
import { formatQuantity, type Line } from './values.ts';

export interface LineChartProps {
  /** Short title of the chart */
  readonly title: string;
  readonly unit: string;
  /** Epoch milliseconds. */
  readonly steps: readonly number[];
  readonly stepMs: number;
  readonly lines: readonly (Line & Pick<TimeSeries, 'isEarlier' | 'colorName'>)[];
  /** Starts of the steps that the range covers only partly; by default the last step, while it is not over */
  readonly partialSteps?: readonly number[] | undefined;
  readonly height?: number;
  readonly marks?: readonly Mark[] | undefined;
  readonly hasDataTable?: boolean;
  /** Whether the series are shares of a sum, which stacked bars show */
  readonly isStacked?: boolean;
}

/** Opacity of the area below a single line */
const singleLineArea = 0.1;
const barOpacity = 0.75;

const findUnfinishedSteps = (steps: readonly number[], stepMs: number): readonly number[] => {
  const last = steps.at(-1);
  return last !== undefined && last + stepMs > Date.now() ? [last] : [];
};

export const LineChart = ({
  title,
  unit,
  steps,
  stepMs,
  lines,
  partialSteps,
  height = 180,
  marks = [],
  hasDataTable = true,
  isStacked = false,
}: LineChartProps) => {
  const series = useMemo(
    () =>
      lines.map(
        (line): TimeSeries => ({
          name: line.name,
          unit,
          values: line.values,
          drawStyle: isStacked ? 'bars' : 'lines',
          area: isStacked ? barOpacity : lines.length === 1 ? singleLineArea : 0,
          isStacked,
          connectsGaps: false,
          colorName: line.colorName,
          isEarlier: line.isEarlier === true,
          formatValue: (value) => formatQuantity(value, unit),
        }),
      ),
    [lines, unit, isStacked],
  );
  const partial = useMemo(() => partialSteps ?? findUnfinishedSteps(steps, stepMs), [partialSteps, steps, stepMs]);
  const first = steps[0];
  const last = steps.at(-1);
  if (first === undefined || last === undefined) return null;
  return (
    <TimeSeriesChart
      title={title}
      steps={steps}
      partialSteps={partial}
      series={series}
      from={first}
      to={last + (steps.length > 1 && !isStacked ? 0 : stepMs)}
      height={height}
      group="page"
      marks={marks}
      legend={true}
      hasDataTable={hasDataTable}
    />
  );
};
