/** Form fields of panel options */
import { useId, useState } from 'preact/hooks';
import type { Panel } from '../calls.ts';
import { type OptionGroup, type PanelOption, readOption, writeOption } from './options.ts';
import { Checkbox, Choice } from './variable-parts.tsx';

interface OptionFieldProps {
  readonly panel: Panel;
  readonly onChange: (fields: Partial<Panel>) => void;
}

/** Number field; the typed text remains while it has the same value. Empty means the default. */
export const OptionalNumber = ({
  label,
  value,
  placeholder,
  onChange,
}: {
  readonly label: string;
  readonly value: number | undefined;
  readonly placeholder?: string | undefined;
  readonly onChange: (value: number | undefined) => void;
}) => {
  const [typed, setTyped] = useState('');
  const parse = (text: string): number | undefined =>
    text.trim() === '' || Number.isNaN(Number(text)) ? undefined : Number(text);
  return (
    <label>
      {label}{' '}
      <input
        inputMode="decimal"
        value={typed !== '' && parse(typed) === value ? typed : String(value ?? '')}
        placeholder={placeholder}
        autocomplete="off"
        onInput={({ currentTarget }) => {
          setTyped(currentTarget.value);
          onChange(parse(currentTarget.value));
        }}
      />
    </label>
  );
};

const TextOption = ({
  option: { label, placeholder, suggestions = [] },
  value,
  onChange,
}: {
  readonly option: PanelOption & { readonly type: 'text' };
  readonly value: string;
  readonly onChange: (text: string) => void;
}) => {
  const listId = useId();
  return (
    <div>
      <label>
        {label}{' '}
        <input
          value={value}
          placeholder={placeholder}
          list={suggestions.length === 0 ? undefined : listId}
          spellcheck={false}
          autocomplete="off"
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
        />
      </label>
      {suggestions.length === 0 ? null : (
        <datalist id={listId}>
          {suggestions.map(([suggested, title]) => (
            <option key={suggested} value={suggested}>
              {title}
            </option>
          ))}
        </datalist>
      )}
    </div>
  );
};

const OptionField = ({ option, panel, onChange }: OptionFieldProps & { readonly option: PanelOption }) => {
  const value = readOption(panel, option.path);
  const write = (changed: unknown): void => onChange(writeOption(panel, option.path, changed));
  if (option.type === 'choice')
    return (
      <Choice
        label={option.label}
        value={typeof value === 'string' ? value : (option.choices[0]?.[0] ?? '')}
        options={option.choices}
        onChange={write}
      />
    );
  if (option.type === 'switch')
    return (
      <Checkbox
        label={option.label}
        isChecked={typeof value === 'boolean' ? value : value === undefined ? option.isOnByDefault === true : true}
        onChange={write}
      />
    );
  if (option.type === 'number')
    return (
      <OptionalNumber
        label={option.label}
        value={typeof value === 'number' ? value : undefined}
        placeholder={option.placeholder}
        onChange={write}
      />
    );
  return (
    <TextOption
      option={option}
      value={typeof value === 'string' ? value : ''}
      onChange={(text) => write(text === '' ? undefined : text)}
    />
  );
};

/** Options of a group, which can be collapsed */
export const OptionGroupFields = ({ group, ...props }: OptionFieldProps & { readonly group: OptionGroup }) => (
  <details class="option-group" open>
    <summary>{group.title}</summary>
    <div class="form two">
      {group.options.map((option) => (
        <OptionField key={option.label} option={option} {...props} />
      ))}
    </div>
  </details>
);
