/** Panels of bucketed values: heatmaps and histograms. The code is loaded on first use. */
import { useMemo } from 'preact/hooks';
import { ChartDataTable } from '../../../charts/value-table.tsx';
import { formatQuantity } from '../../../charts/values.ts';
import { renderText } from '../../../frame/shown-text.tsx';
import { formatShortTime } from '../../../frame/shown-time.ts';
import { ScrollRegion } from '../../../lists/scrolled.tsx';
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

export const HeatmapPanel = (props: PanelProps) => {
  const { panel, height } = props;
  const fromValues = panel.visual['fromValues'] === true;
  const heatmap = useMemo(() => (fromValues ? heatmapFromValues : heatmapFromBuckets)(toBucketSeries(props)), [panel]);
  const paths = useMemo(() => buildShadePaths(heatmap), [heatmap]);
  const { steps, rows } = heatmap;
  const [first, last] = [steps[0], steps.at(-1)];
  if (first === undefined || last === undefined) return noValuesMessage;
  const fullestRow = rows.reduce((left, right) => (sumCounts(right.counts) > sumCounts(left.counts) ? right : left));
  return (
    <>
      <svg
        class="heatmap still"
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
      <p class="axis">
        <span>
          {formatShortTime(first)}, {renderText(rows[0]?.name ?? '')} bottom
        </span>
        <span>
          {formatShortTime(last)}, {renderText(rows.at(-1)?.name ?? '')} top
        </span>
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
