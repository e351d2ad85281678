/** Time series chart on a canvas, drawn with uPlot. Dragging selects a time range. Charts of a group share a cursor. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { assignColorClasses } from '../frame/colors.ts';
import { renderText } from '../frame/display-text.tsx';
import { displayTimeZone, formatClockTime, formatDay, formatShortTime } from '../frame/format-time.ts';
import { theme } from '../frame/theme.ts';
import { setRangeInMs } from '../frame/time-range.ts';
import { ScrollRegion } from '../lists/scroll-region.tsx';
import { TableHeader } from '../lists/table-header.tsx';
import { reduceComplete } from './reduce.ts';
import {
  defaultTooltip,
  findPartialIndexes,
  getLastComplete,
  type LegendSettings,
  listTooltipSeries,
  selectSeries,
  sortLegend,
  type TooltipSettings,
} from './series-state.ts';
import { ChartDataTable } from './value-table.tsx';

export interface SeriesAxis {
  readonly side?: 'auto' | 'left' | 'right' | 'hidden' | undefined;
  readonly label?: string | undefined;
  readonly scale?: 'linear' | 'log2' | 'log10' | 'symlog' | undefined;
  /** Ends of the axis, unless values exceed them */
  readonly softMin?: number | undefined;
  readonly softMax?: number | undefined;
  readonly grid?: 'auto' | 'on' | 'off' | undefined;
  /** Whether zero is in the middle of the axis */
  readonly centredZero?: boolean | undefined;
  /** Width in pixels; 0 or `undefined` for that of its texts */
  readonly width?: number | undefined;
  /** Whether the axis has the color of its first series */
  readonly coloured?: boolean | undefined;
}

export interface TimeSeries {
  readonly name: string;
  readonly unit: string;
  /** One value per step */
  readonly values: readonly (number | undefined)[];
  readonly drawStyle: 'lines' | 'bars' | 'points';
  /** Opacity of the area below the line, 0 to 1 */
  readonly area: number;
  readonly isStacked: boolean;
  /** Series of a group are stacked on each other */
  readonly stackGroup?: string | undefined;
  /** Whether the series is drawn downwards from zero */
  readonly isBelow?: boolean | undefined;
  readonly connectsGaps: boolean;
  /** How a line connects its points; straight by default */
  readonly interpolation?: 'linear' | 'smooth' | 'step-before' | 'step-after' | undefined;
  /** Width of the line, in pixels */
  readonly lineWidth?: number | undefined;
  readonly dashes?: 'solid' | 'dash' | 'dot' | undefined;
  /** Whether a line has points; by default where there is room */
  readonly points?: 'auto' | 'always' | 'never' | undefined;
  /** Diameter of the points, in pixels */
  readonly pointSize?: number | undefined;
  /** Whether the area fades out towards the axis */
  readonly fadesOut?: boolean | undefined;
  /** Places without the series */
  readonly hiddenIn?: readonly string[] | undefined;
  /** Axis of the series. Series of one unit have the axis of the first of them. */
  readonly axis?: SeriesAxis | undefined;
  /** Name of a color, if one is set */
  readonly colorName?: string | undefined;
  /** Whether the line is of an earlier period, with which others are compared. It has the color of the later one. */
  readonly isEarlier?: boolean;
  /** Name of the series with the same color, if it is another one */
  readonly colorOf?: string | undefined;
  formatValue(value: number | undefined): string;
}

/** Marked time, for example of a deployment */
export interface Mark {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly title: string;
}

export interface TimeSeriesProps {
  readonly title: string;
  /** Epoch milliseconds. */
  readonly steps: readonly number[];
  /** Starts of the steps that the range covers only partly. They are drawn as such, and are no value of the legend. */
  readonly partialSteps?: readonly number[];
  readonly from: number;
  readonly to: number;
  readonly series: readonly TimeSeries[];
  readonly height: number;
  /** Charts of a group share a cursor */
  readonly group: string;
  readonly marks?: readonly Mark[];
  /** Shaded time ranges, for example of a firing alert; epoch milliseconds */
  readonly ranges?: readonly (readonly [from: number, to: number])[];
  /** Values at which a line is drawn, with its color */
  readonly limits?: readonly (readonly [value: number, tone: string])[];
  /** How limits are drawn; as lines by default */
  readonly limitStyle?: 'lines' | 'areas' | 'lines-and-areas' | undefined;
  readonly low?: number | undefined;
  readonly high?: number | undefined;
  /** Indexes of two series between which an area is filled, and of the series with its color */
  readonly bands?: readonly (readonly [upper: number, lower: number, of: number])[];
  readonly legend: boolean | LegendSettings;
  /** All series, the highest first, by default */
  readonly tooltip?: TooltipSettings | undefined;
  /** Whether the data table is offered */
  readonly hasDataTable?: boolean;
}

