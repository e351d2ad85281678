/** Rule editor with a preview of the rule */
import { useEffect, useState } from 'preact/hooks';
import { Action } from '../../../client/action.ts';
import { ApiQuery } from '../../../client/query.ts';
import { pairLines, pairsIn } from '../../../editors/lines.ts';
import { go, inAddress, toArea } from '../../../frame/address.ts';
import { Problem } from '../../../frame/freshness.tsx';
import { Link } from '../../../frame/link.tsx';
import { projectId } from '../../../frame/project.ts';
import { explainDenial, isPermitted } from '../../../frame/rights.ts';
import { shownText } from '../../../frame/shown-text.tsx';
import { refreshes, writtenRange } from '../../../frame/time-range.ts';
import { createRuleCall, type Rule, replaceRuleCall, ruleCall, type WrittenRule } from '../calls.ts';
import { ConditionFields } from './condition.tsx';
import {
  change,
  draft,
  draftParseError,
  emptyRule,
  errorWithoutField,
  preview,
  problemsWithoutField,
  readDraftFromUrl,
  refused,
  stopWaiting,
  withDefaultName,
  writtenIn,
} from './draft.ts';
import { ChoiceField, Field, FieldMessages, TextField } from './field.tsx';
import { Trial } from './trial.tsx';

const stored = new ApiQuery(ruleCall);
/** Debounce of typing, in milliseconds */
const typedMs = 400;

const noData = {
  '': 'Keep the state; no records count as 0',
  keep: 'Keep the state',
  resolve: 'Resolve',
  alert: 'Fire the alert',
  unknown: 'Alert "NoData"',
} as const;
const onError = { unknown: 'Alert "Error"', alert: 'Fire the alert', keep: 'Keep the state' } as const;

const Texts = ({
  label,
  name,
  value,
  placeholder,
}: {
  readonly label: string;
  readonly name: 'labels' | 'annotations';
  readonly value: Readonly<Record<string, string>> | undefined;
  readonly placeholder: string;
}) => (
  <Field label={label} at={name}>
    <textarea
      rows={2}
      spellcheck={false}
      placeholder={placeholder}
      defaultValue={pairLines(value ?? {})}
      onInput={({ currentTarget }) => change({ [name]: pairsIn(currentTarget.value) })}
    />
  </Field>
);

/** Durations of the rule; an empty field uses the default of the API. */
const Durations = ({ rule }: { readonly rule: WrittenRule }) => (
  <div class="inline">
    {(
      [
        ['Evaluate every', 'interval', '1m'],
        ['For (pending period)', 'for', '0s'],
        ['Keep firing for', 'keepFiringFor', '0s'],
        ['Evaluation delay', 'delay', '0s'],
      ] as const
    ).map(([label, name, placeholder]) => (
      <TextField
        key={name}
        label={label}
        at={name}
        value={rule[name]}
        placeholder={placeholder}
        maxLength={16}
        onChange={(text) => change({ [name]: text.trim() === '' ? undefined : text.trim() })}
      />
    ))}
  </div>
);

/** Fields that display their own errors */
const shownAt = [
  ...['name', 'description', 'condition', 'interval', 'for', 'keepFiringFor', 'delay', 'noData', 'onError'],
  ...['labels', 'annotations'],
];

const Fields = ({ rule }: { readonly rule: WrittenRule }) => (
  <>
    <TextField label="Name" at="name" value={rule.name} onChange={(name) => change({ name })} />
    <TextField
      label="Description"
      at="description"
      value={rule.description}
      maxLength={4096}
      onChange={(description) => change({ description })}
    />
    <ConditionFields condition={rule.condition} />
    <fieldset>
      <legend>Evaluation and notification</legend>
      <Durations rule={rule} />
      <div class="inline">
        <ChoiceField
          label="No data state"
          at="noData"
          value={rule.noData ?? ''}
          options={noData}
          onChange={(chosen) => change({ noData: chosen === '' ? undefined : chosen })}
        />
        <ChoiceField
          label="Error state"
          at="onError"
          value={rule.onError ?? 'unknown'}
          options={onError}
          onChange={(chosen) => change({ onError: chosen })}
        />
      </div>
      <Texts label="Labels, one per line" name="labels" value={rule.labels} placeholder="team=shop" />
      <Texts
        label="Annotations, one per line"
        name="annotations"
        value={rule.annotations}
        placeholder={'summary={{ $labels.service }} wrote {{ $value }} errors'}
      />
      <label>
        <input
          type="checkbox"
          checked={rule.enabled !== false}
          onChange={({ currentTarget }) => change({ enabled: currentTarget.checked })}
        />{' '}
        Enabled
      </label>
      <FieldMessages at="enabled" />
    </fieldset>
  </>
);

