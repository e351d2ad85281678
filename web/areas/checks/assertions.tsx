/** Assertions of a check, one per line */
import { FieldProblem } from '../../editors/field.tsx';
import { Options } from '../../editors/inputs.tsx';
import {
  type AssertionFields,
  assertionSources,
  operatorTitles,
  sourceProperties,
  sourceTitles,
  type Type,
} from './setting-kinds.ts';

/** Returns whether an operator has no operand. */
const hasNoOperand = (operator: string): boolean => operator === 'exists' || operator === 'absent';

/** Parses a typed value: a canonical number becomes a number, everything else remains text. */
const parseValue = (text: string): string | number => (String(Number(text)) === text ? Number(text) : text);

/** Returns the assertion without a name or value that its source or operator does not use. */
const omitUnusedFields = ({ name, value, ...rest }: AssertionFields): AssertionFields => {
  const names = sourceProperties[rest.source];
  return {
    ...rest,
    ...(names === undefined ? {} : { name: name ?? names[0] ?? '' }),
    ...(hasNoOperand(rest.operator) ? {} : { value: value ?? '' }),
  };
};

const AssertionRow = ({
  of,
  label,
  type,
  problem,
  onChange,
  onRemove,
}: {
  readonly of: AssertionFields;
  readonly label: string;
  readonly type: Type;
  readonly problem: string | undefined;
  readonly onChange: (assertion: AssertionFields) => void;
  readonly onRemove: () => void;
}) => {
  const set = (fields: Partial<AssertionFields>): void => onChange(omitUnusedFields({ ...of, ...fields }));
  const names = sourceProperties[of.source];
  const sources = assertionSources[type] ?? [];
  return (
    <fieldset>
      <legend class="sr-only">{label}</legend>
      <div class="act">
        <select
          aria-label="Source"
          value={of.source}
          onChange={({ currentTarget }) => {
            const { name: _, ...rest } = of;
            onChange(omitUnusedFields({ ...rest, source: currentTarget.value as AssertionFields['source'] }));
          }}
        >
          <Options options={[...new Set([...sources, of.source])].map((each) => [each, sourceTitles[each]])} />
        </select>
        {names === undefined ? null : names.length > 0 ? (
          <select
            aria-label="Property"
            value={of.name}
            onChange={({ currentTarget }) => set({ name: currentTarget.value })}
          >
            <Options options={names.map((each) => [each, each])} />
          </select>
        ) : (
          <input
            aria-label="Property"
            value={of.name ?? ''}
            maxLength={1024}
            autocomplete="off"
            spellcheck={false}
            placeholder={of.source === 'json' ? '$.ok' : 'content-type'}
            onInput={({ currentTarget }) => set({ name: currentTarget.value })}
          />
        )}
        <select
          aria-label="Operator"
          value={of.operator}
          onChange={({ currentTarget }) => set({ operator: currentTarget.value as AssertionFields['operator'] })}
        >
          <Options options={Object.entries(operatorTitles)} />
        </select>
        {hasNoOperand(of.operator) ? null : (
          <input
            aria-label="Value"
            value={String(of.value ?? '')}
            maxLength={4096}
            autocomplete="off"
            spellcheck={false}
            aria-invalid={problem !== undefined}
            onInput={({ currentTarget }) => set({ value: parseValue(currentTarget.value) })}
          />
        )}
        <select
          aria-label="On failure"
          value={of.level ?? 'fail'}
          onChange={({ currentTarget }) => set({ level: currentTarget.value as 'fail' })}
        >
          <Options
            options={[
              ['fail', 'else Failed'],
              ['degrade', 'else Degraded'],
            ]}
          />
        </select>
        <button type="button" class="plain" onClick={onRemove}>
          Remove<span class="sr-only"> {label.toLowerCase()}</span>
        </button>
      </div>
      <FieldProblem message={problem} />
    </fieldset>
  );
};

export const Assertions = ({
  value,
  type,
  at,
  wrong: findProblem,
  onChange,
}: {
  readonly value: readonly AssertionFields[];
  readonly type: Type;
  /** Path of the list */
  readonly at: string;
  readonly wrong: (path: string) => string | undefined;
  readonly onChange: (assertions: AssertionFields[]) => void;
}) => {
  const [defaultSource] = assertionSources[type] ?? [];
  if (defaultSource === undefined) return null;
  return (
    <fieldset>
      <legend>Assertions</legend>
      {value.map((assertion, index) => (
        <AssertionRow
          key={index}
          of={assertion}
          type={type}
          label={`Assertion ${index + 1}`}
          problem={findProblem(`${at}.${index}`)}
          onChange={(changed) => onChange([...value].with(index, changed))}
          onRemove={() => onChange([...value].toSpliced(index, 1))}
        />
      ))}
      <button
        type="button"
        class="plain"
        onClick={() => onChange([...value, omitUnusedFields({ source: defaultSource, operator: 'is' })])}
      >
        Add assertion
      </button>
    </fieldset>
  );
};
