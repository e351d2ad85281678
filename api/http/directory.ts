import type { Clock } from '../../schemas/clock.ts';
import type { CollectionDefinition, Documents, Feed, Stored } from '../../schemas/documents.ts';
import { UnavailableError } from '../../schemas/errors.ts';
import { type Organization, organizations } from '../../schemas/resources/organization.ts';
import { type Plan, plans } from '../../schemas/resources/plan.ts';
import { type Session, sessions, sessionsTenant } from '../../schemas/resources/session.ts';
import { type Membership, memberships, type Role, type User, users } from '../../schemas/resources/user.ts';
import type { Who } from './changes.ts';
import { ApiError } from './errors.ts';

/** What every caller has. Made anew for each request from memory, so that a changed right counts at once. */
interface AnyCaller {
  readonly tenantId: string;
  /** As the audit log names them. */
  readonly actor: Who;
  readonly role: Role;
  readonly organization: Organization & Stored;
  readonly plan: Plan;
}

/** Somebody who signed in. */
export interface PersonCaller extends AnyCaller {
  readonly kind: 'person';
  readonly userId: string;
  readonly sessionId: string;
  readonly user: User & Stored;
  /** A person's rights are those of the role. */
  readonly scopes?: undefined;
}

/** A program with an API token. */
export interface ServiceAccountCaller extends AnyCaller {
  readonly kind: 'service-account';
  readonly serviceAccountId: string;
  readonly tokenId: string;
  /** `<group>:read` and `<group>:write`: what the token may do of what the account's role may. */
  readonly scopes: readonly string[];
}

/** Who asks, and what they may. */
export type Caller = PersonCaller | ServiceAccountCaller;

/** The person who asks; 403 for an API token. Operations with access `session` have persons only, so there it never throws. */
export const personOf = (caller: Caller): PersonCaller => {
  if (caller.kind === 'person') return caller;
  throw new ApiError('FORBIDDEN', 'this needs somebody who signed in; an API token cannot do it');
};

/**
 * Users, memberships, organizations, plans and sessions in memory, kept current by the documents' change feed.
 * A feed that fell behind refuses (`UnavailableError`) rather than going by rights that may be gone.
 */
export interface Directory {
  /** The caller of a session, or `undefined` when it (or what it stands on) is gone. */
  caller(sessionId: string, userId: string, tenantId: string): PersonCaller | undefined;
  /** As `caller`, but asks the store for a session that this instance has not heard of yet. */
  freshCaller(sessionId: string, userId: string, tenantId: string): Promise<PersonCaller | undefined>;
  userByEmail(email: string): (User & Stored) | undefined;
  /** Organizations to which a user belongs, where neither they nor the membership is disabled, oldest first. */
  organizationsOf(userId: string): readonly (Organization & Stored)[];
  /** Begins a session; known here at once, elsewhere within a second. */
  begin(session: Session): Promise<Session & Stored>;
  end(sessionId: string): Promise<void>;
  staleMs(): number;
  close(): Promise<void>;
}

/** How far behind the change feed may be. */
const maxStaleMs = 2_000;

const separator = '\u0000';

type Known<Fields extends object> = Map<string, Fields & Stored>;

/** What the directory holds in memory. */
interface Held {
  readonly users: Known<User>;
  readonly idsByEmail: ReadonlyMap<string, string>;
  readonly memberships: ReadonlyMap<string, Membership>;
  readonly organizations: Known<Organization>;
  readonly plans: Known<Plan>;
  readonly sessions: Known<Session>;
  /** What ended must not come back by a read of the store that began before. */
  readonly endedSessions: ReadonlySet<string>;
  readonly feeds: readonly Feed[];
}

const memberKey = (tenantId: string, userId: string): string => `${userId}${separator}${tenantId}`;

