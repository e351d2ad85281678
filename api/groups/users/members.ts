import { z } from 'zod';
import type { CollectionDefinition, Filter, TenantDocuments } from '../../../schemas/ports/documents.ts';
import { calendarFeeds } from '../../../schemas/resources/calendar-feed.ts';
import { contacts } from '../../../schemas/resources/contact.ts';
import { escalationPolicies } from '../../../schemas/resources/escalation-policy.ts';
import { multiFactors, multiFactorsTenant } from '../../../schemas/resources/multi-factor.ts';
import { onCallSchedules } from '../../../schemas/resources/on-call-schedule.ts';
import { preferences } from '../../../schemas/resources/preferences.ts';
import { memberships, roles } from '../../../schemas/resources/user.ts';
import type { Caller } from '../../callers/caller.ts';
import { canGrantRole, requireGrantableRoles } from '../../callers/rights.ts';
import { requireScopesOfRole } from '../../callers/scopes.ts';
import type { AuditedTransaction } from '../../changes.ts';
import { ApiError } from '../../errors.ts';
import { createFactorResetMail } from '../../identity/accounts/account-mails.ts';
import { requireOwner } from '../../identity/accounts/owners.ts';
import type { Directory } from '../../identity/directory.ts';
import { removeSessions } from '../../identity/sessions.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { formatEtag, parsePrecondition, requireVersion } from '../../resources/preconditions.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { findMember, Member, serverOwnedMemberFields, toAuditFields, toMember } from './member.ts';

export const getUser = defineOperation({
  method: 'GET',
  path: '/api/users/{id}',
  operationId: 'getUser',
  summary: 'Get a user of the organization',
  role: 'admin',
  params: idParameter,
  response: Member,
  async handler({ caller, params }, { documents }) {
    return toMember(documents, await findMember(documents, caller.tenantId, params.id));
  },
});

export const patchUser = defineOperation({
  method: 'PATCH',
  path: '/api/users/{id}',
  operationId: 'updateUser',
  summary: 'Change a member’s role, or disable the member, with immediate effect. The last Owner cannot be changed',
  role: 'admin',
  audit: 'user.update',
  versions: 'write',
  params: idParameter,
  body: z.strictObject({
    role: z.enum(roles).optional().describe("At most the caller's role"),
    disabled: z
      .boolean()
      .optional()
      .describe('true ends the member’s sessions in this organization and prevents new ones'),
  }),
  serverOwned: serverOwnedMemberFields,
  response: Member,
  async handler({ caller, params, body, request, change }, { documents, scopes }) {
    const { tenantId } = caller;
    const member = await change(async (scope) => {
      const { membership, user } = await findMember(scope, tenantId, params.id);
      requireVersion(membership, parsePrecondition(request), { noun: 'user', requiresIfMatch: false });
      requireGrantableRoles(caller, membership.role, body.role);
      const { role = membership.role, disabled = membership.disabled ?? false } = body;
      const wasDisabled = membership.disabled ?? false;
      if (role === membership.role && disabled === wasDisabled) {
        scope.markUnchanged();
        return { user, membership };
      }
      const isReenabled = wasDisabled && !disabled;
      if (role !== membership.role || isReenabled) requireScopesOfRole(role, caller, scopes);
      const updatedMembership = await scope
        .forTenant(tenantId)
        .collection(memberships)
        .update(user.id, { role, disabled });
      if (disabled) await removeSessions(scope, { userId: user.id, tenantId });
      await requireOwner(scope, tenantId);
      const states = { before: toAuditFields(user, membership), after: toAuditFields(user, updatedMembership) };
      scope.record({ id: user.id, name: user.email, ...states });
      return { user, membership: updatedMembership };
    });
    request.reply('ETag', formatEtag(member.membership));
    return toMember(documents, member);
  },
});

