/** Fields of variables with selectable values: number of values, order, and initial selection */
import { Field } from '../../../editors/field.tsx';
import { shownText } from '../../../frame/shown-text.tsx';
import { allValues } from '../variable-values.ts';
import { type Chosen, optionLines, type QueriedVariable } from './variable-kinds.ts';
import { type Answered, Check, Choice, changed, entriesOf, type FieldsProps, Listed, Text } from './variable-parts.tsx';

/** Initial selection: the first value, or the current selection. */
export const AtFirst = ({
  selected,
  answered,
  onChange,
}: {
  readonly selected: readonly string[];
  readonly answered: Answered | undefined;
  readonly onChange: (selected: readonly string[]) => void;
}) => {
  const selectedText = selected.map((value) => (value === allValues ? 'All' : value)).join(', ');
  return (
    <p>
      Default: {selectedText === '' ? 'first value, or All' : <bdi>{shownText(selectedText)}</bdi>}{' '}
      <button type="button" class="plain" onClick={() => onChange(answered?.selected ?? [])}>
        Use current selection
      </button>{' '}
      {selectedText === '' ? null : (
        <button type="button" class="plain" onClick={() => onChange([])}>
          Use first value
        </button>
      )}
    </p>
  );
};

export const ChosenFields = ({ variable, answered, problem, onChange }: FieldsProps<Chosen>) => {
  const set = (fields: object): void => onChange(changed(variable, fields));
  return (
    <>
      <Check
        label="Allow multiple values"
        isOn={variable.several}
        onChange={(several) => set({ several, ...(several ? {} : { selected: variable.selected.slice(0, 1) }) })}
      />
      <Check
        label="Include All"
        isOn={variable.all !== undefined}
        onChange={(isOn) =>
          set({
            all: isOn ? {} : undefined,
            selected: isOn ? variable.selected : variable.selected.filter((value) => value !== allValues),
          })
        }
      />
      {variable.all === undefined ? null : (
        <Field label="Value of All" problem={problem('all')}>
          <Text
            value={variable.all.value ?? ''}
            isWrong={problem('all') !== undefined}
            placeholder="every value, or a text such as .*"
            onChange={(value) => set({ all: value === '' ? {} : { value } })}
          />
        </Field>
      )}
      <Check label="Allow custom values" isOn={variable.allowsOther} onChange={(allowsOther) => set({ allowsOther })} />
      <AtFirst selected={variable.selected} answered={answered} onChange={(selected) => set({ selected })} />
    </>
  );
};

const orders = {
  text: 'by text',
  caseless: 'by text, case-insensitive',
  number: 'by number',
  natural: 'natural order',
} as const;
const places = { before: 'first', after: 'last', sorted: 'sorted with the other values' } as const;
export const QueriedFields = ({ variable, problem, onChange }: FieldsProps<QueriedVariable>) => {
  const set = (fields: object): void => onChange(changed(variable, fields));
  const { pattern = '', order, fixed } = variable;
  return (
    <>
      <Field label="Filter (regex)" problem={problem('pattern')}>
        <Text
          value={pattern}
          isWrong={problem('pattern') !== undefined}
          placeholder="job=&quot;(?P<value>[^&quot;]+)&quot;"
          onChange={(text) => set({ pattern: text === '' ? undefined : text })}
        />
      </Field>
      <Choice
        label="Order"
        value={order?.by ?? 'found'}
        options={[['found', 'as returned'], ...entriesOf(orders)]}
        onChange={(by) =>
          set({ order: by === 'found' ? undefined : { by, direction: order?.direction ?? 'ascending' } })
        }
      />
      {order === undefined ? null : (
        <Check
          label="Reverse order"
          isOn={order.direction === 'descending'}
          onChange={(isOn) => set({ order: { ...order, direction: isOn ? 'descending' : 'ascending' } })}
        />
      )}
      <Check
        label="Refresh when the time range changes"
        isOn={variable.refresh === 'range'}
        onChange={(isOn) => set({ refresh: isOn ? 'range' : 'opened' })}
      />
      <Listed
        label="Fixed values"
        placeholder="value, or value | title"
        lines={optionLines}
        items={fixed?.options ?? []}
        problem={problem('fixed')}
        onChange={(options) =>
          set({ fixed: options.length === 0 ? undefined : { options, place: fixed?.place ?? 'before' } })
        }
      />
      {fixed === undefined ? null : (
        <Choice
          label="Position"
          value={fixed.place}
          options={entriesOf(places)}
          onChange={(place) => set({ fixed: { ...fixed, place } })}
        />
      )}
    </>
  );
};
