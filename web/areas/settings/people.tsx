/** Members of the organization, and invitations */
import { useState } from 'preact/hooks';
import type { inviteUser, listInvitations, withdrawInvitation } from '../../../api/groups/users/invitations.ts';
import type { listUsers } from '../../../api/groups/users/list-users.ts';
import type { getUser, patchUser, removeUser, resetMemberMultiFactor } from '../../../api/groups/users/members.ts';
import type { listRoles } from '../../../api/groups/users/roles.ts';
import { Action } from '../../client/action.ts';
import { declareCall, type ResponseBody, type WithFilters } from '../../client/call.ts';
import { Confirmation } from '../../components/confirmation.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { ActionForm } from '../../frame/action-form.tsx';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoMinute, formatIsoTime } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
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
      <Confirmation
        label="Remove"
        title={<>Remove {renderText(name)} from the organization?</>}
        confirmLabel="Remove user"
        onConfirm={remove}
      >
        The user loses access at once. What the user created stays.
      </Confirmation>
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
    Joined: ({ createdAt }) => formatIsoMinute(createdAt),
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

type CreatedInvitation = ResponseBody<typeof inviteUser>;

/** Whether a mail was sent. Without a mail server, the link that the user needs, which is shown only here. */
const InvitationResult = ({ invitation: { email, link, expiresAt } }: { readonly invitation: CreatedInvitation }) => {
  if (link === null) return <p role="status">A mail with a link was queued for {renderText(email)}.</p>;
  // If the API has no configured public URL, the origin of this page is used.
  const { pathname, hash } = new URL(link);
  const url = `${location.origin}${pathname}${hash}`;
  return (
    <div role="status" class="notice">
      <p>
        <b>No mail was sent</b>, because this installation has no mail server. Give this link to {renderText(email)}. It
        is shown only once, works once, and expires at {formatIsoMinute(expiresAt)}.
      </p>
      <p class="act">
        <code>{url}</code> <CopyButton text={url} label="Copy link" />
      </p>
    </div>
  );
};

const mailStates = {
  queued: 'queued',
  sent: 'sent',
  failed: 'failed',
  'not-configured': 'not sent: no mail server',
} as const;

const InvitationForm = () => {
  const [invitation, setInvitation] = useState<CreatedInvitation>();
  const [action] = useState(() => new Action(declareCall<typeof inviteUser>('POST', '/api/users/invitations')));
  const sendInvitation = async (form: HTMLFormElement): Promise<void> => {
    const formData = new FormData(form);
    const body = { email: String(formData.get('email')), role: String(formData.get('role')) as Role };
    const created = await action.run({ body });
    if (created === undefined) return;
    form.reset();
    setInvitation(created);
    refresh();
  };
  return (
    <>
      <ActionForm action={action} label="Invite" onSubmit={sendInvitation}>
        <label>
          Address <input name="email" type="email" required={true} maxLength={320} autocomplete="off" />
        </label>
        <RoleSelect name="role" value={'viewer' as Role} />
      </ActionForm>
      {invitation === undefined ? null : <InvitationResult invitation={invitation} />}
    </>
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
    Mail: ({ mail }) => mailStates[mail],
    Expires: ({ expiresAt, expired }) => `${formatIsoMinute(expiresAt)}${expired ? ' (expired)' : ''}`,
    Actions: ({ id, email }) => <RevokeInvitation id={id} email={email} />,
  },
});
