/** Time series on a canvas, drawn with uPlot. Dragging selects a range; charts of a group share the cursor. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { shownText } from '../frame/shown-text.tsx';
import { shownTime, zone } from '../frame/shown-time.ts';
import { theme } from '../frame/theme.ts';
import { setMoments } from '../frame/time-range.ts';
import { Scrolled } from '../lists/scrolled.tsx';
import { ValueTable } from './lines.tsx';

/** Number of colors, after which they repeat */
const colours = 8;

export interface TimeSeries {
  readonly name: string;
  readonly unit: string;
  /** One value per step */
  readonly values: readonly (number | undefined)[];
  readonly as: 'lines' | 'bars' | 'points';
  /** Opacity of the area below the line, 0 to 1 */
  readonly area: number;
  readonly isStacked: boolean;
  readonly joinsGaps: boolean;
  /** Name of a color, if one is set */
  readonly tone?: string | undefined;
  shown(value: number | undefined): string;
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

const classOf = ({ tone }: TimeSeries, index: number): string =>
  tone === undefined ? `line-${index % colours}` : `tone-${tone}`;

/** Returns the color of a style sheet class for a canvas, which does not support `light-dark`. */
const inkOf = (place: Element, name: string): string => {
  const probe = document.createElement('span');
  probe.className = `swatch ${name}`;
  place.append(probe);
  const ink = getComputedStyle(probe).backgroundColor;
  probe.remove();
  return ink;
};

const dark = matchMedia('(prefers-color-scheme: dark)');
const inks = new Map<string, string>();

/** Returns chart colors, each resolved once per theme, because a lookup makes the browser compute styles. */
const inksOf = (place: Element): ((name: string) => string) => {
  const scheme = `${document.documentElement.dataset['theme'] ?? ''} ${dark.matches}`;
  return (name) => {
    const key = `${scheme} ${name}`;
    const ink = inks.get(key) ?? inkOf(place, name);
    inks.set(key, ink);
    return ink;
  };
};

/** Maximum number of initially displayed legend entries, all of which are updated when the pointer moves */
const maxNames = 30;

/**
 * Maximum number of lines with points at the pointer; with more, lines are thin, because one-pixel lines cost half as
 * much to draw
 */
const maxWithPoints = 20;

/** Changes if the colors change. */
const useTheme = (): string => {
  const [times, setTimes] = useState(0);
  useEffect(() => {
    const onThemeChange = (): void => setTimes((before) => before + 1);
    dark.addEventListener('change', onThemeChange);
    return () => dark.removeEventListener('change', onThemeChange);
  }, []);
  return `${theme.value} ${times}`;
};

const isWhole = (values: TimeSeries['values']): values is readonly number[] => !values.includes(undefined);

/** Returns the drawn values; stacked ones are added to the previous series. */
const drawnOf = (series: readonly TimeSeries[], length: number): (readonly (number | null)[])[] => {
  const below = new Array<number>(length).fill(0);
  return series.map(({ values, isStacked }) => {
    if (!isStacked && isWhole(values)) return values;
    const drawn = new Array<number | null>(length).fill(null);
    for (let at = 0; at < length; at++) {
      const value = values[at];
      if (value === undefined) continue;
      const shown = isStacked ? (below[at] ?? 0) + value : value;
      if (isStacked) below[at] = shown;
      drawn[at] = shown;
    }
    return drawn;
  });
};

const sentenceOf = ({ title, series }: OverTimeProps): string => {
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
  return `${name}: ${series.length} series, from ${first.shown(min)} to ${first.shown(max)}.`;
};

const shownTick = (seconds: number, stepSeconds: number): string => {
  const text = shownTime(seconds);
  if (stepSeconds >= 86_400_000) return text.slice(5, 10);
  return stepSeconds < 60_000 ? text.slice(11, 19) : text.slice(11, 16);
};

/** Axis steps for bytes */
const byteSteps = Array.from({ length: 60 }, (_, power) => 2 ** power);

const axesOf = (series: readonly TimeSeries[], ink: string, grid: string): uPlot.Axis[] => {
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
    values: (_, splits, __, ___, step) => splits.map((at) => shownTick(at, step)),
  };
  return [
    time,
    ...units.slice(0, 2).map((unit, index): uPlot.Axis => {
      const shown = series.find((one) => one.unit === unit)?.shown;
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

const markedOn =
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
        line(inkOf(place, 'tone-blue'), [x, bbox.top], [x, bbox.top + bbox.height]);
    }
    for (const [value, tone] of limits) {
      const y = plot.valToPos(value, scale, true);
      if (y >= bbox.top && y <= bbox.top + bbox.height)
        line(inkOf(place, `tone-${tone}`), [bbox.left, y], [bbox.left + bbox.width, y]);
    }
  };

/** Series differ in dashes in addition to color */
const dashes = [[], [6, 3], [2, 3], [8, 3, 2, 3], [12, 4], [4, 4], [10, 2, 2, 2], [1, 2]];

const faint = (ink: string, opacity: number): string => ink.replace(/^rgb\(([^)]*)\)$/, `rgba($1, ${opacity})`);

const fillOf = ({ as, area }: TimeSeries, ink: string): Pick<uPlot.Series, 'fill'> => {
  const opacity = as === 'bars' ? 0.8 : area;
  return opacity > 0 ? { fill: faint(ink, opacity) } : {};
};

const styleOf = (series: TimeSeries, index: number, ink: string, width: number): uPlot.Series => {
  const isPoints = series.as === 'points';
  return {
    label: series.name,
    scale: series.unit || 'y',
    stroke: ink,
    width: isPoints ? 0 : width,
    spanGaps: series.joinsGaps,
    points: isPoints ? { show: true, size: 5 } : { size: 4 },
    dash: dashes[series.as === 'lines' && series.area === 0 ? index % colours : 0] ?? [],
    ...fillOf(series, ink),
    ...(series.as === 'bars' && uPlot.paths.bars ? { paths: uPlot.paths.bars({ size: [0.8, 60] }) } : {}),
  };
};

const optionsOf = (
  props: OverTimeProps,
  place: Element,
  width: number,
  onPoint: (at?: number) => void,
): uPlot.Options => {
  const { series, height, from, to, group, low, high, bands = [] } = props;
  const units = [...new Set(series.map(({ unit }) => unit || 'y'))];
  const range: uPlot.Scale.Range = (_, min, max) => {
    const [bottom, top] = [low ?? Math.min(0, min ?? 0), high ?? Math.max(max ?? 1, min ?? 0)];
    return [bottom, top > bottom ? (high === undefined ? top + (top - bottom) * 0.05 : top) : bottom + 1];
  };
  const ink = inksOf(place);
  const thickness = series.length > maxWithPoints ? 1 : 1.5;
  return {
    width,
    height,
    ms: 1,
    legend: { show: false },
    ...(zone.value === 'browser' ? {} : { tzDate: (at: number) => uPlot.tzDate(new Date(at), zone.value) }),
    cursor: {
      sync: { key: group, setSeries: false },
      drag: { x: true, y: false, setScale: false },
      y: false,
      // Each point is a separate element, and is not distinguishable among many lines.
      points: { show: series.length <= maxWithPoints },
    },
    scales: { x: { time: true, range: [from, to] }, ...Object.fromEntries(units.map((unit) => [unit, { range }])) },
    axes: axesOf(series, ink('ink-soft'), ink('ink-line')),
    // The first uPlot series contains the times.
    bands: bands.map(([upper, lower, of]) => ({
      series: [upper + 1, lower + 1],
      fill: faint(ink(classOf(series[of] as TimeSeries, of)), 0.15),
    })),
    series: [{}, ...series.map((one, index) => styleOf(one, index, ink(classOf(one, index)), thickness))],
    hooks: {
      draw: [markedOn(props, place, units[0] ?? 'y')],
      setCursor: [({ cursor }) => onPoint(cursor.idx ?? undefined)],
      setSelect: [
        (plot) => {
          if (plot.select.width < 4) return;
          setMoments(plot.posToVal(plot.select.left, 'x'), plot.posToVal(plot.select.left + plot.select.width, 'x'));
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
  const sentence = useMemo(() => sentenceOf(props), [series, title]);
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const data = [[...steps], ...drawnOf(series, steps.length)] as uPlot.AlignedData;
    const plot = new uPlot(optionsOf(props, element, Math.max(80, element.clientWidth), onPoint), data, element);
    const watch = new ResizeObserver(([entry]) => {
      const width = Math.floor(entry?.contentRect.width ?? 0);
      if (width > 0 && width !== plot.width) plot.setSize({ width, height: props.height });
    });
    watch.observe(element);
    return () => {
      watch.disconnect();
      plot.destroy();
    };
  }, [steps, series, props.from, props.to, props.height, times, zone.value, props.marks]);
  return <div ref={place} class="plot" role="img" aria-label={sentence} style={{ height: `${props.height}px` }} />;
};

const lastOf = (values: TimeSeries['values']): number | undefined => values.findLast((value) => value !== undefined);

/** Chart with a legend of values at the pointer or at the end, and a table of values. */
export const OverTime = (props: OverTimeProps) => {
  const [at, setAt] = useState<number>();
  const [shownCount, setShownCount] = useState(maxNames);
  const { steps, series, legend, title } = props;
  const lines = useMemo(() => series.map(({ name, values }) => ({ name, values })), [series]);
  return (
    <>
      <Plot {...props} onPoint={setAt} />
      {legend ? (
        <Scrolled class="series-names" label={`Series of ${title === '' ? 'the chart' : title}`}>
          <ul>
            {series.slice(0, shownCount).map((one, index) => (
              <li key={`${one.name} ${index}`}>
                <span class={`swatch ${classOf(one, index)}`} /> <bdi>{shownText(one.name)}</bdi>{' '}
                <b>{one.shown(at === undefined ? lastOf(one.values) : one.values[at])}</b>
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
        </Scrolled>
      ) : null}
      <ValueTable
        steps={steps}
        lines={lines}
        shown={(value, index) => series[index]?.shown(value) ?? ''}
        {...(title === '' ? {} : { name: title })}
      />
    </>
  );
};
