/** Assertions of a check, one per line */
import { Trash2 } from 'lucide';
import { IconButton } from '../../components/button.tsx';
import { FieldProblem } from '../../editors/field.tsx';
import { Options } from '../../editors/inputs.tsx';
import {
  type AssertionFields,
  assertionSourcesByType,
  type CheckType,
  operatorTitles,
  propertyTitles,
  sourceProperties,
  sourceTitles,
} from './setting-kinds.ts';

/** Returns whether an operator has no operand. */
export const hasNoOperand = (operator: string): boolean => operator === 'exists' || operator === 'absent';

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

/** Outcomes of a step whose assertion fails. */
export const LevelOptions = () => (
  <Options
    options={[
      ['fail', 'else Failed'],
      ['degrade', 'else Degraded'],
    ]}
  />
);

const AssertionRow = ({
  assertion,
  label,
  type,
  problem,
  onChange,
  onRemove,
}: {
  readonly assertion: AssertionFields;
  readonly label: string;
  readonly type: CheckType;
  readonly problem: string | undefined;
  readonly onChange: (assertion: AssertionFields) => void;
  readonly onRemove: () => void;
}) => {
  const updateAssertion = (fields: Partial<AssertionFields>): void =>
    onChange(omitUnusedFields({ ...assertion, ...fields }));
  const names = sourceProperties[assertion.source];
  const sources = assertionSourcesByType[type] ?? [];
  return (
    <fieldset class="assertion">
      <legend class="sr-only">{label}</legend>
      <div class="act">
        <select
          aria-label="Source"
          value={assertion.source}
          onChange={({ currentTarget }) => {
            const { name: _, ...rest } = assertion;
            onChange(omitUnusedFields({ ...rest, source: currentTarget.value as AssertionFields['source'] }));
          }}
        >
          <Options
            options={[...new Set([...sources, assertion.source])].map((source) => [source, sourceTitles[source]])}
          />
        </select>
        {names === undefined ? null : names.length > 0 ? (
          <select
            aria-label="Property"
            value={assertion.name}
            onChange={({ currentTarget }) => updateAssertion({ name: currentTarget.value })}
          >
            <Options
              options={names.map((propertyName) => [propertyName, propertyTitles[propertyName] ?? propertyName])}
            />
          </select>
        ) : (
          <input
            aria-label="Property"
            value={assertion.name ?? ''}
            maxLength={1024}
            autocomplete="off"
            spellcheck={false}
            placeholder={{ json: '$.ok', xml: '//status' }[String(assertion.source)] ?? 'content-type'}
            onInput={({ currentTarget }) => updateAssertion({ name: currentTarget.value })}
          />
        )}
        <select
          aria-label="Operator"
          value={assertion.operator}
          onChange={({ currentTarget }) =>
            updateAssertion({ operator: currentTarget.value as AssertionFields['operator'] })
          }
        >
          <Options options={Object.entries(operatorTitles)} />
        </select>
        {hasNoOperand(assertion.operator) ? null : (
          <input
            aria-label="Value"
            value={String(assertion.value ?? '')}
            maxLength={4096}
            autocomplete="off"
            spellcheck={false}
            aria-invalid={problem !== undefined}
            onInput={({ currentTarget }) => updateAssertion({ value: parseValue(currentTarget.value) })}
          />
        )}
        <select
          aria-label="On failure"
          value={assertion.level ?? 'fail'}
          onChange={({ currentTarget }) => updateAssertion({ level: currentTarget.value as 'fail' })}
        >
          <LevelOptions />
        </select>
        <IconButton label={`Remove ${label.toLowerCase()}`} icon={Trash2} onClick={onRemove} />
      </div>
      <FieldProblem message={problem} />
    </fieldset>
  );
};

export const Assertions = ({
  value,
  type,
  path,
  findProblem,
  onChange,
}: {
  readonly value: readonly AssertionFields[];
  readonly type: CheckType;
  /** Path of the list */
  readonly path: string;
  readonly findProblem: (path: string) => string | undefined;
  readonly onChange: (assertions: AssertionFields[]) => void;
}) => {
  const [defaultSource] = assertionSourcesByType[type] ?? [];
  if (defaultSource === undefined) return null;
  return (
    <fieldset>
      <legend>Assertions</legend>
      {value.map((assertion, index) => (
        <AssertionRow
          key={index}
          assertion={assertion}
          type={type}
          label={`Assertion ${index + 1}`}
          problem={findProblem(`${path}.${index}`)}
          onChange={(updatedAssertion) => onChange([...value].with(index, updatedAssertion))}
          onRemove={() => onChange([...value].toSpliced(index, 1))}
        />
      ))}
      <div>
        <button
          type="button"
          class="plain"
          onClick={() => onChange([...value, omitUnusedFields({ source: defaultSource, operator: 'is' })])}
        >
          Add assertion
        </button>
      </div>
    </fieldset>
  );
};
