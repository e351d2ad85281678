/** Exceptions of a rule: excluded records, and a preview of covered past signals */
import { useState } from 'preact/hooks';
import type { previewRuleException } from '../../../api/groups/siem/preview-exception.ts';
import type { ruleResource } from '../../../api/groups/siem/rule.ts';
import { Action } from '../../client/action.ts';
import { declareCall, declareUpdateCall } from '../../client/call.ts';
import { ApiQuery } from '../../client/query.ts';
import { Field } from '../../editors/field.tsx';
import { TextInput } from '../../editors/inputs.tsx';
import { readParam, setParams, toArea } from '../../frame/address.ts';
import { renderText, toText } from '../../frame/display-text.tsx';
import { formatIsoMinute, formatIsoSecond } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { isPermitted } from '../../frame/rights.ts';
import { refresh, timeRange } from '../../frame/time-range.ts';
import type { Rule } from './rule-editor.tsx';

type RuleException = Rule['exceptions'][number];
type Conditions = RuleException['when'];

const updateExceptionsCall = declareUpdateCall<typeof ruleResource, { readonly exceptions: readonly RuleException[] }>(
  '/api/siem/rules/{id}',
);
export const previewCall = declareCall<typeof previewRuleException>('POST', '/api/siem/rules/{id}/exceptions/preview');

/** Parses `User|startswith: svc_`, one per line; a repeated field has several values. */
const parseConditions = (text: string): Conditions => {
  const values = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const separatorIndex = line.indexOf(':');
    const field = (separatorIndex < 0 ? line : line.slice(0, separatorIndex)).trim();
    if (field !== '')
      values.set(field, [
        ...(values.get(field) ?? []),
        separatorIndex < 0 ? '' : line.slice(separatorIndex + 1).trim(),
      ]);
  }
  return Object.fromEntries(
    [...values].map(([field, fieldValues]) => [field, fieldValues.length === 1 ? (fieldValues[0] ?? '') : fieldValues]),
  );
};

/** Formats conditions as lines. */
export const formatConditions = (fields: readonly (readonly [field: string, value: unknown])[]): string =>
  [
    ...new Set(
      fields.flatMap(([field, value]) => [value].flat().map((fieldValue) => `${field}: ${toText(fieldValue)}`)),
    ),
  ].join('\n');

const expiryOptions = [
  ['', 'never'],
  ['1', 'in a day'],
  ['7', 'in 7 days'],
  ['30', 'in 30 days'],
  ['90', 'in 90 days'],
] as const;

/** Signals in the selected time range that the exception would have covered. */
const CoveredSignals = ({ previewQuery }: { readonly previewQuery: ApiQuery<typeof previewRuleException> }) => {
  const { response, error } = previewQuery.state.value;
  if (response === undefined || error !== undefined) return null;
  return (
    <div role="status">
      {response.rules.map(({ ruleId, ruleTitle, signals, covered, unknown, examples }) => (
        <div key={ruleId}>
          <p>
            {renderText(ruleTitle)}: {covered} of {signals} signals of this range
            {unknown === 0 ? '' : `, and ${unknown} whose records have expired`}
            {response.isComplete ? '.' : '; only the newest signals were checked.'}
          </p>
          <ul>
            {examples.map(({ signalId, time, entities }) => (
              <li key={signalId}>
                <Link url={toArea('/detections', { open: signalId })}>{formatIsoSecond(time)}</Link>{' '}
                {renderText(entities.join(', '))}
              </li>
            ))}
          </ul>
        </div>
      ))}
    </div>
  );
};

