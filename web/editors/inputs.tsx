/** Form inputs for text, numbers, selections and lists, each with its label and error */
import { X } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { IconButton } from '../components/button.tsx';
import { renderText } from '../frame/display-text.tsx';
import { Field, FieldProblem } from './field.tsx';

interface InputProps<Value> {
  readonly label: string;
  readonly value: Value;
  readonly problem: string | undefined;
  readonly hint?: string;
  readonly onChange: (value: Value) => void;
}

export const TextInput = ({
  label,
  value,
  problem,
  hint,
  maxLength = 256,
  onChange,
}: InputProps<string> & { readonly maxLength?: number }) => (
  <Field label={label} problem={problem} hint={hint}>
    <input
      value={value}
      maxLength={maxLength}
      autocomplete="off"
      spellcheck={false}
      aria-invalid={problem !== undefined}
      onInput={({ currentTarget }) => onChange(currentTarget.value)}
    />
  </Field>
);

/** Input of a local date and time, for example `2026-03-23T09:00` */
export const LocalTimeInput = ({ label, value, problem, hint, onChange }: InputProps<string>) => (
  <Field label={label} problem={problem} hint={hint}>
    <input
      type="datetime-local"
      value={value}
      aria-invalid={problem !== undefined}
      onInput={({ currentTarget }) => onChange(currentTarget.value)}
    />
  </Field>
);

/**
 * Number input; an empty one has the value `null`. The typed text is preserved while it has the same value, for example
 * `99.` before 99.5 is complete.
 */
export const NumberInput = ({
  label,
  value,
  problem,
  hint,
  isSigned = false,
  onChange,
}: InputProps<number | null> & { readonly isSigned?: boolean }) => {
  const [typedText, setTypedText] = useState('');
  const changeNumber = (text: string): void => {
    setTypedText(text);
    onChange(text === '' ? null : Number(text));
  };
  const isUnchanged = typedText !== '' && Number(typedText) === value;
  return (
    <Field label={label} problem={problem} hint={hint}>
      <input
        type="number"
        step="any"
        min={isSigned ? undefined : 0}
        value={isUnchanged ? typedText : String(value ?? '')}
        aria-invalid={problem !== undefined}
        onInput={({ currentTarget: { value, validity } }) => (validity.badInput ? undefined : changeNumber(value))}
      />
    </Field>
  );
};

/** Input of a comma-separated list. The typed text is preserved while it has the same value. */
export const ListInput = <Item,>({
  value,
  parseItem,
  formatItem,
  onChange,
  ...input
}: InputProps<readonly Item[]> & {
  readonly parseItem: (part: string) => Item;
  readonly formatItem: (part: Item) => string;
}) => {
  const [typed, setTyped] = useState('');
  const parseItems = (text: string): Item[] =>
    text
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '')
      .map(parseItem);
  const isSame = JSON.stringify(parseItems(typed)) === JSON.stringify(value);
  return (
    <TextInput
      {...input}
      maxLength={4096}
      value={isSame ? typed : value.map(formatItem).join(', ')}
      onChange={(text) => {
        setTyped(text);
        onChange(parseItems(text));
      }}
    />
  );
};

/** Input of multi-line text */
export const MultilineInput = ({
  label,
  value,
  problem,
  hint,
  rows = 3,
  onChange,
}: InputProps<string> & { readonly rows?: number }) => (
  <Field label={label} problem={problem} hint={hint}>
    <textarea
      rows={rows}
      cols={40}
      value={value}
      autocomplete="off"
      spellcheck={false}
      aria-invalid={problem !== undefined}
      onInput={({ currentTarget }) => onChange(currentTarget.value)}
    />
  </Field>
);

/** Input of text that is parsed to a value. The typed text is preserved while it has the same value. */
const ParsedInput = <Value,>({
  value,
  read,
  write,
  onChange,
  ...input
}: InputProps<Value> & {
  readonly rows?: number;
  readonly read: (text: string) => Value;
  readonly write: (value: Value) => string;
}) => {
  const [typed, setTyped] = useState<string>();
  const isSame = typed !== undefined && JSON.stringify(read(typed)) === JSON.stringify(value);
  return (
    <MultilineInput
      {...input}
      value={isSame ? typed : write(value)}
      onChange={(text) => {
        setTyped(text);
        onChange(read(text));
      }}
    />
  );
};

/** Parses JSON. Invalid JSON remains text, which the API rejects. */
const parseJson = (text: string): unknown => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' ? text : value;
  } catch {
    return text;
  }
};

/** Input of an object, a list or `null` as JSON */
export const JsonInput = ({ problem, value, ...input }: InputProps<unknown> & { readonly rows?: number }) => (
  <ParsedInput
    {...input}
    value={value}
    problem={typeof value === 'string' ? 'This is not valid JSON.' : problem}
    read={parseJson}
    write={(known) => (typeof known === 'string' ? known : JSON.stringify(known ?? null, null, 2))}
  />
);

type Pairs = Readonly<Record<string, string>>;

type Pair = readonly [name: string, text: string];

const toPairs = (rows: readonly Pair[]): Pairs =>
  Object.fromEntries(rows.map(([name, text]) => [name.trim(), text] as const).filter(([name]) => name !== ''));

/**
 * Rows of a name and a value; the last row is empty, and becomes a pair when a name is typed. What is typed is
 * preserved while it has the same value, for example a value before its name.
 */
