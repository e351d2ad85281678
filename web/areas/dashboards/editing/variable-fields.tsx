/** Fields of one variable in the editor: those of its kind, and the common ones */
import { Field } from '../../../editors/field.tsx';
import { DefaultSelection, QueriedFields, SelectionFields } from './variable-choices.tsx';
import {
  convertVariable,
  filterLines,
  isQueried,
  isSelectable,
  type Kind,
  kinds,
  optionLines,
  textLines,
  type VariableOfKind,
} from './variable-kinds.ts';
import {
  Check,
  Choice,
  DeferredTextInput,
  type FieldsProps,
  ListField,
  titleEntries,
  withFields,
} from './variable-parts.tsx';

/** Text fields of a kind: field, label, example, and whether it is required */
type TextField = readonly [field: string, label: string, placeholder: string, isNeeded?: 'needed'];
const matcherField: TextField = ['match', 'Series selector', 'up{job="node"}'];
const textFieldsByKind: Readonly<Partial<Record<Kind, readonly TextField[]>>> = {
  'label-values': [['label', 'Label', 'job', 'needed'], matcherField],
  'label-names': [matcherField],
  'metric-names': [['names', 'Names matching', '^http_'], matcherField],
  'field-values': [
    ['field', 'Field', 'service', 'needed'],
    ['search', 'Search query', 'severity:error'],
  ],
  promql: [['expression', 'Expression', 'sum by (job) (up)', 'needed']],
  text: [['selected', 'Default value', '', 'needed']],
  constant: [['value', 'Value', '', 'needed']],
};
const commonTextFields: readonly TextField[] = [
  ['title', 'Label', ''],
  ['description', 'Description', ''],
];

const TextFields = ({
  of,
  variable,
  findProblem,
  onChange,
}: FieldsProps & {
  readonly of: readonly TextField[];
}) => (
  <>
    {of.map(([field, label, placeholder, isNeeded]) => (
      <Field key={field} label={label} problem={findProblem(field)}>
        <DeferredTextInput
          value={String((variable as Readonly<Record<string, unknown>>)[field] ?? '')}
          isWrong={findProblem(field) !== undefined}
          placeholder={placeholder}
          onChange={(text) =>
            onChange(withFields(variable, { [field]: text === '' && isNeeded === undefined ? undefined : text }))
          }
        />
      </Field>
    ))}
  </>
);

const IntervalFields = ({ variable, result, findProblem, onChange }: FieldsProps<VariableOfKind<'interval'>>) => {
  const set = (fields: object): void => onChange(withFields(variable, fields));
  const { auto } = variable;
  return (
    <>
      <ListField
        label="Intervals"
        placeholder="5m"
        lines={textLines}
        items={variable.options}
        problem={findProblem('options')}
        onChange={(options) => set({ options })}
      />
      <Check
        label="Include auto interval"
        isOn={auto !== undefined}
        onChange={(isOn) => set({ auto: isOn ? { steps: 30, min: '10s' } : undefined })}
      />
      {auto === undefined ? null : (
        <>
          <Field label="Number of steps" problem={findProblem('auto.steps')}>
            <DeferredTextInput
              value={String(auto.steps)}
              isWrong={findProblem('auto.steps') !== undefined}
              onChange={(text) => set({ auto: { ...auto, steps: Number(text) } })}
            />
          </Field>
          <Field label="Minimum interval" problem={findProblem('auto.min')}>
            <DeferredTextInput
              value={auto.min}
              isWrong={findProblem('auto.min') !== undefined}
              onChange={(min) => set({ auto: { ...auto, min } })}
            />
          </Field>
        </>
      )}
      <DefaultSelection
        selected={variable.selected === '' ? [] : [variable.selected]}
        answered={result}
        onChange={([selected = '']) => set({ selected })}
      />
    </>
  );
};

const FilterFields = ({ variable, findProblem, onChange }: FieldsProps<VariableOfKind<'filters'>>) => (
  <>
    {(
      [
        ['filters', 'Default filters'],
        ['always', 'Fixed filters'],
      ] as const
    ).map(([field, label]) => (
      <ListField
        key={field}
        label={label}
        placeholder="job=node"
        lines={filterLines}
        items={variable[field]}
        problem={findProblem(field)}
        onChange={(filters) => onChange(withFields(variable, { [field]: filters }))}
      />
    ))}
  </>
);

const displayOptions = {
  nothing: 'Label and value',
  title: 'Value only',
  variable: 'Hidden',
} as const;

export const VariableFields = (props: FieldsProps) => {
  const { variable, findProblem, onChange } = props;
  const set = (fields: object): void => onChange(withFields(variable, fields));
  return (
    <>
      <Field label="Name" problem={findProblem('name')}>
        <DeferredTextInput
          value={variable.name}
          isWrong={findProblem('name') !== undefined}
          onChange={(name) => set({ name: name.trim() })}
        />
      </Field>
      <Choice
        label="Variable type"
        value={variable.kind}
        options={titleEntries(kinds)}
        onChange={(kind) => onChange(convertVariable(variable, kind))}
      />
      {variable.kind === 'field-values' ? (
        <Choice
          label="Data source"
          value={variable.signal}
          options={[
            ['logs', 'log records'],
            ['traces', 'spans'],
          ]}
          onChange={(signal) => set({ signal })}
        />
      ) : null}
      <TextFields key={variable.kind} of={textFieldsByKind[variable.kind] ?? []} {...props} />
      {variable.kind === 'list' ? (
        <ListField
          label="Values"
          placeholder="value, or value | title"
          lines={optionLines}
          items={variable.options}
          problem={findProblem('options')}
          onChange={(options) => set({ options })}
        />
      ) : null}
      {variable.kind === 'interval' ? <IntervalFields {...props} variable={variable} /> : null}
      {variable.kind === 'filters' ? <FilterFields {...props} variable={variable} /> : null}
      {isQueried(variable) ? <QueriedFields {...props} variable={variable} /> : null}
      {isSelectable(variable) ? <SelectionFields {...props} variable={variable} /> : null}
      <TextFields of={commonTextFields} {...props} />
      <Choice
        label="Display"
        value={variable.hide}
        options={titleEntries(displayOptions)}
        onChange={(hide) => set({ hide })}
      />
      <Check label="Include in the URL" isOn={variable.inAddress} onChange={(inAddress) => set({ inAddress })} />
    </>
  );
};
