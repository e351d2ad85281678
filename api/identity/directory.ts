import { UnavailableError } from '../../schemas/errors.ts';
import type { Clock } from '../../schemas/ports/clock.ts';
import type { CollectionDefinition, Documents, Stored } from '../../schemas/ports/documents.ts';
import { type Organization, organizationsTenant } from '../../schemas/resources/organization.ts';
import { plansTenant } from '../../schemas/resources/plan.ts';
import { apiTokens } from '../../schemas/resources/service-account.ts';
import { sessionsTenant } from '../../schemas/resources/session.ts';
import { planOf } from '../../schemas/resources/tenant-plan.ts';
import { type Membership, type User, usersTenant } from '../../schemas/resources/user.ts';
import type { Caller, PersonCaller, ServiceAccountCaller, Who } from '../callers/caller.ts';
import { type DirectoryMemory, loadDirectory } from './directory-memory.ts';

/** A user, with their membership in an organization. */
export interface Member {
  readonly user: User & Stored;
  readonly membership: Membership & Stored;
}

/**
 * Users, memberships, organizations, plans, sessions and API tokens in memory, updated by the documents' change feed.
 * If a feed is too far behind, the directory throws `UnavailableError` instead of using permissions that may be
 * revoked.
 */
export interface Directory {
  /** Returns the caller of a session, or `undefined` if the session, user or membership no longer exists. */
  caller(sessionId: string, userId: string, tenantId: string): PersonCaller | undefined;
  /** Like `caller`, but reads from the store if this instance does not have it in memory yet. */
  freshCaller(sessionId: string, userId: string, tenantId: string): Promise<PersonCaller | undefined>;
  /** Returns the caller of an API token, by the hex SHA-256 of the token. */
  serviceAccountCaller(tokenHash: string): ServiceAccountCaller | undefined;
  /** Like `serviceAccountCaller`, but reads from the store if this instance does not have it in memory yet. */
  freshServiceAccountCaller(tokenHash: string): Promise<ServiceAccountCaller | undefined>;
  /**
   * Returns an earlier caller with the current permissions; `undefined` if the session or token, or an object that it
   * depends on, no longer exists.
   */
  current(caller: Caller): Caller | undefined;
  userByEmail(email: string): (User & Stored) | undefined;
  /** Returns the organizations of a user, without disabled users and memberships, oldest first. */
  organizationsOf(userId: string): readonly (Organization & Stored)[];
  /** Returns all members of an organization, unsorted, including disabled ones. */
  membersOf(tenantId: string): readonly Member[];
  /**
   * Applies a write of this instance, or a removal (`undefined`), immediately; other instances see it within a second.
   * `change` of an operation calls it for all its writes. Ignores collections that are not in memory.
   */
  learn(
    collection: CollectionDefinition<object>,
    tenantId: string,
    id: string,
    document: (object & Stored) | undefined,
  ): void;
  staleMs(): number;
  close(): Promise<void>;
}

/** Maximum delay of the change feed */
const maxStaleMs = 2_000;

