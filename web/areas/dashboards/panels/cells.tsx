/** Panels of bucketed values: heatmaps and histograms. The code is loaded on first use. */
import { useMemo, useState } from 'preact/hooks';
import { toNumberOrUndefined } from '../../../charts/reduce.ts';
import { ChartDataTable } from '../../../charts/value-table.tsx';
import { formatQuantity } from '../../../charts/values.ts';
import { renderText } from '../../../frame/display-text.tsx';
import { formatShortTime, formatTime } from '../../../frame/format-time.ts';
import { ScrollRegion } from '../../../lists/scroll-region.tsx';
import { TableHeader } from '../../../lists/table-header.tsx';
import { getFields, isNumeric } from '../fields.ts';
import {
  type BucketSeries,
  computeHistogram,
  type HeatmapData,
  type Histogram,
  type HistogramSettings,
  heatmapFromBuckets,
  heatmapFromValues,
} from './buckets.ts';
import type { PanelProps } from './panel-props.ts';

/** Number of shades of a cell; each is drawn with one path */
const shadeCount = 8;
const paletteSize = 8;
const numberFormat = new Intl.NumberFormat('en', { maximumSignificantDigits: 4 });
const noValuesMessage = <p class="soft">No values in this range.</p>;

const buildShadePaths = ({ rows }: HeatmapData): readonly string[] => {
  const maxCount = Math.max(Number.MIN_VALUE, ...rows.flatMap(({ counts }) => counts));
  const paths = new Array<string>(shadeCount).fill('');
  for (const [row, { counts }] of rows.entries())
    for (const [column, count] of counts.entries()) {
      if (count <= 0) continue;
      // Logarithmic, so that small counts remain visible: rare values matter most.
      const shade = Math.min(shadeCount - 1, Math.floor((Math.log1p(count) / Math.log1p(maxCount)) * shadeCount));
      paths[shade] += `M${column},${rows.length - row - 1}h1v1h-1z`;
    }
  return paths;
};

const sumCounts = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);

const toBucketSeries = ({ panel }: PanelProps): BucketSeries[] =>
  Object.values(panel.results).flatMap(({ series }) =>
    series.map(({ name, labels, points }) => ({ name: Object.values(labels).join(' ') || name, labels, points })),
  );

interface HeatmapSettings {
  readonly fromValues: boolean;
  readonly yUnit: string;
  readonly yDecimals: number | null;
  readonly ySide: string;
  readonly reversed: boolean;
  readonly scale: string;
  readonly hidesBelow: number | null;
  readonly hidesAbove: number | null;
  readonly tooltip: { readonly shows?: string };
}

/** Returns the heatmap without counts that the panel hides, from top to bottom as the panel draws it. */
const applySettings = (
  heatmap: HeatmapData,
  { reversed = false, hidesBelow = null, hidesAbove = null }: Partial<HeatmapSettings>,
): HeatmapData => {
  const isShown = (count: number): boolean =>
    (hidesBelow === null || count >= hidesBelow) && (hidesAbove === null || count <= hidesAbove);
  const rows = heatmap.rows.map(({ name, counts }) => ({
    name,
    counts: counts.map((count) => (isShown(count) ? count : 0)),
  }));
  return { ...heatmap, rows: reversed ? rows.reverse() : rows };
};

/** Number of labels of the axis */
const maxRowLabels = 5;

/** Returns the rows with a label, evenly spread, from top to bottom. */
const listRowLabels = (rows: HeatmapData['rows']): readonly string[] => {
  const count = Math.min(maxRowLabels, rows.length);
  return Array.from({ length: count }, (_, index) => {
    const position = count === 1 ? 0 : Math.round((index * (rows.length - 1)) / (count - 1));
    return rows[rows.length - 1 - position]?.name ?? '';
  });
};

/** Tones of the color scales; other scales have the color of the theme */
const toneOfScale = (scale: string): string =>
  /blue|cyan|turbo|winter/i.test(scale)
    ? 'tone-blue'
    : /green/i.test(scale)
      ? 'tone-green'
      : /red|spectral|rd/i.test(scale)
        ? 'tone-red'
        : /purple|viridis|magma|plasma|inferno/i.test(scale)
          ? 'tone-purple'
          : '';

interface HoveredCell {
  readonly row: number;
  readonly column: number;
  readonly x: number;
  readonly y: number;
}

