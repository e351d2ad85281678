/** Error budget policy of an SLO: alerts and deployment freezes by remaining budget or burn rate */
import { useState } from 'preact/hooks';
import type { alertSeverities } from '../../../schemas/alerts.ts';
import { Action } from '../../client/action.ts';
import { createProblemFinder } from '../../editors/form-state.tsx';
import { CheckInput, NumberInput, PairsInput, RecordSelectInput, TextInput } from '../../editors/inputs.tsx';
import { renderText } from '../../frame/display-text.tsx';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { explainDenial, isPermitted } from '../../frame/rights.ts';
import { refresh } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { type FindProblem, type Policy, policyCall, type Status, setPolicyCall } from './calls.ts';

type PolicyStep = Policy['steps'][number];
type Severity = (typeof alertSeverities)[number];

const severities: Readonly<Record<Severity, string>> = {
  info: 'info',
  warning: 'warning',
  error: 'error',
  critical: 'critical',
};
const conditionTitles = { left: 'budget remaining below', burns: 'burn rate at least' } as const;

const emptyStep: PolicyStep = { name: '', budgetRemainingBelow: 25, severity: 'warning', labels: {}, freeze: false };

const describeCondition = ({ budgetRemainingBelow, burnRate, window }: PolicyStep): string =>
  budgetRemainingBelow === undefined
    ? `the burn rate over ${window} is at least ${burnRate}`
    : `less than ${budgetRemainingBelow} % of the budget remains`;

const StepFields = ({
  step,
  index,
  findProblem,
  onChange,
  onRemove,
}: {
  readonly step: PolicyStep;
  readonly index: number;
  readonly findProblem: FindProblem;
  readonly onChange: (step: PolicyStep) => void;
  readonly onRemove: () => void;
}) => {
  const updateStep = (fields: Partial<PolicyStep>): void => onChange({ ...step, ...fields });
  const { budgetRemainingBelow, burnRate, window, ...otherFields } = step;
  const condition = budgetRemainingBelow === undefined ? 'burns' : 'left';
  const findFieldProblem = (field: string): string | undefined => findProblem(`steps.${index}.${field}`);
  return (
    <fieldset>
      <legend>Step {index + 1}</legend>
      <TextInput
        label="Name"
        maxLength={64}
        value={step.name}
        problem={findFieldProblem('name')}
        onChange={(name) => updateStep({ name })}
      />
      <RecordSelectInput
        label="Condition"
        options={conditionTitles}
        value={condition}
        problem={undefined}
        onChange={(newCondition) =>
          onChange(
            newCondition === 'left'
              ? { ...otherFields, budgetRemainingBelow: 25 }
              : { ...otherFields, burnRate: 10, window: '1h' },
          )
        }
      />
      {condition === 'left' ? (
        <NumberInput
          label="Budget remaining (%)"
          isSigned={true}
          value={budgetRemainingBelow ?? null}
          problem={findFieldProblem('budgetRemainingBelow')}
          onChange={(value) => updateStep({ budgetRemainingBelow: value ?? 0 })}
        />
      ) : (
        <>
          <NumberInput
            label="Minimum burn rate"
            value={burnRate ?? null}
            problem={findFieldProblem('burnRate')}
            onChange={(value) => updateStep({ burnRate: value ?? 0 })}
          />
          <TextInput
            label="Window"
            maxLength={16}
            value={window ?? ''}
            problem={findFieldProblem('window')}
            onChange={(text) => updateStep({ window: text.trim() })}
          />
        </>
      )}
      <RecordSelectInput
        label="Alert severity"
        options={severities}
        value={step.severity}
        problem={findFieldProblem('severity')}
        onChange={(severity) => updateStep({ severity })}
      />
      <PairsInput
        label="Alert labels"
        value={step.labels}
        problem={findFieldProblem('labels')}
        onChange={(labels) => updateStep({ labels })}
      />
      <CheckInput
        label="Freeze deployments while active"
        value={step.freeze}
        onChange={(freeze) => updateStep({ freeze })}
      />
      <button type="button" class="plain" onClick={onRemove}>
        Remove step {index + 1}
      </button>
    </fieldset>
  );
};

const PolicyForm = ({
  id,
  policy,
  onDone,
}: {
  readonly id: string;
  readonly policy: Policy;
  readonly onDone: () => void;
}) => {
  const [action] = useState(() => new Action(setPolicyCall));
  // Steps have no id, so each gets a local key that preserves its inputs.
  const [steps, setSteps] = useState<readonly (readonly [key: number, step: PolicyStep])[]>(() => [
    ...policy.steps.entries(),
  ]);
  const error = action.error.value;
  const save = async (): Promise<void> => {
    const body = { steps: steps.map(([, step]) => step) };
    if ((await action.run({ params: { id }, body, ifMatch: policy.version })) === undefined) return;
    onDone();
    refresh();
  };
  return (
    <div class="form">
      {steps.map(([key, step], index) => (
        <StepFields
          key={key}
          step={step}
          index={index}
          findProblem={createProblemFinder(error)}
          onChange={(newStep) => setSteps(steps.with(index, [key, newStep]))}
          onRemove={() => setSteps(steps.toSpliced(index, 1))}
        />
      ))}
      <button
        type="button"
        class="plain"
        onClick={() => setSteps([...steps, [1 + Math.max(-1, ...steps.map(([key]) => key)), emptyStep]])}
      >
        Add step
      </button>
      <div class="act">
        <button type="button" disabled={action.isRunning.value} onClick={() => void save()}>
          Save policy
        </button>
        <button type="button" class="plain" onClick={onDone}>
          Cancel
        </button>
        <ErrorMessage error={error} />
      </div>
    </div>
  );
};

const formatActive = (isMet: boolean | null | undefined): string =>
  isMet === undefined || isMet === null ? '' : isMet ? ' Active.' : ' Inactive.';

export const ErrorBudgetPolicy = ({ id, status }: { readonly id: string; readonly status: Status | undefined }) => {
  const { response, error } = useQuery(policyCall, { params: { id } });
  const [isEditing, setIsEditing] = useState(false);
  const isMetByStep = new Map(status?.policy?.steps.map((step) => [step.name, step.isMet]));
  return (
    <>
      <h3>Error budget policy</h3>
      <ErrorMessage error={error} />
      {response === undefined ? null : isEditing ? (
        <PolicyForm key={response.version} id={id} policy={response} onDone={() => setIsEditing(false)} />
      ) : (
        <>
          {response.steps.length === 0 ? <p class="soft">No error budget policy.</p> : null}
          <ul>
            {response.steps.map((step) => (
              <li key={step.name} class={isMetByStep.get(step.name) === true ? 'text-error' : ''}>
                <b>{renderText(step.name)}</b>: if {describeCondition(step)}, raise an alert of severity {step.severity}
                {step.freeze ? ' and freeze deployments' : ''}.{formatActive(isMetByStep.get(step.name))}
              </li>
            ))}
          </ul>
          {isPermitted(setPolicyCall) ? (
            <button type="button" class="plain" onClick={() => setIsEditing(true)}>
              Edit policy
            </button>
          ) : (
            <p class="soft">{explainDenial(setPolicyCall, 'Editing the error budget policy')}</p>
          )}
        </>
      )}
    </>
  );
};
