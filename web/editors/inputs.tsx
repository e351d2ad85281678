/** Inputs for text, numbers and choices, and lists of them, each with its error */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { shownText } from '../frame/shown-text.tsx';
import { Field, Wrong } from './field.tsx';
import { pairLines, pairsIn } from './lines.ts';

interface Input<Value> {
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
}: Input<string> & { readonly maxLength?: number }) => (
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

/** Local date and time: `2026-03-23T09:00`. */
export const WallTimeInput = ({ label, value, problem, hint, onChange }: Input<string>) => (
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
 * Number input, `null` if empty. The typed text is preserved while it has the same value, such as `99.` before 99.5.
 */
export const NumberInput = ({
  label,
  value,
  problem,
  hint,
  isSigned = false,
  onChange,
}: Input<number | null> & { readonly isSigned?: boolean }) => {
  const [typed, setTyped] = useState('');
  const parseNumber = (text: string): void => {
    setTyped(text);
    onChange(text === '' ? null : Number(text));
  };
  const isSame = typed !== '' && Number(typed) === value;
  return (
    <Field label={label} problem={problem} hint={hint}>
      <input
        type="number"
        step="any"
        min={isSigned ? undefined : 0}
        value={isSame ? typed : String(value ?? '')}
        aria-invalid={problem !== undefined}
        onInput={({ currentTarget: { value, validity } }) => (validity.badInput ? undefined : parseNumber(value))}
      />
    </Field>
  );
};

/** Comma-separated list. The typed text is preserved while it has the same value. */
export const ListInput = <Part,>({
  value,
  read,
  write,
  onChange,
  ...input
}: Input<readonly Part[]> & { readonly read: (part: string) => Part; readonly write: (part: Part) => string }) => {
  const [typed, setTyped] = useState('');
  const partsOf = (text: string): Part[] =>
    text
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '')
      .map(read);
  const isSame = JSON.stringify(partsOf(typed)) === JSON.stringify(value);
  return (
    <TextInput
      {...input}
      maxLength={4096}
      value={isSame ? typed : value.map(write).join(', ')}
      onChange={(text) => {
        setTyped(text);
        onChange(partsOf(text));
      }}
    />
  );
};

/** Multi-line text. */
export const LinesInput = ({
  label,
  value,
  problem,
  hint,
  rows = 3,
  onChange,
}: Input<string> & { readonly rows?: number }) => (
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

/** Lines that are parsed to a value. The typed text is preserved while it has the same value. */
const ReadInput = <Value,>({
  value,
  read,
  write,
  onChange,
  ...input
}: Input<Value> & {
  readonly rows?: number;
  readonly read: (text: string) => Value;
  readonly write: (value: Value) => string;
}) => {
  const [typed, setTyped] = useState<string>();
  const isSame = typed !== undefined && JSON.stringify(read(typed)) === JSON.stringify(value);
  return (
    <LinesInput
      {...input}
      value={isSame ? typed : write(value)}
      onChange={(text) => {
        setTyped(text);
        onChange(read(text));
      }}
    />
  );
};

/** Returns the value of a JSON text. Invalid JSON remains text, which the API rejects. */
const jsonIn = (text: string): unknown => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' ? text : value;
  } catch {
    return text;
  }
};

/** An object, a list or `null`, as JSON. */
export const JsonInput = ({ problem, value, ...input }: Input<unknown> & { readonly rows?: number }) => (
  <ReadInput
    {...input}
    value={value}
    problem={typeof value === 'string' ? 'This is not valid JSON.' : problem}
    read={jsonIn}
    write={(known) => (typeof known === 'string' ? known : JSON.stringify(known ?? null, null, 2))}
  />
);

type Pairs = Readonly<Record<string, string>>;