interface ColoredSeries extends TimeSeries {
  readonly colorClass: string;
  readonly isHidden: boolean;
}

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

/** Series with equal keys are stacked on each other. */
const getStack = ({ stackGroup = '', isBelow = false }: TimeSeries): string => `${isBelow} ${stackGroup}`;

/** Returns the values to draw: those of a stacked series are added to those of the stacked series before it. */
const toPlotData = (series: readonly ColoredSeries[], length: number): (readonly (number | null)[])[] => {
  const totalsByStack = new Map<string, number[]>();
  return series.map((one) => {
    const { isStacked, isHidden, axis } = one;
    if (isHidden) return new Array<null>(length).fill(null);
    const values = one.isBelow ? one.values.map((value) => (value === undefined ? undefined : -value)) : one.values;
    if (isStacked) {
      const totals = totalsByStack.get(getStack(one)) ?? new Array<number>(length).fill(0);
      totalsByStack.set(getStack(one), totals);
      return values.map((value, at) => {
        if (value === undefined) return null;
        totals[at] = (totals[at] ?? 0) + value;
        return totals[at] ?? null;
      });
    }
    // A logarithmic axis has no place for values up to 0.
    if (axis?.scale?.startsWith('log')) return values.map((value) => (value !== undefined && value > 0 ? value : null));
    return hasNoGaps(values) ? values : values.map((value) => value ?? null);
  });
};

const describeChart = ({ title, series }: Pick<TimeSeriesProps, 'title' | 'series'>): string => {
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
  if (stepMs >= 86_400_000) return formatDay(timeMs);
  return stepMs < 60_000 ? formatClockTime(timeMs) : formatShortTime(timeMs);
};

/** Axis increments of durations in seconds, minutes and hours */
const durationSteps = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500].flatMap((size) => [size, size * 1e3, size * 1e6]),
  ...[1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 18_000, 43_200, 86_400].map((size) => size * 1e9),
].sort((left, right) => left - right);

/** Axis increments by unit, where multiples of ten are not round */
const axisSteps: Readonly<Record<string, readonly number[]>> = {
  ns: durationSteps,
  By: Array.from({ length: 60 }, (_, power) => 2 ** power),
};

/** Returns the width of an axis: the one that is set, or that of its longest text. */
const getAxisWidth = ({ width = 0 }: SeriesAxis, texts: readonly string[]): number =>
  width > 0 ? width : Math.max(34, 12 + 6.2 * Math.max(0, ...texts.map(({ length }) => length)));

const getAxisSide = ({ side }: SeriesAxis, index: number): uPlot.Axis.Side =>
  side === 'right' || (side !== 'left' && index > 0) ? 1 : 3;

const createAxes = (series: readonly ColoredSeries[], ink: (colorClass: string) => string): uPlot.Axis[] => {
  const grid = ink('ink-line');
  const axisStyle = {
    stroke: ink('ink-soft'),
    grid: { stroke: grid, width: 1 },
    ticks: { show: false },
    font: '11px system-ui',
  };
  const units = [...new Set(series.map(({ unit }) => unit))];
  const time: uPlot.Axis = {
    ...axisStyle,
    size: 22,
    gap: 4,
    grid: { show: false },
    values: (_, splits, __, ___, step) => splits.map((at) => formatTick(at, step)),
  };
  return [
    time,
    ...units.slice(0, 2).map((unit, index): uPlot.Axis => {
      const { formatValue: shown, axis = {}, colorClass } = series.find((one) => one.unit === unit) ?? {};
      const { side = 'auto', label = '', scale = 'linear', grid: gridSetting = 'auto' } = axis;
      return {
        ...axisStyle,
        ...(axis.coloured === true && colorClass !== undefined ? { stroke: ink(colorClass) } : {}),
        show: side !== 'hidden',
        ...(label === '' ? {} : { label, labelSize: 18, labelFont: '11px system-ui' }),
        scale: unit || 'y',
        ...(axisSteps[unit] === undefined || scale !== 'linear' ? {} : { incrs: [...axisSteps[unit]] }),
        space: 28,
        gap: 6,
        side: getAxisSide(axis, index),
        grid: { show: gridSetting === 'on' || (gridSetting === 'auto' && index === 0), stroke: grid, width: 1 },
        size: (_, values) => getAxisWidth(axis, values ?? []),
        values: (_, splits) => splits.map((value) => (value === null ? '' : (shown?.(value) ?? ''))),
      };
    }),
  ];
};

