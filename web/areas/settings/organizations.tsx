/** Organizations of the user, and a form to create another */
import { useState } from 'preact/hooks';
import type { createOrganization, listOrganizations } from '../../../api/groups/users/organizations.ts';
import { Action } from '../../client/action.ts';
import { declareCall } from '../../client/call.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { ActionForm } from '../../frame/action-form.tsx';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoTime } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { isPermitted } from '../../frame/rights.ts';
import { openSession, switchOrganization } from '../../frame/session.ts';
import { refresh } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';

const listCall = declareCall<typeof listOrganizations>('GET', '/api/organizations');
const createCall = declareCall<typeof createOrganization>('POST', '/api/organizations');

const CreateOrganizationForm = () => {
  const [action] = useState(() => new Action(createCall));
  const [message, setMessage] = useState('');
  const create = async (form: HTMLFormElement): Promise<void> => {
    setMessage('');
    const createdOrganization = await action.run({ body: { name: String(new FormData(form).get('organization')) } });
    if (createdOrganization === undefined) return;
    form.reset();
    setMessage('The organization was created. You are its owner.');
    // The account menu also lists the new organization.
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
  const { response, error } = useQuery(listCall, {});
  return (
    <Card title="Your organizations">
      <ErrorMessage error={error} />
      <ul class="entries organizations">
        {response?.items.map(({ id, name, role, current, createdAt }) => (
          <li key={id}>
            <div>
              <b>
                <bdi>{renderText(name)}</bdi>
              </b>
              <p class="soft">
                {role} since {formatIsoTime(createdAt).slice(0, 10)}
              </p>
            </div>
            {current ? (
              <Badge tone="ok">Current organization</Badge>
            ) : (
              <Button onClick={() => void switchOrganization(id)}>
                Switch<span class="sr-only">: {renderText(name)}</span>
              </Button>
            )}
          </li>
        ))}
      </ul>
      {isPermitted(createCall) ? <CreateOrganizationForm /> : null}
    </Card>
  );
};