/** Names and values, one per line. A line without `between` is a name without a value. */
export const PairsInput = ({
  between = '=',
  ...input
}: Input<Pairs> & { readonly rows?: number; readonly between?: '=' | ':' }) => (
  <ReadInput {...input} read={(text): Pairs => pairsIn(text, between)} write={(pairs) => pairLines(pairs, between)} />
);

/** Checkbox. */
export const CheckInput = ({
  label,
  value,
  onChange,
}: Pick<Input<boolean>, 'value' | 'onChange'> & { readonly label: ComponentChildren }) => (
  <label class="choice">
    <input type="checkbox" checked={value} onChange={({ currentTarget }) => onChange(currentTarget.checked)} /> {label}
  </label>
);

type Choices = readonly (readonly [value: string, title: string])[];

/** Options of a `select`. */
export const Options = ({ of }: { readonly of: Choices }) => (
  <>
    {of.map(([value, title]) => (
      <option key={value} value={value}>
        {shownText(title)}
      </option>
    ))}
  </>
);

/** Single selection. */
export const SelectInput = ({
  label,
  value,
  problem,
  hint,
  options,
  onChange,
}: Input<string> & { readonly options: Choices }) => (
  <Field label={label} problem={problem} hint={hint}>
    <select
      value={value}
      aria-invalid={problem !== undefined}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    >
      <Options of={options} />
    </select>
  </Field>
);

/** Single selection of values with titles. */
export const ChoiceInput = <Value extends string>({
  options,
  onChange,
  ...input
}: Input<Value> & { readonly options: Readonly<Record<Value, string>> }) => (
  <SelectInput {...input} options={Object.entries<string>(options)} onChange={(value) => onChange(value as Value)} />
);

/** Multiple selection. */
export const SomeInput = ({
  label,
  value,
  problem,
  options,
  onChange,
}: Input<readonly string[]> & { readonly options: Choices }) => (
  <fieldset>
    <legend>{label}</legend>
    {options.map(([each, title]) => (
      <CheckInput
        key={each}
        label={shownText(title)}
        value={value.includes(each)}
        onChange={(isChosen) => onChange(isChosen ? [...value, each] : value.filter((other) => other !== each))}
      />
    ))}
    <Wrong message={problem} />
  </fieldset>
);

/** Options in titled groups */
export type OptionGroups = Readonly<Record<string, readonly (readonly [value: string, title: string])[]>>;

/** List of selections, to which items can be added and removed. */
export const ChosenInput = ({
  label,
  add,
  options,
  value,
  problem,
  onChange,
}: Input<readonly string[]> & {
  /** Label of the button that adds an item */
  readonly add: string;
  readonly options: OptionGroups;
}) => {
  const all = Object.values(options).flat();
  const known = new Set(all.map(([each]) => each));
  const free = all.find(([each]) => !value.includes(each));
  return (
    <div class="form">
      {value.map((chosen, index) => (
        <div class="act" key={chosen}>
          <label>
            {label}{' '}
            <select value={chosen} onChange={({ currentTarget }) => onChange(value.with(index, currentTarget.value))}>
              {known.has(chosen) ? null : <option value={chosen}>{shownText(chosen)}</option>}
              {Object.entries(options).map(([title, of]) => (
                <optgroup key={title} label={title}>
                  {of
                    .filter(([each]) => each === chosen || !value.includes(each))
                    .map(([each, name]) => (
                      <option key={each} value={each}>
                        {shownText(name)}
                      </option>
                    ))}
                </optgroup>
              ))}
            </select>
          </label>
          <button type="button" class="plain" onClick={() => onChange(value.toSpliced(index, 1))}>
            Remove<span class="sr-only"> {shownText(all.find(([each]) => each === chosen)?.[1] ?? chosen)}</span>
          </button>
        </div>
      ))}
      {free === undefined ? null : (
        <button type="button" class="plain" onClick={() => onChange([...value, free[0]])}>
          {add}
        </button>
      )}
      <Wrong message={problem} />
    </div>
  );
};
