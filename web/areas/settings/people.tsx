/** Members of the organization, and invitations */
import { useState } from 'preact/hooks';
import type { inviteUser, listInvitations, withdrawInvitation } from '../../../api/groups/users/invitations.ts';
import type { listUsers } from '../../../api/groups/users/list-users.ts';
import type { getUser, patchUser, removeUser, resetMemberMultiFactor } from '../../../api/groups/users/members.ts';
import type { listRoles } from '../../../api/groups/users/roles.ts';
import { Action } from '../../client/action.ts';
import { declareCall, type ResponseBody, type WithFilters } from '../../client/call.ts';
import { ActionForm } from '../../frame/action-form.tsx';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { formatIsoTime } from '../../frame/shown-time.ts';
import { refresh } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { createListView } from '../../lists/declared-list.tsx';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';

type Member = ResponseBody<typeof listUsers>['items'][number];
type Role = Member['role'];

const rolesCall = declareCall<typeof listRoles>('GET', '/api/roles');

/** Select of the roles that the user may assign, and the current role */
const RoleSelect = ({
  name,
  value,
  onChange,
}: {
  readonly name: string;
  readonly value: Role;
  readonly onChange?: (role: Role) => void;
}) => {
  const { response } = useQuery(rolesCall, {});
  const roles = response?.items.filter(({ id, grantable }) => grantable || id === value).map(({ id }) => id) ?? [value];
  return (
    <label>
      Role{' '}
      <select name={name} value={value} onChange={({ currentTarget }) => onChange?.(currentTarget.value as Role)}>
        {roles.map((role) => (
          <option key={role} value={role}>
            {role}
          </option>
        ))}
      </select>
    </label>
  );
};

const RoleDescriptions = () => {
  const { response } = useQuery(rolesCall, {});
  return (
    <details>
      <summary>Permissions of each role</summary>
      <dl>
        {response?.items.map(({ id, summary }) => (
          <div key={id}>
            <dt>{id}</dt>
            <dd>{summary}.</dd>
          </div>
        ))}
      </dl>
    </details>
  );
};

const MemberActions = ({ member }: { readonly member: Member }) => {
  const [updateAction] = useState(() => new Action(declareCall<typeof patchUser>('PATCH', '/api/users/{id}')));
  const [removeAction] = useState(() => new Action(declareCall<typeof removeUser>('DELETE', '/api/users/{id}')));
  const [resetAction] = useState(
    () => new Action(declareCall<typeof resetMemberMultiFactor>('DELETE', '/api/users/{id}/mfa')),
  );
  const { id, role, disabled, multiFactor, name } = member;
  const params = { id };
  const updateMember = async (body: { role?: Role; disabled?: boolean }): Promise<void> => {
    await updateAction.run({ params, body });
    refresh();
  };
  const remove = async (): Promise<void> => {
    if (!confirm(`Remove ${name} from the organization?`)) return;
    if ((await removeAction.run({ params })) !== undefined) refresh();
  };
  return (
    <div class="act">
      <RoleSelect name="role" value={role} onChange={(newRole) => void updateMember({ role: newRole })} />
      <button type="button" class="plain" onClick={() => void updateMember({ disabled: !disabled })}>
        {disabled ? 'Enable' : 'Disable'}
      </button>
      {multiFactor ? (
        <button type="button" class="plain" onClick={() => void resetAction.run({ params }).then(refresh)}>
          Reset two-factor authentication
        </button>
      ) : null}
      <button type="button" class="plain" onClick={() => void remove()}>
        Remove
      </button>
      <ErrorMessage error={updateAction.error.value ?? removeAction.error.value ?? resetAction.error.value} />
    </div>
  );
};

export const People = createListView({
  title: 'Users',
  call: declareCall<WithFilters<typeof listUsers>>('GET', '/api/users'),
  search: 'Search by name or address',
  Tools: RoleDescriptions,
  emptyText: 'No users found.',
  toKey: ({ id }) => id,
  readItem: { call: declareCall<typeof getUser>('GET', '/api/users/{id}'), label: 'User' },
  columns: {
    Name: ({ name }) => name,
    Address: ({ email }) => email,
    Role: ({ role }) => role,
    'Two-factor': ({ multiFactor }) => (multiFactor ? 'yes' : 'no'),
    State: ({ disabled }) => (disabled ? 'disabled' : 'active'),
    Joined: ({ createdAt }) => formatIsoTime(createdAt).slice(0, 16),
  },
  ItemPanel: ({
    id,
    item,
    onClose,
  }: {
    readonly id: string;
    readonly item: Member | undefined;
    readonly onClose: () => void;
  }) => (
    <SidePanel label="User" title={item?.name ?? id} onClose={onClose}>
      {item === undefined ? null : (
        <>
          <MemberActions key={`${item.version}`} member={item} />
          <Fields values={{ address: item.email, role: item.role, joined: formatIsoTime(item.createdAt) }} />
        </>
      )}
    </SidePanel>
  ),
});

const InvitationForm = () => {
  const [action] = useState(() => new Action(declareCall<typeof inviteUser>('POST', '/api/users/invitations')));
  const sendInvitation = async (form: HTMLFormElement): Promise<void> => {
    const formData = new FormData(form);
    const body = { email: String(formData.get('email')), role: String(formData.get('role')) as Role };
    if ((await action.run({ body })) === undefined) return;
    form.reset();
    refresh();
  };
  return (
    <ActionForm action={action} label="Invite" onSubmit={sendInvitation}>
      <label>
        Address <input name="email" type="email" required={true} maxLength={320} autocomplete="off" />
      </label>
      <RoleSelect name="role" value={'viewer' as Role} />
    </ActionForm>
  );
};

const RevokeInvitation = ({ id, email }: { readonly id: string; readonly email: string }) => {
  const [action] = useState(
    () => new Action(declareCall<typeof withdrawInvitation>('DELETE', '/api/users/invitations/{id}')),
  );
  return (
    <>
      <button type="button" class="plain" onClick={() => void action.run({ params: { id } }).then(refresh)}>
        Revoke<span class="sr-only"> the invitation for {email}</span>
      </button>
      <ErrorMessage error={action.error.value} />
    </>
  );
};

export const Invitations = createListView({
  title: 'Invitations',
  call: declareCall<WithFilters<typeof listInvitations>>('GET', '/api/users/invitations'),
  Tools: InvitationForm,
  emptyText: 'No pending invitations.',
  toKey: ({ id }) => id,
  columns: {
    Address: ({ email }) => email,
    Role: ({ role }) => role,
    Expires: ({ expiresAt, expired }) => `${formatIsoTime(expiresAt).slice(0, 16)}${expired ? ' (expired)' : ''}`,
    Actions: ({ id, email }) => <RevokeInvitation id={id} email={email} />,
  },
});
