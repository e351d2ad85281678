/** Members of the organization, and invitations */
import { useState } from 'preact/hooks';
import type { invite, listInvitations, withdrawInvitation } from '../../../api/groups/users/invitations.ts';
import type { listUsers } from '../../../api/groups/users/list-users.ts';
import type { getUser, patchUser, removeUser, resetMemberMultiFactor } from '../../../api/groups/users/members.ts';
import type { listRoles } from '../../../api/groups/users/roles.ts';
import { Action } from '../../client/action.ts';
import { type Answered, callOf, type Filtered } from '../../client/call.ts';
import { ActionForm } from '../../frame/action-form.tsx';
import { Problem } from '../../frame/freshness.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { refresh } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { listed } from '../../lists/declared-list.tsx';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';

type Member = Answered<typeof listUsers>['items'][number];
type Role = Member['role'];

const rolesCall = callOf<typeof listRoles>('GET', '/api/roles');

/** Roles that this user may assign, and the assigned one. */
const Roles = ({
  name,
  value,
  onChange,
}: {
  readonly name: string;
  readonly value: Role;
  readonly onChange?: (role: Role) => void;
}) => {
  const { answer } = useQuery(rolesCall, {});
  const roles = answer?.items.filter(({ id, grantable }) => grantable || id === value).map(({ id }) => id) ?? [value];
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

const AllRoles = () => {
  const { answer } = useQuery(rolesCall, {});
  return (
    <details>
      <summary>Permissions of each role</summary>
      <dl>
        {answer?.items.map(({ id, summary }) => (
          <div key={id}>
            <dt>{id}</dt>
            <dd>{summary}.</dd>
          </div>
        ))}
      </dl>
    </details>
  );
};

const Change = ({ member }: { readonly member: Member }) => {
  const [changing] = useState(() => new Action(callOf<typeof patchUser>('PATCH', '/api/users/{id}')));
  const [removing] = useState(() => new Action(callOf<typeof removeUser>('DELETE', '/api/users/{id}')));
  const [resetting] = useState(
    () => new Action(callOf<typeof resetMemberMultiFactor>('DELETE', '/api/users/{id}/mfa')),
  );
  const { id, role, disabled, multiFactor, name } = member;
  const params = { id };
  const to = async (body: { role?: Role; disabled?: boolean }): Promise<void> => {
    await changing.run({ params, body });
    refresh();
  };
  const remove = async (): Promise<void> => {
    if (!confirm(`Remove ${name} from the organization?`)) return;
    if ((await removing.run({ params })) !== undefined) refresh();
  };
  return (
    <div class="act">
      <Roles name="role" value={role} onChange={(next) => void to({ role: next })} />
      <button type="button" class="plain" onClick={() => void to({ disabled: !disabled })}>
        {disabled ? 'Enable' : 'Disable'}
      </button>
      {multiFactor ? (
        <button type="button" class="plain" onClick={() => void resetting.run({ params }).then(refresh)}>
          Reset the second factor
        </button>
      ) : null}
      <button type="button" class="plain" onClick={() => void remove()}>
        Remove
      </button>
      <Problem error={changing.error.value ?? removing.error.value ?? resetting.error.value} />
    </div>
  );
};

export const People = listed({
  title: 'Users',
  call: callOf<Filtered<typeof listUsers>>('GET', '/api/users'),
  search: 'Search by name or address',
  Tools: AllRoles,
  nothing: 'No users found.',
  keyOf: ({ id }) => id,
  one: { call: callOf<typeof getUser>('GET', '/api/users/{id}'), label: 'User' },
  columns: {
    Name: ({ name }) => name,
    Address: ({ email }) => email,
    Role: ({ role }) => role,
    'Two-factor': ({ multiFactor }) => (multiFactor ? 'yes' : 'no'),
    State: ({ disabled }) => (disabled ? 'disabled' : 'active'),
    Joined: ({ createdAt }) => shownMoment(createdAt).slice(0, 16),
  },
  Open: ({
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
          <Change key={`${item.version}`} member={item} />
          <Fields values={{ address: item.email, role: item.role, joined: shownMoment(item.createdAt) }} />
        </>
      )}
    </SidePanel>
  ),
});

const Invite = () => {
  const [action] = useState(() => new Action(callOf<typeof invite>('POST', '/api/users/invitations')));
  const run = async (form: HTMLFormElement): Promise<void> => {
    const formData = new FormData(form);
    const body = { email: String(formData.get('email')), role: String(formData.get('role')) as Role };
    if ((await action.run({ body })) === undefined) return;
    form.reset();
    refresh();
  };
  return (
    <ActionForm action={action} label="Invite" onSubmit={run}>
      <label>
        Address <input name="email" type="email" required={true} maxLength={320} autocomplete="off" />
      </label>
      <Roles name="role" value={'viewer' as Role} />
    </ActionForm>
  );
};

const Withdraw = ({ id, email }: { readonly id: string; readonly email: string }) => {
  const [action] = useState(
    () => new Action(callOf<typeof withdrawInvitation>('DELETE', '/api/users/invitations/{id}')),
  );
  return (
    <>
      <button type="button" class="plain" onClick={() => void action.run({ params: { id } }).then(refresh)}>
        Revoke<span class="sr-only"> the invitation of {email}</span>
      </button>
      <Problem error={action.error.value} />
    </>
  );
};

export const Invitations = listed({
  title: 'Invitations',
  call: callOf<Filtered<typeof listInvitations>>('GET', '/api/users/invitations'),
  Tools: Invite,
  nothing: 'No pending invitations.',
  keyOf: ({ id }) => id,
  columns: {
    Address: ({ email }) => email,
    Role: ({ role }) => role,
    Expires: ({ expiresAt, expired }) => `${shownMoment(expiresAt).slice(0, 16)}${expired ? ' (expired)' : ''}`,
    Actions: ({ id, email }) => <Withdraw id={id} email={email} />,
  },
});