const Save = ({ rule, before }: { readonly rule: WrittenRule; readonly before: Rule | undefined }) => {
  const [create] = useState(() => new Action(createRuleCall));
  const [replace] = useState(() => new Action(replaceRuleCall));
  const isRunning = create.isRunning.value || replace.isRunning.value;
  const save = async (): Promise<void> => {
    refused.value = undefined;
    const saved =
      before === undefined
        ? await create.run({ body: rule })
        : await replace.run({ params: { id: before.id }, body: rule, ifMatch: before.version });
    if (saved === undefined) refused.value = create.error.peek() ?? replace.error.peek();
    else {
      stopWaiting();
      go(toArea('/alerts/rules', { rule: saved.id }));
    }
  };
  return (
    <div class="act">
      <button type="button" disabled={isRunning} onClick={() => void save()}>
        {before === undefined ? 'Create rule' : 'Save rule'}
      </button>
      <Link to={toArea('/alerts/rules', before === undefined ? {} : { rule: before.id })}>Cancel</Link>
      <Problem error={errorWithoutField.value} />
      {problemsWithoutField(shownAt).map((message) => (
        <p key={message} class="problem" role="alert">
          {shownText(message)}
        </p>
      ))}
    </div>
  );
};

/** Loads the draft from the URL, once per edited rule. */
const useDraft = (id: string): Rule | undefined => {
  useEffect(() => {
    const { rule, query } = readDraftFromUrl();
    refused.value = undefined;
    preview.clear();
    draft.value =
      rule ??
      (id === ''
        ? emptyRule(query, { name: inAddress('name').slice(0, 256), projectId: projectId.peek() })
        : undefined);
    stored.clear();
    if (id !== '') stored.run({ params: { id } });
    return () => {
      stopWaiting();
      stored.cancel();
      preview.clear();
      draft.value = undefined;
    };
  }, [id]);
  const { answer } = stored.state.value;
  useEffect(() => {
    if (answer !== undefined && draft.peek() === undefined) draft.value = writtenIn(answer);
  }, [answer]);
  return answer;
};

const usePreview = (): void => {
  const { from, to } = writtenRange.value;
  const rule = draft.value;
  useEffect(() => {
    if (rule === undefined) return;
    const runPreview = (): void => preview.run({ query: { from, to }, body: withDefaultName(rule) });
    const waiting = setTimeout(runPreview, preview.state.peek().answer === undefined ? 0 : typedMs);
    return () => clearTimeout(waiting);
  }, [rule, from, to, refreshes.value]);
};

export const RuleEditor = () => {
  const id = inAddress('rule');
  const before = useDraft(id);
  usePreview();
  const rule = draft.value;
  const call = id === '' ? createRuleCall : replaceRuleCall;
  if (!isPermitted(call)) return <p class="said">{explainDenial(call, 'Editing alert rules')}</p>;
  return (
    <>
      {draftParseError.value === '' ? null : <p class="problem">{shownText(draftParseError.value)}</p>}
      <Problem error={stored.state.value.error} />
      {rule === undefined ? null : (
        <div class="written">
          <div class="form" key={id}>
            <h2>{id === '' ? 'New alert rule' : shownText(before?.name ?? rule.name)}</h2>
            <Fields rule={rule} />
            {id === '' || before !== undefined ? <Save rule={rule} before={before} /> : null}
          </div>
          <Trial rule={rule} />
        </div>
      )}
    </>
  );
};
