/** Condition of a rule: query, range and thresholds */
import { useState } from 'preact/hooks';
import type { Query } from '../../../../queries/query.ts';
import { QueryFormFields } from '../../../editors/query-fields.tsx';
import { recordKinds } from '../../../editors/query-form.ts';
import { renderText } from '../../../frame/display-text.tsx';
import { operatorTitles } from '../alert-format.ts';
import { type Condition, changeCondition, changeDraft, findProblem, preview, type Threshold } from './draft.ts';
import { ChoiceField, Field, NumberField, TextField } from './field.tsx';

type QueryCondition = Exclude<Condition, { kind: 'composite' }>;
type ThresholdCondition = Extract<Condition, { kind: 'threshold' }>;

const severities = { info: 'info', warning: 'warning', error: 'error', critical: 'critical' } as const;
const kinds = {
  threshold: 'Threshold',
  absence: 'No data',
  composite: 'Composite (JSON)',
} as const;
const matchModes = {
  last: 'last value',
  'at-least-once': 'any value',
  'all-the-time': 'every value',
  'on-average': 'the average',
  'in-total': 'the sum',
} as const;

const ThresholdFields = ({
  threshold,
  path,
  isOnly,
  onChange,
  onRemove,
}: {
  readonly threshold: Threshold;
  readonly path: string;
  readonly isOnly: boolean;
  readonly onChange: (threshold: Threshold) => void;
  readonly onRemove: () => void;
}) => {
  const { severity, operator, value, upper, recovery, unit } = threshold;
  const set = (fields: Readonly<Record<string, unknown>>): void =>
    onChange(
      Object.fromEntries(
        Object.entries({ ...threshold, ...fields }).filter(([, value]) => value !== undefined && value !== ''),
      ) as unknown as Threshold,
    );
  const hasRecovery = operator === 'above' || operator === 'at-least' || operator === 'below';
  return (
    <fieldset class="inline threshold">
      <legend class="visually-hidden">{severity}</legend>
      <ChoiceField
        label="Severity"
        path={`${path}.severity`}
        value={severity}
        options={severities}
        onChange={(chosen) => set({ severity: chosen })}
      />
      <ChoiceField
        label="Operator"
        path={`${path}.operator`}
        value={operator}
        options={operatorTitles}
        onChange={(chosen) =>
          set({
            operator: chosen,
            ...(chosen === 'outside' ? {} : { upper: undefined }),
            ...(chosen === 'any' ? { value: undefined } : {}),
            ...(['above', 'at-least', 'below'].includes(chosen) ? {} : { recovery: undefined }),
          })
        }
      />
      {operator === 'any' ? null : (
        <NumberField label="Value" path={`${path}.value`} value={value} onChange={(typed) => set({ value: typed })} />
      )}
      {operator === 'outside' ? (
        <NumberField label="to" path={`${path}.upper`} value={upper} onChange={(typed) => set({ upper: typed })} />
      ) : null}
      <TextField
        label="Unit"
        path={`${path}.unit`}
        value={unit}
        placeholder="ms, By, %"
        maxLength={32}
        onChange={(typed) => set({ unit: typed.trim() })}
      />
      {hasRecovery ? (
        <NumberField
          label="Recovery threshold"
          path={`${path}.recovery`}
          value={recovery}
          onChange={(typed) => set({ recovery: typed })}
        />
      ) : null}
      {isOnly ? null : (
        <button type="button" class="plain" onClick={onRemove}>
          Remove {severity}
        </button>
      )}
    </fieldset>
  );
};

export const ThresholdsFields = ({ condition: { thresholds } }: { readonly condition: ThresholdCondition }) => {
  const set = (changed: readonly Threshold[]): void => changeCondition({ thresholds: changed });
  return (
    <>
      {thresholds.map((threshold, index) => (
        <ThresholdFields
          // Thresholds have no id other than their index.
          key={`${index} of ${thresholds.length}`}
          threshold={threshold}
          path={`condition.thresholds.${index}`}
          isOnly={thresholds.length === 1}
          onChange={(changed) => set(thresholds.with(index, changed))}
          onRemove={() => set(thresholds.toSpliced(index, 1))}
        />
      ))}
      <button
        type="button"
        class="plain"
        disabled={thresholds.length >= 8}
        onClick={() => set([...thresholds, { severity: 'critical', operator: thresholds[0]?.operator ?? 'above' }])}
      >
        Add threshold
      </button>
    </>
  );
};

