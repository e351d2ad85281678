/** Form of a recording rule group */
import { useState } from 'preact/hooks';
import { Field } from '../../editors/field.tsx';
import { useSaving } from '../../editors/form-state.tsx';
import { CheckInput, NumberInput, PairsInput, TextInput } from '../../editors/inputs.tsx';
import { Problem } from '../../frame/freshness.tsx';
import {
  createRecordingGroupCall,
  type RecordingGroup,
  replaceRecordingGroupCall,
  type WrittenGroup,
} from './calls.ts';

type Rule = WrittenGroup['rules'][number];

const none: Rule = { record: '', expression: '' };
const empty: WrittenGroup = { name: '', interval: '1m', delay: '0s', limit: 0, enabled: true, rules: [none] };

const fieldsIn = ({
  id: _,
  version: __,
  createdAt: ___,
  updatedAt: ____,
  status: _____,
  ...fields
}: RecordingGroup): WrittenGroup => fields;

const RuleFields = ({
  rule,
  index,
  wrong,
  onChange,
  onRemove,
}: {
  readonly rule: Rule;
  readonly index: number;
  readonly wrong: (path: string) => string | undefined;
  readonly onChange: (rule: Rule) => void;
  readonly onRemove: (() => void) | undefined;
}) => {
  const at = (field: keyof Rule): string | undefined => wrong(`rules.${index}.${field}`);
  return (
    <fieldset>
      <legend>Rule {index + 1}</legend>
      <TextInput
        label="Series name"
        value={rule.record}
        problem={at('record')}
        onChange={(record) => onChange({ ...rule, record })}
      />
      <Field label="PromQL expression" problem={at('expression')}>
        <textarea
          rows={3}
          maxLength={16_384}
          spellcheck={false}
          value={rule.expression}
          placeholder="sum by (job) (rate(http_requests_total[5m]))"
          aria-invalid={at('expression') !== undefined}
          onInput={({ currentTarget }) => onChange({ ...rule, expression: currentTarget.value })}
        />
      </Field>
      <PairsInput
        label="Labels, one per line"
        hint="team=shop; a label without a value is removed"
        value={rule.labels ?? {}}
        problem={at('labels')}
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

export const RecordingForm = ({ before }: { readonly before: RecordingGroup | undefined }) => {
  const [group, setGroup] = useState<WrittenGroup>(() => (before === undefined ? empty : fieldsIn(before)));
  // Rules have no id, so each has a key of its own that preserves the typed values.
  const [keys, setKeys] = useState<readonly number[]>(() => [...group.rules.keys()]);
  const { save, wrong, error, isRunning } = useSaving(createRecordingGroupCall, replaceRecordingGroupCall, before);
  const set = (fields: Partial<WrittenGroup>): void => setGroup((now) => ({ ...now, ...fields }));
  const { rules } = group;
  return (
    <div class="form">
      <TextInput label="Name" value={group.name} problem={wrong('name')} onChange={(name) => set({ name })} />
      <TextInput
        label="Evaluate every"
        maxLength={16}
        value={group.interval ?? ''}
        problem={wrong('interval')}
        onChange={(interval) => set({ interval: interval.trim() })}
      />
      <TextInput
        label="Evaluation delay"
        maxLength={16}
        value={group.delay ?? ''}
        problem={wrong('delay')}
        onChange={(delay) => set({ delay: delay.trim() })}
      />
      <NumberInput
        label="Maximum series per rule (0: no limit)"
        value={group.limit ?? 0}
        problem={wrong('limit')}
        onChange={(limit) => set({ limit: limit ?? 0 })}
      />
      {rules.map((rule, index) => (
        <RuleFields
          key={keys[index] ?? index}
          rule={rule}
          index={index}
          wrong={wrong}
          onChange={(changed) => set({ rules: rules.with(index, changed) })}
          onRemove={
            rules.length === 1
              ? undefined
              : () => {
                  setKeys(keys.toSpliced(index, 1));
                  set({ rules: rules.toSpliced(index, 1) });
                }
          }
        />
      ))}
      <button
        type="button"
        class="plain"
        onClick={() => {
          setKeys([...keys, 1 + Math.max(-1, ...keys)]);
          set({ rules: [...rules, none] });
        }}
      >
        Add rule
      </button>
      <CheckInput label="Enabled" value={group.enabled ?? true} onChange={(enabled) => set({ enabled })} />
      <div class="act">
        <button type="button" disabled={isRunning} onClick={() => void save(group)}>
          {before === undefined ? 'Create group' : 'Save group'}
        </button>
        <Problem error={error} />
      </div>
    </div>
  );
};
