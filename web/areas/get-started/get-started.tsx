/** Get started: open tasks, sending instructions, and a diagnosis for missing data */
import { useState } from 'preact/hooks';
import type { dismissOnboardingSteps, showOnboarding } from '../../../api/groups/onboarding/checklist.ts';
import type { listSnippets } from '../../../api/groups/onboarding/snippets.ts';
import { Action } from '../../client/action.ts';
import { declareCall } from '../../client/call.ts';
import { readParam, setParams } from '../../frame/address.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { createTabbedView } from '../../frame/parts.tsx';
import { isPermitted } from '../../frame/rights.ts';
import { renderText } from '../../frame/shown-text.tsx';
import { formatIsoTime } from '../../frame/shown-time.ts';
import { refresh } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { RawText } from '../../lists/raw.tsx';
import { ScrollRegion } from '../../lists/scrolled.tsx';
import { Doctor, doctorCall } from './doctor.tsx';

const dismissCall = declareCall<typeof dismissOnboardingSteps>('PUT', '/api/onboarding');

/** Why data of the step cannot be read. */
const SendingProblem = ({ problem }: { problem: string | null }) =>
  problem === null ? null : <p role="status">{renderText(problem)}</p>;

const OnboardingChecklist = () => {
  const [action] = useState(() => new Action(dismissCall));
  const { response, error } = useQuery(declareCall<typeof showOnboarding>('GET', '/api/onboarding'), {});
  const dismissedSteps = response?.dismissed ?? [];
  const saveDismissed = async (newDismissed: typeof dismissedSteps): Promise<void> => {
    if ((await action.run({ body: { dismissed: [...newDismissed] } })) !== undefined) refresh();
  };
  return (
    <ScrollRegion class="scrolled" label="Steps">
      <ErrorMessage error={error ?? action.error.value} />
      {response?.complete ? <p role="status">All steps are done.</p> : null}
      <ol class="steps">
        {response?.steps.map(
          ({ id, title, isDone, completedAt, dismissed: isDismissed, next: nextAction, problem }) => (
            <li key={id} class={isDone ? 'soft' : ''}>
              <b>
                {isDone ? '✓ ' : ''}
                {renderText(title)}
              </b>
              {isDone ? <span> done {formatIsoTime(completedAt)}</span> : null}
              {isDone || isDismissed ? null : <p>{renderText(nextAction)}</p>}
              <SendingProblem problem={problem} />
              {isPermitted(dismissCall) && !isDone ? (
                <button
                  type="button"
                  class="plain"
                  onClick={() =>
                    void saveDismissed(
                      isDismissed ? dismissedSteps.filter((stepId) => stepId !== id) : [...dismissedSteps, id],
                    )
                  }
                >
                  {isDismissed ? 'Restore' : 'Skip'}
                  <span class="sr-only">: {title}</span>
                </button>
              ) : null}
            </li>
          ),
        )}
      </ol>
    </ScrollRegion>
  );
};

const SendingInstructions = () => {
  const { response, error } = useQuery(declareCall<typeof listSnippets>('GET', '/api/onboarding/snippets'), {});
  const items = response?.items ?? [];
  const selectedSnippet = items.find(({ id }) => id === readParam('sender')) ?? items[0];
  return (
    <ScrollRegion class="scrolled" label="Sending instructions">
      <ErrorMessage error={error} />
      {response === undefined || selectedSnippet === undefined ? null : (
        <>
          <label>
            Source{' '}
            <select
              value={selectedSnippet.id}
              onChange={({ currentTarget }) => setParams({ sender: currentTarget.value })}
            >
              {items.map(({ id, title }) => (
                <option key={id} value={id}>
                  {title}
                </option>
              ))}
            </select>
          </label>
          <p>
            This source sends {selectedSnippet.signals.join(', ')}. Replace the placeholder with a license key:{' '}
            <code>{response.keyPlaceholder}</code>.
          </p>
          {selectedSnippet.pieces.map(({ name, text }) => (
            <div key={name}>
              <h2>{renderText(name)}</h2>
              <RawText label={name} text={text} />
            </div>
          ))}
          <h2>Endpoints</h2>
          <dl class="fields">
            {Object.entries(response.endpoints).map(([name, address]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{renderText(address)}</dd>
              </div>
            ))}
          </dl>
        </>
      )}
    </ScrollRegion>
  );
};

export const GetStarted = createTabbedView('Get started', [
  { name: '', title: 'Steps', View: OnboardingChecklist },
  { name: 'send', title: 'Sending instructions', View: SendingInstructions },
  { name: 'doctor', title: 'Troubleshooting', View: Doctor, requiredCall: doctorCall },
]);
