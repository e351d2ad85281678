/** Time series chart on a canvas, drawn with uPlot. Dragging selects a time range. Charts of a group share a cursor. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { renderText } from '../frame/shown-text.tsx';
import { displayTimeZone, formatTime } from '../frame/shown-time.ts';
import { theme } from '../frame/theme.ts';
import { setRangeInMs } from '../frame/time-range.ts';
import { ScrollRegion } from '../lists/scrolled.tsx';
import { ChartDataTable } from './lines.tsx';

/** Number of colors; further series reuse them */
const colorCount = 8;

export interface TimeSeries {
  readonly name: string;
  readonly unit: string;
  /** One value per step */
  readonly values: readonly (number | undefined)[];
  readonly drawStyle: 'lines' | 'bars' | 'points';
  /** Opacity of the area below the line, 0 to 1 */
  readonly area: number;
  readonly isStacked: boolean;
  readonly connectsGaps: boolean;
  /** Name of a color, if one is set */
  readonly colorName?: string | undefined;
  formatValue(value: number | undefined): string;
}

export interface OverTimeProps {
  readonly title: string;
  /** Epoch milliseconds. */
  readonly steps: readonly number[];
  readonly from: number;
  readonly to: number;
  readonly series: readonly TimeSeries[];
  readonly height: number;
  /** Charts of a group share a cursor */
  readonly group: string;
  /** Marked times, in epoch milliseconds */
  readonly marks?: readonly number[];
  /** Values at which a line is drawn, with its color */
  readonly limits?: readonly (readonly [value: number, tone: string])[];
  readonly low?: number | undefined;
  readonly high?: number | undefined;
  /** Indexes of two series between which an area is filled, and of the series with its color */
  readonly bands?: readonly (readonly [upper: number, lower: number, of: number])[];
  readonly legend: boolean;
}

const toClass = ({ colorName }: TimeSeries, index: number): string =>
  colorName === undefined ? `line-${index % colorCount}` : `tone-${colorName}`;

/** Resolves a CSS class to a color for a canvas, which does not support `light-dark`. */
const resolveColor = (container: Element, name: string): string => {
  const probe = document.createElement('span');
  probe.className = `swatch ${name}`;
  container.append(probe);
  const ink = getComputedStyle(probe).backgroundColor;
  probe.remove();
  return ink;
};

const dark = matchMedia('(prefers-color-scheme: dark)');
const colorCache = new Map<string, string>();

/** Returns a function that resolves colors once per theme, because each lookup makes the browser compute styles. */
const createColorResolver = (place: Element): ((name: string) => string) => {
  const scheme = `${document.documentElement.dataset['theme'] ?? ''} ${dark.matches}`;
  return (name) => {
    const key = `${scheme} ${name}`;
    const ink = colorCache.get(key) ?? resolveColor(place, name);
    colorCache.set(key, ink);
    return ink;
  };
};

/** Maximum number of initial legend entries. Each pointer move updates all of them. */
const maxInitialEntries = 30;

/**
 * Maximum number of lines that show a point at the cursor. With more, lines are one pixel wide, which halves the cost
 * of drawing.
 */
const maxLinesWithPoints = 20;

/** Returns a key that changes whenever the colors change. */
const useTheme = (): string => {
  const [changeCount, setChangeCount] = useState(0);
  useEffect(() => {
    const onThemeChange = (): void => setChangeCount((before) => before + 1);
    dark.addEventListener('change', onThemeChange);
    return () => dark.removeEventListener('change', onThemeChange);
  }, []);
  return `${theme.value} ${changeCount}`;
};

const hasNoGaps = (values: TimeSeries['values']): values is readonly number[] => !values.includes(undefined);

/** Returns the values to draw. Values of a stacked series are added to those of the stacked series before it. */
const toPlotData = (series: readonly TimeSeries[], length: number): (readonly (number | null)[])[] => {
  const stackTotals = new Array<number>(length).fill(0);
  return series.map(({ values, isStacked }) => {
    if (!isStacked && hasNoGaps(values)) return values;
    const drawn = new Array<number | null>(length).fill(null);
    for (let at = 0; at < length; at++) {
      const value = values[at];
      if (value === undefined) continue;
      const shown = isStacked ? (stackTotals[at] ?? 0) + value : value;
      if (isStacked) stackTotals[at] = shown;
      drawn[at] = shown;
    }
    return drawn;
  });
};

