/** Get started: open tasks, sending instructions, and a diagnosis for missing data */
import { useState } from 'preact/hooks';
import type { dismissOnboardingSteps, showOnboarding } from '../../../api/groups/onboarding/checklist.ts';
import type { listSnippets } from '../../../api/groups/onboarding/snippets.ts';
import { Action } from '../../client/action.ts';
import { callOf } from '../../client/call.ts';
import { change, inAddress } from '../../frame/address.ts';
import { Problem } from '../../frame/freshness.tsx';
import { partsOf } from '../../frame/parts.tsx';
import { isPermitted } from '../../frame/rights.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { refresh } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { Raw } from '../../lists/raw.tsx';
import { Scrolled } from '../../lists/scrolled.tsx';
import { Doctor, doctorCall } from './doctor.tsx';

const dismissCall = callOf<typeof dismissOnboardingSteps>('PUT', '/api/onboarding');

const OnboardingChecklist = () => {
  const [action] = useState(() => new Action(dismissCall));
  const { answer, error } = useQuery(callOf<typeof showOnboarding>('GET', '/api/onboarding'), {});
  const dismissed = answer?.dismissed ?? [];
  const saveDismissed = async (next: typeof dismissed): Promise<void> => {
    if ((await action.run({ body: { dismissed: [...next] } })) !== undefined) refresh();
  };
  return (
    <Scrolled class="scrolled" label="Steps">
      <Problem error={error ?? action.error.value} />
      {answer?.complete ? <p role="status">All steps are done.</p> : null}
      <ol class="steps">
        {answer?.steps.map(({ id, title, isDone: done, completedAt: doneAt, dismissed: isDismissed, next }) => (
          <li key={id} class={done ? 'soft' : ''}>
            <b>
              {done ? '✓ ' : ''}
              {shownText(title)}
            </b>
            {done ? <span> done {shownMoment(doneAt)}</span> : null}
            {done || isDismissed ? null : <p>{shownText(next)}</p>}
            {isPermitted(dismissCall) && !done ? (
              <button
                type="button"
                class="plain"
                onClick={() =>
                  void saveDismissed(isDismissed ? dismissed.filter((one) => one !== id) : [...dismissed, id])
                }
              >
                {isDismissed ? 'Restore' : 'Skip'}
                <span class="sr-only">: {title}</span>
              </button>
            ) : null}
          </li>
        ))}
      </ol>
    </Scrolled>
  );
};

const SendingInstructions = () => {
  const { answer, error } = useQuery(callOf<typeof listSnippets>('GET', '/api/onboarding/snippets'), {});
  const items = answer?.items ?? [];
  const selectedSnippet = items.find(({ id }) => id === inAddress('sender')) ?? items[0];
  return (
    <Scrolled class="scrolled" label="Sending instructions">
      <Problem error={error} />
      {answer === undefined || selectedSnippet === undefined ? null : (
        <>
          <label>
            Source{' '}
            <select
              value={selectedSnippet.id}
              onChange={({ currentTarget }) => change({ sender: currentTarget.value })}
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
            <code>{answer.keyPlaceholder}</code>.
          </p>
          {selectedSnippet.pieces.map(({ name, text }) => (
            <div key={name}>
              <h2>{shownText(name)}</h2>
              <Raw label={name} text={text} />
            </div>
          ))}
          <h2>Endpoints</h2>
          <dl class="fields">
            {Object.entries(answer.endpoints).map(([name, address]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{shownText(address)}</dd>
              </div>
            ))}
          </dl>
        </>
      )}
    </Scrolled>
  );
};

export const GetStarted = partsOf('Get started', [
  { name: '', title: 'Steps', View: OnboardingChecklist },
  { name: 'send', title: 'Sending instructions', View: SendingInstructions },
  { name: 'doctor', title: 'Troubleshooting', View: Doctor, requiredCall: doctorCall },
]);