const withOpacity = (ink: string, opacity: number): string => ink.replace(/^rgb\(([^)]*)\)$/, `rgba($1, ${opacity})`);

const shadeRanges = (plot: uPlot, ranges: NonNullable<TimeSeriesProps['ranges']>, fillStyle: string): void => {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.fillStyle = fillStyle;
  for (const [from, to] of ranges) {
    const left = Math.max(bbox.left, plot.valToPos(from, 'x', true));
    const right = Math.min(bbox.left + bbox.width, plot.valToPos(to, 'x', true));
    if (right > left) ctx.fillRect(left, bbox.top, right - left, bbox.height);
  }
  ctx.restore();
};

const createMarkPainter =
  (
    {
      marks = [],
      limits = [],
      limitStyle = 'lines',
      ranges = [],
    }: Pick<TimeSeriesProps, 'marks' | 'limits' | 'limitStyle' | 'ranges'>,
    place: Element,
    scale: string,
  ) =>
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
    shadeRanges(plot, ranges, withOpacity(resolveColor(place, 'tone-red'), 0.12));
    for (const { at } of marks) {
      const x = plot.valToPos(at, 'x', true);
      if (x < bbox.left || x > bbox.left + bbox.width) continue;
      const ink = resolveColor(place, 'series-9');
      line(ink, [x, bbox.top], [x, bbox.top + bbox.height]);
      ctx.save();
      ctx.fillStyle = ink;
      ctx.beginPath();
      ctx.arc(x, bbox.top + 4 * devicePixelRatio, 4 * devicePixelRatio, 0, 2 * Math.PI);
      ctx.fill();
      ctx.restore();
    }
    limits.forEach(([value, tone], index) => {
      const y = plot.valToPos(value, scale, true);
      const ink = resolveColor(place, `tone-${tone}`);
      if (limitStyle !== 'areas' && y >= bbox.top && y <= bbox.top + bbox.height)
        line(ink, [bbox.left, y], [bbox.left + bbox.width, y]);
      if (limitStyle === 'lines') return;
      const next = limits[index + 1];
      const top = Math.max(bbox.top, next === undefined ? bbox.top : plot.valToPos(next[0], scale, true));
      const bottom = Math.min(bbox.top + bbox.height, y);
      if (bottom <= top) return;
      ctx.save();
      ctx.fillStyle = withOpacity(ink, 0.1);
      ctx.fillRect(bbox.left, top, bbox.width, bottom - top);
      ctx.restore();
    });
  };

const toFill = ({ drawStyle, area, fadesOut = false }: TimeSeries, ink: string): Pick<uPlot.Series, 'fill'> => {
  const opacity = drawStyle === 'bars' && area === 0 ? 0.8 : area;
  if (opacity <= 0) return {};
  if (!fadesOut) return { fill: withOpacity(ink, opacity) };
  return {
    fill: ({ ctx, bbox }) => {
      const gradient = ctx.createLinearGradient(0, bbox.top, 0, bbox.top + bbox.height);
      gradient.addColorStop(0, withOpacity(ink, opacity));
      gradient.addColorStop(1, withOpacity(ink, 0.02));
      return gradient;
    },
  };
};

/** Dash pattern of earlier periods and of incomplete steps */
const dash = [4, 4];
const dashPatterns = { solid: undefined, dash: [8, 5], dot: [2, 4] } as const;

const getPaths = ({ drawStyle, interpolation = 'linear' }: TimeSeries): uPlot.Series.PathBuilder | undefined => {
  if (drawStyle === 'bars') return uPlot.paths.bars?.({ size: [0.8, 60] });
  if (interpolation === 'smooth') return uPlot.paths.spline?.();
  if (interpolation === 'step-after') return uPlot.paths.stepped?.({ align: 1 });
  return interpolation === 'step-before' ? uPlot.paths.stepped?.({ align: -1 }) : undefined;
};

