/** Chart of a series with its expected values */
import { useMemo } from 'preact/hooks';
import { type TimeSeries, TimeSeriesChart } from '../../charts/time-series.tsx';
import { formatQuantity } from '../../charts/values.ts';
import type { AnomalyDetails } from './calls.ts';

/** Positions of the values in a data point; position 0 is the time */
const valueIndexes = { value: 1, expected: 2, 'at most': 4, 'at least': 3 } as const;

export const ExpectedRangeChart = ({ anomaly }: { readonly anomaly: AnomalyDetails }) => {
  const { points, begin, end, series: seriesInfo } = anomaly;
  const { steps, series } = useMemo(() => {
    const toNumber = (value: number | string | boolean | null | undefined): number | undefined =>
      typeof value === 'number' ? value : undefined;
    const lines = Object.entries(valueIndexes).map(
      ([name, valueIndex]): TimeSeries => ({
        name,
        unit: seriesInfo.unit,
        drawStyle: 'lines',
        area: 0,
        isStacked: false,
        connectsGaps: false,
        values: points.map((point) => toNumber(point[valueIndex])),
        formatValue: (value) => formatQuantity(value, seriesInfo.unit),
      }),
    );
    return { steps: points.map(([time]) => time), series: lines };
  }, [points]);
  const [first, last] = [steps[0], steps.at(-1)];
  if (first === undefined || last === undefined)
    return <p class="soft">The data points of this anomaly have expired.</p>;
  const marks = [
    { at: Date.parse(begin), title: 'Anomaly begins' },
    ...(end === null ? [] : [{ at: Date.parse(end), title: 'Anomaly ends' }]),
  ];
  return (
    <TimeSeriesChart
      title={`${seriesInfo.name || 'Series'} and expected range`}
      steps={steps}
      series={series}
      from={first}
      to={last}
      height={160}
      group="anomaly"
      marks={marks}
      legend={true}
      bands={[[2, 3, 0]]}
    />
  );
};
