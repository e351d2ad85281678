/** Form to edit a service account: name, description, role, and whether its tokens are active */
import { useState } from 'preact/hooks';
import type { serviceAccountResource } from '../../../api/groups/service-accounts/accounts.ts';
import type { listScopes } from '../../../api/groups/service-accounts/tokens.ts';
import type { ServiceAccount } from '../../../schemas/resources/service-account.ts';
import { Action } from '../../client/action.ts';
import { callOf, changeOf } from '../../client/call.ts';
import { CheckInput, SelectInput, TextInput } from '../../editors/inputs.tsx';
import { Problem } from '../../frame/freshness.tsx';
import { refresh } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { Scrolled } from '../../lists/scrolled.tsx';

/** The resource declares no view, so a stored account is displayed as it is. */
export interface Account extends ServiceAccount {
  readonly id: string;
  readonly version: number;
  readonly createdAt: string;
}

export const roles: readonly Account['role'][] = ['viewer', 'editor', 'admin', 'auditor'];

const changeCall = changeOf<typeof serviceAccountResource, ServiceAccount>('/api/service-accounts/{id}');
const scopesCall = callOf<typeof listScopes>('GET', '/api/scopes');

export const AccountForm = ({ of: { id, version, ...before } }: { readonly of: Account }) => {
  const [action] = useState(() => new Action(changeCall));
  const { name, description, role, disabled } = before;
  const [written, setWritten] = useState<ServiceAccount>({ name, description, role, disabled });
  const set = (fields: Partial<ServiceAccount>): void => setWritten((now) => ({ ...now, ...fields }));
  const error = action.error.value;
  const save = async (): Promise<void> => {
    if ((await action.run({ params: { id }, body: written, ifMatch: version })) !== undefined) refresh();
  };
  return (
    <details>
      <summary>Edit account</summary>
      <div class="form">
        <TextInput
          label="Name"
          value={written.name}
          problem={error?.at('name')}
          onChange={(text) => set({ name: text })}
        />
        <TextInput
          label="Description"
          maxLength={1024}
          value={written.description}
          problem={error?.at('description')}
          onChange={(text) => set({ description: text })}
        />
        <SelectInput
          label="Role"
          value={written.role}
          problem={error?.at('role')}
          options={roles.map((each) => [each, each])}
          onChange={(chosen) => set({ role: roles.find((each) => each === chosen) ?? written.role })}
        />
        <CheckInput label="Disabled" value={written.disabled} onChange={(disabled) => set({ disabled })} />
        <div class="act">
          <button type="button" disabled={action.isRunning.value} onClick={() => void save()}>
            Save account
          </button>
          <Problem error={error} />
        </div>
      </div>
    </details>
  );
};

const Listed = () => {
  const { answer, error } = useQuery(scopesCall, {});
  return (
    <>
      <Problem error={error} />
      <Scrolled class="numbers" label="All scopes">
        <dl>
          {answer?.items.map(({ scope, operations }) => (
            <div key={scope}>
              <dt>
                <code>{scope}</code>
              </dt>
              <dd>{operations.join(', ')}</dd>
            </div>
          ))}
        </dl>
      </Scrolled>
    </>
  );
};

/** Loaded on demand. */
export const Scopes = () => {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>List of scopes</summary>
      {isOpen ? <Listed /> : null}
    </details>
  );
};
