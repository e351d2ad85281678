/** A field of the rule, with the errors and warnings of the API */
import type { ComponentChildren } from 'preact';
import { FieldProblem, Field as WithProblem } from '../../../editors/field.tsx';
import { renderText } from '../../../frame/shown-text.tsx';
import { problemAt, warningAt } from './draft.ts';

const FieldWarning = ({ at }: { readonly at: string }) => {
  const warning = warningAt(at);
  return warning === undefined ? null : <p class="text-warn">{renderText(warning)}</p>;
};

export const FieldMessages = ({ at }: { readonly at: string }) => (
  <>
    <FieldProblem message={problemAt(at)} />
    <FieldWarning at={at} />
  </>
);

/** A label around its field. */
export const Field = ({
  label,
  at,
  children,
}: {
  readonly label: string;
  /** Path in the rule: `condition.window` */
  readonly at: string;
  readonly children: ComponentChildren;
}) => (
  <>
    <WithProblem label={label} problem={problemAt(at)}>
      {children}
    </WithProblem>
    <FieldWarning at={at} />
  </>
);

/** A text field of the rule. */
export const TextField = ({
  label,
  at,
  value,
  placeholder,
  maxLength = 256,
  onChange,
}: {
  readonly label: string;
  readonly at: string;
  readonly value: string | undefined;
  readonly placeholder?: string;
  readonly maxLength?: number;
  readonly onChange: (text: string) => void;
}) => (
  <Field label={label} at={at}>
    <input
      value={value ?? ''}
      maxLength={maxLength}
      autocomplete="off"
      spellcheck={false}
      aria-invalid={problemAt(at) !== undefined}
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
  at,
  value,
  onChange,
}: {
  readonly label: string;
  readonly at: string;
  readonly value: number | undefined;
  readonly onChange: (value: number | undefined) => void;
}) => (
  <Field label={label} at={at}>
    <input
      type="number"
      step="any"
      defaultValue={value === undefined ? '' : String(value)}
      aria-invalid={problemAt(at) !== undefined}
      onInput={({ currentTarget }) => onChange(parseNumber(currentTarget.value))}
    />
  </Field>
);

export const ChoiceField = <Value extends string>({
  label,
  at,
  value,
  options,
  onChange,
}: {
  readonly label: string;
  readonly at: string;
  readonly value: Value;
  readonly options: Readonly<Record<Value, string>>;
  readonly onChange: (value: Value) => void;
}) => (
  <Field label={label} at={at}>
    <select value={value} onChange={({ currentTarget }) => onChange(currentTarget.value as Value)}>
      {Object.entries<string>(options).map(([each, title]) => (
        <option key={each} value={each}>
          {title}
        </option>
      ))}
    </select>
  </Field>
);
