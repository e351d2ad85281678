/** Error budget policy of an SLO: actions when little of the budget remains, or the burn rate is high */
import { useState } from 'preact/hooks';
import type { alertSeverities } from '../../../schemas/alerts.ts';
import { Action } from '../../client/action.ts';
import { wrongIn } from '../../editors/form-state.tsx';
import { CheckInput, ChoiceInput, NumberInput, PairsInput, TextInput } from '../../editors/inputs.tsx';
import { Problem } from '../../frame/freshness.tsx';
import { explainDenial, isPermitted } from '../../frame/rights.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { refresh } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { type Policy, policyCall, type Status, setPolicyCall, type WrongAt } from './calls.ts';

type Step = Policy['steps'][number];
type Severity = (typeof alertSeverities)[number];

const severities: Readonly<Record<Severity, string>> = {
  info: 'info',
  warning: 'warning',
  error: 'error',
  critical: 'critical',
};
const occasions = { left: 'budget remaining below', burns: 'burn rate at least' } as const;

const empty: Step = { name: '', budgetRemainingBelow: 25, severity: 'warning', labels: {}, freeze: false };

const holdsWhere = ({ budgetRemainingBelow, burnRate, window }: Step): string =>
  budgetRemainingBelow === undefined
    ? `the burn rate over ${window} is at least ${burnRate}`
    : `less than ${budgetRemainingBelow} % of the budget remains`;

const StepFields = ({
  step,
  index,
  wrong,
  onChange,
  onRemove,
}: {
  readonly step: Step;
  readonly index: number;
  readonly wrong: WrongAt;
  readonly onChange: (step: Step) => void;
  readonly onRemove: () => void;
}) => {
  const set = (fields: Partial<Step>): void => onChange({ ...step, ...fields });
  const { budgetRemainingBelow, burnRate, window, ...others } = step;
  const occasion = budgetRemainingBelow === undefined ? 'burns' : 'left';
  const at = (field: string): string | undefined => wrong(`steps.${index}.${field}`);
  return (
    <fieldset>
      <legend>Step {index + 1}</legend>
      <TextInput
        label="Name"
        maxLength={64}
        value={step.name}
        problem={at('name')}
        onChange={(name) => set({ name })}
      />
      <ChoiceInput
        label="Condition"
        options={occasions}
        value={occasion}
        problem={undefined}
        onChange={(next) =>
          onChange(
            next === 'left' ? { ...others, budgetRemainingBelow: 25 } : { ...others, burnRate: 10, window: '1h' },
          )
        }
      />
      {occasion === 'left' ? (
        <NumberInput
          label="Budget remaining (%)"
          isSigned={true}
          value={budgetRemainingBelow ?? null}
          problem={at('budgetRemainingBelow')}
          onChange={(value) => set({ budgetRemainingBelow: value ?? 0 })}
        />
      ) : (
        <>
          <NumberInput
            label="Minimum burn rate"
            value={burnRate ?? null}
            problem={at('burnRate')}
            onChange={(value) => set({ burnRate: value ?? 0 })}
          />
          <TextInput
            label="Window"
            maxLength={16}
            value={window ?? ''}
            problem={at('window')}
            onChange={(text) => set({ window: text.trim() })}
          />
        </>
      )}
      <ChoiceInput
        label="Alert severity"
        options={severities}
        value={step.severity}
        problem={at('severity')}
        onChange={(severity) => set({ severity })}
      />
      <PairsInput
        label="Alert labels, one per line"
        hint="team=shop"
        value={step.labels}
        problem={at('labels')}
        onChange={(labels) => set({ labels })}
      />
      <CheckInput label="Freeze deployments while active" value={step.freeze} onChange={(freeze) => set({ freeze })} />
      <button type="button" class="plain" onClick={onRemove}>
        Remove step {index + 1}
      </button>
    </fieldset>
  );
};

const Edit = ({ id, of, onDone }: { readonly id: string; readonly of: Policy; readonly onDone: () => void }) => {
  const [action] = useState(() => new Action(setPolicyCall));
  // Steps have no id, so each has a key of its own that preserves the typed values.
  const [steps, setSteps] = useState<readonly (readonly [key: number, step: Step])[]>(() => [...of.steps.entries()]);
  const error = action.error.value;
  const save = async (): Promise<void> => {
    const body = { steps: steps.map(([, step]) => step) };
    if ((await action.run({ params: { id }, body, ifMatch: of.version })) === undefined) return;
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
          wrong={wrongIn(error)}
          onChange={(changed) => setSteps(steps.with(index, [key, changed]))}
          onRemove={() => setSteps(steps.toSpliced(index, 1))}
        />
      ))}
      <button
        type="button"
        class="plain"
        onClick={() => setSteps([...steps, [1 + Math.max(-1, ...steps.map(([key]) => key)), empty]])}
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
        <Problem error={error} />
      </div>
    </div>
  );
};

const holding = (holds: boolean | null | undefined): string =>
  holds === undefined || holds === null ? '' : holds ? ' Active.' : ' Inactive.';

export const PolicyPart = ({ id, status }: { readonly id: string; readonly status: Status | undefined }) => {
  const { answer, error } = useQuery(policyCall, { params: { id } });
  const [isEdited, setEdited] = useState(false);
  const holds = new Map(status?.policy?.steps.map((step) => [step.name, step.isMet]));
  return (
    <>
      <h3>Error budget policy</h3>
      <Problem error={error} />
      {answer === undefined ? null : isEdited ? (
        <Edit key={answer.version} id={id} of={answer} onDone={() => setEdited(false)} />
      ) : (
        <>
          {answer.steps.length === 0 ? <p class="soft">No error budget policy.</p> : null}
          <ul>
            {answer.steps.map((step) => (
              <li key={step.name} class={holds.get(step.name) === true ? 'text-error' : ''}>
                <b>{shownText(step.name)}</b>: if {holdsWhere(step)}, an alert of severity {step.severity}
                {step.freeze ? ', deployments frozen' : ''}.{holding(holds.get(step.name))}
              </li>
            ))}
          </ul>
          {isPermitted(setPolicyCall) ? (
            <button type="button" class="plain" onClick={() => setEdited(true)}>
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
