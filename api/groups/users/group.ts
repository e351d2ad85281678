import { preferences } from '../../../schemas/resources/preferences.ts';
import { defineGroup } from '../define-group.ts';
import { getAccount, patchAccount } from './account.ts';
import { closeAccount } from './account.ts';
import { getUser } from './members.ts';
import { getIdentityProvider } from './identity-provider.ts';
import { invite } from './invitations.ts';
import { listInvitations } from './invitations.ts';
import { listUsers } from './list-users.ts';
import { createOrganization, listOrganizations } from './organizations.ts';
import { patchUser } from './members.ts';
import { getPreferences, putPreferences } from './preferences.ts';
import { removeUser } from './members.ts';
import { resetMemberMultiFactor } from './members.ts';
import { getRetention, putRetention } from './retention.ts';
import { listRoles } from './roles.ts';
import { setIdentityProvider } from './identity-provider.ts';
import { withdrawInvitation } from './invitations.ts';

export const usersGroup = defineGroup({
  name: 'users',
  summary: 'Users of an organization, their roles and invitations, and the settings of the organization.',
  operations: [
    listUsers,
    invite,
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
