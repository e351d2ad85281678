/** Chart of a series with its expected values */
import { useMemo } from 'preact/hooks';
import { OverTime, type TimeSeries } from '../../charts/over-time.tsx';
import { shownValue } from '../../charts/values.ts';
import type { ShownAnomaly } from './calls.ts';

/** Indexes in a point */
const parts = { value: 1, expected: 2, 'at most': 4, 'at least': 3 } as const;

export const Band = ({ anomaly }: { readonly anomaly: ShownAnomaly }) => {
  const { points, begin, end, series: of } = anomaly;
  const { steps, series } = useMemo(() => {
    const known = (value: number | string | boolean | null | undefined): number | undefined =>
      typeof value === 'number' ? value : undefined;
    const lines = Object.entries(parts).map(
      ([name, place]): TimeSeries => ({
        name,
        unit: of.unit,
        as: 'lines',
        area: 0,
        isStacked: false,
        joinsGaps: false,
        values: points.map((point) => known(point[place])),
        shown: (value) => shownValue(value, of.unit),
      }),
    );
    return { steps: points.map(([time]) => time), series: lines };
  }, [points]);
  const [first, last] = [steps[0], steps.at(-1)];
  if (first === undefined || last === undefined)
    return <p class="soft">The data points of this anomaly have expired.</p>;
  const moments = [begin, ...(end === null ? [] : [end])].map((moment) => Date.parse(moment));
  return (
    <OverTime
      title={`${of.name || 'Series'} and expected range`}
      steps={steps}
      series={series}
      from={first}
      to={last}
      height={160}
      group="anomaly"
      marks={moments}
      legend={true}
      bands={[[2, 3, 0]]}
    />
  );
};
