/** Rule editor with a preview of the rule */
import { useEffect, useState } from 'preact/hooks';
import { Action } from '../../../client/action.ts';
import { ApiQuery } from '../../../client/query.ts';
import { Button } from '../../../components/button.tsx';
import { FormStep } from '../../../components/form-step.tsx';
import { PairsInput } from '../../../editors/inputs.tsx';
import { navigate, readParam, toArea } from '../../../frame/address.ts';
import { renderText } from '../../../frame/display-text.tsx';
import { ErrorMessage } from '../../../frame/freshness.tsx';
import { Link } from '../../../frame/link.tsx';
import { projectId } from '../../../frame/project.ts';
import { explainDenial, isPermitted } from '../../../frame/rights.ts';
import { refreshCount, timeRange } from '../../../frame/time-range.ts';
import { createRuleCall, type Rule, type RuleInput, replaceRuleCall, ruleCall, setRoutingCall } from '../calls.ts';
import { useRoutingChange } from '../routing/use-routing-change.ts';
import { QueryFields, ThresholdsFields } from './condition.tsx';
import {
  cancelUrlUpdate,
  changeDraft,
  draftParseError,
  draftRule,
  emptyRule,
  errorWithoutField,
  findProblem,
  isDraftChanged,
  pickWritableFields,
  preview,
  problemsWithoutField,
  readDraftFromUrl,
  saveError,
  withDefaultName,
} from './draft.ts';
import { ChoiceField, FieldMessages, FieldWarning, TextField } from './field.tsx';
import { getAlertName, NotifyFields, prepareRoutingChange } from './notify.tsx';
import { RulePreviewSection } from './trial.tsx';

const storedRule = new ApiQuery(ruleCall);
/** Delay of the preview after the last typed character, in milliseconds */
const previewDebounceMs = 400;

const noDataOptions = {
  '': 'Keep the state; no records count as 0',
  keep: 'Keep the state',
  resolve: 'Resolve',
  alert: 'Fire the alert',
  unknown: 'Alert "NoData"',
} as const;
const errorOptions = { unknown: 'Alert "Error"', alert: 'Fire the alert', keep: 'Keep the state' } as const;

const pairLabels = { labels: 'Labels', annotations: 'Annotations' } as const;

const PairsField = ({ rule, name }: { readonly rule: RuleInput; readonly name: keyof typeof pairLabels }) => (
  <>
    <PairsInput
      label={pairLabels[name]}
      value={rule[name] ?? {}}
      problem={findProblem(name)}
      {...(name === 'annotations' ? { hint: 'summary: {{ $labels.service }} wrote {{ $value }} errors' } : {})}
      onChange={(pairs) => changeDraft({ [name]: pairs })}
    />
    <FieldWarning path={name} />
  </>
);

/** Durations of the rule; an empty field uses the default of the API. */
const DurationFields = ({ rule }: { readonly rule: RuleInput }) => (
  <div class="inline">
    {(
      [
        ['Evaluate every', 'interval', '1m'],
        ['Pending period', 'for', '0s'],
        ['Keep firing for', 'keepFiringFor', '0s'],
        ['Evaluation delay', 'delay', '0s'],
      ] as const
    ).map(([label, name, placeholder]) => (
      <TextField
        key={name}
        label={label}
        path={name}
        value={rule[name]}
        placeholder={placeholder}
        maxLength={16}
        onChange={(text) => changeDraft({ [name]: text.trim() === '' ? undefined : text.trim() })}
      />
    ))}
  </div>
);

/** Fields that display their own errors */
const fieldsWithMessages = [
  ...['name', 'description', 'condition', 'interval', 'for', 'keepFiringFor', 'delay', 'noData', 'onError'],
  ...['labels', 'annotations'],
];

/** When the condition becomes an alert */
const EvaluationFields = ({ rule }: { readonly rule: RuleInput }) => (
  <>
    <DurationFields rule={rule} />
    <div class="inline">
      <ChoiceField
        label="No data state"
        path="noData"
        value={rule.noData ?? ''}
        options={noDataOptions}
        onChange={(chosen) => changeDraft({ noData: chosen === '' ? undefined : chosen })}
      />
      <ChoiceField
        label="Error state"
        path="onError"
        value={rule.onError ?? 'unknown'}
        options={errorOptions}
        onChange={(chosen) => changeDraft({ onError: chosen })}
      />
    </div>
    <label>
      <input
        type="checkbox"
        checked={rule.enabled !== false}
        onChange={({ currentTarget }) => changeDraft({ enabled: currentTarget.checked })}
      />{' '}
      Enabled
    </label>
    <FieldMessages path="enabled" />
  </>
);