const toPlotSeries = (series: ColoredSeries, ink: string, width: number): uPlot.Series => {
  const { drawStyle, points = 'auto', pointSize, lineWidth, dashes = 'solid' } = series;
  const isPoints = drawStyle === 'points';
  const pattern = series.isEarlier === true ? dash : dashPatterns[dashes];
  const paths = getPaths(series);
  return {
    label: series.name,
    scale: series.unit || 'y',
    stroke: ink,
    width: isPoints ? 0 : (lineWidth ?? width),
    spanGaps: series.connectsGaps,
    points: {
      size: pointSize ?? (isPoints ? 5 : 4),
      ...(isPoints || points === 'always' ? { show: true } : points === 'never' ? { show: false } : {}),
    },
    ...(pattern === undefined ? {} : { dash: [...pattern] }),
    ...toFill(series, ink),
    ...(paths === undefined ? {} : { paths }),
  };
};

type PlotValues = readonly (number | null)[];

/** Splits the values of a line into those of complete steps, and the ends to partial steps, which are drawn dashed. */
const splitPartial = (values: PlotValues, partialIndexes: readonly number[]): readonly [PlotValues, PlotValues] => {
  const neighbors = new Set(partialIndexes.flatMap((index) => [index, index === 0 ? 1 : index - 1]));
  return [
    values.map((value, index) => (partialIndexes.includes(index) ? null : value)),
    values.map((value, index) => (neighbors.has(index) ? value : null)),
  ];
};

interface CursorPosition {
  readonly index: number;
  /** Viewport coordinates of the pointer; `undefined` if the pointer is in another chart of the group */
  readonly pointer?: readonly [x: number, y: number];
  /** Value at the pointer, by unit */
  readonly valueAtPointer?: number;
}

interface PlotProps extends Omit<TimeSeriesProps, 'series'> {
  readonly series: readonly ColoredSeries[];
  readonly partialIndexes: readonly number[];
  readonly onCursor: (position: CursorPosition | undefined) => void;
}

/** Returns bands that end the area of each stacked series at the series below it. */
const listStackBands = (series: readonly ColoredSeries[]): uPlot.Band[] => {
  const stacked = series.flatMap((one, index) => (one.isStacked && !one.isHidden ? [{ one, index }] : []));
  return [...Map.groupBy(stacked, ({ one }) => getStack(one)).values()].flatMap((stack) =>
    stack.slice(1).map(
      ({ one, index }, position): uPlot.Band => ({
        series: [index + 1, (stack[position]?.index ?? 0) + 1],
        ...(one.isBelow ? { dir: 1 } : {}),
      }),
    ),
  );
};

