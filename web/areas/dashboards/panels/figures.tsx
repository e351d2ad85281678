/** Panels of few values: large numbers, gauges, bar gauges and pie charts */
import { reduceSteps, toNumberOrUndefined } from '../../../charts/reduce.ts';
import { formatQuantity } from '../../../charts/values.ts';
import { Sparkline } from '../../../components/sparkline.tsx';
import { renderText } from '../../../frame/display-text.tsx';
import { TableHeader } from '../../../lists/table-header.tsx';
import {
  colorToTone,
  type Field,
  formatFieldValue,
  getSingleValues,
  getValueTone,
  type SingleValue,
} from '../fields.ts';
import type { PanelProps } from './panel-props.ts';

export const NoValues = () => <p class="soft">No values in this range.</p>;

/** Returns the change over the range, in percent; `undefined` without a first value other than 0. */
const getChange = ({ field }: SingleValue): number | undefined => {
  const first = reduceSteps(field, 'first-not-null');
  const last = reduceSteps(field, 'last-not-null');
  return field.times === undefined || first === undefined || last === undefined || first === 0
    ? undefined
    : (100 * (last - first)) / Math.abs(first);
};

interface StatSettings {
  readonly text: string;
  readonly coloured: string;
  readonly graph: string;
  readonly showsChange: boolean;
  readonly align: string;
  readonly valueSize: number | null;
}

/** Returns the classes of a value with its color. */
const getStatClasses = (
  { field, value }: SingleValue,
  { coloured = 'value', align }: Partial<StatSettings>,
): string => {
  const tone = coloured === 'none' ? undefined : getValueTone(field, value);
  return [
    `stat ink-${tone ?? 'plain'}`,
    ...(coloured.startsWith('background') ? ['filled'] : []),
    ...(align === 'center' ? ['centered'] : []),
  ].join(' ');
};

const Stat = ({
  singleValue,
  settings,
  hasSeveral,
}: {
  readonly singleValue: SingleValue;
  readonly settings: Partial<StatSettings>;
  readonly hasSeveral: boolean;
}) => {
  const { field, value, name } = singleValue;
  const { text = 'auto', graph = 'area', showsChange = false, valueSize } = settings;
  const change = showsChange ? getChange(singleValue) : undefined;
  const hasName =
    text === 'auto' ? hasSeveral || field.settings.name !== undefined : ['name', 'value-and-name'].includes(text);
  return (
    <div class={getStatClasses(singleValue, settings)}>
      <dt class={hasName ? '' : 'sr-only'}>{renderText(name)}</dt>
      <dd
        class={text === 'name' || text === 'none' ? 'sr-only' : ''}
        style={valueSize === null || valueSize === undefined ? {} : { fontSize: `${valueSize}px` }}
      >
        {renderText(formatFieldValue(field, value) || '–')}
        {change === undefined ? null : (
          <small>
            {' '}
            {change > 0 ? '+' : ''}
            {formatQuantity(change, '%')}
          </small>
        )}
      </dd>
      {graph === 'none' || field.times === undefined ? null : (
        <Sparkline values={field.values.map(toNumberOrUndefined)} />
      )}
    </div>
  );
};

export const StatPanel = ({ panel }: PanelProps) => {
  const singleValues = getSingleValues(panel);
  if (singleValues.length === 0) return <NoValues />;
  return (
    <dl class={panel.visual['orientation'] === 'horizontal' ? 'stats in-rows' : 'stats'}>
      {singleValues.map((singleValue) => (
        <Stat
          key={singleValue.key}
          singleValue={singleValue}
          settings={panel.visual as Partial<StatSettings>}
          hasSeveral={singleValues.length > 1}
        />
      ))}
    </dl>
  );
};

/** Returns the position of a value between its minimum and maximum, from 0 to 1. */
const getFillRatio = ({ value, field }: SingleValue, maxValue: number): number => {
  const { min = 0, max = field.unit === '%' ? 100 : field.unit === '1' ? 1 : maxValue } = field.settings;
  return value === undefined ? 0 : Math.max(0, Math.min(1, (value - min) / (max - min || 1)));
};

const getMaxValue = (singleValues: readonly SingleValue[]): number =>
  Math.max(0, ...singleValues.map(({ value }) => value ?? 0)) || 1;

interface BarGaugeSettings {
  readonly orientation: string;
  readonly unfilled: boolean;
  readonly value: string;
  readonly names: string;
}