const load = async (documents: Documents): Promise<Held> => {
  const feeds: Feed[] = [];
  const followed = async <Fields extends object>(
    definition: CollectionDefinition<Fields>,
    onChange: (
      id: string,
      document: (Fields & Stored) | undefined,
      before: (Fields & Stored) | undefined,
    ) => void = () => {},
    keyOf: (tenantId: string, id: string) => string = (_, id) => id,
  ): Promise<Known<Fields>> => {
    const known: Known<Fields> = new Map();
    const feed = await documents.follow(definition, ({ tenantId, id, document }) => {
      const key = keyOf(tenantId, id);
      onChange(id, document, known.get(key));
      if (document === undefined) known.delete(key);
      else known.set(key, document);
    });
    feeds.push(feed);
    return known;
  };
  const idsByEmail = new Map<string, string>();
  const endedSessions = new Set<string>();
  return {
    users: await followed(users, (id, document, before) => {
      if (before !== undefined && idsByEmail.get(before.email) === id) idsByEmail.delete(before.email);
      if (document !== undefined) idsByEmail.set(document.email, id);
    }),
    memberships: await followed(memberships, undefined, memberKey),
    organizations: await followed(organizations),
    plans: await followed(plans),
    sessions: await followed(sessions, (id, document) => {
      if (document !== undefined) return;
      endedSessions.add(id);
      if (endedSessions.size > 10_000) endedSessions.delete(endedSessions.values().next().value ?? '');
    }),
    idsByEmail,
    endedSessions,
    feeds,
  };
};

/** Loads everything before it resolves. */
export const openDirectory = async (documents: Documents, clock: Clock): Promise<Directory> => {
  const held = await load(documents);
  const stored = documents.of(sessionsTenant).collection(sessions);

  const staleMs = (): number => {
    let worst = 0;
    for (const feed of held.feeds) worst = Math.max(worst, feed.staleMs());
    return worst;
  };

  const caller: Directory['caller'] = (sessionId, userId, tenantId) => {
    if (staleMs() > maxStaleMs)
      throw new UnavailableError('the configuration store cannot be reached, so rights cannot be checked', {
        retryAfterSeconds: 2,
      });
    const session = held.sessions.get(sessionId);
    if (session?.userId !== userId || session.tenantId !== tenantId) return undefined;
    if (Date.parse(session.expiresAt) <= clock.now()) return undefined;
    const rights = rightsOf(held, userId, tenantId);
    if (rights === undefined) return undefined;
    const actor: Who = { type: 'user', id: userId, name: rights.user.email };
    return { kind: 'person', tenantId, userId, sessionId, actor, ...rights };
  };

  return {
    caller,
    async freshCaller(sessionId, userId, tenantId) {
      if (!held.sessions.has(sessionId)) {
        const session = await stored.find(sessionId);
        if (session === undefined || held.endedSessions.has(sessionId)) return undefined;
        held.sessions.set(sessionId, session);
      }
      return caller(sessionId, userId, tenantId);
    },
    userByEmail: (email) => held.users.get(held.idsByEmail.get(email) ?? ''),
    organizationsOf(userId) {
      const found: (Organization & Stored)[] = [];
      for (const [key, { disabled }] of held.memberships) {
        if (disabled) continue;
        const [owner, tenantId = ''] = key.split(separator);
        const organization = owner === userId ? held.organizations.get(tenantId) : undefined;
        if (organization && !organization.disabled) found.push(organization);
      }
      return found.sort((left, right) => left.createdAt.localeCompare(right.createdAt));
    },
    async begin(session) {
      const document = await stored.insert(session);
      held.sessions.set(document.id, document);
      return document;
    },
    async end(sessionId) {
      held.sessions.delete(sessionId);
      await stored.delete(sessionId);
    },
    staleMs,
    async close() {
      await Promise.all(held.feeds.map((feed) => feed.close()));
    },
  };
};

/** What a user may do in an organization now; `undefined` when any part of it is gone or disabled. */
const rightsOf = (
  held: Held,
  userId: string,
  tenantId: string,
): Pick<PersonCaller, 'role' | 'user' | 'organization' | 'plan'> | undefined => {
  const user = held.users.get(userId);
  const membership = held.memberships.get(memberKey(tenantId, userId));
  if (user === undefined || user.disabled || membership === undefined || membership.disabled) return undefined;
  const organization = held.organizations.get(tenantId);
  if (organization === undefined || organization.disabled) return undefined;
  const plan = held.plans.get(organization.planId);
  return plan && { role: membership.role, user, organization, plan };
};
