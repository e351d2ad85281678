/** Panel of time series. The code and uPlot are loaded on first use. */
import { useMemo } from 'preact/hooks';
import { OverTime, type TimeSeries } from '../../../charts/over-time.tsx';
import { numberOf } from '../../../charts/reduce.ts';
import { type Field, fieldsOf, isNumeric, shownIn, timesOf, toneOf } from '../fields.ts';
import type { PanelProps } from './panel-props.ts';

const seriesOf = (field: Field, values: readonly unknown[]): TimeSeries => {
  const { drawing = {}, colour } = field.settings;
  return {
    name: field.name,
    unit: field.unit,
    as: drawing.as ?? 'lines',
    values: values.map((each) => {
      const value = numberOf(each);
      return value === undefined || !Number.isFinite(value) ? undefined : value;
    }),
    area: (drawing.area ?? 0) / 100,
    isStacked: drawing.stack !== undefined && drawing.stack !== 'none',
    joinsGaps: drawing.joinGaps !== undefined && drawing.joinGaps !== false,
    tone: colour?.mode === 'fixed' && colour.fixed !== undefined ? toneOf(colour.fixed) : undefined,
    shown: (value) => shownIn(field, value),
  };
};

/** Returns the limits that fields display. */
const limitsOf = (fields: readonly Field[]): (readonly [number, string])[] => {
  const own = fields.find(({ settings }) => (settings.drawing?.thresholds ?? 'none') !== 'none')?.settings.thresholds;
  return (own?.steps ?? []).flatMap(({ value, colour }) => (value === null ? [] : [[value, toneOf(colour)] as const]));
};

/** Returns the bounds of expected values, by field index, and the values between them. */
const bandsOf = (fields: readonly Field[]): (readonly [upper: number, lower: number, of: number])[] => {
  const placeOf = (of: string, part: string): number =>
    fields.findIndex(({ band }) => band?.of === of && band.part === part);
  return fields.flatMap(({ band }, upper) => {
    if (band?.part !== 'at most') return [];
    const lower = placeOf(band.of, 'at least');
    return lower < 0 ? [] : [[upper, lower, Math.max(0, placeOf(band.of, 'value'))] as const];
  });
};

const isSame = (one: readonly number[], other: readonly number[]): boolean =>
  one === other || (one.length === other.length && one.every((time, at) => time === other[at]));

/** Returns the values of a field at the steps of its panel. */
const atSteps = ({ values }: Field, times: readonly number[], steps: readonly number[]): readonly unknown[] => {
  // Most fields have all steps of their panel; a lookup per time costs more than drawing.
  if (isSame(times, steps)) return values;
  const byTime = new Map(times.map((time, at) => [time, values[at]]));
  return steps.map((step) => byTime.get(step));
};

const stepsOf = (all: readonly (readonly number[])[]): readonly number[] => {
  const [first = []] = all;
  return all.every((times) => isSame(times, first))
    ? first
    : [...new Set(all.flat())].sort((one, other) => one - other);
};

const drawnFields = (props: PanelProps) => {
  const all = fieldsOf(props.drawn);
  const timed = all
    .filter((field) => isNumeric(field) && !(field.settings.hiddenIn ?? []).includes('graph'))
    .map((field) => ({ field, times: timesOf(field, all) }))
    .filter(({ times }) => times.length > 0);
  const steps = stepsOf(timed.map(({ times }) => times));
  const series = timed.map(({ field, times }) => seriesOf(field, atSteps(field, times, steps)));
  return { shown: timed.map(({ field }) => field), steps, series };
};

export const SeriesPanel = (props: PanelProps) => {
  const { drawn, height, from, to, marks, group } = props;
  const { shown, steps, series } = useMemo(() => drawnFields(props), [drawn]);
  if (steps.length === 0) return <p class="soft">No values in this range.</p>;
  const hasLegend = (drawn.visual['legend'] as { readonly place?: string } | undefined)?.place !== 'hidden';
  const { min, max } = shown[0]?.settings ?? {};
  return (
    <OverTime
      title={drawn.title}
      steps={steps}
      series={series}
      from={from}
      to={to}
      marks={marks}
      group={group}
      low={min}
      high={max}
      legend={hasLegend}
      limits={limitsOf(shown)}
      bands={bandsOf(shown)}
      height={Math.max(70, height - (hasLegend ? 22 + 20 * Math.min(3, Math.ceil(series.length / 2)) : 22))}
    />
  );
};
