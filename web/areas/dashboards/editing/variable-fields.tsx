/** Fields of one variable in the editor: those of its kind, and the common ones */
import { Field } from '../../../editors/field.tsx';
import { AtFirst, ChosenFields, QueriedFields } from './variable-choices.tsx';
import {
  convertVariable,
  filterLines,
  isChosen,
  isQueried,
  type Kind,
  kinds,
  type Of,
  optionLines,
  textLines,
} from './variable-kinds.ts';
import { Check, Choice, changed, entriesOf, type FieldsProps, Listed, Text } from './variable-parts.tsx';

/** Text fields of a kind: field, label, example, and whether it is required */
type TextField = readonly [field: string, label: string, placeholder: string, isNeeded?: 'needed'];
const match: TextField = ['match', 'Series selector', 'up{job="node"}'];
const texts: Readonly<Partial<Record<Kind, readonly TextField[]>>> = {
  'label-values': [['label', 'Label', 'job', 'needed'], match],
  'label-names': [match],
  'metric-names': [['names', 'Names matching', '^http_'], match],
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

const Texts = ({
  of,
  variable,
  problem,
  onChange,
}: FieldsProps & {
  readonly of: readonly TextField[];
}) => (
  <>
    {of.map(([field, label, placeholder, isNeeded]) => (
      <Field key={field} label={label} problem={problem(field)}>
        <Text
          value={String((variable as Readonly<Record<string, unknown>>)[field] ?? '')}
          isWrong={problem(field) !== undefined}
          placeholder={placeholder}
          onChange={(text) =>
            onChange(changed(variable, { [field]: text === '' && isNeeded === undefined ? undefined : text }))
          }
        />
      </Field>
    ))}
  </>
);

const IntervalFields = ({ variable, answered, problem, onChange }: FieldsProps<Of<'interval'>>) => {
  const set = (fields: object): void => onChange(changed(variable, fields));
  const { auto } = variable;
  return (
    <>
      <Listed
        label="Intervals"
        placeholder="5m"
        lines={textLines}
        items={variable.options}
        problem={problem('options')}
        onChange={(options) => set({ options })}
      />
      <Check
        label="Include auto interval"
        isOn={auto !== undefined}
        onChange={(isOn) => set({ auto: isOn ? { steps: 30, min: '10s' } : undefined })}
      />
      {auto === undefined ? null : (
        <>
          <Field label="Number of steps" problem={problem('auto.steps')}>
            <Text
              value={String(auto.steps)}
              isWrong={problem('auto.steps') !== undefined}
              onChange={(text) => set({ auto: { ...auto, steps: Number(text) } })}
            />
          </Field>
          <Field label="Minimum interval" problem={problem('auto.min')}>
            <Text
              value={auto.min}
              isWrong={problem('auto.min') !== undefined}
              onChange={(min) => set({ auto: { ...auto, min: min } })}
            />
          </Field>
        </>
      )}
      <AtFirst
        selected={variable.selected === '' ? [] : [variable.selected]}
        answered={answered}
        onChange={([selected = '']) => set({ selected })}
      />
    </>
  );
};

const FilterFields = ({ variable, problem, onChange }: FieldsProps<Of<'filters'>>) => (
  <>
    {(
      [
        ['filters', 'Default filters'],
        ['always', 'Fixed filters'],
      ] as const
    ).map(([field, label]) => (
      <Listed
        key={field}
        label={label}
        placeholder="job=node"
        lines={filterLines}
        items={variable[field]}
        problem={problem(field)}
        onChange={(filters) => onChange(changed(variable, { [field]: filters }))}
      />
    ))}
  </>
);

const hides = {
  nothing: 'Label and value',
  title: 'Value only',
  variable: 'Hidden',
} as const;

export const VariableFields = (props: FieldsProps) => {
  const { variable, problem, onChange } = props;
  const set = (fields: object): void => onChange(changed(variable, fields));
  return (
    <>
      <Field label="Name" problem={problem('name')}>
        <Text
          value={variable.name}
          isWrong={problem('name') !== undefined}
          onChange={(name) => set({ name: name.trim() })}
        />
      </Field>
      <Choice
        label="Variable type"
        value={variable.kind}
        options={entriesOf(kinds)}
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
      <Texts key={variable.kind} of={texts[variable.kind] ?? []} {...props} />
      {variable.kind === 'list' ? (
        <Listed
          label="Values"
          placeholder="value, or value | title"
          lines={optionLines}
          items={variable.options}
          problem={problem('options')}
          onChange={(options) => set({ options })}
        />
      ) : null}
      {variable.kind === 'interval' ? <IntervalFields {...props} variable={variable} /> : null}
      {variable.kind === 'filters' ? <FilterFields {...props} variable={variable} /> : null}
      {isQueried(variable) ? <QueriedFields {...props} variable={variable} /> : null}
      {isChosen(variable) ? <ChosenFields {...props} variable={variable} /> : null}
      <Texts of={commonTextFields} {...props} />
      <Choice label="Display" value={variable.hide} options={entriesOf(hides)} onChange={(hide) => set({ hide })} />
      <Check label="Include in the URL" isOn={variable.inAddress} onChange={(inAddress) => set({ inAddress })} />
    </>
  );
};
