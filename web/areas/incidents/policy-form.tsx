/** Form of an escalation policy: recipients per step */
import { useState } from 'preact/hooks';
import type { z } from 'zod';
import type { EscalationPolicyFields } from '../../../schemas/resources/escalation-policy.ts';
import { useSaving } from '../../editors/form-state.tsx';
import { NumberInput, type OptionGroups, SelectListInput, TextInput } from '../../editors/inputs.tsx';
import { IntervalListFields } from '../../editors/intervals.tsx';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { createEscalationPolicyCall, type EscalationPolicy, replaceEscalationPolicyCall } from './calls.ts';
import { useTargetOptions } from './targets.ts';

type PolicyInput = z.input<typeof EscalationPolicyFields>;
type Step = PolicyInput['steps'][number];

const emptyPolicy: PolicyInput = {
  name: '',
  steps: [{ targets: [] }],
  repeat: 0,
  repeatAfterMinutes: 15,
  acknowledgeTimeoutMinutes: null,
  resolveAfterMinutes: 5,
  reopenWithinMinutes: 30,
};

const pickWritableFields = ({
  id: _,
  version: __,
  createdAt: ___,
  updatedAt: ____,
  ...fields
}: EscalationPolicy): PolicyInput => fields;

const numberFields = [
  ['Repetitions', 'repeat'],
  ['Repeat delay (minutes)', 'repeatAfterMinutes'],
  ['Acknowledgement timeout (minutes; empty: never)', 'acknowledgeTimeoutMinutes'],
  ['Resolve after minutes without alerts', 'resolveAfterMinutes'],
  ['Reopen window (minutes)', 'reopenWithinMinutes'],
] as const;

const StepFields = ({
  step: { targets, afterMinutes = 0, hours = [] },
  index,
  options,
  findProblem,
  onChange,
  onRemove,
}: {
  readonly step: Step;
  readonly index: number;
  readonly options: OptionGroups;
  readonly findProblem: (path: string) => string | undefined;
  readonly onChange: (step: Step) => void;
  readonly onRemove: (() => void) | undefined;
}) => {
  const updateStep = (fields: Partial<Step>): void => onChange({ targets, afterMinutes, hours, ...fields });
  const parseTarget = (text: string): Step['targets'][number] => {
    const [kind = '', id = ''] = text.split(/ (.*)/s);
    return { kind: kind as 'person', id };
  };
  return (
    <fieldset>
      <legend>Step {index + 1}</legend>
      <NumberInput
        label={index === 0 ? 'Minutes after the incident opened' : 'Minutes after the previous step'}
        value={afterMinutes}
        problem={findProblem(`steps.${index}.afterMinutes`)}
        onChange={(value) => updateStep({ afterMinutes: value ?? 0 })}
      />
      <SelectListInput
        label="Targets"
        addLabel="Add target"
        options={options}
        value={targets.map(({ kind, id }) => `${kind} ${id}`)}
        problem={findProblem(`steps.${index}.targets`)}
        onChange={(texts) => updateStep({ targets: texts.map(parseTarget) })}
      />
      <IntervalListFields
        title="Only during"
        value={hours}
        zone={Intl.DateTimeFormat().resolvedOptions().timeZone}
        listPath={`steps.${index}.hours`}
        findProblem={findProblem}
        onChange={(intervals) => updateStep({ hours: intervals as NonNullable<Step['hours']> })}
      />
      {onRemove === undefined ? null : (
        <button type="button" class="plain" onClick={onRemove}>
          Remove step {index + 1}
        </button>
      )}
    </fieldset>
  );
};

export const PolicyForm = ({ savedItem: storedPolicy }: { readonly savedItem: EscalationPolicy | undefined }) => {
  const [policy, setPolicy] = useState<PolicyInput>(() =>
    storedPolicy === undefined ? emptyPolicy : pickWritableFields(storedPolicy),
  );
  const { save, findProblem, error, isRunning } = useSaving(
    createEscalationPolicyCall,
    replaceEscalationPolicyCall,
    storedPolicy,
  );
  const options = useTargetOptions();
  const { steps } = policy;
  const updatePolicy = (fields: Partial<PolicyInput>): void =>
    setPolicy((currentPolicy) => ({ ...currentPolicy, ...fields }));
  return (
    <div class="form">
      <TextInput
        label="Name"
        value={policy.name}
        problem={findProblem('name')}
        onChange={(name) => updatePolicy({ name })}
      />
      {steps.map((step, index) => (
        <StepFields
          key={index}
          step={step}
          index={index}
          options={options}
          findProblem={findProblem}
          onChange={(updatedStep) => updatePolicy({ steps: steps.with(index, updatedStep) })}
          onRemove={steps.length === 1 ? undefined : () => updatePolicy({ steps: steps.toSpliced(index, 1) })}
        />
      ))}
      <button
        type="button"
        class="plain"
        onClick={() => updatePolicy({ steps: [...steps, { targets: [], afterMinutes: 15 }] })}
      >
        Add step
      </button>
      {numberFields.map(([label, name]) => (
        <NumberInput
          key={name}
          label={label}
          value={policy[name] ?? null}
          problem={findProblem(name)}
          onChange={(value) => updatePolicy({ [name]: value ?? (name === 'acknowledgeTimeoutMinutes' ? null : 0) })}
        />
      ))}
      <div class="act">
        <button type="button" disabled={isRunning} onClick={() => void save(policy)}>
          {storedPolicy === undefined ? 'Create policy' : 'Save policy'}
        </button>
        <ErrorMessage error={error} />
      </div>
    </div>
  );
};
