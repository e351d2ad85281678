import { UnavailableError } from '../../schemas/errors.ts';
import type { Clock } from '../../schemas/ports/clock.ts';
import type { CollectionDefinition, Documents, StoredMetadata } from '../../schemas/ports/documents.ts';
import { type Organization, organizationsTenant } from '../../schemas/resources/organization.ts';
import { plansTenant } from '../../schemas/resources/plan.ts';
import { apiTokens } from '../../schemas/resources/service-account.ts';
import { sessionsTenant } from '../../schemas/resources/session.ts';
import { resolvePlan } from '../../schemas/resources/tenant-plan.ts';
import { type Membership, type User, usersTenant } from '../../schemas/resources/user.ts';
import type { Actor, Caller, ServiceAccountCaller, UserCaller } from '../callers/caller.ts';
import { type DirectoryMemory, loadDirectory } from './directory-memory.ts';

/** A user, with their membership in an organization. */
export interface Member {
  readonly user: User & StoredMetadata;
  readonly membership: Membership & StoredMetadata;
}

/**
 * Users, memberships, organizations, plans, sessions and API tokens in memory, updated by the documents' change feed.
 * If the lag of a feed is too large, the directory throws `UnavailableError`, because the permissions may have been
 * revoked.
 */
export interface Directory {
  /** Returns the caller of a session, or `undefined` if the session, user or membership no longer exists. */
  getCaller(sessionId: string, userId: string, tenantId: string): UserCaller | undefined;
  /** Like `getCaller`, but reads from the store if this instance does not have it in memory yet. */
  loadCaller(sessionId: string, userId: string, tenantId: string): Promise<UserCaller | undefined>;
  /** Returns the caller of an API token, by the hex SHA-256 of the token. */
  getServiceAccountCaller(tokenHash: string): ServiceAccountCaller | undefined;
  /** Like `getServiceAccountCaller`, but reads from the store if this instance does not have it in memory yet. */
  loadServiceAccountCaller(tokenHash: string): Promise<ServiceAccountCaller | undefined>;
  /**
   * Returns an earlier caller with the current permissions; `undefined` if the session or token, or an object that it
   * depends on, no longer exists.
   */
  refreshCaller(caller: Caller): Caller | undefined;
  findUserByEmail(email: string): (User & StoredMetadata) | undefined;
  /** Returns the organizations of a user, without disabled users and memberships, oldest first. */
  listOrganizationsOfUser(userId: string): readonly (Organization & StoredMetadata)[];
  /** Returns all members of an organization, unsorted, including disabled ones. */
  listMembers(tenantId: string): readonly Member[];
  /**
   * Applies a write of this instance, or a removal (`undefined`), immediately; other instances see it within a second.
   * `change` of an operation calls it for all its writes. Ignores collections that are not in memory.
   */
  applyWrite(
    collection: CollectionDefinition<object>,
    tenantId: string,
    id: string,
    document: (object & StoredMetadata) | undefined,
  ): void;
  getStaleMs(): number;
  close(): Promise<void>;
}

/** Maximum delay of the change feed */
const maxStaleMs = 2_000;