const WindowFields = ({ condition }: { readonly condition: QueryCondition }) => {
  const step = condition.kind === 'threshold' ? condition.step : undefined;
  return (
    <div class="inline">
      <TextField
        label="Window"
        path="condition.window"
        value={condition.window}
        placeholder="5m"
        maxLength={16}
        onChange={(window) => changeCondition({ window: window.trim() })}
      />
      {condition.kind === 'threshold' ? (
        <TextField
          label="Interval"
          path="condition.step"
          value={step}
          placeholder="one value"
          maxLength={16}
          onChange={(typed) =>
            changeCondition(typed.trim() === '' ? { step: undefined, match: undefined } : { step: typed.trim() })
          }
        />
      ) : (
        <ChoiceField
          label="Severity"
          path="condition.severity"
          options={severities}
          value={condition.severity ?? 'warning'}
          onChange={(severity) => changeCondition({ severity })}
        />
      )}
      {condition.kind === 'threshold' && step !== undefined ? (
        <ChoiceField
          label="Reduce by"
          path="condition.match"
          options={matchModes}
          value={condition.match ?? 'last'}
          onChange={(match) => changeCondition({ match })}
        />
      ) : null}
    </div>
  );
};

/** A condition that combines other rules in an expression, edited as JSON. */
const CompositeField = ({ condition }: { readonly condition: Condition }) => {
  const [parseError, setParseError] = useState('');
  const parseCondition = (text: string): void => {
    try {
      const value: unknown = JSON.parse(text);
      if (typeof value !== 'object' || value === null) throw new Error('A condition must be an object');
      changeDraft({ condition: value as Condition });
      setParseError('');
    } catch (error) {
      setParseError(String(error));
    }
  };
  return (
    <Field label="Condition as JSON" path="condition">
      <textarea
        rows={8}
        spellcheck={false}
        defaultValue={JSON.stringify(condition, null, 2)}
        onChange={({ currentTarget }) => parseCondition(currentTarget.value)}
      />
      <span class="problem-text" role="alert">
        {parseError}
      </span>
    </Field>
  );
};

/** Converts a condition to another kind, preserving the common fields. */
const convertCondition = (previousCondition: Condition, kind: Condition['kind']): Condition => {
  if (kind === 'composite') return { kind, expression: 'a && b', rules: {} };
  const query =
    (previousCondition.kind === 'composite' ? undefined : previousCondition.query) ??
    ({
      kind: 'aggregate',
      signal: 'logs',
      measures: [{ function: 'count' }],
    } as Query);
  const window = previousCondition.kind === 'composite' ? '5m' : previousCondition.window;
  return kind === 'absence'
    ? { kind, query, window }
    : { kind, query, window, thresholds: [{ severity: 'warning', operator: 'above' }] };
};

/** Query of the condition, and the window in which it runs */
export const QueryFields = ({ condition }: { readonly condition: Condition }) => (
  <>
    <ChoiceField
      label="Condition type"
      path="condition.kind"
      value={condition.kind}
      options={kinds}
      onChange={(kind) => changeDraft({ condition: convertCondition(condition, kind) })}
    />
    {condition.kind === 'composite' ? (
      <CompositeField condition={condition} />
    ) : (
      <>
        <QueryFormFields
          name="Query"
          query={condition.query as Query}
          excludedKinds={recordKinds}
          problem={findProblem('condition.query') ?? preview.state.value.response?.error ?? undefined}
          onChange={(query) => changeCondition({ query })}
        />
        <QueryWarning />
        <WindowFields condition={condition} />
      </>
    )}
  </>
);

const QueryWarning = () => {
  const warning = preview.state.value.response?.warnings.find(({ path }) => path.startsWith('condition.query'));
  return warning === undefined ? null : <p class="text-warn">{renderText(warning.message)}</p>;
};
