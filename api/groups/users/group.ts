import { preferences } from '../../../schemas/resources/preferences.ts';
import { defineGroup } from '../define-group.ts';
import { closeAccount, getAccount, patchAccount } from './account.ts';
import { getIdentityProvider, setIdentityProvider } from './identity-provider.ts';
import { inviteUser, listInvitations, withdrawInvitation } from './invitations.ts';
import { listUsers } from './list-users.ts';
import { getUser, patchUser, removeUser, resetMemberMultiFactor } from './members.ts';
import { createOrganization, listOrganizations } from './organizations.ts';
import { getPreferences, putPreferences } from './preferences.ts';
import { getRetention, putRetention } from './retention.ts';
import { listRoles } from './roles.ts';

export const usersGroup = defineGroup({
  name: 'users',
  summary: 'Users of an organization, their roles and invitations, and the settings of the organization.',
  operations: [
    listUsers,
    inviteUser,
    listInvitations,
    withdrawInvitation,
    getUser,
    patchUser,
    resetMemberMultiFactor,
    removeUser,
    listRoles,
    getAccount,
    patchAccount,
    closeAccount,
    getRetention,
    putRetention,
    getPreferences,
    putPreferences,
    listOrganizations,
    createOrganization,
    getIdentityProvider,
    setIdentityProvider,
  ],
  collections: [preferences],
});
