/** Panels of few values: large numbers, gauges, bars and pie charts */
import { reduceSteps, toNumberOrUndefined } from '../../../charts/reduce.ts';
import { formatQuantity } from '../../../charts/values.ts';
import { Sparkline } from '../../../components/sparkline.tsx';
import { renderText } from '../../../frame/shown-text.tsx';
import { TableHeader } from '../../../lists/table-header.tsx';
import {
  type Field,
  formatFieldValue,
  getFields,
  getSingleValues,
  getValueTone,
  isNumeric,
  type SingleValue,
} from '../fields.ts';
import type { PanelProps } from './panel-props.ts';

const NoValues = () => <p class="soft">No values in this range.</p>;

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
}

const Stat = ({
  singleValue,
  settings: { text = 'auto', coloured = 'value', graph = 'area', showsChange = false },
  hasSeveral,
}: {
  readonly singleValue: SingleValue;
  readonly settings: Partial<StatSettings>;
  readonly hasSeveral: boolean;
}) => {
  const { field, value, name } = singleValue;
  const tone = coloured === 'none' ? undefined : getValueTone(field, value);
  const change = showsChange ? getChange(singleValue) : undefined;
  const hasName =
    text === 'auto' ? hasSeveral || field.settings.name !== undefined : ['name', 'value-and-name'].includes(text);
  return (
    <div class={`stat ink-${tone ?? 'plain'}${coloured.startsWith('background') ? ' filled' : ''}`}>
      <dt class={hasName ? '' : 'sr-only'}>{renderText(name)}</dt>
      <dd class={text === 'name' ? 'sr-only' : ''}>
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
    <dl class="stats">
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

/** Values as bars, each with its text. */
const Bars = ({ singleValues }: { readonly singleValues: readonly SingleValue[] }) => (
  <dl class="bar-list">
    {singleValues.map((singleValue) => (
      <div key={singleValue.key}>
        <dt>{renderText(singleValue.name)}</dt>
        <dd>
          <span class="track">
            <span
              class={`bar tone-${getValueTone(singleValue.field, singleValue.value) ?? 'blue'}`}
              style={{ width: `${100 * getFillRatio(singleValue, getMaxValue(singleValues))}%` }}
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
  return singleValues.length === 0 ? <NoValues /> : <Bars singleValues={singleValues} />;
};

/** Returns the end of an arc of a half circle. */
const getArcEnd = (share: number): string =>
  `${(50 - 40 * Math.cos(Math.PI * share)).toFixed(2)} ${(50 - 40 * Math.sin(Math.PI * share)).toFixed(2)}`;

const Gauge = ({ singleValue, maxValue }: { readonly singleValue: SingleValue; readonly maxValue: number }) => {
  const share = getFillRatio(singleValue, maxValue);
  return (
    <div class="gauge">
      <svg viewBox="0 0 100 56" aria-hidden="true">
        <path class="gauge-track" d={`M10 50A40 40 0 0 1 ${getArcEnd(1)}`} />
        <path
          class={`gauge-value tone-${getValueTone(singleValue.field, singleValue.value) ?? 'blue'}`}
          d={`M10 50A40 40 0 0 1 ${getArcEnd(share)}`}
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
        <Gauge key={singleValue.key} singleValue={singleValue} maxValue={maxValue} />
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

/** Maximum number of slices; further values are combined */
const maxSlices = 8;

export const PiePanel = ({ panel }: PanelProps) => {
  const singleValues = getSingleValues(panel)
    .filter(({ value }) => (value ?? 0) > 0)
    .sort((left, right) => (right.value ?? 0) - (left.value ?? 0));
  const total = singleValues.reduce((sum, { value }) => sum + (value ?? 0), 0);
  const [first] = singleValues;
  if (first === undefined || total === 0) return <NoValues />;
  const otherTotal = singleValues.slice(maxSlices - 1).reduce((sum, { value }) => sum + (value ?? 0), 0);
  const slices =
    singleValues.length > maxSlices
      ? [...singleValues.slice(0, maxSlices - 1), { ...first, key: 'rest', name: 'other', value: otherTotal }]
      : singleValues;
  let cumulativeShare = 0;
  return (
    <div class="pie">
      <svg
        viewBox="0 0 100 100"
        role="img"
        aria-label={`${panel.title}: shares of ${formatFieldValue(first.field, total)}.`}
      >
        {slices.map(({ key, value = 0 }, index) => {
          const from = cumulativeShare;
          cumulativeShare += value / total;
          return <path key={key} class={`line-${index % maxSlices}`} d={buildSlicePath(from, cumulativeShare)} />;
        })}
        {panel.visual['form'] === 'ring' ? <circle class="pie-hole" cx={50} cy={50} r={28} /> : null}
      </svg>
      <table class="figures">
        <TableHeader columns={['Name', 'Value', 'Share']} />
        <tbody>
          {slices.map(({ key, name, value = 0, field }, index) => (
            <tr key={key}>
              <td>
                <span class={`swatch line-${index % maxSlices}`} /> <bdi>{renderText(name)}</bdi>
              </td>
              <td>{renderText(formatFieldValue(field, value))}</td>
              <td>{((100 * value) / total).toFixed(1)} %</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
};

const findLabelField = (fields: readonly Field[], x: unknown): Field | undefined =>
  fields.find(({ name }) => name === x) ??
  fields.find(({ type, times }) => times === undefined && type !== 'number' && type !== 'duration');

/** Bar chart with a bar per row of a label column; without such a column, with a bar per series. */
export const BarsPanel = ({ panel }: PanelProps) => {
  const fields = getFields(panel);
  const labelField = findLabelField(fields, panel.visual['x']);
  const numericFields = fields.filter((field) => isNumeric(field) && field !== labelField);
  if (labelField === undefined) {
    const singleValues = getSingleValues(panel);
    return singleValues.length === 0 ? <NoValues /> : <Bars singleValues={singleValues} />;
  }
  const singleValues = numericFields.flatMap((field) =>
    field.values.map((value, row): SingleValue => {
      const name = formatFieldValue(labelField, labelField.values[row]);
      return {
        key: `${field.key} ${row}`,
        name: numericFields.length > 1 ? `${name}, ${field.name}` : name,
        value: toNumberOrUndefined(value),
        field,
      };
    }),
  );
  return singleValues.length === 0 ? <NoValues /> : <Bars singleValues={singleValues} />;
};
