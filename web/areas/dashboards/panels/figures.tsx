/** Panels of few values: large numbers, gauges, bars and pie charts */
import { toNumberOrUndefined } from '../../../charts/reduce.ts';
import { Sparkline } from '../../../charts/spark.tsx';
import { renderText } from '../../../frame/shown-text.tsx';
import { TableHeader } from '../../../lists/table-header.tsx';
import { type Field, fieldsOf, figuresOf, isNumeric, type SingleValue, shownIn, toneIn } from '../fields.ts';
import type { PanelProps } from './panel-props.ts';

const NoValues = () => <p class="soft">No values in this range.</p>;

const isNameVisible = (figure: SingleValue, all: readonly SingleValue[]): boolean =>
  all.length > 1 || figure.field.settings.name !== undefined;

export const StatPanel = ({ panel }: PanelProps) => {
  const figures = figuresOf(panel);
  if (figures.length === 0) return <NoValues />;
  return (
    <dl class="stats">
      {figures.map((figure) => (
        <div key={figure.key} class={`stat ink-${toneIn(figure.field, figure.value) ?? 'plain'}`}>
          <dt class={isNameVisible(figure, figures) ? '' : 'sr-only'}>{renderText(figure.name)}</dt>
          <dd>{renderText(shownIn(figure.field, figure.value) || '–')}</dd>
          {panel.visual['graph'] === 'none' || figure.field.times === undefined ? null : (
            <Sparkline values={figure.field.values} />
          )}
        </div>
      ))}
    </dl>
  );
};

/** Returns the position of a value between its minimum and maximum, from 0 to 1. */
const fillRatio = ({ value, field }: SingleValue, maxValue: number): number => {
  const { min = 0, max = field.unit === '%' ? 100 : field.unit === '1' ? 1 : maxValue } = field.settings;
  return value === undefined ? 0 : Math.max(0, Math.min(1, (value - min) / (max - min || 1)));
};

const maxValueOf = (figures: readonly SingleValue[]): number =>
  Math.max(0, ...figures.map(({ value }) => value ?? 0)) || 1;

/** Values as bars, each with its text. */
const Bars = ({ figures }: { readonly figures: readonly SingleValue[] }) => (
  <dl class="bar-list">
    {figures.map((figure) => (
      <div key={figure.key}>
        <dt>{renderText(figure.name)}</dt>
        <dd>
          <span class="track">
            <span
              class={`bar tone-${toneIn(figure.field, figure.value) ?? 'blue'}`}
              style={{ width: `${100 * fillRatio(figure, maxValueOf(figures))}%` }}
            />
          </span>
          <b>{renderText(shownIn(figure.field, figure.value))}</b>
        </dd>
      </div>
    ))}
  </dl>
);

export const BarGaugePanel = ({ panel }: PanelProps) => {
  const figures = figuresOf(panel);
  return figures.length === 0 ? <NoValues /> : <Bars figures={figures} />;
};

/** Returns the end of an arc of a half circle. */
const arcEnd = (share: number): string =>
  `${(50 - 40 * Math.cos(Math.PI * share)).toFixed(2)} ${(50 - 40 * Math.sin(Math.PI * share)).toFixed(2)}`;

const Gauge = ({ figure, maxValue }: { readonly figure: SingleValue; readonly maxValue: number }) => {
  const share = fillRatio(figure, maxValue);
  return (
    <div class="gauge">
      <svg viewBox="0 0 100 56" aria-hidden="true">
        <path class="gauge-track" d={`M10 50A40 40 0 0 1 ${arcEnd(1)}`} />
        <path
          class={`gauge-value tone-${toneIn(figure.field, figure.value) ?? 'blue'}`}
          d={`M10 50A40 40 0 0 1 ${arcEnd(share)}`}
        />
      </svg>
      <b>{renderText(shownIn(figure.field, figure.value) || '–')}</b>
      <span>{renderText(figure.name)}</span>
    </div>
  );
};

export const GaugePanel = ({ panel }: PanelProps) => {
  const figures = figuresOf(panel);
  if (figures.length === 0) return <NoValues />;
  const maxValue = maxValueOf(figures);
  return (
    <div class="gauges">
      {figures.map((figure) => (
        <Gauge key={figure.key} figure={figure} maxValue={maxValue} />
      ))}
    </div>
  );
};

/** Returns the path of a slice between two shares of the circle. */
const slicePath = (from: number, to: number): string => {
  const point = (share: number): string =>
    `${(50 + 48 * Math.sin(2 * Math.PI * share)).toFixed(2)} ${(50 - 48 * Math.cos(2 * Math.PI * share)).toFixed(2)}`;
  const end = Math.min(to, from + 0.99999);
  return `M50 50L${point(from)}A48 48 0 ${end - from > 0.5 ? 1 : 0} 1 ${point(end)}Z`;
};

/** Maximum number of slices; further values are combined */
const maxSlices = 8;

export const PiePanel = ({ panel }: PanelProps) => {
  const figures = figuresOf(panel)
    .filter(({ value }) => (value ?? 0) > 0)
    .sort((one, other) => (other.value ?? 0) - (one.value ?? 0));
  const total = figures.reduce((sum, { value }) => sum + (value ?? 0), 0);
  const [first] = figures;
  if (first === undefined || total === 0) return <NoValues />;
  const otherTotal = figures.slice(maxSlices - 1).reduce((sum, { value }) => sum + (value ?? 0), 0);
  const slices =
    figures.length > maxSlices
      ? [...figures.slice(0, maxSlices - 1), { ...first, key: 'rest', name: 'other', value: otherTotal }]
      : figures;
  let cumulativeShare = 0;
  return (
    <div class="pie">
      <svg viewBox="0 0 100 100" role="img" aria-label={`${panel.title}: shares of ${shownIn(first.field, total)}.`}>
        {slices.map(({ key, value = 0 }, index) => {
          const from = cumulativeShare;
          cumulativeShare += value / total;
          return <path key={key} class={`line-${index % maxSlices}`} d={slicePath(from, cumulativeShare)} />;
        })}
      </svg>
      <table class="figures">
        <TableHeader columns={['Name', 'Value', 'Share']} />
        <tbody>
          {slices.map(({ key, name, value = 0, field }, index) => (
            <tr key={key}>
              <td>
                <span class={`swatch line-${index % maxSlices}`} /> <bdi>{renderText(name)}</bdi>
              </td>
              <td>{renderText(shownIn(field, value))}</td>
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
  const fields = fieldsOf(panel);
  const labels = findLabelField(fields, panel.visual['x']);
  const numbers = fields.filter((field) => isNumeric(field) && field !== labels);
  if (labels === undefined) {
    const figures = figuresOf(panel);
    return figures.length === 0 ? <NoValues /> : <Bars figures={figures} />;
  }
  const figures = numbers.flatMap((field) =>
    field.values.map((value, row): SingleValue => {
      const name = shownIn(labels, labels.values[row]);
      return {
        key: `${field.key} ${row}`,
        name: numbers.length > 1 ? `${name}, ${field.name}` : name,
        value: toNumberOrUndefined(value),
        field,
      };
    }),
  );
  return figures.length === 0 ? <NoValues /> : <Bars figures={figures} />;
};
