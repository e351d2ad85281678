/** List of service accounts, and a side panel with the tokens of one */
import { useState } from 'preact/hooks';
import type { z } from 'zod';
import type { removeAccount, serviceAccountResource } from '../../../api/groups/service-accounts/accounts.ts';
import type { createToken, listTokens, revokeToken } from '../../../api/groups/service-accounts/tokens.ts';
import { Action } from '../../client/action.ts';
import {
  declareCall,
  declareCreateCall,
  declareReadCall,
  type OperationDeclaration,
  type WithFilters,
} from '../../client/call.ts';
import { Confirmation } from '../../components/confirmation.tsx';
import { ActionForm } from '../../frame/action-form.tsx';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoMinute } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { refresh } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { createListView } from '../../lists/declared-list.tsx';
import { SidePanel } from '../../lists/side-panel.tsx';
import { type Account, AccountForm, roles, Scopes } from './account-form.tsx';

type ListAccountsOperation = WithFilters<
  OperationDeclaration & {
    readonly method: 'GET';
    readonly response: z.ZodType<{ readonly items: readonly Account[] }>;
  }
>;

const CreateAccountForm = () => {
  const [action] = useState(
    () => new Action(declareCreateCall<typeof serviceAccountResource, never>('/api/service-accounts')),
  );
  const createAccount = async (form: HTMLFormElement): Promise<void> => {
    const formData = new FormData(form);
    const body = { name: String(formData.get('name')), role: String(formData.get('role')) };
    if ((await action.run({ body: body as never })) === undefined) return;
    form.reset();
    refresh();
  };
  return (
    <ActionForm action={action} label="Create service account" onSubmit={createAccount}>
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

const CreateTokenForm = ({ id }: { readonly id: string }) => {
  const [action] = useState(
    () => new Action(declareCall<typeof createToken>('POST', '/api/service-accounts/{id}/tokens')),
  );
  const [token, setToken] = useState('');
  const submit = async (form: HTMLFormElement): Promise<void> => {
    const formData = new FormData(form);
    const scopes = String(formData.get('scopes'))
      .split(/[\s,]+/)
      .filter((scope) => scope !== '');
    const expiresAt = new Date(Date.now() + Number(formData.get('days')) * dayMs).toISOString();
    const createdToken = await action.run({
      params: { id },
      body: { name: String(formData.get('name')), scopes, expiresAt },
    });
    if (createdToken === undefined) return;
    form.reset();
    setToken(createdToken.token);
    refresh();
  };
  return (
    <>
      <ActionForm action={action} label="Create token" onSubmit={submit}>
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

const RevokeToken = ({
  id,
  tokenId,
  name,
}: {
  readonly id: string;
  readonly tokenId: string;
  readonly name: string;
}) => {
  const [action] = useState(
    () => new Action(declareCall<typeof revokeToken>('DELETE', '/api/service-accounts/{id}/tokens/{tokenId}')),
  );
  return (
    <>
      <button type="button" class="plain" onClick={() => void action.run({ params: { id, tokenId } }).then(refresh)}>
        Revoke<span class="sr-only"> {name}</span>
      </button>
      <ErrorMessage error={action.error.value} />
    </>
  );
};

const AccountPanel = ({
  id,
  item,
  onClose,
}: {
  readonly id: string;
  readonly item: Account | undefined;
  readonly onClose: () => void;
}) => {
  const [removeAction] = useState(
    () => new Action(declareCall<typeof removeAccount>('DELETE', '/api/service-accounts/{id}')),
  );
  const remove = async (): Promise<void> => {
    if ((await removeAction.run({ params: { id } })) === undefined) return;
    onClose();
    refresh();
  };
  const { response, error } = useQuery(declareCall<typeof listTokens>('GET', '/api/service-accounts/{id}/tokens'), {
    params: { id },
  });
  return (
    <SidePanel label="Service account" title={item?.name ?? id} onClose={onClose}>
      <ErrorMessage error={error ?? removeAction.error.value} />
      {item === undefined ? null : <AccountForm key={`${item.version}`} account={item} />}
      <CreateTokenForm id={id} />
      <Scopes />
      <h3>Tokens</h3>
      <ul class="links column">
        {response?.items.map((token) => (
          <li key={token.id}>
            <b>{renderText(token.name)}</b> <code>{renderText(token.prefix)}</code> {token.scopes.join(' ')}, until{' '}
            {formatIsoMinute(token.expiresAt)}, last used {formatIsoMinute(token.lastUsedAt) || 'never'}{' '}
            <RevokeToken id={id} tokenId={token.id} name={token.name} />
          </li>
        ))}
      </ul>
      <Confirmation
        label="Delete account"
        title={<>Delete the service account “{renderText(item?.name ?? id)}”?</>}
        confirmLabel="Delete account"
        onConfirm={remove}
      >
        Its tokens are deleted too.
      </Confirmation>
    </SidePanel>
  );
};

export const ServiceAccounts = createListView({
  title: 'Service accounts',
  call: declareCall<ListAccountsOperation>('GET', '/api/service-accounts'),
  search: 'Search by name',
  Tools: CreateAccountForm,
  emptyText: 'No service accounts yet.',
  toKey: ({ id }) => id,
  readItem: {
    call: declareReadCall<typeof serviceAccountResource>('/api/service-accounts/{id}'),
    label: 'Service account',
  },
  columns: {
    Name: ({ name }) => name,
    Role: ({ role }) => role,
    State: ({ disabled }) => (disabled ? <span class="text-error">disabled</span> : 'active'),
    Created: ({ createdAt }) => formatIsoMinute(createdAt),
  },
  ItemPanel: AccountPanel,
});
