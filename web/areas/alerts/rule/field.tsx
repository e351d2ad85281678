/** A field of the rule, with the errors and warnings of the API */
import type { ComponentChildren } from 'preact';
import { FieldProblem, Field as WithProblem } from '../../../editors/field.tsx';
import { renderText } from '../../../frame/display-text.tsx';
import { findProblem, findWarning } from './draft.ts';

export const FieldWarning = ({ path }: { readonly path: string }) => {
  const warning = findWarning(path);
  return warning === undefined ? null : <p class="text-warn">{renderText(warning)}</p>;
};

export const FieldMessages = ({ path }: { readonly path: string }) => (
  <>
    <FieldProblem message={findProblem(path)} />
    <FieldWarning path={path} />
  </>
);

/** A label around its field. */
export const Field = ({
  label,
  path,
  children,
}: {
  readonly label: string;
  /** Path in the rule: `condition.window` */
  readonly path: string;
  readonly children: ComponentChildren;
}) => (
  <>
    <WithProblem label={label} problem={findProblem(path)}>
      {children}
    </WithProblem>
    <FieldWarning path={path} />
  </>
);

/** A text field of the rule. */
export const TextField = ({
  label,
  path,
  value,
  placeholder,
  maxLength = 256,
  onChange,
}: {
  readonly label: string;
  readonly path: string;
  readonly value: string | undefined;
  readonly placeholder?: string;
  readonly maxLength?: number;
  readonly onChange: (text: string) => void;
}) => (
  <Field label={label} path={path}>
    <input
      value={value ?? ''}
      maxLength={maxLength}
      autocomplete="off"
      spellcheck={false}
      aria-invalid={findProblem(path) !== undefined}
      {...(placeholder === undefined ? {} : { placeholder })}
      onInput={({ currentTarget }) => onChange(currentTarget.value)}
    />
  </Field>
);

/** Returns a typed number; `undefined` if it is not a number. */
export const parseNumber = (text: string): number | undefined =>
  text.trim() === '' || !Number.isFinite(Number(text)) ? undefined : Number(text);

export const NumberField = ({
  label,
  path,
  value,
  onChange,
}: {
  readonly label: string;
  readonly path: string;
  readonly value: number | undefined;
  readonly onChange: (value: number | undefined) => void;
}) => (
  <Field label={label} path={path}>
    <input
      type="number"
      step="any"
      defaultValue={value === undefined ? '' : String(value)}
      aria-invalid={findProblem(path) !== undefined}
      onInput={({ currentTarget }) => onChange(parseNumber(currentTarget.value))}
    />
  </Field>
);

export const ChoiceField = <Value extends string>({
  label,
  path,
  value,
  options,
  onChange,
}: {
  readonly label: string;
  readonly path: string;
  readonly value: Value;
  readonly options: Readonly<Record<Value, string>>;
  readonly onChange: (value: Value) => void;
}) => (
  <Field label={label} path={path}>
    <select value={value} onChange={({ currentTarget }) => onChange(currentTarget.value as Value)}>
      {Object.entries<string>(options).map(([option, title]) => (
        <option key={option} value={option}>
          {title}
        </option>
      ))}
    </select>
  </Field>
);
