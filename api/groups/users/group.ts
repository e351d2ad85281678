import { preferences } from '../../../schemas/resources/preferences.ts';
import { defineGroup } from '../define-group.ts';
import { getAccount, patchAccount } from './account.ts';
import { closeAccount } from './close-account.ts';
import { getUser } from './get-user.ts';
import { getIdentityProvider } from './identity-provider.ts';
import { invite } from './invite.ts';
import { listInvitations } from './list-invitations.ts';
import { listUsers } from './list-users.ts';
import { createOrganization, listOrganizations } from './organizations.ts';
import { patchUser } from './patch-user.ts';
import { getPreferences, putPreferences } from './preferences.ts';
import { removeUser } from './remove-user.ts';
import { resetMemberMultiFactor } from './reset-mfa.ts';
import { getRetention, putRetention } from './retention.ts';
import { listRoles } from './roles.ts';
import { setIdentityProvider } from './set-identity-provider.ts';
import { withdrawInvitation } from './withdraw-invitation.ts';

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