export const removeUser = defineOperation({
  method: 'DELETE',
  path: '/api/users/{id}',
  operationId: 'removeUser',
  summary:
    'Remove a member from the organization and end the member’s sessions in it. The last Owner cannot be removed',
  role: 'admin',
  audit: 'user.remove',
  params: idParameter,
  response: z.strictObject({}),
  async handler({ caller, params, change }) {
    const { tenantId } = caller;
    await change(async (scope) => {
      const { membership, user } = await findMember(scope, tenantId, params.id);
      requireGrantableRoles(caller, membership.role);
      await requireNotOnCall(scope.forTenant(tenantId), user.id);
      await scope.forTenant(tenantId).collection(memberships).delete(user.id);
      await scope.forTenant(tenantId).collection(preferences).delete(user.id);
      await deleteOwnedDocuments(scope.forTenant(tenantId), contacts, { ownerId: user.id });
      await deleteOwnedDocuments(scope.forTenant(tenantId), calendarFeeds, { userId: user.id });
      await removeSessions(scope, { userId: user.id, tenantId });
      await requireOwner(scope, tenantId);
      scope.record({ id: user.id, name: user.email, before: toAuditFields(user, membership) });
    });
    return {};
  },
});

const deleteOwnedDocuments = async (
  tenantDocuments: Pick<TenantDocuments, 'collection'>,
  collection: CollectionDefinition<object>,
  filter: Filter,
): Promise<void> => {
  const documents = tenantDocuments.collection(collection);
  const { items } = await documents.list({ filter, limit: 1000 });
  for (const { id } of items) await documents.delete(id);
};

/** Throws if the user is in an on-call schedule or an escalation policy, because pages would then reach nobody. */
const requireNotOnCall = async (
  tenantDocuments: Pick<TenantDocuments, 'collection'>,
  userId: string,
): Promise<void> => {
  const [schedules, policies] = await Promise.all([
    tenantDocuments.collection(onCallSchedules).list({ filter: { userIds: userId }, limit: 10 }),
    tenantDocuments.collection(escalationPolicies).list({ filter: { 'steps.targets.id': userId }, limit: 10 }),
  ]);
  const names = [
    ...schedules.items.map(({ name, id }) => `on-call schedule “${name}” (${id})`),
    ...policies.items.map(({ name, id }) => `escalation policy “${name}” (${id})`),
  ];
  if (names.length === 0) return;
  throw new ApiError('CONFLICT', `the user is in use by ${names.join(', ')}: remove the user from them first`);
};

export const resetMemberMultiFactor = defineOperation({
  method: 'DELETE',
  path: '/api/users/{id}/mfa',
  operationId: 'resetUserMultiFactor',
  summary: 'Remove the second factor of a member who lost it; the member is notified by mail',
  role: 'admin',
  audit: 'multi-factor.reset',
  params: idParameter,
  response: z.strictObject({}),
  async handler({ caller, params, change }, { directory, mail, settings }) {
    const { tenantId, actor, organization } = caller;
    await change(async (scope) => {
      const { membership, user } = await findMember(scope, tenantId, params.id);
      requireGrantableRoles(caller, membership.role);
      await requireManagesEverywhere(scope, user.id, { caller, directory });
      if (!(await scope.forTenant(multiFactorsTenant).collection(multiFactors).delete(user.id)))
        throw new ApiError('NOT_FOUND', `${user.email} has no second factor`);
      await mail.enqueue(
        scope,
        createFactorResetMail(settings, { to: user.email, organization: organization.name, by: actor.name }),
      );
      scope.record({ id: user.id, name: user.email, before: { on: true }, after: { on: false } });
    });
    return {};
  },
});

/**
 * Throws unless the caller can manage the user in every organization of the user, because the second factor protects all
 * of these organizations.
 */
const requireManagesEverywhere = async (
  { forTenant }: AuditedTransaction,
  userId: string,
  { caller, directory }: { readonly caller: Caller; readonly directory: Directory },
): Promise<void> => {
  for (const { id } of directory.listOrganizationsOfUser(userId)) {
    if (id === caller.tenantId) continue;
    const members = forTenant(id).collection(memberships);
    const memberMembership = await members.find(userId);
    // A session from one organization's identity provider has no rights in other organizations.
    const canHaveMembership = caller.kind === 'person' && caller.identityProviderTenantId === undefined;
    const callerMembership = canHaveMembership ? await members.find(caller.userId) : undefined;
    const isActiveAdmin =
      callerMembership !== undefined &&
      !callerMembership.disabled &&
      ['admin', 'owner'].includes(callerMembership.role);
    if (
      memberMembership === undefined ||
      (isActiveAdmin && canGrantRole({ role: callerMembership.role, kind: 'person' }, memberMembership.role))
    )
      continue;
    throw new ApiError(
      'FORBIDDEN',
      'this user also belongs to another organization whose members you cannot manage: the second factor protects that organization too',
    );
  }
};