/** Returns the classes of bars with their settings. */
const getBarClasses = ({ orientation, unfilled, value, names }: Partial<BarGaugeSettings>): string =>
  [
    'bar-list',
    ...(orientation === 'vertical' ? ['upright'] : []),
    ...(unfilled === false ? ['no-track'] : []),
    ...(value === 'hidden' ? ['no-values'] : []),
    ...(names === 'hidden' ? ['no-names'] : names === 'top' ? ['names-on-top'] : []),
  ].join(' ');

/** Values as bars, each with its text. */
export const BarList = ({
  singleValues,
  settings = {},
}: {
  readonly singleValues: readonly SingleValue[];
  readonly settings?: Partial<BarGaugeSettings>;
}) => (
  <dl class={getBarClasses(settings)}>
    {singleValues.map((singleValue) => (
      <div key={singleValue.key}>
        <dt>{renderText(singleValue.name)}</dt>
        <dd>
          <span class="track">
            <span
              class={`bar tone-${getValueTone(singleValue.field, singleValue.value) ?? 'blue'}`}
              style={{
                [settings.orientation === 'vertical' ? 'height' : 'width']:
                  `${100 * getFillRatio(singleValue, getMaxValue(singleValues))}%`,
              }}
            />
          </span>
          <b>{renderText(formatFieldValue(singleValue.field, singleValue.value))}</b>
        </dd>
      </div>
    ))}
  </dl>
);

export const BarGaugePanel = ({ panel }: PanelProps) => {
  const singleValues = getSingleValues(panel);
  return singleValues.length === 0 ? (
    <NoValues />
  ) : (
    <BarList singleValues={singleValues} settings={panel.visual as Partial<BarGaugeSettings>} />
  );
};

/** Returns the arcs of the thresholds between their positions, from 0 to 1. */
const getThresholdArcs = (
  { settings: { thresholds, min = 0, max }, unit }: Field,
  maxValue: number,
): readonly { readonly from: number; readonly to: number; readonly tone: string; readonly value: number }[] => {
  const highest = max ?? (unit === '%' ? 100 : unit === '1' ? 1 : maxValue);
  const toShare = (value: number | null): number => {
    if (value === null) return 0;
    const share = thresholds?.mode === 'percent' ? value / 100 : (value - min) / (highest - min || 1);
    return Math.max(0, Math.min(1, share));
  };
  const steps = thresholds?.steps ?? [];
  return steps.map(({ value, colour }, index) => ({
    from: toShare(value),
    to: toShare(steps[index + 1]?.value ?? Number.POSITIVE_INFINITY),
    tone: colorToTone(colour),
    value: value ?? min,
  }));
};

/** Returns a point on a half circle with a radius. */
const getArcPoint = (share: number, radius: number): string =>
  `${(50 - radius * Math.cos(Math.PI * share)).toFixed(2)} ${(50 - radius * Math.sin(Math.PI * share)).toFixed(2)}`;

const Gauge = ({
  singleValue,
  maxValue,
  hasMarkers,
}: {
  readonly singleValue: SingleValue;
  readonly maxValue: number;
  readonly hasMarkers: boolean;
}) => {
  const arcs = hasMarkers ? getThresholdArcs(singleValue.field, maxValue) : [];
  const share = getFillRatio(singleValue, maxValue);
  return (
    <div class="gauge">
      <svg viewBox="0 0 100 56" aria-hidden="true">
        <path class="gauge-track" d={`M10 50A40 40 0 0 1 ${getArcPoint(1, 40)}`} />
        {arcs.map(({ from, to, tone }) =>
          to <= from ? null : (
            <path
              key={`${from}`}
              class={`gauge-marker tone-${tone}`}
              d={`M${getArcPoint(from, 47)}A47 47 0 0 1 ${getArcPoint(to, 47)}`}
            />
          ),
        )}
        <path
          class={`gauge-value tone-${getValueTone(singleValue.field, singleValue.value) ?? 'blue'}`}
          d={`M10 50A40 40 0 0 1 ${getArcPoint(share, 40)}`}
        />
      </svg>
      <b>{renderText(formatFieldValue(singleValue.field, singleValue.value) || '–')}</b>
      <span>{renderText(singleValue.name)}</span>
    </div>
  );
};

export const GaugePanel = ({ panel }: PanelProps) => {
  const singleValues = getSingleValues(panel);
  if (singleValues.length === 0) return <NoValues />;
  const maxValue = getMaxValue(singleValues);
  return (
    <div class="gauges">
      {singleValues.map((singleValue) => (
        <Gauge
          key={singleValue.key}
          singleValue={singleValue}
          maxValue={maxValue}
          hasMarkers={panel.visual['thresholdMarkers'] !== false}
        />
      ))}
    </div>
  );
};