/** Opens the directory; resolves when everything is loaded. */
export const loadMemoryDirectory = async (documents: Documents, clock: Clock): Promise<Directory> => {
  const memory = await loadDirectory(documents);
  const requireFresh = (): void => {
    if (memory.getStaleMs() > maxStaleMs)
      throw new UnavailableError('the configuration store cannot be reached, so permissions cannot be checked', {
        retryAfterSeconds: 2,
      });
  };
  const isExpired = (expiresAt: string): boolean => Date.parse(expiresAt) <= clock.now();

  const getCaller: Directory['getCaller'] = (sessionId, userId, tenantId) => {
    requireFresh();
    const session = memory.sessions.get(sessionsTenant, sessionId);
    if (session?.userId !== userId || session.tenantId !== tenantId || isExpired(session.expiresAt)) return undefined;
    const user = memory.users.get(usersTenant, userId);
    const membership = memory.memberships.get(tenantId, userId);
    const tenant = findOrganizationAndPlan(memory, tenantId);
    if (user === undefined || user.disabled || membership === undefined || membership.disabled) return undefined;
    if (tenant === undefined) return undefined;
    const actor: Actor = { type: 'user', id: userId, name: user.email };
    const { expiresAt: sessionExpiresAt } = session;
    return {
      kind: 'person',
      tenantId,
      actor,
      role: membership.role,
      ...tenant,
      userId,
      sessionId,
      sessionExpiresAt,
      user,
      identityProviderTenantId: session.provedBy,
    };
  };

  const getServiceAccountCaller: Directory['getServiceAccountCaller'] = (tokenHash) => {
    requireFresh();
    const { tenantId = '', id: tokenId = '' } = memory.tokensByHash.get(tokenHash) ?? {};
    const token = memory.tokens.get(tenantId, tokenId);
    if (token === undefined || isExpired(token.expiresAt)) return undefined;
    const { serviceAccountId, scopes } = token;
    const account = memory.serviceAccounts.get(tenantId, serviceAccountId);
    const tenant = findOrganizationAndPlan(memory, tenantId);
    if (account === undefined || account.disabled || tenant === undefined) return undefined;
    const actor: Actor = { type: 'service-account', id: serviceAccountId, name: account.name };
    const { role } = account;
    return { kind: 'service-account', tenantId, actor, role, ...tenant, serviceAccountId, tokenId, scopes };
  };

  return {
    getCaller,
    async loadCaller(sessionId, userId, tenantId) {
      await Promise.all([
        memory.sessions.find(sessionsTenant, sessionId),
        memory.users.find(usersTenant, userId),
        memory.memberships.find(tenantId, userId),
        memory.organizations.find(organizationsTenant, tenantId),
      ]);
      return getCaller(sessionId, userId, tenantId);
    },
    getServiceAccountCaller,
    async loadServiceAccountCaller(tokenHash) {
      for await (const { tenantId, ...token } of documents.findInAllTenants(apiTokens, { hash: tokenHash })) {
        memory.tokens.apply(tenantId, token);
        await memory.serviceAccounts.find(tenantId, token.serviceAccountId);
        await memory.organizations.find(organizationsTenant, tenantId);
      }
      return getServiceAccountCaller(tokenHash);
    },
    refreshCaller(previousCaller) {
      if (previousCaller.kind === 'person')
        return getCaller(previousCaller.sessionId, previousCaller.userId, previousCaller.tenantId);
      return getServiceAccountCaller(memory.tokens.get(previousCaller.tenantId, previousCaller.tokenId)?.hash ?? '');
    },
    findUserByEmail: (email) => memory.users.get(usersTenant, memory.idsByEmail.get(email) ?? ''),
    listOrganizationsOfUser: (userId) => listOrganizations(memory, userId),
    listMembers(tenantId) {
      const members: Member[] = [];
      for (const userId of memory.usersByTenant.get(tenantId) ?? []) {
        const user = memory.users.get(usersTenant, userId);
        const membership = memory.memberships.get(tenantId, userId);
        if (user !== undefined && membership !== undefined) members.push({ user, membership });
      }
      return members;
    },
    applyWrite(collection, tenantId, id, document) {
      const cache = memory.of(collection);
      if (document === undefined) cache?.markDeleted(tenantId, id);
      else cache?.apply(tenantId, document);
    },
    getStaleMs: memory.getStaleMs,
    close: memory.close,
  };
};

const listOrganizations = (memory: DirectoryMemory, userId: string): readonly (Organization & StoredMetadata)[] => {
  const userOrganizations: (Organization & StoredMetadata)[] = [];
  for (const tenantId of memory.tenantsByUser.get(userId) ?? []) {
    if (memory.memberships.get(tenantId, userId)?.disabled) continue;
    const organization = memory.organizations.get(organizationsTenant, tenantId);
    if (organization !== undefined && !organization.disabled) userOrganizations.push(organization);
  }
  return userOrganizations.sort((left, right) => left.createdAt.localeCompare(right.createdAt));
};

/** An organization with its plan; `undefined` if either is missing or the organization is disabled. */
const findOrganizationAndPlan = (
  memory: DirectoryMemory,
  tenantId: string,
): Pick<Caller, 'organization' | 'plan'> | undefined => {
  const organization = memory.organizations.get(organizationsTenant, tenantId);
  const plan = resolvePlan(organization, (planId) => memory.plans.get(plansTenant, planId));
  return organization && plan && { organization, plan };
};
