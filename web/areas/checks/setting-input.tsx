/** Inputs of declared setting fields */
import {
  CheckInput,
  ListInput,
  MultilineInput,
  NumberInput,
  PairsInput,
  SelectInput,
  TextInput,
} from '../../editors/inputs.tsx';
import type { SettingField } from './setting-kinds.ts';

export type FindProblem = (path: string) => string | undefined;
export type SettingValues = Readonly<Record<string, unknown>>;

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
  if (kind === 'flag') return <CheckInput label={label} value={value !== false} onChange={onChange} />;
  if (kind === 'number')
    return <NumberInput {...inputProps} value={typeof value === 'number' ? value : null} onChange={onChange} />;
  if (kind === 'pairs')
    return <PairsInput {...inputProps} value={(value ?? {}) as Record<string, string>} onChange={onChange} />;
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

/** Inputs of fields, in order. `path` is the path of the settings that have the fields. */
export const SettingInputs = ({
  fields,
  value,
  path,
  findProblem,
  onChange,
}: {
  readonly fields: readonly SettingField[];
  readonly value: SettingValues;
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
  </>
);