/** Opens the directory; resolves when everything is loaded. */
export const openDirectory = async (documents: Documents, clock: Clock): Promise<Directory> => {
  const held = await loadDirectory(documents);
  const refuseStale = (): void => {
    if (held.staleMs() > maxStaleMs)
      throw new UnavailableError('the configuration store cannot be reached, so rights cannot be checked', {
        retryAfterSeconds: 2,
      });
  };
  const isOver = (expiresAt: string): boolean => Date.parse(expiresAt) <= clock.now();

  const caller: Directory['caller'] = (sessionId, userId, tenantId) => {
    refuseStale();
    const session = held.sessions.get(sessionsTenant, sessionId);
    if (session?.userId !== userId || session.tenantId !== tenantId || isOver(session.expiresAt)) return undefined;
    const user = held.users.get(usersTenant, userId);
    const membership = held.memberships.get(tenantId, userId);
    const tenant = organizationAndPlan(held, tenantId);
    if (user === undefined || user.disabled || membership === undefined || membership.disabled) return undefined;
    if (tenant === undefined) return undefined;
    const actor: Who = { type: 'user', id: userId, name: user.email };
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
      provedBy: session.provedBy,
    };
  };

  const serviceAccountCaller: Directory['serviceAccountCaller'] = (tokenHash) => {
    refuseStale();
    const { tenantId = '', id: tokenId = '' } = held.tokensByHash.get(tokenHash) ?? {};
    const token = held.tokens.get(tenantId, tokenId);
    if (token === undefined || isOver(token.expiresAt)) return undefined;
    const { serviceAccountId, scopes } = token;
    const account = held.serviceAccounts.get(tenantId, serviceAccountId);
    const tenant = organizationAndPlan(held, tenantId);
    if (account === undefined || account.disabled || tenant === undefined) return undefined;
    const actor: Who = { type: 'service-account', id: serviceAccountId, name: account.name };
    const { role } = account;
    return { kind: 'service-account', tenantId, actor, role, ...tenant, serviceAccountId, tokenId, scopes };
  };

  return {
    caller,
    async freshCaller(sessionId, userId, tenantId) {
      await Promise.all([
        held.sessions.find(sessionsTenant, sessionId),
        held.users.find(usersTenant, userId),
        held.memberships.find(tenantId, userId),
        held.organizations.find(organizationsTenant, tenantId),
      ]);
      return caller(sessionId, userId, tenantId);
    },
    serviceAccountCaller,
    async freshServiceAccountCaller(tokenHash) {
      for await (const { tenantId, ...token } of documents.everywhere(apiTokens, { hash: tokenHash })) {
        held.tokens.apply(tenantId, token);
        await held.serviceAccounts.find(tenantId, token.serviceAccountId);
        await held.organizations.find(organizationsTenant, tenantId);
      }
      return serviceAccountCaller(tokenHash);
    },
    current(known) {
      if (known.kind === 'person') return caller(known.sessionId, known.userId, known.tenantId);
      return serviceAccountCaller(held.tokens.get(known.tenantId, known.tokenId)?.hash ?? '');
    },
    userByEmail: (email) => held.users.get(usersTenant, held.idsByEmail.get(email) ?? ''),
    organizationsOf: (userId) => organizationsOf(held, userId),
    membersOf(tenantId) {
      const found: Member[] = [];
      for (const userId of held.usersByTenant.get(tenantId) ?? []) {
        const user = held.users.get(usersTenant, userId);
        const membership = held.memberships.get(tenantId, userId);
        if (user !== undefined && membership !== undefined) found.push({ user, membership });
      }
      return found;
    },
    learn(collection, tenantId, id, document) {
      const cache = held.of(collection);
      if (document === undefined) cache?.markDeleted(tenantId, id);
      else cache?.apply(tenantId, document);
    },
    staleMs: held.staleMs,
    close: held.close,
  };
};

const organizationsOf = (held: DirectoryMemory, userId: string): readonly (Organization & Stored)[] => {
  const found: (Organization & Stored)[] = [];
  for (const tenantId of held.tenantsByUser.get(userId) ?? []) {
    if (held.memberships.get(tenantId, userId)?.disabled) continue;
    const organization = held.organizations.get(organizationsTenant, tenantId);
    if (organization !== undefined && !organization.disabled) found.push(organization);
  }
  return found.sort((left, right) => left.createdAt.localeCompare(right.createdAt));
};

/** An organization with its plan; `undefined` if either is missing or the organization is disabled. */
const organizationAndPlan = (
  held: DirectoryMemory,
  tenantId: string,
): Pick<Caller, 'organization' | 'plan'> | undefined => {
  const organization = held.organizations.get(organizationsTenant, tenantId);
  const plan = planOf(organization, (planId) => held.plans.get(plansTenant, planId));
  return organization && plan && { organization, plan };
};
