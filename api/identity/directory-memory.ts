/** The directory's collections in memory, with their indexes */

import { type WatchedDocuments, watchDocuments } from '../../runtime/watch-collection.ts';
import type { CollectionDefinition, Documents } from '../../schemas/ports/documents.ts';
import { organizations } from '../../schemas/resources/organization.ts';
import { plans } from '../../schemas/resources/plan.ts';
import { apiTokens, serviceAccounts } from '../../schemas/resources/service-account.ts';
import { sessions } from '../../schemas/resources/session.ts';
import { memberships, users } from '../../schemas/resources/user.ts';

/** Adds an id to the set of its key, or removes it. */
const updateIndex = (sets: Map<string, Set<string>>, key: string, id: string, isPresent: boolean): void => {
  const set = sets.get(key) ?? new Set();
  if (isPresent) set.add(id);
  else set.delete(id);
  if (set.size > 0) sets.set(key, set);
  else sets.delete(key);
};

const loadCollections = async (documents: Documents) => {
  const idsByEmail = new Map<string, string>();
  const tenantsByUser = new Map<string, Set<string>>();
  const usersByTenant = new Map<string, Set<string>>();
  const tokensByHash = new Map<string, { readonly tenantId: string; readonly id: string }>();
  return {
    users: await watchDocuments(documents, users, (_, before, after) => {
      if (before !== undefined && idsByEmail.get(before.email) === before.id) idsByEmail.delete(before.email);
      if (after !== undefined) idsByEmail.set(after.email, after.id);
    }),
    memberships: await watchDocuments(documents, memberships, (tenantId, before, after) => {
      const userId = (after ?? before)?.id ?? '';
      updateIndex(tenantsByUser, userId, tenantId, after !== undefined);
      updateIndex(usersByTenant, tenantId, userId, after !== undefined);
    }),
    organizations: await watchDocuments(documents, organizations),
    plans: await watchDocuments(documents, plans),
    sessions: await watchDocuments(documents, sessions),
    serviceAccounts: await watchDocuments(documents, serviceAccounts),
    tokens: await watchDocuments(documents, apiTokens, (tenantId, before, after) => {
      if (before !== undefined) tokensByHash.delete(before.hash);
      if (after !== undefined) tokensByHash.set(after.hash, { tenantId, id: after.id });
    }),
    idsByEmail,
    tenantsByUser,
    usersByTenant,
    tokensByHash,
  };
};

export type DirectoryMemory = Awaited<ReturnType<typeof loadDirectory>>;

/** Resolves once all documents are loaded. */
export const loadDirectory = async (documents: Documents) => {
  const collections = await loadCollections(documents);
  const definitionsAndCaches = [
    [users, collections.users],
    [memberships, collections.memberships],
    [organizations, collections.organizations],
    [plans, collections.plans],
    [sessions, collections.sessions],
    [serviceAccounts, collections.serviceAccounts],
    [apiTokens, collections.tokens],
  ] as const;
  const byName = new Map<string, unknown>(definitionsAndCaches.map(([{ name }, cache]) => [name, cache]));
  return {
    ...collections,
    /** Returns a collection by its definition; `undefined` if it is not in memory. */
    of: ({ name }: CollectionDefinition<object>) => byName.get(name) as WatchedDocuments<object> | undefined,
    /** Returns the delay of the change feed that is furthest behind. */
    getStaleMs(): number {
      let maxStaleMs = 0;
      for (const [, cache] of definitionsAndCaches) maxStaleMs = Math.max(maxStaleMs, cache.staleMs());
      return maxStaleMs;
    },
    async close(): Promise<void> {
      await Promise.all(definitionsAndCaches.map(([, cache]) => cache.close()));
    },
  };
};
