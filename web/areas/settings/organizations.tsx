/** Organizations of the user, and a form to create another */
import { useState } from 'preact/hooks';
import type { createOrganization, listOrganizations } from '../../../api/groups/users/organizations.ts';
import { Action } from '../../client/action.ts';
import { callOf } from '../../client/call.ts';
import { ActionForm } from '../../frame/action-form.tsx';
import { Problem } from '../../frame/freshness.tsx';
import { isPermitted } from '../../frame/rights.ts';
import { goTo, openSession } from '../../frame/session.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { refresh } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';

const listCall = callOf<typeof listOrganizations>('GET', '/api/organizations');
const createCall = callOf<typeof createOrganization>('POST', '/api/organizations');

const Create = () => {
  const [action] = useState(() => new Action(createCall));
  const [message, setMessage] = useState('');
  const create = async (form: HTMLFormElement): Promise<void> => {
    setMessage('');
    const made = await action.run({ body: { name: String(new FormData(form).get('organization')) } });
    if (made === undefined) return;
    form.reset();
    setMessage('The organization was created. You are its owner.');
    // The account menu also lists it.
    openSession();
    refresh();
  };
  return (
    <ActionForm action={action} label="Create organization" onSubmit={create} message={message}>
      <label>
        Organization name <input name="organization" required={true} maxLength={256} autocomplete="off" />
      </label>
    </ActionForm>
  );
};

export const Organizations = () => {
  const { answer, error } = useQuery(listCall, {});
  return (
    <>
      <h2>Your organizations</h2>
      <Problem error={error} />
      <ul class="organizations">
        {answer?.items.map(({ id, name, role, current, createdAt }) => (
          <li key={id}>
            <bdi>{shownText(name)}</bdi>, as {role}, since {shownMoment(createdAt).slice(0, 10)}:{' '}
            {current ? (
              <b>current</b>
            ) : (
              <button type="button" class="plain" onClick={() => void goTo(id)}>
                Switch<span class="sr-only">: {shownText(name)}</span>
              </button>
            )}
          </li>
        ))}
      </ul>
      {isPermitted(createCall) ? <Create /> : null}
    </>
  );
};