export const PairsInput = ({ label, value, problem, hint, onChange }: InputProps<Pairs>) => {
  const [typedRows, setTypedRows] = useState<readonly Pair[]>([]);
  const isSame = JSON.stringify(toPairs(typedRows)) === JSON.stringify(value);
  const rows: readonly Pair[] = isSame ? typedRows : Object.entries(value);
  const changeRows = (changedRows: readonly Pair[]): void => {
    setTypedRows(changedRows);
    onChange(toPairs(changedRows));
  };
  const changeRow = (index: number, pair: Pair): void =>
    changeRows(index === rows.length ? [...rows, pair] : rows.with(index, pair));
  return (
    <fieldset class="pairs">
      <legend>{label}</legend>
      {[...rows, ['', ''] as const].map(([name, text], index) => (
        <div class="pair" key={index}>
          <input
            aria-label={`${label}: name`}
            placeholder="Name"
            value={name}
            maxLength={1024}
            autocomplete="off"
            spellcheck={false}
            aria-invalid={problem !== undefined}
            onInput={({ currentTarget }) => changeRow(index, [currentTarget.value, text])}
          />
          <input
            aria-label={`${label}: value`}
            placeholder="Value"
            value={text}
            maxLength={4096}
            autocomplete="off"
            spellcheck={false}
            aria-invalid={problem !== undefined}
            onInput={({ currentTarget }) => changeRow(index, [name, currentTarget.value])}
          />
          <IconButton
            label={name === '' ? 'Remove row' : `Remove ${name}`}
            icon={X}
            disabled={index === rows.length}
            onClick={() => changeRows(rows.toSpliced(index, 1))}
          />
        </div>
      ))}
      {hint === undefined ? null : <p class="hint">{hint}</p>}
      <FieldProblem message={problem} />
    </fieldset>
  );
};

/** Checkbox with a label */
export const CheckInput = ({
  label,
  value,
  onChange,
}: Pick<InputProps<boolean>, 'value' | 'onChange'> & { readonly label: ComponentChildren }) => (
  <label class="choice">
    <input type="checkbox" checked={value} onChange={({ currentTarget }) => onChange(currentTarget.checked)} /> {label}
  </label>
);

type SelectOptions = readonly (readonly [value: string, title: string])[];

/** Options of a `select` element */
export const Options = ({ options }: { readonly options: SelectOptions }) => (
  <>
    {options.map(([value, title]) => (
      <option key={value} value={value}>
        {renderText(title)}
      </option>
    ))}
  </>
);

/** Select for one of several options */
export const SelectInput = ({
  label,
  value,
  problem,
  hint,
  options,
  onChange,
}: InputProps<string> & { readonly options: SelectOptions }) => (
  <Field label={label} problem={problem} hint={hint}>
    <select
      value={value}
      aria-invalid={problem !== undefined}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    >
      <Options options={options} />
    </select>
  </Field>
);

/** Select for one of several values, with options by value */
export const RecordSelectInput = <Value extends string>({
  options,
  onChange,
  ...input
}: InputProps<Value> & { readonly options: Readonly<Record<Value, string>> }) => (
  <SelectInput {...input} options={Object.entries<string>(options)} onChange={(value) => onChange(value as Value)} />
);

/** Checkboxes for any number of options */
export const CheckboxGroup = ({
  label,
  value,
  problem,
  options,
  onChange,
}: InputProps<readonly string[]> & { readonly options: SelectOptions }) => (
  <fieldset>
    <legend>{label}</legend>
    {options.map(([optionValue, title]) => (
      <CheckInput
        key={optionValue}
        label={renderText(title)}
        value={value.includes(optionValue)}
        onChange={(isChecked) =>
          onChange(isChecked ? [...value, optionValue] : value.filter((other) => other !== optionValue))
        }
      />
    ))}
    <FieldProblem message={problem} />
  </fieldset>
);

/** Options in titled groups */
export type OptionGroups = Readonly<Record<string, readonly (readonly [value: string, title: string])[]>>;

/** List of selects, with buttons to add and remove one */
export const SelectListInput = ({
  label,
  addLabel,
  options,
  value,
  problem,
  onChange,
}: InputProps<readonly string[]> & {
  /** Label of the button that adds an item */
  readonly addLabel: string;
  readonly options: OptionGroups;
}) => {
  const allOptions = Object.values(options).flat();
  const knownValues = new Set(allOptions.map(([each]) => each));
  const unusedOption = allOptions.find(([each]) => !value.includes(each));
  return (
    <div class="form">
      {value.map((selectedValue, index) => (
        <div class="act" key={selectedValue}>
          <label>
            {label}{' '}
            <select
              value={selectedValue}
              onChange={({ currentTarget }) => onChange(value.with(index, currentTarget.value))}
            >
              {knownValues.has(selectedValue) ? null : (
                <option value={selectedValue}>{renderText(selectedValue)}</option>
              )}
              {Object.entries(options).map(([title, of]) => (
                <optgroup key={title} label={title}>
                  {of
                    .filter(([each]) => each === selectedValue || !value.includes(each))
                    .map(([each, name]) => (
                      <option key={each} value={each}>
                        {renderText(name)}
                      </option>
                    ))}
                </optgroup>
              ))}
            </select>
          </label>
          <button type="button" class="plain" onClick={() => onChange(value.toSpliced(index, 1))}>
            Remove
            <span class="sr-only">
              {' '}
              {renderText(allOptions.find(([each]) => each === selectedValue)?.[1] ?? selectedValue)}
            </span>
          </button>
        </div>
      ))}
      {unusedOption === undefined ? null : (
        <button type="button" class="plain" onClick={() => onChange([...value, unusedOption[0]])}>
          {addLabel}
        </button>
      )}
      <FieldProblem message={problem} />
    </div>
  );
};
