/** Service accounts and their tokens */
import { useState } from 'preact/hooks';
import type { z } from 'zod';
import type { removeAccount, serviceAccountResource } from '../../../api/groups/service-accounts/accounts.ts';
import type { createToken, listTokens, revokeToken } from '../../../api/groups/service-accounts/tokens.ts';
import { Action } from '../../client/action.ts';
import { callOf, creationOf, type Declared, type Filtered, readingOf } from '../../client/call.ts';
import { ActionForm } from '../../frame/action-form.tsx';
import { Problem } from '../../frame/freshness.tsx';
import { shownText } from '../../frame/shown-text.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { refresh } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { listed } from '../../lists/declared-list.tsx';
import { SidePanel } from '../../lists/side-panel.tsx';
import { type Account, AccountForm, roles, Scopes } from './account-form.tsx';

type Listed = Filtered<
  Declared & { readonly method: 'GET'; readonly response: z.ZodType<{ readonly items: readonly Account[] }> }
>;

const Create = () => {
  const [action] = useState(
    () => new Action(creationOf<typeof serviceAccountResource, never>('/api/service-accounts')),
  );
  const run = async (form: HTMLFormElement): Promise<void> => {
    const formData = new FormData(form);
    const body = { name: String(formData.get('name')), role: String(formData.get('role')) };
    if ((await action.run({ body: body as never })) === undefined) return;
    form.reset();
    refresh();
  };
  return (
    <ActionForm action={action} label="Create service account" onSubmit={run}>
      <label>
        Name <input name="name" required={true} maxLength={256} autocomplete="off" />
      </label>
      <label>
        Role{' '}
        <select name="role">
          {roles.map((role) => (
            <option key={role} value={role}>
              {role}
            </option>
          ))}
        </select>
      </label>
    </ActionForm>
  );
};

const dayMs = 86_400_000;

const NewToken = ({ id }: { readonly id: string }) => {
  const [action] = useState(() => new Action(callOf<typeof createToken>('POST', '/api/service-accounts/{id}/tokens')));
  const [token, setToken] = useState('');
  const run = async (form: HTMLFormElement): Promise<void> => {
    const formData = new FormData(form);
    const scopes = String(formData.get('scopes'))
      .split(/[\s,]+/)
      .filter((scope) => scope !== '');
    const expiresAt = new Date(Date.now() + Number(formData.get('days')) * dayMs).toISOString();
    const made = await action.run({ params: { id }, body: { name: String(formData.get('name')), scopes, expiresAt } });
    if (made === undefined) return;
    form.reset();
    setToken(made.token);
    refresh();
  };
  return (
    <>
      <ActionForm action={action} label="Create token" onSubmit={run}>
        <label>
          Purpose <input name="name" required={true} maxLength={256} autocomplete="off" />
        </label>
        <label>
          Scopes{' '}
          <input
            name="scopes"
            required={true}
            placeholder="logs:read dashboards:write"
            spellcheck={false}
            autocomplete="off"
          />
        </label>
        <label>
          Expires after (days) <input name="days" type="number" min={1} max={365} defaultValue="90" required={true} />
        </label>
      </ActionForm>
      {token === '' ? null : (
        <p role="status">
          The token is shown only once: <code>{token}</code>
        </p>
      )}
    </>
  );
};

const Revoke = ({ id, tokenId, name }: { readonly id: string; readonly tokenId: string; readonly name: string }) => {
  const [action] = useState(
    () => new Action(callOf<typeof revokeToken>('DELETE', '/api/service-accounts/{id}/tokens/{tokenId}')),
  );
  return (
    <>
      <button type="button" class="plain" onClick={() => void action.run({ params: { id, tokenId } }).then(refresh)}>
        Revoke<span class="sr-only"> {name}</span>
      </button>
      <Problem error={action.error.value} />
    </>
  );
};

const OpenAccount = ({
  id,
  item,
  onClose,
}: {
  readonly id: string;
  readonly item: Account | undefined;
  readonly onClose: () => void;
}) => {
  const [removing] = useState(() => new Action(callOf<typeof removeAccount>('DELETE', '/api/service-accounts/{id}')));
  const remove = async (): Promise<void> => {
    if (!confirm(`Delete the service account “${item?.name ?? id}” and its tokens?`)) return;
    if ((await removing.run({ params: { id } })) === undefined) return;
    onClose();
    refresh();
  };
  const { answer, error } = useQuery(callOf<typeof listTokens>('GET', '/api/service-accounts/{id}/tokens'), {
    params: { id },
  });
  return (
    <SidePanel label="Service account" title={item?.name ?? id} onClose={onClose}>
      <Problem error={error ?? removing.error.value} />
      {item === undefined ? null : <AccountForm key={`${item.version}`} of={item} />}
      <NewToken id={id} />
      <Scopes />
      <h3>Tokens</h3>
      <ul class="links column">
        {answer?.items.map((token) => (
          <li key={token.id}>
            <b>{shownText(token.name)}</b> <code>{shownText(token.prefix)}</code> {token.scopes.join(' ')}, until{' '}
            {shownMoment(token.expiresAt).slice(0, 16)}, last used{' '}
            {shownMoment(token.lastUsedAt).slice(0, 16) || 'never'}{' '}
            <Revoke id={id} tokenId={token.id} name={token.name} />
          </li>
        ))}
      </ul>
      <button type="button" class="plain" onClick={() => void remove()}>
        Delete account
      </button>
    </SidePanel>
  );
};

export const ServiceAccounts = listed({
  title: 'Service accounts',
  call: callOf<Listed>('GET', '/api/service-accounts'),
  search: 'Search by name',
  Tools: Create,
  nothing: 'No service accounts yet.',
  keyOf: ({ id }) => id,
  one: { call: readingOf<typeof serviceAccountResource>('/api/service-accounts/{id}'), label: 'Service account' },
  columns: {
    Name: ({ name }) => name,
    Role: ({ role }) => role,
    State: ({ disabled }) => (disabled ? <span class="text-error">disabled</span> : 'active'),
    Created: ({ createdAt }) => shownMoment(createdAt).slice(0, 16),
  },
  Open: OpenAccount,
});