const createOptions = (
  props: PlotProps,
  place: Element,
  width: number,
  extraSeries: readonly uPlot.Series[],
): uPlot.Options => {
  const { series, height, from, to, group, low, high, bands = [], onCursor } = props;
  const units = [...new Set(series.map(({ unit }) => unit || 'y'))];
  const createScale = (unit: string): uPlot.Scale => {
    const {
      scale = 'linear',
      softMin,
      softMax,
      centredZero,
    } = series.find((one) => (one.unit || 'y') === unit)?.axis ?? {};
    if (scale === 'log2' || scale === 'log10') {
      const log = scale === 'log2' ? 2 : 10;
      return { distr: 3, log, range: (_, min, max) => uPlot.rangeLog(min ?? 1, max ?? 10, log, true) };
    }
    const findEnds = (min: number | null, max: number | null): readonly [bottom: number, top: number] => [
      low ?? Math.min(softMin ?? 0, min ?? 0),
      high ?? Math.max(max ?? softMax ?? 1, softMax ?? min ?? 0),
    ];
    const range: uPlot.Scale.Range = (_, min, max) => {
      const [bottom, top] = findEnds(min, max);
      const size = Math.max(Math.abs(bottom), Math.abs(top)) || 1;
      if (centredZero === true) return [-size, size];
      return [bottom, top > bottom ? (high === undefined ? top + (top - bottom) * 0.08 : top) : bottom + 1];
    };
    return scale === 'symlog' ? { distr: 4, range } : { range };
  };
  const ink = createColorResolver(place);
  const thickness = series.length > maxLinesWithPoints ? 1 : 1.5;
  return {
    width,
    height,
    ms: 1,
    padding: [8, 8, 0, 0],
    legend: { show: false },
    ...(displayTimeZone.value === 'browser'
      ? {}
      : { tzDate: (at: number) => uPlot.tzDate(new Date(at), displayTimeZone.value) }),
    cursor: {
      sync: { key: group, setSeries: false },
      drag: { x: true, y: false, setScale: false },
      y: false,
      // Each point is a separate element, and among many lines it is hard to recognize.
      points: { show: series.length <= maxLinesWithPoints, size: 6 },
    },
    scales: {
      x: { time: true, range: [from, to] },
      ...Object.fromEntries(units.map((unit) => [unit, createScale(unit)])),
    },
    axes: createAxes(series, ink),
    // The first uPlot series contains the times.
    bands: [
      ...bands.map(
        ([upper, lower, of]): uPlot.Band => ({
          series: [upper + 1, lower + 1],
          fill: withOpacity(ink(series[of]?.colorClass ?? ''), 0.15),
        }),
      ),
      ...listStackBands(series),
    ],
    series: [{}, ...series.map((one) => toPlotSeries(one, ink(one.colorClass), thickness)), ...extraSeries],
    hooks: {
      draw: [createMarkPainter(props, place, units[0] ?? 'y')],
      setCursor: [
        (plot) => {
          const { idx: index, left = -1, top = -1 } = plot.cursor;
          if (index === null || index === undefined || left < 0) return onCursor(undefined);
          if (!plot.over.matches(':hover')) return onCursor({ index });
          const box = plot.over.getBoundingClientRect();
          onCursor({
            index,
            pointer: [box.left + left, box.top + top],
            valueAtPointer: plot.posToVal(top, units[0] ?? 'y'),
          });
        },
      ],
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

const Plot = (props: PlotProps) => {
  const place = useRef<HTMLDivElement>(null);
  const themeKey = useTheme();
  const { steps, series, title, partialIndexes } = props;
  const sentence = useMemo(() => describeChart(props), [series, title]);
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const plotted = toPlotData(series, steps.length);
    const hasEnds = partialIndexes.length > 0 && series.length <= maxLinesWithPoints;
    const ink = createColorResolver(element);
    const split = plotted.map((values, index) =>
      hasEnds && series[index]?.drawStyle === 'lines' ? splitPartial(values, partialIndexes) : ([values] as const),
    );
    const ends = split.flatMap(([, end], index): readonly (readonly [PlotValues, uPlot.Series])[] => {
      const line = series[index];
      if (end === undefined || line === undefined) return [];
      const stroke = withOpacity(ink(line.colorClass), 0.6);
      return [[end, { scale: line.unit || 'y', stroke, width: 1.5, dash, points: { show: false } }]];
    });
    const data = [[...steps], ...split.map(([values]) => values), ...ends.map(([values]) => values)];
    const width = Math.max(80, element.clientWidth);
    const plot = new uPlot(
      createOptions(
        props,
        element,
        width,
        ends.map(([, settings]) => settings),
      ),
      data as uPlot.AlignedData,
      element,
    );
    const resizeObserver = new ResizeObserver(([entry]) => {
      const newWidth = Math.floor(entry?.contentRect.width ?? 0);
      if (newWidth > 0 && newWidth !== plot.width) plot.setSize({ width: newWidth, height: props.height });
    });
    resizeObserver.observe(element);
    return () => {
      resizeObserver.disconnect();
      plot.destroy();
    };
  }, [
    steps,
    series,
    props.from,
    props.to,
    props.height,
    themeKey,
    displayTimeZone.value,
    props.marks,
    props.limits,
    props.ranges,
  ]);
  return <div ref={place} class="plot" role="img" aria-label={sentence} style={{ height: `${props.height}px` }} />;
};

/** Maximum number of values in a tooltip */
const maxTooltipRows = 10;
const tooltipWidth = 260;

const Tooltip = ({
  position: { index, pointer, valueAtPointer = 0 },
  series,
  steps,
  marks = [],
  partialIndexes,
  tooltip = defaultTooltip,
}: PlotProps & { readonly position: CursorPosition }) => {
  const time = steps[index];
  if (pointer === undefined || time === undefined || tooltip.shows === 'none') return null;
  const allRows = listTooltipSeries(series, index, tooltip);
  const distance = ({ values, isBelow = false }: ColoredSeries): number =>
    Math.abs((isBelow ? -1 : 1) * (values[index] ?? 0) - valueAtPointer);
  const nearest = allRows.reduce<ColoredSeries | undefined>(
    (best, one) => (best === undefined || distance(one) < distance(best) ? one : best),
    undefined,
  );
  const rows = tooltip.shows === 'one' ? allRows.filter((one) => one === nearest) : allRows;
  const stepMs = (steps[1] ?? time) - (steps[0] ?? time);
  const nearMarks = marks.filter(({ at, title }) => title !== '' && Math.abs(at - time) <= stepMs);
  const [x, y] = pointer;
  const isRight = x + tooltipWidth + 24 < innerWidth;
  return (
    <div
      class="chart-tooltip"
      aria-hidden="true"
      style={{
        top: `${Math.min(y + 12, innerHeight - 40 - 22 * Math.min(rows.length, maxTooltipRows))}px`,
        left: `${isRight ? x + 14 : Math.max(4, x - tooltipWidth - 14)}px`,
      }}
    >
      <p>
        {formatDay(time)}, {stepMs < 60_000 ? formatClockTime(time) : formatShortTime(time)}
        {partialIndexes.includes(index) ? <i> incomplete</i> : null}
      </p>
      {nearMarks.map(({ title }) => (
        <p key={title} class="mark-title">
          {renderText(title)}
        </p>
      ))}
      {rows.slice(0, maxTooltipRows).map((one) => (
        <div key={one.name} class={one === nearest && rows.length > 1 ? 'nearest' : ''}>
          <span class={`swatch ${one.colorClass}`} />
          <bdi>{renderText(one.name)}</bdi>
          <b>{one.formatValue(one.values[index])}</b>
        </div>
      ))}
      {rows.length > maxTooltipRows ? <p>{rows.length - maxTooltipRows} more</p> : null}
    </div>
  );
};

/** Titles of the reducers in the header of a legend */
const reducerTitles: Readonly<Record<string, string>> = {
  'last-not-null': 'Last',
  last: 'Last',
  min: 'Min',
  max: 'Max',
  mean: 'Mean',
  sum: 'Total',
  'first-not-null': 'First',
  median: 'Median',
  count: 'Count',
  range: 'Range',
  difference: 'Difference',
  deviation: 'Std dev',
};
const getReducerTitle = (reducer: string): string => reducerTitles[reducer] ?? reducer;
const defaultLegendValues = ['min', 'max', 'mean', 'last-not-null'];

interface LegendProps extends Pick<PlotProps, 'title' | 'series' | 'partialIndexes'> {
  readonly cursorIndex: number | undefined;
  readonly settings: Pick<LegendSettings, 'values' | 'sortBy' | 'descending'>;
  /** Called with an index of the series, and whether only that one is toggled */
  readonly onSelect: (index: number, isToggle: boolean) => void;
}

const LegendButton = ({
  series: one,
  isOnlySeries,
  value,
  onSelect,
}: {
  readonly series: ColoredSeries;
  readonly isOnlySeries: boolean;
  /** Value behind the name, if there is one */
  readonly value: string | undefined;
  readonly onSelect: (isToggle: boolean) => void;
}) => (
  <button
    type="button"
    class="legend-entry"
    aria-pressed={!one.isHidden}
    data-tooltip={isOnlySeries ? undefined : 'Click to isolate, Ctrl-click to hide'}
    onClick={({ ctrlKey, metaKey, shiftKey }) => onSelect(ctrlKey || metaKey || shiftKey)}
  >
    <span class={`swatch ${one.colorClass}`} />
    <bdi>{renderText(one.name)}</bdi>
    {value === undefined ? null : <b>{value}</b>}
  </button>
);

/** Legend as a table with a column for each reducer */
const LegendTable = ({ title, series, partialIndexes, settings, onSelect }: LegendProps) => {
  const reducers = settings.values.length === 0 ? defaultLegendValues : settings.values;
  const { sortBy, descending } = settings;
  const rows = useMemo(
    () =>
      sortLegend(series, partialIndexes, settings).map(({ one, index }) => ({
        one,
        index,
        texts: reducers.map((reducer) => one.formatValue(reduceComplete(one.values, partialIndexes, reducer))),
      })),
    [series, partialIndexes, reducers.join(), sortBy, descending],
  );
  return (
    <ScrollRegion class="series-names table" label={`Series of ${title === '' ? 'the chart' : title}`}>
      <table>
        <TableHeader columns={['Series', ...reducers.map(getReducerTitle)]} />
        <tbody>
          {rows.map(({ one, index, texts }) => (
            <tr key={`${one.name} ${index}`}>
              <td>
                <LegendButton
                  series={one}
                  isOnlySeries={series.length === 1}
                  value={undefined}
                  onSelect={(isToggle) => onSelect(index, isToggle)}
                />
              </td>
              {texts.map((text, column) => (
                <td key={reducers[column]}>{text}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
};

const LegendList = ({ title, series, cursorIndex, partialIndexes, settings, onSelect }: LegendProps) => {
  const { values: reducers, sortBy, descending } = settings;
  const entries = useMemo(
    () => sortLegend(series, partialIndexes, settings),
    [series, partialIndexes, sortBy, descending],
  );
  const formatEntry = ({ values, formatValue }: ColoredSeries): string =>
    cursorIndex === undefined && reducers.length > 0
      ? reducers
          .map(
            (reducer) => `${getReducerTitle(reducer)} ${formatValue(reduceComplete(values, partialIndexes, reducer))}`,
          )
          .join(', ')
      : formatValue(cursorIndex === undefined ? getLastComplete(values, partialIndexes) : values[cursorIndex]);
  const [shownCount, setShownCount] = useState(maxInitialEntries);
  return (
    <ScrollRegion class="series-names" label={`Series of ${title === '' ? 'the chart' : title}`}>
      <ul>
        {entries.slice(0, shownCount).map(({ one, index }) => (
          <li key={`${one.name} ${index}`}>
            <LegendButton
              series={one}
              isOnlySeries={series.length === 1}
              value={formatEntry(one)}
              onSelect={(isToggle) => onSelect(index, isToggle)}
            />
          </li>
        ))}
        {entries.length > shownCount ? (
          <li>
            <button type="button" class="legend-entry" onClick={() => setShownCount(entries.length)}>
              {entries.length - shownCount} more
            </button>
          </li>
        ) : null}
      </ul>
    </ScrollRegion>
  );
};

/** Time series chart with tooltip, a legend that toggles and isolates series, and a data table */
export const TimeSeriesChart = (props: TimeSeriesProps) => {
  const [position, setPosition] = useState<CursorPosition>();
  const [hidden, setHidden] = useState<ReadonlySet<number>>(new Set());
  const { steps, series, legend, title, partialSteps, hasDataTable = true } = props;
  const colored = useMemo(() => {
    const indexes = series.flatMap(({ colorOf }, index) => (colorOf === undefined ? [index] : []));
    const classes = assignColorClasses(indexes.map((index) => series[index]?.name ?? ''));
    const classByIndex = new Map(indexes.map((index, position) => [index, classes[position] ?? '']));
    const getClass = ({ colorOf }: TimeSeries, index: number): string =>
      classByIndex.get(index) ?? classByIndex.get(series.findIndex(({ name }) => name === colorOf)) ?? 'series-1';
    return series.map(
      (one, index): ColoredSeries => ({
        ...one,
        colorClass: one.colorName === undefined ? getClass(one, index) : `tone-${one.colorName}`,
        isHidden: hidden.has(index),
      }),
    );
  }, [series, hidden]);
  const partialIndexes = useMemo(() => findPartialIndexes(steps, partialSteps), [steps, partialSteps]);
  const lines = useMemo(() => series.map(({ name, values }) => ({ name, values })), [series]);
  const plotProps: PlotProps = { ...props, series: colored, partialIndexes, onCursor: setPosition };
  const { form = 'list', place = 'bottom', values = [], sortBy, descending } = typeof legend === 'object' ? legend : {};
  const legendProps: LegendProps = {
    title,
    series: colored,
    cursorIndex: position?.index,
    partialIndexes,
    settings: { values, sortBy, descending },
    onSelect: (index, isToggle) => setHidden(selectSeries(hidden, index, { count: series.length, isToggle })),
  };
  return (
    <div class={legend !== false && place === 'right' ? 'chart-box beside-legend' : 'chart-box'}>
      <Plot {...plotProps} />
      {position?.pointer === undefined ? null : <Tooltip {...plotProps} position={position} />}
      {legend === false ? null : form === 'table' ? <LegendTable {...legendProps} /> : <LegendList {...legendProps} />}
      {hasDataTable ? (
        <ChartDataTable
          steps={steps}
          lines={lines}
          formatCell={(value, index) => series[index]?.formatValue(value) ?? ''}
          {...(title === '' ? {} : { name: title })}
        />
      ) : null}
    </div>
  );
};
