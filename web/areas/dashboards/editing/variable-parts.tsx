/** Building blocks of variable fields: texts, lists and choices, each with the errors of the API */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Field } from '../../../editors/field.tsx';
import { PromqlField } from '../../../editors/promql-field.tsx';
import { renderText } from '../../../frame/display-text.tsx';
import type { DashboardContext } from '../board.ts';
import type { Variable } from '../calls.ts';
import { isWritable, type LineFormat } from './variable-kinds.ts';

export type VariableResult = DashboardContext['variables'][number];

export interface FieldsProps<VariableType extends Variable = Variable> {
  readonly variable: VariableType;
  /** Response of the API for the variable: its values and the selection */
  readonly result: VariableResult | undefined;
  /** Returns the error at a path of the variable */
  readonly findProblem: (path: string) => string | undefined;
  readonly onChange: (variable: Variable) => void;
}

/** Returns the variable with other fields; those without a value are omitted. */
export const withFields = (variable: Variable, fields: object): Variable =>
  Object.fromEntries(
    Object.entries({ ...variable, ...fields }).filter(([, value]) => value !== undefined),
  ) as unknown as Variable;

/** A text field whose value is applied when it loses focus, because a partly typed name or expression would be invalid. */
export const DeferredTextInput = ({
  value,
  isInvalid,
  placeholder = '',
  rows,
  onChange,
}: {
  readonly value: string;
  readonly isInvalid: boolean;
  readonly placeholder?: string;
  /** Number of rows of a multi-line text */
  readonly rows?: number;
  readonly onChange: (text: string) => void;
}) => {
  const inputRef = useRef<HTMLInputElement & HTMLTextAreaElement>(null);
  useEffect(() => {
    if (inputRef.current !== null) inputRef.current.value = value;
  }, [value]);
  const Element = rows === undefined ? 'input' : 'textarea';
  return (
    <Element
      ref={inputRef}
      {...(rows === undefined ? {} : { rows })}
      defaultValue={value}
      placeholder={placeholder}
      aria-invalid={isInvalid}
      spellcheck={false}
      autocomplete="off"
      onChange={({ currentTarget }: { readonly currentTarget: HTMLInputElement | HTMLTextAreaElement }) =>
        onChange(currentTarget.value)
      }
    />
  );
};

/** A PromQL field whose expression is applied when it loses focus. */
export const DeferredPromqlField = ({
  label,
  value,
  isInvalid,
  placeholder,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly isInvalid: boolean;
  readonly placeholder: string;
  readonly onChange: (expression: string) => void;
}) => {
  const [draft, setDraft] = useState(value);
  useEffect(() => setDraft(value), [value]);
  return (
    <div onFocusOut={() => (draft === value ? undefined : onChange(draft))}>
      <PromqlField label={label} value={draft} isInvalid={isInvalid} placeholder={placeholder} onChange={setDraft} />
    </div>
  );
};

export const ListField = <Item,>({
  label,
  placeholder,
  lines,
  items,
  problem,
  onChange,
}: {
  readonly label: string;
  readonly placeholder: string;
  readonly lines: LineFormat<Item>;
  readonly items: readonly Item[];
  readonly problem: string | undefined;
  readonly onChange: (items: Item[]) => void;
}) =>
  isWritable(lines, items) ? (
    <Field label={`${label}, one per line`} problem={problem}>
      <DeferredTextInput
        value={lines.format(items)}
        isInvalid={problem !== undefined}
        placeholder={placeholder}
        rows={Math.min(8, items.length + 1)}
        onChange={(text) => onChange(lines.parse(text))}
      />
    </Field>
  ) : (
    <p class="soft">
      {label}: {items.length} items. Some contain a line break or a vertical bar, so they cannot be edited here.
    </p>
  );

export const Choice = <Value extends string>({
  label,
  value,
  options,
  onChange,
}: {
  readonly label: ComponentChildren;
  readonly value: Value;
  readonly options: readonly (readonly [value: Value, title: string])[];
  readonly onChange: (value: Value) => void;
}) => (
  <label>
    {label}{' '}
    <select value={value} onChange={({ currentTarget }) => onChange(currentTarget.value as Value)}>
      {options.map(([optionValue, title]) => (
        <option key={optionValue} value={optionValue}>
          {title}
        </option>
      ))}
    </select>
  </label>
);

export const Checkbox = ({
  label,
  isChecked,
  onChange,
}: {
  readonly label: ComponentChildren;
  readonly isChecked: boolean;
  readonly onChange: (isChecked: boolean) => void;
}) => (
  <label class="choice">
    <span>
      <input type="checkbox" checked={isChecked} onChange={({ currentTarget }) => onChange(currentTarget.checked)} />{' '}
      {label}
    </span>
  </label>
);

/** Checkboxes of several values; those that are selected and not listed are shown too. */
export const Checkboxes = ({
  label,
  selected,
  choices,
  isRequired = false,
  onChange,
}: {
  readonly label: string;
  readonly selected: readonly string[];
  readonly choices: readonly (readonly [value: string, title: string])[];
  /** Whether the last selected value stays selected */
  readonly isRequired?: boolean;
  readonly onChange: (selected: string[]) => void;
}) => {
  const unlisted = selected.filter((value) => !choices.some(([listed]) => listed === value));
  return (
    <fieldset class="checkbox-list">
      <legend>{label}</legend>
      {[...choices, ...unlisted.map((value) => [value, value] as const)].map(([value, title]) => (
        <Checkbox
          key={value}
          label={renderText(title)}
          isChecked={selected.includes(value)}
          onChange={(isChecked) => {
            const changed = isChecked ? [...selected, value] : selected.filter((other) => other !== value);
            if (changed.length > 0 || !isRequired) onChange(changed);
          }}
        />
      ))}
    </fieldset>
  );
};

export const titleEntries = <Key extends string>(titles: Readonly<Record<Key, string>>) =>
  Object.entries(titles) as [Key, string][];
