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
import { mayGrant, refuseGrant } from '../../callers/rights.ts';
import { refuseGiving } from '../../callers/scopes.ts';
import type { AuditedTransaction } from '../../changes.ts';
import { ApiError } from '../../errors.ts';
import { factorResetMail } from '../../identity/accounts/account-mails.ts';
import { requireOwner } from '../../identity/accounts/owners.ts';
import type { Directory } from '../../identity/directory.ts';
import { removeSessions } from '../../identity/sessions.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { etagOf, preconditionOf, requireVersion } from '../../resources/preconditions.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { findMember, Member, memberOf, recordedMember, serverOwnedOfMember } from './member.ts';

export const getUser = defineOperation({
  method: 'GET',
  path: '/api/users/{id}',
  operationId: 'getUser',
  summary: 'Get a user of the organization',
  role: 'admin',
  params: idParameter,
  response: Member,
  async handler({ caller, params }, { documents }) {
    return memberOf(documents, await findMember(documents, caller.tenantId, params.id));
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
  serverOwned: serverOwnedOfMember,
  response: Member,
  async handler({ caller, params, body, request, change }, { documents, scopes }) {
    const { tenantId } = caller;
    const member = await change(async (scope) => {
      const { membership, user } = await findMember(scope, tenantId, params.id);
      requireVersion(membership, preconditionOf(request), { noun: 'user', requiresIfMatch: false });
      refuseGrant(caller, membership.role, body.role);
      const { role = membership.role, disabled = membership.disabled ?? false } = body;
      const was = membership.disabled ?? false;
      if (role === membership.role && disabled === was) {
        scope.unchanged();
        return { user, membership };
      }
      const isLetIn = was && !disabled;
      if (role !== membership.role || isLetIn) refuseGiving(role, caller, scopes);
      const after = await scope.of(tenantId).collection(memberships).update(user.id, { role, disabled });
      if (disabled) await removeSessions(scope, { userId: user.id, tenantId });
      await requireOwner(scope, tenantId);
      const states = { before: recordedMember(user, membership), after: recordedMember(user, after) };
      scope.record({ id: user.id, name: user.email, ...states });
      return { user, membership: after };
    });
    request.reply('ETag', etagOf(member.membership));
    return memberOf(documents, member);
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
      refuseGrant(caller, membership.role);
      await refuseWhileOnCall(scope.of(tenantId), user.id);
      await scope.of(tenantId).collection(memberships).delete(user.id);
      await scope.of(tenantId).collection(preferences).delete(user.id);
      await removeOwned(scope.of(tenantId), contacts, { ownerId: user.id });
      await removeOwned(scope.of(tenantId), calendarFeeds, { userId: user.id });
      await removeSessions(scope, { userId: user.id, tenantId });
      await requireOwner(scope, tenantId);
      scope.record({ id: user.id, name: user.email, before: recordedMember(user, membership) });
    });
    return {};
  },
});

const removeOwned = async (
  own: Pick<TenantDocuments, 'collection'>,
  collection: CollectionDefinition<object>,
  filter: Filter,
): Promise<void> => {
  const stored = own.collection(collection);
  const { items } = await stored.list({ filter, limit: 1000 });
  for (const { id } of items) await stored.delete(id);
};

/** Rejects the removal of a person in an on-call schedule or escalation policy: pages would reach nobody. */
const refuseWhileOnCall = async (own: Pick<TenantDocuments, 'collection'>, userId: string): Promise<void> => {
  const [schedules, policies] = await Promise.all([
    own.collection(onCallSchedules).list({ filter: { userIds: userId }, limit: 10 }),
    own.collection(escalationPolicies).list({ filter: { 'steps.targets.id': userId }, limit: 10 }),
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
      refuseGrant(caller, membership.role);
      await refuseElsewhere(scope, user.id, { caller, directory });
      if (!(await scope.of(multiFactorsTenant).collection(multiFactors).delete(user.id)))
        throw new ApiError('NOT_FOUND', `${user.email} has no second factor`);
      await mail.put(
        scope,
        factorResetMail(settings, { to: user.email, organization: organization.name, by: actor.name }),
      );
      scope.record({ id: user.id, name: user.email, before: { on: true }, after: { on: false } });
    });
    return {};
  },
});

/**
 * A second factor protects every organization of its user: the caller must be able to manage the user in each of them.
 */
const refuseElsewhere = async (
  { of }: AuditedTransaction,
  userId: string,
  { caller, directory }: { readonly caller: Caller; readonly directory: Directory },
): Promise<void> => {
  for (const { id } of directory.organizationsOf(userId)) {
    if (id === caller.tenantId) continue;
    const members = of(id).collection(memberships);
    const theirs = await members.find(userId);
    // An identity from one organization's provider is unknown in other organizations.
    const knownThere = caller.kind === 'person' && caller.provedBy === undefined;
    const own = knownThere ? await members.find(caller.userId) : undefined;
    const isAbove = own !== undefined && !own.disabled && ['admin', 'owner'].includes(own.role);
    if (theirs === undefined || (isAbove && mayGrant({ role: own.role, kind: 'person' }, theirs.role))) continue;
    throw new ApiError(
      'FORBIDDEN',
      'this user belongs to another organization too, whose members you do not administer: their second factor guards that one as well',
    );
  }
};