const RuleFields = ({ rule, previousRule }: { readonly rule: RuleInput; readonly previousRule: Rule | undefined }) => (
  <>
    <FormStep number={1} title="Query" hasColumns={true}>
      <QueryFields condition={rule.condition} />
    </FormStep>
    <FormStep number={2} title="Condition">
      {rule.condition.kind === 'threshold' ? <ThresholdsFields condition={rule.condition} /> : null}
      <EvaluationFields rule={rule} />
    </FormStep>
    <FormStep number={3} title="Notify">
      <TextField label="Name" path="name" value={rule.name} onChange={(name) => changeDraft({ name })} />
      <TextField
        label="Description"
        path="description"
        value={rule.description}
        maxLength={4096}
        onChange={(description) => changeDraft({ description })}
      />
      <PairsField rule={rule} name="annotations" />
      <PairsField rule={rule} name="labels" />
      <NotifyFields
        rule={rule}
        previousAlertName={previousRule === undefined ? undefined : getAlertName(pickWritableFields(previousRule))}
      />
    </FormStep>
  </>
);

const SaveButtons = ({ rule, previousRule }: { readonly rule: RuleInput; readonly previousRule: Rule | undefined }) => {
  const [createAction] = useState(() => new Action(createRuleCall));
  const [replaceAction] = useState(() => new Action(replaceRuleCall));
  const routingChange = useRoutingChange();
  /** Set if the rule was stored, and its routing was not */
  const [storedRule, setStoredRule] = useState<Rule>();
  const isRunning = createAction.isRunning.value || replaceAction.isRunning.value || routingChange.isRunning;
  const save = async (): Promise<void> => {
    saveError.value = undefined;
    const changeTargets = prepareRoutingChange(
      previousRule === undefined ? undefined : getAlertName(pickWritableFields(previousRule)),
      rule,
    );
    const replacedRule = storedRule ?? previousRule;
    const savedRule =
      replacedRule === undefined
        ? await createAction.run({ body: rule })
        : await replaceAction.run({ params: { id: replacedRule.id }, body: rule, ifMatch: replacedRule.version });
    if (savedRule === undefined) {
      saveError.value = createAction.error.peek() ?? replaceAction.error.peek();
      return;
    }
    setStoredRule(savedRule);
    if (isPermitted(setRoutingCall) && !(await routingChange.run(changeTargets))) return;
    cancelUrlUpdate();
    navigate(toArea('/alerts/rules', { rule: savedRule.id }));
  };
  return (
    <div class="act">
      <Button kind="primary" disabled={isRunning} onClick={() => void save()}>
        {previousRule === undefined ? 'Create rule' : 'Save rule'}
      </Button>
      <Link url={toArea('/alerts/rules', previousRule === undefined ? {} : { rule: previousRule.id })}>Cancel</Link>
      <ErrorMessage error={errorWithoutField.value} />
      {routingChange.error === undefined ? null : (
        <p class="problem" role="alert">
          The rule is saved, but who it notifies is not: {renderText(routingChange.error.message)}
        </p>
      )}
      {problemsWithoutField(fieldsWithMessages).map((message) => (
        <p key={message} class="problem" role="alert">
          {renderText(message)}
        </p>
      ))}
    </div>
  );
};

/** Loads the draft from the URL, once per edited rule. */
const useDraft = (id: string): Rule | undefined => {
  useEffect(() => {
    const { rule, query } = readDraftFromUrl();
    saveError.value = undefined;
    isDraftChanged.value = rule !== undefined;
    preview.clear();
    draftRule.value =
      rule ??
      (id === ''
        ? emptyRule(query, { name: readParam('name').slice(0, 256), projectId: projectId.peek() })
        : undefined);
    storedRule.clear();
    if (id !== '') storedRule.run({ params: { id } });
    return () => {
      cancelUrlUpdate();
      // A later edit must not begin with this version.
      storedRule.clear();
      preview.clear();
      draftRule.value = undefined;
    };
  }, [id]);
  const { response } = storedRule.state.value;
  useEffect(() => {
    if (response !== undefined && draftRule.peek() === undefined) draftRule.value = pickWritableFields(response);
  }, [response]);
  return response;
};

const usePreview = (): void => {
  const { from, to } = timeRange.value;
  const rule = draftRule.value;
  useEffect(() => {
    if (rule === undefined) return;
    const runPreview = (): void => preview.run({ query: { from, to }, body: withDefaultName(rule) });
    const previewTimer = setTimeout(runPreview, preview.state.peek().response === undefined ? 0 : previewDebounceMs);
    return () => clearTimeout(previewTimer);
  }, [rule, from, to, refreshCount.value]);
};

export const RuleEditor = () => {
  const id = readParam('rule');
  const storedVersion = useDraft(id);
  usePreview();
  const rule = draftRule.value;
  const call = id === '' ? createRuleCall : replaceRuleCall;
  if (!isPermitted(call)) return <p class="said">{explainDenial(call, 'Editing alert rules')}</p>;
  return (
    <>
      {draftParseError.value === '' ? null : <p class="problem">{renderText(draftParseError.value)}</p>}
      <ErrorMessage error={storedRule.state.value.error} />
      {rule === undefined ? null : (
        <div class="written">
          <div class="form" key={id}>
            <h1>{id === '' ? 'New alert rule' : renderText(storedVersion?.name ?? rule.name)}</h1>
            <RuleFields rule={rule} previousRule={storedVersion} />
            {id === '' || storedVersion !== undefined ? <SaveButtons rule={rule} previousRule={storedVersion} /> : null}
          </div>
          <RulePreviewSection rule={rule} />
        </div>
      )}
    </>
  );
};
