/** Form fields of panel options */
import { useId, useState } from 'preact/hooks';
import type { Choices } from '../calculations.ts';
import type { Panel } from '../calls.ts';
import { type OptionGroup, type PanelOption, readOption, writeOption } from './options.ts';
import { Checkbox, Checkboxes, Choice } from './variable-parts.tsx';

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

/** Text with suggestions, each with its title */
export const SuggestedText = ({
  label,
  value,
  suggestions = [],
  placeholder,
  maxLength,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly suggestions?: Choices | undefined;
  readonly placeholder?: string | undefined;
  readonly maxLength?: number;
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
          maxLength={maxLength}
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

const isText = (value: unknown): value is string => typeof value === 'string';

const OptionField = ({ option, panel, onChange }: OptionFieldProps & { readonly option: PanelOption }) => {
  const { label } = option;
  const value = readOption(panel, option.path);
  const write = (changed: unknown): void => onChange(writeOption(panel, option.path, changed));
  switch (option.type) {
    case 'choice':
      return (
        <Choice
          label={label}
          value={isText(value) ? value : (option.choices[0]?.[0] ?? '')}
          options={option.choices}
          onChange={(chosen) => write(chosen || undefined)}
        />
      );
    case 'switch':
      return (
        <Checkbox
          label={label}
          isChecked={value === undefined ? option.isOnByDefault === true : value !== false}
          onChange={write}
        />
      );
    case 'list':
      return (
        <Checkboxes
          label={label}
          selected={Array.isArray(value) ? (value as string[]) : []}
          choices={option.choices}
          onChange={(selected) => write(selected.length === 0 ? undefined : selected)}
        />
      );
    case 'number':
      return (
        <OptionalNumber
          label={label}
          value={typeof value === 'number' ? value : undefined}
          placeholder={option.placeholder}
          onChange={write}
        />
      );
    default:
      return (
        <SuggestedText
          label={label}
          value={isText(value) ? value : ''}
          suggestions={option.suggestions}
          placeholder={option.placeholder}
          onChange={(text) => write(text || undefined)}
        />
      );
  }
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
