/** Form of a recording rule group */
import { useState } from 'preact/hooks';
import { Field } from '../../editors/field.tsx';
import { useSaving } from '../../editors/form-state.tsx';
import { CheckInput, NumberInput, PairsInput, TextInput } from '../../editors/inputs.tsx';
import { PromqlField } from '../../editors/promql-field.tsx';
import { ErrorMessage } from '../../frame/freshness.tsx';
import {
  createRecordingGroupCall,
  type RecordingGroup,
  type RecordingGroupInput,
  replaceRecordingGroupCall,
} from './calls.ts';

type Rule = RecordingGroupInput['rules'][number];

const emptyRule: Rule = { record: '', expression: '' };
const emptyGroup: RecordingGroupInput = {
  name: '',
  interval: '1m',
  delay: '0s',
  limit: 0,
  enabled: true,
  rules: [emptyRule],
};

const pickWritableFields = ({
  id: _,
  version: __,
  createdAt: ___,
  updatedAt: ____,
  status: _____,
  ...fields
}: RecordingGroup): RecordingGroupInput => fields;

const RuleFields = ({
  rule,
  index,
  wrong: findProblem,
  onChange,
  onRemove,
}: {
  readonly rule: Rule;
  readonly index: number;
  readonly wrong: (path: string) => string | undefined;
  readonly onChange: (rule: Rule) => void;
  readonly onRemove: (() => void) | undefined;
}) => {
  const findRuleProblem = (field: keyof Rule): string | undefined => findProblem(`rules.${index}.${field}`);
  return (
    <fieldset>
      <legend>Rule {index + 1}</legend>
      <TextInput
        label="Series name"
        value={rule.record}
        problem={findRuleProblem('record')}
        onChange={(record) => onChange({ ...rule, record })}
      />
      <Field label="PromQL expression" problem={findRuleProblem('expression')}>
        <PromqlField
          label="PromQL expression"
          rows={3}
          value={rule.expression}
          isInvalid={findRuleProblem('expression') !== undefined}
          onChange={(expression) => onChange({ ...rule, expression })}
        />
      </Field>
      <PairsInput
        label="Labels"
        hint="A label without a value is removed"
        value={rule.labels ?? {}}
        problem={findRuleProblem('labels')}
        onChange={(labels) => onChange({ ...rule, labels })}
      />
      {onRemove === undefined ? null : (
        <button type="button" class="plain" onClick={onRemove}>
          Remove rule {index + 1}
        </button>
      )}
    </fieldset>
  );
};

export const RecordingForm = ({ savedItem: storedGroup }: { readonly savedItem: RecordingGroup | undefined }) => {
  const [group, setGroup] = useState<RecordingGroupInput>(() =>
    storedGroup === undefined ? emptyGroup : pickWritableFields(storedGroup),
  );
  // Rules have no id, so each gets a generated key that keeps its typed values when another rule is removed.
  const [ruleKeys, setRuleKeys] = useState<readonly number[]>(() => [...group.rules.keys()]);
  const { save, findProblem, error, isRunning } = useSaving(
    createRecordingGroupCall,
    replaceRecordingGroupCall,
    storedGroup,
  );
  const updateGroup = (fields: Partial<RecordingGroupInput>): void =>
    setGroup((previous) => ({ ...previous, ...fields }));
  const { rules } = group;
  return (
    <div class="form">
      <TextInput
        label="Name"
        value={group.name}
        problem={findProblem('name')}
        onChange={(name) => updateGroup({ name })}
      />
      <TextInput
        label="Evaluate every"
        maxLength={16}
        value={group.interval ?? ''}
        problem={findProblem('interval')}
        onChange={(interval) => updateGroup({ interval: interval.trim() })}
      />
      <TextInput
        label="Evaluation delay"
        maxLength={16}
        value={group.delay ?? ''}
        problem={findProblem('delay')}
        onChange={(delay) => updateGroup({ delay: delay.trim() })}
      />
      <NumberInput
        label="Maximum series per rule (0: no limit)"
        value={group.limit ?? 0}
        problem={findProblem('limit')}
        onChange={(limit) => updateGroup({ limit: limit ?? 0 })}
      />
      {rules.map((rule, index) => (
        <RuleFields
          key={ruleKeys[index] ?? index}
          rule={rule}
          index={index}
          wrong={findProblem}
          onChange={(updatedRule) => updateGroup({ rules: rules.with(index, updatedRule) })}
          onRemove={
            rules.length === 1
              ? undefined
              : () => {
                  setRuleKeys(ruleKeys.toSpliced(index, 1));
                  updateGroup({ rules: rules.toSpliced(index, 1) });
                }
          }
        />
      ))}
      <button
        type="button"
        class="plain"
        onClick={() => {
          setRuleKeys([...ruleKeys, 1 + Math.max(-1, ...ruleKeys)]);
          updateGroup({ rules: [...rules, emptyRule] });
        }}
      >
        Add rule
      </button>
      <CheckInput label="Enabled" value={group.enabled ?? true} onChange={(enabled) => updateGroup({ enabled })} />
      <div class="act">
        <button type="button" disabled={isRunning} onClick={() => void save(group)}>
          {storedGroup === undefined ? 'Create group' : 'Save group'}
        </button>
        <ErrorMessage error={error} />
      </div>
    </div>
  );
};