export const HeatmapPanel = (props: PanelProps) => {
  const { panel, height } = props;
  const settings = panel.visual as Partial<HeatmapSettings>;
  const { yUnit = '', yDecimals, ySide = 'left', scale = '', tooltip = {} } = settings;
  const [hovered, setHovered] = useState<HoveredCell>();
  const heatmap = useMemo(
    () =>
      applySettings(
        (settings.fromValues === true ? heatmapFromValues : heatmapFromBuckets)(toBucketSeries(props)),
        settings,
      ),
    [panel],
  );
  const unit = yUnit || (Object.values(panel.results)[0]?.series[0]?.unit ?? '');
  const formatBucket = (name: string): string => {
    const number = toNumberOrUndefined(name);
    if (number === undefined || !Number.isFinite(number) || (yUnit === '' && settings.fromValues !== true)) return name;
    return formatQuantity(number, unit, yDecimals ?? undefined);
  };
  const paths = useMemo(() => buildShadePaths(heatmap), [heatmap]);
  const { steps, rows } = heatmap;
  const [first, last] = [steps[0], steps.at(-1)];
  if (first === undefined || last === undefined) return noValuesMessage;
  const fullestRow = rows.reduce((left, right) => (sumCounts(right.counts) > sumCounts(left.counts) ? right : left));
  return (
    <>
      <div class={ySide === 'right' ? 'heatmap-plot right' : 'heatmap-plot'}>
        {ySide === 'hidden' ? null : (
          <div class="heatmap-axis" aria-hidden="true">
            {listRowLabels(rows).map((name, index) => (
              <span key={`${index} ${name}`}>{renderText(formatBucket(name))}</span>
            ))}
          </div>
        )}
        <svg
          class={`heatmap still ${toneOfScale(scale)}`}
          onPointerMove={({ currentTarget, clientX: x, clientY: y }) => {
            const box = currentTarget.getBoundingClientRect();
            const column = Math.floor(((x - box.left) / box.width) * steps.length);
            const row = rows.length - 1 - Math.floor(((y - box.top) / box.height) * rows.length);
            setHovered({ row, column, x, y });
          }}
          onPointerLeave={() => setHovered(undefined)}
          role="img"
          aria-label={`${panel.title || 'Heatmap'}: ${rows.length} buckets from ${rows[0]?.name} to ${rows.at(-1)?.name} over time; ${fullestRow.name} has the most values.`}
          viewBox={`0 0 ${steps.length} ${rows.length}`}
          preserveAspectRatio="none"
          style={{ height: `${Math.max(50, height - 70)}px` }}
        >
          {paths.map((path, shade) => (
            <path key={`${shade}`} d={path} opacity={(0.2 + (0.8 * (shade + 1)) / shadeCount).toFixed(2)} />
          ))}
        </svg>
      </div>
      {hovered === undefined || tooltip.shows === 'none' ? null : (
        <HeatmapTooltip cell={hovered} heatmap={heatmap} formatBucket={formatBucket} />
      )}
      <p class="axis">
        <span>{formatShortTime(first)}</span>
        <span>{formatShortTime(last)}</span>
      </p>
      <ChartDataTable
        steps={steps}
        name={panel.title || 'the heatmap'}
        lines={rows.map(({ name, counts }) => ({ name, values: counts }))}
        formatCell={(value) => (value === undefined ? '' : numberFormat.format(value))}
      />
    </>
  );
};

/** Time, bucket and count of the cell next to the pointer */
const HeatmapTooltip = ({
  cell: { row, column, x, y },
  heatmap: { steps, rows },
  formatBucket,
}: {
  readonly cell: HoveredCell;
  readonly heatmap: HeatmapData;
  readonly formatBucket: (name: string) => string;
}) => {
  const [time, bucket] = [steps[column], rows[row]];
  if (time === undefined || bucket === undefined) return null;
  return (
    <div
      class="chart-tooltip"
      aria-hidden="true"
      style={{ top: `${y + 12}px`, left: `${Math.min(x + 14, innerWidth - 240)}px` }}
    >
      <p>{formatTime(time)}</p>
      <div>
        <bdi>{renderText(formatBucket(bucket.name))}</bdi>
        <b>{numberFormat.format(bucket.counts[column] ?? 0)}</b>
      </div>
    </div>
  );
};

/** Stacked bars. */
const HistogramBars = ({
  histogram: { starts, series },
  title,
  height,
}: {
  readonly histogram: Histogram;
  readonly title: string;
  readonly height: number;
}) => {
  const totals = starts.map((_, bucketIndex) => sumCounts(series.map(({ counts }) => counts[bucketIndex] ?? 0)));
  const maxTotal = Math.max(1, ...totals);
  const stackedCounts = new Array<number>(starts.length).fill(0);
  return (
    <svg
      class="bars"
      role="img"
      aria-label={`${title || 'Histogram'}: ${numberFormat.format(sumCounts(totals))} values in ${starts.length} buckets, maximum ${numberFormat.format(maxTotal)} per bucket.`}
      viewBox={`0 0 ${starts.length} ${maxTotal}`}
      preserveAspectRatio="none"
      style={{ height: `${height}px` }}
    >
      {series.map(({ name, counts }, index) => {
        const path = counts.map((count, bucketIndex) => {
          if (count === 0) return '';
          stackedCounts[bucketIndex] = (stackedCounts[bucketIndex] ?? 0) + count;
          return `M${bucketIndex + 0.05},${maxTotal - (stackedCounts[bucketIndex] ?? 0)}h.9v${count}h-.9z`;
        });
        return <path key={`${index} ${name}`} class={`line-${index % paletteSize}`} d={path.join('')} />;
      })}
    </svg>
  );
};

export const HistogramPanel = ({ panel, height }: PanelProps) => {
  const fields = useMemo(() => getFields(panel).filter(isNumeric), [panel]);
  const histogram = useMemo(() => computeHistogram(fields, panel.visual as HistogramSettings), [panel]);
  if (histogram === undefined) return noValuesMessage;
  const { starts, size, series } = histogram;
  const unit = fields[0]?.unit ?? '';
  return (
    <>
      <HistogramBars histogram={histogram} title={panel.title} height={Math.max(50, height - 70)} />
      <p class="axis">
        <span>{formatQuantity(starts[0], unit)}</span>
        <span>{formatQuantity((starts.at(-1) ?? 0) + size, unit)}</span>
      </p>
      <details class="numbers-of">
        <summary>Data table</summary>
        <ScrollRegion class="numbers" label={`Data of ${panel.title || 'the histogram'}`}>
          <table>
            <TableHeader columns={['From', ...series.slice(0, 20).map(({ name }) => name)]} />
            <tbody>
              {starts.map((start, bucketIndex) => (
                <tr key={start}>
                  <td>{formatQuantity(start, unit)}</td>
                  {series.slice(0, 20).map(({ name, counts }, index) => (
                    <td key={`${index} ${name}`}>{numberFormat.format(counts[bucketIndex] ?? 0)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollRegion>
      </details>
    </>
  );
};