const ExceptionForm = ({
  rule,
  onSave,
}: {
  readonly rule: Rule;
  readonly onSave: (newException: RuleException) => Promise<void>;
}) => {
  const [query] = useState(() => new ApiQuery(previewCall));
  const [conditions, setConditions] = useState(readParam('except'));
  const [reason, setReason] = useState('');
  const [expiryDays, setExpiryDays] = useState('');
  const when = parseConditions(conditions);
  const { error, isLoading } = query.state.value;
  const save = (): Promise<void> => {
    const expiresAt = expiryDays === '' ? null : new Date(Date.now() + Number(expiryDays) * 86_400_000).toISOString();
    return onSave({ id: crypto.randomUUID(), reason, when, expiresAt });
  };
  return (
    <div class="form">
      <Field
        label="Conditions (all must match)"
        problem={error?.details[0]?.message}
        hint="One rule field and its value per line, such as User|startswith: svc_"
      >
        <textarea
          rows={4}
          cols={40}
          spellcheck={false}
          value={conditions}
          onInput={({ currentTarget }) => setConditions(currentTarget.value)}
        />
      </Field>
      <TextInput label="Reason" maxLength={1024} value={reason} problem={undefined} onChange={setReason} />
      <label>
        Expires{' '}
        <select value={expiryDays} onChange={({ currentTarget }) => setExpiryDays(currentTarget.value)}>
          {expiryOptions.map(([value, title]) => (
            <option key={value} value={value}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <div class="act">
        <button
          type="button"
          class="plain"
          disabled={isLoading}
          onClick={() => query.run({ params: { id: rule.id }, body: { when, ...timeRange.peek() } })}
        >
          Preview affected signals
        </button>
        <button type="button" onClick={() => void save()}>
          Save exception
        </button>
        <button type="button" class="plain" onClick={() => setParams({ except: '', edit: '' })}>
          Cancel
        </button>
      </div>
      {error === undefined || error.details.length > 0 ? null : <ErrorMessage error={error} />}
      <CoveredSignals previewQuery={query} />
    </div>
  );
};

const exceptionEditMode = 'exception';

const ExceptionSummary = ({ previewQuery: { reason, when, expiresAt } }: { readonly previewQuery: RuleException }) => (
  <>
    <code>{renderText(formatConditions(Object.entries(when)), { lines: true })}</code>
    {reason === '' ? null : <> {renderText(reason)}</>}
    <span class="soft"> {expiresAt === null ? 'no expiry' : `until ${formatIsoMinute(expiresAt)}`}</span>
  </>
);

/** Exceptions of a correlation or filter belong to the rules that it references. */
export const Exceptions = ({ rule }: { readonly rule: Rule }) => {
  const [action] = useState(() => new Action(updateExceptionsCall));
  const { id, version, exceptions } = rule;
  if (rule.kind !== 'rule') return null;
  const save = async (updatedExceptions: readonly RuleException[]): Promise<void> => {
    if ((await action.run({ params: { id }, body: { exceptions: updatedExceptions }, ifMatch: version })) === undefined)
      return;
    setParams({ except: '', edit: '' });
    refresh();
  };
  const isEditing = readParam('edit') === exceptionEditMode || readParam('except') !== '';
  return (
    <section aria-label="Exceptions">
      <h3>Exceptions</h3>
      {exceptions.length === 0 ? <p class="soft">No exceptions: every match raises a signal.</p> : null}
      <ul>
        {exceptions.map((exception, index) => (
          <li key={exception.id}>
            <ExceptionSummary previewQuery={exception} />{' '}
            {isPermitted(updateExceptionsCall) ? (
              <button
                type="button"
                class="plain"
                disabled={action.isRunning.value}
                onClick={() => void save(exceptions.toSpliced(index, 1))}
              >
                End<span class="sr-only"> exception {index + 1}</span>
              </button>
            ) : null}
          </li>
        ))}
      </ul>
      <ErrorMessage error={action.error.value} />
      {!isPermitted(updateExceptionsCall) ? null : isEditing ? (
        <ExceptionForm rule={rule} onSave={(newException) => save([...exceptions, newException])} />
      ) : (
        <button type="button" class="plain" onClick={() => setParams({ edit: exceptionEditMode })}>
          New exception
        </button>
      )}
    </section>
  );
};
