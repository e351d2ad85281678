/** Settings of a check, by its type */
import {
  CheckInput,
  JsonInput,
  ListInput,
  MultilineInput,
  NumberInput,
  PairsInput,
  SelectInput,
  TextInput,
} from '../../editors/inputs.tsx';
import { Assertions } from './assertions.tsx';
import {
  type AssertionFields,
  type CheckDraft,
  type CheckType,
  emptyStep,
  type SettingField,
  type Step,
  settingFieldsByType,
  stepFields,
} from './setting-kinds.ts';

type FindProblem = (path: string) => string | undefined;
type SettingValues = Readonly<Record<string, unknown>>;

const identity = (text: string): string => text;

const SettingInput = ({
  field: { name, label, kind, hint },
  value,
  problem,
  onChange,
}: {
  readonly field: SettingField;
  readonly value: unknown;
  readonly problem: string | undefined;
  readonly onChange: (value: unknown) => void;
}) => {
  const inputProps = { label, problem, ...(hint === undefined ? {} : { hint }) };
  const text = typeof value === 'string' ? value : '';
  if (kind === 'json') return <JsonInput {...inputProps} value={value} onChange={onChange} />;
  if (kind === 'flag') return <CheckInput label={label} value={value !== false} onChange={onChange} />;
  if (kind === 'number')
    return <NumberInput {...inputProps} value={typeof value === 'number' ? value : null} onChange={onChange} />;
  if (kind === 'pairs')
    return (
      <PairsInput {...inputProps} separator=":" value={(value ?? {}) as Record<string, string>} onChange={onChange} />
    );
  if (kind === 'list')
    return (
      <ListInput
        {...inputProps}
        value={(value ?? []) as string[]}
        parseItem={identity}
        formatItem={identity}
        onChange={onChange}
      />
    );
  if (kind === 'lines')
    return (
      <MultilineInput {...inputProps} value={text} onChange={(newText) => onChange(newText === '' ? null : newText)} />
    );
  if (kind === 'text' || kind === 'optional')
    return (
      <TextInput
        {...inputProps}
        maxLength={4096}
        value={text}
        onChange={(newText) => onChange(newText === '' && kind === 'optional' ? null : newText)}
      />
    );
  return (
    <SelectInput
      key={name}
      {...inputProps}
      value={text}
      options={kind.map((option) => [option, option] as const)}
      onChange={onChange}
    />
  );
};

const Settings = ({
  fields,
  value,
  type,
  path,
  findProblem,
  onChange,
}: {
  readonly fields: readonly SettingField[];
  readonly value: SettingValues;
  readonly type: CheckType;
  /** Path of the settings */
  readonly path: string;
  readonly findProblem: FindProblem;
  readonly onChange: (value: SettingValues) => void;
}) => (
  <>
    {fields.map((field) => (
      <SettingInput
        key={field.name}
        field={field}
        value={value[field.name]}
        problem={findProblem(`${path}.${field.name}`)}
        onChange={(changed) => onChange({ ...value, [field.name]: changed })}
      />
    ))}
    <Assertions
      value={(value['assertions'] ?? []) as AssertionFields[]}
      type={type}
      path={`${path}.assertions`}
      findProblem={findProblem}
      onChange={(assertions) => onChange({ ...value, assertions })}
    />
  </>
);

const Steps = ({
  steps,
  findProblem,
  onChange,
}: {
  readonly steps: readonly Step[];
  readonly findProblem: FindProblem;
  readonly onChange: (steps: Step[]) => void;
}) => (
  <>
    {steps.map((step, index) => (
      <fieldset key={index}>
        <legend>Step {index + 1}</legend>
        <Settings
          fields={stepFields}
          value={step}
          type="http"
          path={`http.steps.${index}`}
          findProblem={findProblem}
          onChange={(changed) => onChange([...steps].with(index, changed as unknown as Step))}
        />
        {steps.length === 1 ? null : (
          <button type="button" class="plain" onClick={() => onChange([...steps].toSpliced(index, 1))}>
            Remove step {index + 1}
          </button>
        )}
      </fieldset>
    ))}
    <button type="button" class="plain" onClick={() => onChange([...steps, emptyStep])}>
      Add step
    </button>
  </>
);

export const TypedSettings = ({
  check,
  findProblem,
  onChange,
}: {
  readonly check: CheckDraft;
  readonly findProblem: FindProblem;
  readonly onChange: (fields: Partial<CheckDraft>) => void;
}) => {
  const { type } = check;
  if (type === 'http') {
    const settings = check.http ?? { steps: [] };
    return (
      <>
        <Steps
          steps={settings.steps}
          findProblem={findProblem}
          onChange={(steps) => onChange({ http: { ...settings, steps } })}
        />
        <CheckInput
          label="Store cookies, and send them with later requests"
          value={settings.storeCookies !== false}
          onChange={(storeCookies) => onChange({ http: { ...settings, storeCookies } })}
        />
      </>
    );
  }
  const updateSettings = (settings: unknown): void => onChange({ [type]: settings } as Partial<CheckDraft>);
  if (type === 'browser')
    return (
      <JsonInput
        label="Steps and viewport, as JSON"
        hint="goto, click, hover, fill, choose, press, expect, extract …; recordings of Chrome DevTools can be imported"
        rows={16}
        value={check.browser}
        problem={findProblem('browser')}
        onChange={updateSettings}
      />
    );
  return (
    <Settings
      fields={settingFieldsByType[type]}
      value={(check[type] ?? {}) as SettingValues}
      type={type}
      path={type}
      findProblem={findProblem}
      onChange={updateSettings}
    />
  );
};
