/** Editor of a Sigma detection rule, with its errors, and the past matches of a saved rule */
import { useEffect, useState } from 'preact/hooks';
import type { backtestDetectionRule } from '../../../api/groups/siem/backtest-rule.ts';
import type { ruleResource } from '../../../api/groups/siem/rule.ts';
import type { validateDetectionRules } from '../../../api/groups/siem/try-rule.ts';
import { Action } from '../../client/action.ts';
import {
  declareCall,
  declareCreateCall,
  declareUpdateCall,
  type ResourceView,
  type ResponseBody,
} from '../../client/call.ts';
import { ApiQuery } from '../../client/query.ts';
import { ActionForm } from '../../frame/action-form.tsx';
import { setParams, toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoSecond } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { refresh, timeRange } from '../../frame/time-range.ts';

export type Rule = ResourceView<typeof ruleResource>;
interface RuleText {
  readonly source: string;
}

/** Team settings of a rule, in addition to its text */
export type RuleSettings = Pick<Rule, 'note' | 'risk' | 'suppression' | 'anySource' | 'tests' | 'mayFailTests'>;

export const updateRuleCall = declareUpdateCall<
  typeof ruleResource,
  { readonly enabled: boolean } | RuleText | RuleSettings
>('/api/siem/rules/{id}');
export const createRuleCall = declareCreateCall<typeof ruleResource, never>('/api/siem/rules');
const validateCall = declareCall<typeof validateDetectionRules>('POST', '/api/siem/rules/validate');
const backtestCall = declareCall<typeof backtestDetectionRule>('POST', '/api/siem/rules/{id}/backtest');

/** Template of a new rule */
const ruleTemplate = `title: 
logsource:
  category: process_creation
  product: windows
detection:
  selection:
    Image|endswith: '\\\\'
  condition: selection
level: medium
tags: []
`;

/** Delay of the validation after the last typed character, in milliseconds */
const validationDelayMs = 400;

/** Validation result of the API, updated when typing stops. */
const ValidationResult = ({ source }: { readonly source: string }) => {
  const [query] = useState(() => new ApiQuery(validateCall));
  useEffect(() => {
    const validationTimer = setTimeout(
      () => query.run({ body: { source: source === '' ? ' ' : source } }),
      validationDelayMs,
    );
    return () => {
      clearTimeout(validationTimer);
      query.cancel();
    };
  }, [source]);
  const { response, error } = query.state.value;
  return (
    <section aria-label="Errors in the rule">
      <ErrorMessage error={error} />
      {response?.errors.map(({ line, field, message }) => (
        <p key={`${line} ${field} ${message}`} class="problem-text" role="alert">
          Line {line}
          {field === '' ? '' : `, ${field}`}: {renderText(message)}
        </p>
      ))}
      {response?.documents.map(({ document, title, telemetry, unknownPlaceholders, unknownRules, warnings }) => (
        <div key={document}>
          <p role="status">The rule is valid: {renderText(title)}.</p>
          {telemetry.isSeen === false ? (
            <p class="text-warn">Missing telemetry: {renderText(telemetry.reason ?? '')}</p>
          ) : null}
          {[
            ...warnings,
            ...unknownPlaceholders.map((name) => `placeholder %${name}% is not defined`),
            ...unknownRules.map((name) => `rule ${name} does not exist or is disabled`),
          ].map((warning) => (
            <p key={warning} class="text-warn">
              {renderText(warning)}
            </p>
          ))}
        </div>
      ))}
    </section>
  );
};

/** Edits a rule; without one, creates a new rule. */
export const RuleEditor = ({ rule, onDone }: { readonly rule?: Rule; readonly onDone: () => void }) => {
  const [createAction] = useState(() => new Action(createRuleCall));
  const [changeAction] = useState(() => new Action(updateRuleCall));
  const [source, setSource] = useState(rule?.source ?? ruleTemplate);
  const save = async (): Promise<void> => {
    if (rule === undefined) {
      const createdRule = await createAction.run({ body: { source } as never });
      if (createdRule === undefined) return;
      setParams({ open: createdRule.id });
    } else if (
      (await changeAction.run({ params: { id: rule.id }, body: { source }, ifMatch: rule.version })) === undefined
    )
      return;
    onDone();
    refresh();
  };
  return (
    <>
      <ActionForm
        action={rule === undefined ? createAction : changeAction}
        label={rule === undefined ? 'Create rule' : 'Save rule'}
        onSubmit={save}
      >
        <div class="form">
          <label>
            Sigma{' '}
            <textarea
              rows={18}
              cols={60}
              spellcheck={false}
              value={source}
              onInput={({ currentTarget }) => setSource(currentTarget.value)}
            />
          </label>
        </div>
        <button type="button" class="plain" onClick={onDone}>
          Cancel
        </button>
      </ActionForm>
      <ValidationResult source={source} />
    </>
  );
};

type BacktestResult = ResponseBody<typeof backtestDetectionRule>;

const BacktestSignals = ({ result: { items, records, isComplete, signals } }: { readonly result: BacktestResult }) => (
  <>
    <p role="status">
      {signals === 1 ? 'One signal' : `${signals} signals`} in {records} log records
      {isComplete ? '.' : '; not all records of the range were searched.'}
    </p>
    <ol>
      {items.slice(0, 20).map(({ id, timeMs, entities, events }) => (
        <li key={id}>
          {formatIsoSecond(new Date(timeMs).toISOString())}{' '}
          {renderText(entities.map(({ type, value }) => `${type} ${value}`).join(', '))}{' '}
          {events[0] === undefined ? null : <Link url={toArea('/logs', { record: events[0].recordId })}>Record</Link>}
        </li>
      ))}
    </ol>
  </>
);

/** Matches of a saved rule in the stored records of the selected time range. */
export const BacktestSection = ({ id }: { readonly id: string }) => {
  const [action] = useState(() => new Action(backtestCall));
  const [result, setResult] = useState<BacktestResult>();
  const runBacktest = async (): Promise<void> => {
    const { from, to } = timeRange.value;
    setResult(await action.run({ params: { id }, body: { from, to } }));
  };
  return (
    <>
      <button type="button" class="plain" disabled={action.isRunning.value} onClick={() => void runBacktest()}>
        Test on this range
      </button>
      <ErrorMessage error={action.error.value} />
      {result === undefined ? null : <BacktestSignals result={result} />}
    </>
  );
};
