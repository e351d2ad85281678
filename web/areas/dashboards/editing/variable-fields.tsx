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
  Checkbox,
  Choice,
  DeferredPromqlField,
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
  textFields,
  variable,
  findProblem,
  onChange,
}: FieldsProps & {
  readonly textFields: readonly TextField[];
}) => (
  <>
    {textFields.map(([field, label, placeholder, required]) => (
      <Field key={field} label={label} problem={findProblem(field)}>
        {field === 'expression' ? (
          <DeferredPromqlField
            label={label}
            value={String((variable as Readonly<Record<string, unknown>>)[field] ?? '')}
            isInvalid={findProblem(field) !== undefined}
            placeholder={placeholder}
            onChange={(text) => onChange(withFields(variable, { [field]: text }))}
          />
        ) : (
          <DeferredTextInput
            value={String((variable as Readonly<Record<string, unknown>>)[field] ?? '')}
            isInvalid={findProblem(field) !== undefined}
            placeholder={placeholder}
            onChange={(text) =>
              onChange(withFields(variable, { [field]: text === '' && required === undefined ? undefined : text }))
            }
          />
        )}
      </Field>
    ))}
  </>
);

const IntervalFields = ({ variable, result, findProblem, onChange }: FieldsProps<VariableOfKind<'interval'>>) => {
  const updateVariable = (fields: object): void => onChange(withFields(variable, fields));
  const { auto } = variable;
  return (
    <>
      <ListField
        label="Intervals"
        placeholder="5m"
        lines={textLines}
        items={variable.options}
        problem={findProblem('options')}
        onChange={(options) => updateVariable({ options })}
      />
      <Checkbox
        label="Include auto interval"
        isChecked={auto !== undefined}
        onChange={(isOn) => updateVariable({ auto: isOn ? { steps: 30, min: '10s' } : undefined })}
      />
      {auto === undefined ? null : (
        <>
          <Field label="Number of steps" problem={findProblem('auto.steps')}>
            <DeferredTextInput
              value={String(auto.steps)}
              isInvalid={findProblem('auto.steps') !== undefined}
              onChange={(text) => updateVariable({ auto: { ...auto, steps: Number(text) } })}
            />
          </Field>
          <Field label="Minimum interval" problem={findProblem('auto.min')}>
            <DeferredTextInput
              value={auto.min}
              isInvalid={findProblem('auto.min') !== undefined}
              onChange={(min) => updateVariable({ auto: { ...auto, min } })}
            />
          </Field>
        </>
      )}
      <DefaultSelection
        selected={variable.selected === '' ? [] : [variable.selected]}
        result={result}
        onChange={([selected = '']) => updateVariable({ selected })}
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
  const updateVariable = (fields: object): void => onChange(withFields(variable, fields));
  return (
    <>
      <Field label="Name" problem={findProblem('name')}>
        <DeferredTextInput
          value={variable.name}
          isInvalid={findProblem('name') !== undefined}
          onChange={(name) => updateVariable({ name: name.trim() })}
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
          onChange={(signal) => updateVariable({ signal })}
        />
      ) : null}
      <TextFields key={variable.kind} textFields={textFieldsByKind[variable.kind] ?? []} {...props} />
      {variable.kind === 'list' ? (
        <ListField
          label="Values"
          placeholder="value, or value | title"
          lines={optionLines}
          items={variable.options}
          problem={findProblem('options')}
          onChange={(options) => updateVariable({ options })}
        />
      ) : null}
      {variable.kind === 'interval' ? <IntervalFields {...props} variable={variable} /> : null}
      {variable.kind === 'filters' ? <FilterFields {...props} variable={variable} /> : null}
      {isQueried(variable) ? <QueriedFields {...props} variable={variable} /> : null}
      {isSelectable(variable) ? <SelectionFields {...props} variable={variable} /> : null}
      <TextFields textFields={commonTextFields} {...props} />
      <Choice
        label="Display"
        value={variable.hide}
        options={titleEntries(displayOptions)}
        onChange={(hide) => updateVariable({ hide })}
      />
      <Checkbox
        label="Include in the URL"
        isChecked={variable.inAddress}
        onChange={(inAddress) => updateVariable({ inAddress })}
      />
    </>
  );
};
