/** Steps of a check in order, with buttons to add, move and remove one */
import { ArrowDown, ArrowUp, Trash2 } from 'lucide';
import type { ComponentChildren } from 'preact';
import { IconButton } from '../../components/button.tsx';

export const StepList = <Step extends object>({
  steps,
  newStep,
  onChange,
  children,
}: {
  readonly steps: readonly Step[];
  readonly newStep: Step;
  readonly onChange: (steps: Step[]) => void;
  /** Fields of a step */
  readonly children: (step: Step, index: number, onStepChange: (step: Step) => void) => ComponentChildren;
}) => {
  const swapSteps = (index: number, otherIndex: number): void => {
    const [step, other] = [steps[index], steps[otherIndex]];
    if (step !== undefined && other !== undefined) onChange([...steps].with(index, other).with(otherIndex, step));
  };
  return (
    <>
      {steps.map((step, index) => (
        <fieldset key={index} class="check-step">
          <legend>Step {index + 1}</legend>
          {steps.length === 1 ? null : (
            <div class="check-step-actions">
              {index === 0 ? null : (
                <IconButton
                  label={`Move step ${index + 1} up`}
                  icon={ArrowUp}
                  onClick={() => swapSteps(index, index - 1)}
                />
              )}
              {index === steps.length - 1 ? null : (
                <IconButton
                  label={`Move step ${index + 1} down`}
                  icon={ArrowDown}
                  onClick={() => swapSteps(index, index + 1)}
                />
              )}
              <IconButton
                label={`Remove step ${index + 1}`}
                icon={Trash2}
                onClick={() => onChange([...steps].toSpliced(index, 1))}
              />
            </div>
          )}
          {children(step, index, (changed) => onChange([...steps].with(index, changed)))}
        </fieldset>
      ))}
      <div>
        <button type="button" class="plain" onClick={() => onChange([...steps, newStep])}>
          Add step
        </button>
      </div>
    </>
  );
};