const describeChart = ({ title, series }: OverTimeProps): string => {
  const name = title === '' ? 'Chart' : title;
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  for (const { values } of series)
    for (const value of values) {
      if (value === undefined) continue;
      if (value < min) min = value;
      if (value > max) max = value;
    }
  const [first] = series;
  if (first === undefined || min > max) return `${name}: no values.`;
  return `${name}: ${series.length} series, from ${first.formatValue(min)} to ${first.formatValue(max)}.`;
};

const formatTick = (timeMs: number, stepMs: number): string => {
  const text = formatTime(timeMs);
  if (stepMs >= 86_400_000) return text.slice(5, 10);
  return stepMs < 60_000 ? text.slice(11, 19) : text.slice(11, 16);
};

/** Axis increments for bytes */
const byteSteps = Array.from({ length: 60 }, (_, power) => 2 ** power);

const createAxes = (series: readonly TimeSeries[], ink: string, grid: string): uPlot.Axis[] => {
  const axisStyle = {
    stroke: ink,
    grid: { stroke: grid, width: 1 },
    ticks: { stroke: grid, width: 1 },
    font: '11px system-ui',
  };
  const units = [...new Set(series.map(({ unit }) => unit))];
  const time: uPlot.Axis = {
    ...axisStyle,
    size: 24,
    values: (_, splits, __, ___, step) => splits.map((at) => formatTick(at, step)),
  };
  return [
    time,
    ...units.slice(0, 2).map((unit, index): uPlot.Axis => {
      const shown = series.find((one) => one.unit === unit)?.formatValue;
      return {
        ...axisStyle,
        scale: unit || 'y',
        ...(unit === 'By' ? { incrs: byteSteps } : {}),
        side: index === 0 ? 3 : 1,
        grid: { show: index === 0, stroke: grid, width: 1 },
        size: (_, values) => Math.max(30, 18 + 6.5 * Math.max(0, ...(values ?? []).map(({ length }) => length))),
        values: (_, splits) => splits.map((value) => shown?.(value) ?? ''),
      };
    }),
  ];
};

const createMarkPainter =
  ({ marks = [], limits = [] }: OverTimeProps, place: Element, scale: string) =>
  (plot: uPlot) => {
    const { ctx, bbox } = plot;
    const line = (ink: string, from: readonly [number, number], to: readonly [number, number]): void => {
      ctx.save();
      ctx.strokeStyle = ink;
      ctx.setLineDash([4, 4]);
      ctx.beginPath();
      ctx.moveTo(...from);
      ctx.lineTo(...to);
      ctx.stroke();
      ctx.restore();
    };
    for (const mark of marks) {
      const x = plot.valToPos(mark, 'x', true);
      if (x >= bbox.left && x <= bbox.left + bbox.width)
        line(resolveColor(place, 'tone-blue'), [x, bbox.top], [x, bbox.top + bbox.height]);
    }
    for (const [value, tone] of limits) {
      const y = plot.valToPos(value, scale, true);
      if (y >= bbox.top && y <= bbox.top + bbox.height)
        line(resolveColor(place, `tone-${tone}`), [bbox.left, y], [bbox.left + bbox.width, y]);
    }
  };

/** Dash patterns, which distinguish series in addition to their color */
const dashes = [[], [6, 3], [2, 3], [8, 3, 2, 3], [12, 4], [4, 4], [10, 2, 2, 2], [1, 2]];

const withOpacity = (ink: string, opacity: number): string => ink.replace(/^rgb\(([^)]*)\)$/, `rgba($1, ${opacity})`);

const toFill = ({ drawStyle, area }: TimeSeries, ink: string): Pick<uPlot.Series, 'fill'> => {
  const opacity = drawStyle === 'bars' ? 0.8 : area;
  return opacity > 0 ? { fill: withOpacity(ink, opacity) } : {};
};

const toPlotSeries = (series: TimeSeries, index: number, ink: string, width: number): uPlot.Series => {
  const isPoints = series.drawStyle === 'points';
  return {
    label: series.name,
    scale: series.unit || 'y',
    stroke: ink,
    width: isPoints ? 0 : width,
    spanGaps: series.connectsGaps,
    points: isPoints ? { show: true, size: 5 } : { size: 4 },
    dash: dashes[series.drawStyle === 'lines' && series.area === 0 ? index % colorCount : 0] ?? [],
    ...toFill(series, ink),
    ...(series.drawStyle === 'bars' && uPlot.paths.bars ? { paths: uPlot.paths.bars({ size: [0.8, 60] }) } : {}),
  };
};

