/** Panel of time series. The code and uPlot are loaded on first use. */
import { useMemo } from 'preact/hooks';
import { reduceSteps, toNumberOrUndefined } from '../../../charts/reduce.ts';
import { defaultTooltip, type LegendSettings, type TooltipSettings } from '../../../charts/series-state.ts';
import { type TimeSeries, TimeSeriesChart, type TimeSeriesProps } from '../../../charts/time-series.tsx';
import { formatQuantity } from '../../../charts/values.ts';
import {
  colorToTone,
  type Field,
  formatFieldValue,
  getFields,
  getFieldTimes,
  getPartialSteps,
  getValueTone,
  isNumeric,
} from '../fields.ts';
import type { PanelProps } from './panel-props.ts';

/** Returns the color of a series: a fixed one, or that of one of its values; `undefined` for a color of the palette. */
const getSeriesTone = (field: Field): string | undefined => {
  const { mode, fixed, by = 'last' } = field.settings.colour ?? {};
  if (mode === 'fixed' || mode === 'shades') return fixed === undefined ? undefined : colorToTone(fixed);
  if (mode !== 'thresholds' && mode !== 'scale') return undefined;
  return getValueTone(field, reduceSteps(field, by === 'last' ? 'last-not-null' : by));
};

const toTimeSeries = (field: Field, values: readonly unknown[]): TimeSeries => {
  const { drawing = {}, axis } = field.settings;
  return {
    name: field.name,
    unit: field.unit,
    drawStyle: drawing.as ?? 'lines',
    values: values.map((rawValue) => {
      const value = toNumberOrUndefined(rawValue);
      return value === undefined || !Number.isFinite(value) ? undefined : value;
    }),
    area: (drawing.area ?? 0) / 100,
    isStacked: drawing.stack !== undefined && drawing.stack !== 'none',
    stackGroup: drawing.stackGroup,
    isBelow: drawing.below,
    connectsGaps: drawing.joinGaps !== undefined && drawing.joinGaps !== false,
    interpolation: drawing.interpolation,
    lineWidth: drawing.width,
    dashes: drawing.dashes,
    points: drawing.points,
    pointSize: drawing.pointSize,
    fadesOut: drawing.gradient === 'opacity',
    hiddenIn: field.settings.hiddenIn,
    axis,
    colorName: getSeriesTone(field),
    isEarlier: field.isEarlier === true,
    colorOf: field.laterName,
    formatValue: (value) => formatFieldValue(field, value),
  };
};

/** Returns series that are stacked to 100 % as shares of their total at each step. */
const toShares = (series: readonly TimeSeries[], isShare: readonly boolean[]): readonly TimeSeries[] => {
  if (!isShare.includes(true)) return series;
  const totals = (series[0]?.values ?? []).map((_, step) =>
    series.reduce((total, { values }, index) => total + (isShare[index] === true ? (values[step] ?? 0) : 0), 0),
  );
  return series.map((one, index) =>
    isShare[index] === true
      ? {
          ...one,
          unit: '%',
          values: one.values.map((value, step) => {
            const total = totals[step] ?? 0;
            return value === undefined || total === 0 ? undefined : (100 * value) / total;
          }),
          formatValue: (value) => formatQuantity(value, '%'),
        }
      : one,
  );
};

/** Returns the thresholds that the first field with displayed thresholds has, and how they are drawn. */
const buildThresholds = (fields: readonly Field[]): Pick<TimeSeriesProps, 'limits' | 'limitStyle'> => {
  const { thresholds, drawing } =
    fields.find(({ settings }) => (settings.drawing?.thresholds ?? 'none') !== 'none')?.settings ?? {};
  const limits = (thresholds?.steps ?? []).flatMap(({ value, colour }) =>
    value === null ? [] : [[value, colorToTone(colour)] as const],
  );
  const shown = drawing?.thresholds;
  return { limits, limitStyle: shown === 'areas' || shown === 'lines-and-areas' ? shown : 'lines' };
};

