/** Form to edit a service account: name, description, role, and whether its tokens are active */
import { useState } from 'preact/hooks';
import type { serviceAccountResource } from '../../../api/groups/service-accounts/accounts.ts';
import type { listScopes } from '../../../api/groups/service-accounts/tokens.ts';
import type { ServiceAccount } from '../../../schemas/resources/service-account.ts';
import { Action } from '../../client/action.ts';
import { declareCall, declareUpdateCall } from '../../client/call.ts';
import { CheckInput, SelectInput, TextInput } from '../../editors/inputs.tsx';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { refresh } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { ScrollRegion } from '../../lists/scroll-region.tsx';

/** Stored account, which the API returns unchanged */
export interface Account extends ServiceAccount {
  readonly id: string;
  readonly version: number;
  readonly createdAt: string;
}

export const roles: readonly Account['role'][] = ['viewer', 'editor', 'admin', 'auditor'];

const changeCall = declareUpdateCall<typeof serviceAccountResource, ServiceAccount>('/api/service-accounts/{id}');
const scopesCall = declareCall<typeof listScopes>('GET', '/api/scopes');

export const AccountForm = ({ account: { id, version, ...savedFields } }: { readonly account: Account }) => {
  const [action] = useState(() => new Action(changeCall));
  const { name, description, role, disabled } = savedFields;
  const [draft, setDraft] = useState<ServiceAccount>({ name, description, role, disabled });
  const updateDraft = (fields: Partial<ServiceAccount>): void =>
    setDraft((currentDraft) => ({ ...currentDraft, ...fields }));
  const error = action.error.value;
  const save = async (): Promise<void> => {
    if ((await action.run({ params: { id }, body: draft, ifMatch: version })) !== undefined) refresh();
  };
  return (
    <details>
      <summary>Edit account</summary>
      <div class="form">
        <TextInput
          label="Name"
          value={draft.name}
          problem={error?.at('name')}
          onChange={(text) => updateDraft({ name: text })}
        />
        <TextInput
          label="Description"
          maxLength={1024}
          value={draft.description}
          problem={error?.at('description')}
          onChange={(text) => updateDraft({ description: text })}
        />
        <SelectInput
          label="Role"
          value={draft.role}
          problem={error?.at('role')}
          options={roles.map((option) => [option, option])}
          onChange={(newRole) => updateDraft({ role: roles.find((option) => option === newRole) ?? draft.role })}
        />
        <CheckInput label="Disabled" value={draft.disabled} onChange={(disabled) => updateDraft({ disabled })} />
        <div class="act">
          <button type="button" disabled={action.isRunning.value} onClick={() => void save()}>
            Save account
          </button>
          <ErrorMessage error={error} />
        </div>
      </div>
    </details>
  );
};

const ScopeList = () => {
  const { response, error } = useQuery(scopesCall, {});
  return (
    <>
      <ErrorMessage error={error} />
      <ScrollRegion class="numbers" label="All scopes">
        <dl>
          {response?.items.map(({ scope, operations }) => (
            <div key={scope}>
              <dt>
                <code>{scope}</code>
              </dt>
              <dd>{operations.join(', ')}</dd>
            </div>
          ))}
        </dl>
      </ScrollRegion>
    </>
  );
};

/** List of scopes, which is loaded when it is opened */
export const Scopes = () => {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>List of scopes</summary>
      {isOpen ? <ScopeList /> : null}
    </details>
  );
};
