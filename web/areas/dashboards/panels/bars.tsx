/** Bar charts: a bar per row of a label column, grouped or stacked by the other columns. The code is loaded on first use. */
import { toNumberOrUndefined } from '../../../charts/reduce.ts';
import { formatQuantity } from '../../../charts/values.ts';
import { renderText } from '../../../frame/display-text.tsx';
import {
  type Field,
  formatFieldValue,
  getFields,
  getSingleValues,
  getValueTone,
  isNumeric,
  type SingleValue,
} from '../fields.ts';
import { computeBarGroups, type Stacking } from './bar-groups.ts';
import { BarList, NoValues } from './figures.tsx';
import type { PanelProps } from './panel-props.ts';
import { TablePanel } from './table.tsx';

const paletteSize = 8;
/** Maximum number of groups side by side */
const maxGroups = 100;
/** Maximum number of groups whose bars have their values above them */
const maxGroupsWithValues = 12;

const findLabelField = (fields: readonly Field[], x: unknown): Field | undefined =>
  fields.find(({ name }) => name === x) ??
  fields.find(({ type, times }) => times === undefined && type !== 'number' && type !== 'duration');

interface BarSettings {
  readonly orientation: 'auto' | 'horizontal' | 'vertical';
  readonly stacking: Stacking;
  readonly valueShown: 'auto' | 'always' | 'never';
  readonly legend: { readonly place?: string };
}

const Columns = ({
  labelField,
  fields,
  props,
}: {
  readonly labelField: Field;
  readonly fields: readonly Field[];
  readonly props: PanelProps;
}) => {
  const { panel, height } = props;
  const { stacking = 'none', valueShown = 'auto', legend = {} } = panel.visual as Partial<BarSettings>;
  const names = labelField.values.slice(0, maxGroups).map((label) => formatFieldValue(labelField, label));
  const { shares, maxValue } = computeBarGroups(
    fields.map(({ values }) => values),
    { rowCount: names.length, stacking },
  );
  const [first] = fields;
  if (first === undefined || names.length === 0) return <NoValues />;
  const formatTick = (value: number): string =>
    stacking === 'percent' ? formatQuantity(value, '%') : formatFieldValue(first, value);
  const hasValues =
    valueShown === 'always' || (valueShown === 'auto' && names.length * fields.length <= maxGroupsWithValues);
  const getTone = (field: Field, index: number, row: number): string => {
    const tone = getValueTone(field, field.values[row]);
    return tone === undefined ? `line-${index % paletteSize}` : `tone-${tone}`;
  };
  return (
    <>
      <div
        class="bar-columns"
        role="img"
        aria-label={`${panel.title || 'Bar chart'}: ${names.length} groups of ${fields.length}, up to ${formatTick(maxValue)}.`}
        style={{ height: `${Math.max(80, height - 48)}px` }}
      >
        <div class="bar-axis" aria-hidden="true">
          {[1, 0.5, 0].map((share) => (
            <span key={share}>{formatTick(share * maxValue)}</span>
          ))}
        </div>
        {names.map((name, row) => (
          <div key={`${row} ${name}`} class={stacking === 'none' ? 'bar-column' : 'bar-column stacked'}>
            <div>
              {shares[row]?.map((share, index) => {
                const field = fields[index] ?? first;
                const text = formatFieldValue(field, field.values[row]);
                return (
                  <span
                    key={field.key}
                    class={`bar ${getTone(field, index, row)}`}
                    title={`${name}, ${field.name}: ${text}`}
                    style={{ height: `${100 * share}%` }}
                  >
                    {hasValues && stacking === 'none' ? <small>{renderText(text)}</small> : null}
                  </span>
                );
              })}
            </div>
            <span title={name}>{renderText(name)}</span>
          </div>
        ))}
      </div>
      {legend.place === 'hidden' || fields.length < 2 ? null : (
        <p class="legend">
          {fields.map((field, index) => (
            <span key={field.key}>
              <span class={`swatch line-${index % paletteSize}`} /> <bdi>{renderText(field.name)}</bdi>{' '}
            </span>
          ))}
        </p>
      )}
      <details class="numbers-of">
        <summary>Data table</summary>
        <TablePanel {...props} />
      </details>
    </>
  );
};

/** Without a label column, the chart has a bar per series. Times are columns side by side, unless set otherwise. */
export const BarsPanel = (props: PanelProps) => {
  const { panel } = props;
  const { orientation = 'auto', x } = panel.visual as Partial<BarSettings & { readonly x: string }>;
  const allFields = getFields(panel);
  const labelField = findLabelField(allFields, x);
  if (labelField === undefined) {
    const singleValues = getSingleValues(panel);
    return singleValues.length === 0 ? <NoValues /> : <BarList singleValues={singleValues} />;
  }
  const fields = allFields.filter(
    (field) => isNumeric(field) && field !== labelField && !(field.settings.hiddenIn ?? []).includes('graph'),
  );
  const isVertical =
    orientation === 'vertical' || (orientation === 'auto' && (labelField.type === 'time' || fields.length > 1));
  if (isVertical) return <Columns labelField={labelField} fields={fields} props={props} />;
  const singleValues = fields.flatMap((field) =>
    field.values.map((value, row): SingleValue => {
      const name = formatFieldValue(labelField, labelField.values[row]);
      return {
        key: `${field.key} ${row}`,
        name: fields.length > 1 ? `${name}, ${field.name}` : name,
        value: toNumberOrUndefined(value),
        field,
      };
    }),
  );
  return singleValues.length === 0 ? <NoValues /> : <BarList singleValues={singleValues} />;
};
