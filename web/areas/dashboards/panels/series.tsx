/** Panel of time series. The code and uPlot are loaded on first use. */
import { useMemo } from 'preact/hooks';
import { type TimeSeries, TimeSeriesChart } from '../../../charts/over-time.tsx';
import { toNumberOrUndefined } from '../../../charts/reduce.ts';
import { type Field, fieldsOf, isNumeric, shownIn, timesOf, toneOf } from '../fields.ts';
import type { PanelProps } from './panel-props.ts';

const toTimeSeries = (field: Field, values: readonly unknown[]): TimeSeries => {
  const { drawing = {}, colour } = field.settings;
  return {
    name: field.name,
    unit: field.unit,
    drawStyle: drawing.as ?? 'lines',
    values: values.map((each) => {
      const value = toNumberOrUndefined(each);
      return value === undefined || !Number.isFinite(value) ? undefined : value;
    }),
    area: (drawing.area ?? 0) / 100,
    isStacked: drawing.stack !== undefined && drawing.stack !== 'none',
    connectsGaps: drawing.joinGaps !== undefined && drawing.joinGaps !== false,
    colorName: colour?.mode === 'fixed' && colour.fixed !== undefined ? toneOf(colour.fixed) : undefined,
    formatValue: (value) => shownIn(field, value),
  };
};

/** Returns the threshold lines of the first field that displays its thresholds. */
const thresholdLines = (fields: readonly Field[]): (readonly [number, string])[] => {
  const thresholds = fields.find(({ settings }) => (settings.drawing?.thresholds ?? 'none') !== 'none')?.settings
    .thresholds;
  return (thresholds?.steps ?? []).flatMap(({ value, colour }) =>
    value === null ? [] : [[value, toneOf(colour)] as const],
  );
};

/** Returns the bands of expected values as field indexes: upper bound, lower bound, and observed values. */
const buildBands = (fields: readonly Field[]): (readonly [upper: number, lower: number, of: number])[] => {
  const bandFieldIndex = (of: string, part: string): number =>
    fields.findIndex(({ band }) => band?.of === of && band.part === part);
  return fields.flatMap(({ band }, upper) => {
    if (band?.part !== 'at most') return [];
    const lower = bandFieldIndex(band.of, 'at least');
    return lower < 0 ? [] : [[upper, lower, Math.max(0, bandFieldIndex(band.of, 'value'))] as const];
  });
};

const isSame = (one: readonly number[], other: readonly number[]): boolean =>
  one === other || (one.length === other.length && one.every((time, at) => time === other[at]));

/** Returns the values of a field at the steps of its panel. */
const alignToSteps = ({ values }: Field, times: readonly number[], steps: readonly number[]): readonly unknown[] => {
  // Most fields have all steps of their panel; a lookup per time costs more than drawing.
  if (isSame(times, steps)) return values;
  const byTime = new Map(times.map((time, at) => [time, values[at]]));
  return steps.map((step) => byTime.get(step));
};

const unionSteps = (all: readonly (readonly number[])[]): readonly number[] => {
  const [first = []] = all;
  return all.every((times) => isSame(times, first))
    ? first
    : [...new Set(all.flat())].sort((one, other) => one - other);
};

const buildSeries = (props: PanelProps) => {
  const all = fieldsOf(props.panel);
  const timedFields = all
    .filter((field) => isNumeric(field) && !(field.settings.hiddenIn ?? []).includes('graph'))
    .map((field) => ({ field, times: timesOf(field, all) }))
    .filter(({ times }) => times.length > 0);
  const steps = unionSteps(timedFields.map(({ times }) => times));
  const series = timedFields.map(({ field, times }) => toTimeSeries(field, alignToSteps(field, times, steps)));
  return { shown: timedFields.map(({ field }) => field), steps, series };
};

export const SeriesPanel = (props: PanelProps) => {
  const { panel, height, from, to, annotationTimes, group } = props;
  const { shown, steps, series } = useMemo(() => buildSeries(props), [panel]);
  if (steps.length === 0) return <p class="soft">No values in this range.</p>;
  const hasLegend = (panel.visual['legend'] as { readonly place?: string } | undefined)?.place !== 'hidden';
  const { min, max } = shown[0]?.settings ?? {};
  return (
    <TimeSeriesChart
      title={panel.title}
      steps={steps}
      series={series}
      from={from}
      to={to}
      marks={annotationTimes}
      group={group}
      low={min}
      high={max}
      legend={hasLegend}
      limits={thresholdLines(shown)}
      bands={buildBands(shown)}
      height={Math.max(70, height - (hasLegend ? 22 + 20 * Math.min(3, Math.ceil(series.length / 2)) : 22))}
    />
  );
};