/** Returns the bands of expected values as field indexes: upper bound, lower bound, and observed values. */
const buildBands = (fields: readonly Field[]): (readonly [upper: number, lower: number, of: number])[] => {
  const findBandField = (observed: string, part: string): number =>
    fields.findIndex(({ band }) => band?.of === observed && band.role === part);
  return fields.flatMap(({ band }, upper) => {
    if (band?.role !== 'at most') return [];
    const lower = findBandField(band.of, 'at least');
    return lower < 0 ? [] : [[upper, lower, Math.max(0, findBandField(band.of, 'value'))] as const];
  });
};

/** Returns the areas between a field and the field that bounds its area below. */
const buildAreas = (fields: readonly Field[]): (readonly [upper: number, lower: number, of: number])[] =>
  fields.flatMap(({ settings }, upper) => {
    const lower = fields.findIndex(({ name }) => name === settings.drawing?.areaDownTo);
    return lower < 0 || lower === upper ? [] : [[upper, lower, upper] as const];
  });

const isSame = (left: readonly number[], right: readonly number[]): boolean =>
  left === right || (left.length === right.length && left.every((time, index) => time === right[index]));

/** Returns the values of a field at the steps of its panel. */
const alignToSteps = ({ values }: Field, times: readonly number[], steps: readonly number[]): readonly unknown[] => {
  // Most fields have all steps of their panel; a lookup per time costs more than drawing.
  if (isSame(times, steps)) return values;
  const valuesByTime = new Map(times.map((time, index) => [time, values[index]]));
  return steps.map((step) => valuesByTime.get(step));
};

const mergeSteps = (allFields: readonly (readonly number[])[]): readonly number[] => {
  const [first = []] = allFields;
  return allFields.every((times) => isSame(times, first))
    ? first
    : [...new Set(allFields.flat())].sort((left, right) => left - right);
};

const buildSeries = (props: PanelProps) => {
  const allFields = getFields(props.panel);
  const timedFields = allFields
    .filter((field) => isNumeric(field) && !(field.settings.hiddenIn ?? []).includes('graph'))
    .map((field) => ({ field, times: getFieldTimes(field, allFields) }))
    .filter(({ times }) => times.length > 0);
  const steps = mergeSteps(timedFields.map(({ times }) => times));
  const series = toShares(
    timedFields.map(({ field, times }) => toTimeSeries(field, alignToSteps(field, times, steps))),
    timedFields.map(({ field }) => field.settings.drawing?.stack === 'percent'),
  );
  return { shown: timedFields.map(({ field }) => field), steps, series };
};

/** Returns the height of the legend below the chart, in pixels. */
const getLegendHeight = (legend: false | LegendSettings, count: number): number => {
  if (legend === false || legend.place === 'right') return 0;
  return legend.form === 'table' ? 20 + 24 * Math.min(5, count) : 20 * Math.min(3, Math.ceil(count / 2));
};

export const SeriesPanel = (props: PanelProps) => {
  const { panel, height, from, to, annotationTimes, cursorGroup } = props;
  const { shown: visibleFields, steps, series } = useMemo(() => buildSeries(props), [panel]);
  const marks = useMemo(() => annotationTimes.map((at) => ({ at, title: '' })), [annotationTimes]);
  const thresholds = useMemo(() => buildThresholds(visibleFields), [visibleFields]);
  const partialSteps = useMemo(() => getPartialSteps(panel), [panel]);
  if (steps.length === 0) return <p class="soft">No values in this range.</p>;
  const {
    place = 'bottom',
    form = 'list',
    values = [],
    sortBy = null,
    descending = true,
  } = (panel.visual['legend'] ?? {}) as Partial<Omit<LegendSettings, 'place'>> & {
    readonly place?: LegendSettings['place'] | 'hidden';
  };
  const legend = place === 'hidden' ? false : { place, form, values, sortBy, descending };
  const tooltip = { ...defaultTooltip, ...(panel.visual['tooltip'] as Partial<TooltipSettings> | undefined) };
  const { min, max } = visibleFields[0]?.settings ?? {};
  return (
    <TimeSeriesChart
      title={panel.title}
      steps={steps}
      series={series}
      from={from}
      to={to}
      marks={marks}
      partialSteps={partialSteps}
      group={cursorGroup}
      low={min}
      high={max}
      legend={legend}
      tooltip={tooltip}
      {...thresholds}
      bands={[...buildBands(visibleFields), ...buildAreas(visibleFields)]}
      height={Math.max(70, height - 22 - getLegendHeight(legend, series.length))}
    />
  );
};
