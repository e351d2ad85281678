/** Fields of variables with selectable values: number of values, order, and initial selection */
import { Field } from '../../../editors/field.tsx';
import { renderText } from '../../../frame/display-text.tsx';
import { allValues } from '../variable-values.ts';
import { optionLines, type QueriedVariable, type SelectableVariable } from './variable-kinds.ts';
import {
  Checkbox,
  Choice,
  DeferredTextInput,
  type FieldsProps,
  ListField,
  titleEntries,
  type VariableResult,
  withFields,
} from './variable-parts.tsx';

/** Initial selection: the first value, or the current selection. */
export const DefaultSelection = ({
  selected,
  result,
  onChange,
}: {
  readonly selected: readonly string[];
  readonly result: VariableResult | undefined;
  readonly onChange: (selected: readonly string[]) => void;
}) => {
  const selectionText = selected.map((value) => (value === allValues ? 'All' : value)).join(', ');
  return (
    <p>
      Default: {selectionText === '' ? 'first value, or All' : <bdi>{renderText(selectionText)}</bdi>}{' '}
      <button type="button" class="plain" onClick={() => onChange(result?.selected ?? [])}>
        Use current selection
      </button>{' '}
      {selectionText === '' ? null : (
        <button type="button" class="plain" onClick={() => onChange([])}>
          Use first value
        </button>
      )}
    </p>
  );
};

export const SelectionFields = ({ variable, result, findProblem, onChange }: FieldsProps<SelectableVariable>) => {
  const set = (fields: object): void => onChange(withFields(variable, fields));
  return (
    <>
      <Checkbox
        label="Allow multiple values"
        isChecked={variable.several}
        onChange={(several) => set({ several, ...(several ? {} : { selected: variable.selected.slice(0, 1) }) })}
      />
      <Checkbox
        label="Include All"
        isChecked={variable.all !== undefined}
        onChange={(isOn) =>
          set({
            all: isOn ? {} : undefined,
            selected: isOn ? variable.selected : variable.selected.filter((value) => value !== allValues),
          })
        }
      />
      {variable.all === undefined ? null : (
        <Field label="Value of All" problem={findProblem('all')}>
          <DeferredTextInput
            value={variable.all.value ?? ''}
            isInvalid={findProblem('all') !== undefined}
            placeholder="every value, or a text such as .*"
            onChange={(value) => set({ all: value === '' ? {} : { value } })}
          />
        </Field>
      )}
      <Checkbox
        label="Allow custom values"
        isChecked={variable.allowsOther}
        onChange={(allowsOther) => set({ allowsOther })}
      />
      <DefaultSelection selected={variable.selected} result={result} onChange={(selected) => set({ selected })} />
    </>
  );
};

const orders = {
  text: 'by text',
  caseless: 'by text, case-insensitive',
  number: 'by number',
  natural: 'natural order',
} as const;
const fixedValuePositions = { before: 'first', after: 'last', sorted: 'sorted with the other values' } as const;
export const QueriedFields = ({ variable, findProblem, onChange }: FieldsProps<QueriedVariable>) => {
  const set = (fields: object): void => onChange(withFields(variable, fields));
  const { pattern = '', order, fixed } = variable;
  return (
    <>
      <Field label="Filter (regex)" problem={findProblem('pattern')}>
        <DeferredTextInput
          value={pattern}
          isInvalid={findProblem('pattern') !== undefined}
          placeholder="job=&quot;(?P<value>[^&quot;]+)&quot;"
          onChange={(text) => set({ pattern: text === '' ? undefined : text })}
        />
      </Field>
      <Choice
        label="Order"
        value={order?.by ?? 'found'}
        options={[['found', 'as returned'], ...titleEntries(orders)]}
        onChange={(by) =>
          set({ order: by === 'found' ? undefined : { by, direction: order?.direction ?? 'ascending' } })
        }
      />
      {order === undefined ? null : (
        <Checkbox
          label="Reverse order"
          isChecked={order.direction === 'descending'}
          onChange={(isOn) => set({ order: { ...order, direction: isOn ? 'descending' : 'ascending' } })}
        />
      )}
      <Checkbox
        label="Refresh when the time range changes"
        isChecked={variable.refresh === 'range'}
        onChange={(isOn) => set({ refresh: isOn ? 'range' : 'opened' })}
      />
      <ListField
        label="Fixed values"
        placeholder="value, or value | title"
        lines={optionLines}
        items={fixed?.options ?? []}
        problem={findProblem('fixed')}
        onChange={(options) =>
          set({ fixed: options.length === 0 ? undefined : { options, place: fixed?.place ?? 'before' } })
        }
      />
      {fixed === undefined ? null : (
        <Choice
          label="Position"
          value={fixed.place}
          options={titleEntries(fixedValuePositions)}
          onChange={(place) => set({ fixed: { ...fixed, place } })}
        />
      )}
    </>
  );
};
