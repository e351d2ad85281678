/** Panel of time series. The code and uPlot are loaded on first use. */
import { useMemo } from 'preact/hooks';
import { toNumberOrUndefined } from '../../../charts/reduce.ts';
import { type TimeSeries, TimeSeriesChart } from '../../../charts/time-series.tsx';
import {
  colorToTone,
  type Field,
  formatFieldValue,
  getFields,
  getFieldTimes,
  getPartialSteps,
  isNumeric,
} from '../fields.ts';
import type { PanelProps } from './panel-props.ts';

const toTimeSeries = (field: Field, values: readonly unknown[]): TimeSeries => {
  const { drawing = {}, colour } = field.settings;
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
    connectsGaps: drawing.joinGaps !== undefined && drawing.joinGaps !== false,
    colorName: colour?.mode === 'fixed' && colour.fixed !== undefined ? colorToTone(colour.fixed) : undefined,
    formatValue: (value) => formatFieldValue(field, value),
  };
};

/** Returns the threshold lines of the first field that displays its thresholds. */
const buildThresholdLines = (fields: readonly Field[]): (readonly [number, string])[] => {
  const thresholds = fields.find(({ settings }) => (settings.drawing?.thresholds ?? 'none') !== 'none')?.settings
    .thresholds;
  return (thresholds?.steps ?? []).flatMap(({ value, colour }) =>
    value === null ? [] : [[value, colorToTone(colour)] as const],
  );
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
  const series = timedFields.map(({ field, times }) => toTimeSeries(field, alignToSteps(field, times, steps)));
  return { shown: timedFields.map(({ field }) => field), steps, series };
};

export const SeriesPanel = (props: PanelProps) => {
  const { panel, height, from, to, annotationTimes, cursorGroup } = props;
  const { shown: visibleFields, steps, series } = useMemo(() => buildSeries(props), [panel]);
  const marks = useMemo(() => annotationTimes.map((at) => ({ at, title: '' })), [annotationTimes]);
  const partialSteps = useMemo(() => getPartialSteps(panel), [panel]);
  if (steps.length === 0) return <p class="soft">No values in this range.</p>;
  const hasLegend = (panel.visual['legend'] as { readonly place?: string } | undefined)?.place !== 'hidden';
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
      legend={hasLegend}
      limits={buildThresholdLines(visibleFields)}
      bands={buildBands(visibleFields)}
      height={Math.max(70, height - (hasLegend ? 22 + 20 * Math.min(3, Math.ceil(series.length / 2)) : 22))}
    />
  );
};
