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

/** A user, and their membership in an organization. */
export interface Member {
  readonly user: User & Stored;
  readonly membership: Membership & Stored;
}

/**
 * Users, memberships, organizations, plans, sessions and API tokens in memory, kept current by the documents' change feed.
 * A feed that fell behind refuses (`UnavailableError`) rather than going by rights that may be gone.
 */
export interface Directory {
  /** The caller of a session, or `undefined` when it (or what it stands on) is gone. */
  caller(sessionId: string, userId: string, tenantId: string): PersonCaller | undefined;
  /** As `caller`, but reads from the store what this instance does not have in memory yet. */
  freshCaller(sessionId: string, userId: string, tenantId: string): Promise<PersonCaller | undefined>;
  /** The caller of an API token, by the hex SHA-256 of it. */
  serviceAccountCaller(tokenHash: string): ServiceAccountCaller | undefined;
  /** As `serviceAccountCaller`, but reads from the store what this instance does not have in memory yet. */
  freshServiceAccountCaller(tokenHash: string): Promise<ServiceAccountCaller | undefined>;
  /** A caller of a moment ago with the rights of now; `undefined` when the session or token, or what it stands on, is gone. */
  current(caller: Caller): Caller | undefined;
  userByEmail(email: string): (User & Stored) | undefined;
  /** Organizations to which a user belongs, where neither they nor the membership is disabled, oldest first. */
  organizationsOf(userId: string): readonly (Organization & Stored)[];
  /** All members of an organization, in no order; also disabled ones. */
  membersOf(tenantId: string): readonly Member[];
  /**
   * Applies a write of this instance, or a removal (`undefined`), here at once; other instances see it within a second.
   * `change` of an operation does this for all that it writes. Collections that are not kept here are passed over.
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

/** How far behind the change feed may be. */
const maxStaleMs = 2_000;

/** Loads everything before it resolves. */
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
        held.tokens.learn(tenantId, token);
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
      if (document === undefined) cache?.forget(tenantId, id);
      else cache?.learn(tenantId, document);
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

/** An organization with its plan; `undefined` when either is gone or it is disabled. */
const organizationAndPlan = (
  held: DirectoryMemory,
  tenantId: string,
): Pick<Caller, 'organization' | 'plan'> | undefined => {
  const organization = held.organizations.get(organizationsTenant, tenantId);
  const plan = planOf(organization, (planId) => held.plans.get(plansTenant, planId));
  return organization && plan && { organization, plan };
};