const createOptions = (
  props: OverTimeProps,
  place: Element,
  width: number,
  onCursorMove: (at?: number) => void,
): uPlot.Options => {
  const { series, height, from, to, group, low, high, bands = [] } = props;
  const units = [...new Set(series.map(({ unit }) => unit || 'y'))];
  const range: uPlot.Scale.Range = (_, min, max) => {
    const [bottom, top] = [low ?? Math.min(0, min ?? 0), high ?? Math.max(max ?? 1, min ?? 0)];
    return [bottom, top > bottom ? (high === undefined ? top + (top - bottom) * 0.05 : top) : bottom + 1];
  };
  const ink = createColorResolver(place);
  const thickness = series.length > maxLinesWithPoints ? 1 : 1.5;
  return {
    width,
    height,
    ms: 1,
    legend: { show: false },
    ...(displayTimeZone.value === 'browser'
      ? {}
      : { tzDate: (at: number) => uPlot.tzDate(new Date(at), displayTimeZone.value) }),
    cursor: {
      sync: { key: group, setSeries: false },
      drag: { x: true, y: false, setScale: false },
      y: false,
      // Each point is a separate element, and among many lines it is hard to recognize.
      points: { show: series.length <= maxLinesWithPoints },
    },
    scales: { x: { time: true, range: [from, to] }, ...Object.fromEntries(units.map((unit) => [unit, { range }])) },
    axes: createAxes(series, ink('ink-soft'), ink('ink-line')),
    // The first uPlot series contains the times.
    bands: bands.map(([upper, lower, of]) => ({
      series: [upper + 1, lower + 1],
      fill: withOpacity(ink(toClass(series[of] as TimeSeries, of)), 0.15),
    })),
    series: [{}, ...series.map((one, index) => toPlotSeries(one, index, ink(toClass(one, index)), thickness))],
    hooks: {
      draw: [createMarkPainter(props, place, units[0] ?? 'y')],
      setCursor: [({ cursor }) => onCursorMove(cursor.idx ?? undefined)],
      setSelect: [
        (plot) => {
          if (plot.select.width < 4) return;
          setRangeInMs(plot.posToVal(plot.select.left, 'x'), plot.posToVal(plot.select.left + plot.select.width, 'x'));
          plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
        },
      ],
    },
  };
};

const Plot = (props: OverTimeProps & { readonly onPoint: (at?: number) => void }) => {
  const place = useRef<HTMLDivElement>(null);
  const times = useTheme();
  const { steps, series, title, onPoint } = props;
  const sentence = useMemo(() => describeChart(props), [series, title]);
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const data = [[...steps], ...toPlotData(series, steps.length)] as uPlot.AlignedData;
    const plot = new uPlot(createOptions(props, element, Math.max(80, element.clientWidth), onPoint), data, element);
    const resizeObserver = new ResizeObserver(([entry]) => {
      const width = Math.floor(entry?.contentRect.width ?? 0);
      if (width > 0 && width !== plot.width) plot.setSize({ width, height: props.height });
    });
    resizeObserver.observe(element);
    return () => {
      resizeObserver.disconnect();
      plot.destroy();
    };
  }, [steps, series, props.from, props.to, props.height, times, displayTimeZone.value, props.marks]);
  return <div ref={place} class="plot" role="img" aria-label={sentence} style={{ height: `${props.height}px` }} />;
};

const lastOf = (values: TimeSeries['values']): number | undefined => values.findLast((value) => value !== undefined);

/** Time series chart with a legend of the values at the cursor or the last values, and a data table */
export const TimeSeriesChart = (props: OverTimeProps) => {
  const [at, setAt] = useState<number>();
  const [shownCount, setShownCount] = useState(maxInitialEntries);
  const { steps, series, legend, title } = props;
  const lines = useMemo(() => series.map(({ name, values }) => ({ name, values })), [series]);
  return (
    <>
      <Plot {...props} onPoint={setAt} />
      {legend ? (
        <ScrollRegion class="series-names" label={`Series of ${title === '' ? 'the chart' : title}`}>
          <ul>
            {series.slice(0, shownCount).map((one, index) => (
              <li key={`${one.name} ${index}`}>
                <span class={`swatch ${toClass(one, index)}`} /> <bdi>{renderText(one.name)}</bdi>{' '}
                <b>{one.formatValue(at === undefined ? lastOf(one.values) : one.values[at])}</b>
              </li>
            ))}
            {series.length > shownCount ? (
              <li>
                <button type="button" class="value" onClick={() => setShownCount(series.length)}>
                  {series.length - shownCount} more
                </button>
              </li>
            ) : null}
          </ul>
        </ScrollRegion>
      ) : null}
      <ChartDataTable
        steps={steps}
        lines={lines}
        formatCell={(value, index) => series[index]?.formatValue(value) ?? ''}
        {...(title === '' ? {} : { name: title })}
      />
    </>
  );
};