/** Returns the path of a slice between two shares of the circle. */
const buildSlicePath = (from: number, to: number): string => {
  const formatPoint = (share: number): string =>
    `${(50 + 48 * Math.sin(2 * Math.PI * share)).toFixed(2)} ${(50 - 48 * Math.cos(2 * Math.PI * share)).toFixed(2)}`;
  const end = Math.min(to, from + 0.99999);
  return `M50 50L${formatPoint(from)}A48 48 0 ${end - from > 0.5 ? 1 : 0} 1 ${formatPoint(end)}Z`;
};

/** Minimum share of a slice with a label */
const minLabeledShare = 0.04;
/** Maximum number of slices; further values are combined */
const maxSlices = 8;

export const PiePanel = ({ panel }: PanelProps) => {
  const {
    sort = 'descending',
    labels = [],
    legend = {},
    legendValues = [],
  } = panel.visual as Partial<{
    readonly sort: string;
    readonly labels: readonly string[];
    readonly legend: { readonly place?: string };
    readonly legendValues: readonly string[];
  }>;
  const sign = sort === 'ascending' ? 1 : -1;
  const positiveValues = getSingleValues(panel).filter(({ value }) => (value ?? 0) > 0);
  const singleValues =
    sort === 'none'
      ? positiveValues
      : positiveValues.sort((left, right) => sign * ((left.value ?? 0) - (right.value ?? 0)));
  const total = singleValues.reduce((sum, { value }) => sum + (value ?? 0), 0);
  const [first] = singleValues;
  if (first === undefined || total === 0) return <NoValues />;
  const otherTotal = singleValues.slice(maxSlices - 1).reduce((sum, { value }) => sum + (value ?? 0), 0);
  const slices =
    singleValues.length > maxSlices
      ? [...singleValues.slice(0, maxSlices - 1), { ...first, key: 'rest', name: 'other', value: otherTotal }]
      : singleValues;
  let cumulativeShare = 0;
  const starts = slices.map(({ value = 0 }) => {
    const start = cumulativeShare;
    cumulativeShare += value / total;
    return start;
  });
  const formatLabel = ({ name, value = 0, field }: SingleValue): string =>
    [
      ...(labels.includes('name') ? [name] : []),
      ...(labels.includes('value') ? [formatFieldValue(field, value)] : []),
      ...(labels.includes('percent') ? [`${((100 * value) / total).toFixed(0)} %`] : []),
    ].join(' ');
  // The legend has both values by default, because colors alone are hard to tell apart.
  const hasColumn = (name: string): boolean => legendValues.length === 0 || legendValues.includes(name);
  return (
    <div class={legend.place === 'bottom' ? 'pie legend-below' : 'pie'}>
      <svg
        viewBox="0 0 100 100"
        role="img"
        aria-label={`${panel.title}: shares of ${formatFieldValue(first.field, total)}.`}
      >
        {slices.map(({ key, name, value = 0, field }, index) => {
          const from = starts[index] ?? 0;
          return (
            <path key={key} class={`line-${index % maxSlices}`} d={buildSlicePath(from, from + value / total)}>
              <title>{`${name}: ${formatFieldValue(field, value)}`}</title>
            </path>
          );
        })}
        {panel.visual['form'] === 'ring' ? <circle class="pie-hole" cx={50} cy={50} r={28} /> : null}
        {labels.length === 0
          ? null
          : slices.map((slice, index) => {
              const share = (slice.value ?? 0) / total;
              const angle = 2 * Math.PI * ((starts[index] ?? 0) + share / 2);
              return share < minLabeledShare ? null : (
                <text key={slice.key} x={50 + 38 * Math.sin(angle)} y={50 - 38 * Math.cos(angle)}>
                  {formatLabel(slice)}
                </text>
              );
            })}
      </svg>
      <table class={legend.place === 'hidden' ? 'figures sr-only' : 'figures'}>
        <TableHeader
          columns={['Name', ...(hasColumn('value') ? ['Value'] : []), ...(hasColumn('percent') ? ['Share'] : [])]}
        />
        <tbody>
          {slices.map(({ key, name, value = 0, field }, index) => (
            <tr key={key}>
              <td>
                <span class={`swatch line-${index % maxSlices}`} /> <bdi>{renderText(name)}</bdi>
              </td>
              {hasColumn('value') ? <td>{renderText(formatFieldValue(field, value))}</td> : null}
              {hasColumn('percent') ? <td>{((100 * value) / total).toFixed(1)} %</td> : null}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
};
