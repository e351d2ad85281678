import { z } from 'zod';
import { Query, queryVersion, readSaved } from '../../../queries/query.ts';
import { DurationText, TimeText } from '../../../queries/time-parameters.ts';
import { Validity } from '../../../queries/validity.ts';
import type { CollectionDefinition, Stored } from '../../../schemas/ports/documents.ts';
import {
  type SavedQuery,
  savedQueries,
  savedQueryFavourites,
  savedQueryUses,
} from '../../../schemas/resources/saved-query.ts';
import { validitiesNow } from '../../kernel/reading.ts';
import { defineResource } from '../../resources/resource.ts';
import { equals } from '../../resources/resource-list.ts';
import { usersOf } from '../../resources/resource-references.ts';
import { type ResourceContext, storedView } from '../../resources/resource-spec.ts';
import { sharedOrOwn } from '../../resources/shared-or-own.ts';

/** What callers write of a saved query. */
export const SavedQueryFields = z.strictObject({
  name: z.string().min(1).max(256),
  description: z.string().max(4096).default(''),
  tags: z.array(z.string().min(1).max(64)).max(32).default([]),
  visibility: z.enum(['private', 'organization']).default('organization').describe('private: only its owner sees it'),
  from: TimeText.default('now-1h').describe('Where the range begins, unless a run says otherwise'),
  to: TimeText.default('now'),
  step: DurationText.optional().describe('With a step it gives series, without one a table'),
  query: Query,
});
type Fields = z.output<typeof SavedQueryFields>;

/** A saved query whose query is understood. */
export type Document = Fields & Pick<SavedQuery, 'queryVersion' | 'ownerId'>;

const View = z.strictObject({
  ...SavedQueryFields.shape,
  queryVersion: z.int().describe('Of the form in which it was saved; older ones are understood'),
  ownerId: z.string().describe('Who made it: a user or a service account'),
  isFavourite: z.boolean().describe('Whether the one who asks has marked it'),
  runs: z.int().describe('How often it was run'),
  lastRunAt: z.string().nullable(),
  validity: Validity.describe('Whether what it names is there'),
  usedBy: z.array(
    z.strictObject({
      noun: z.string(),
      id: z.string().nullable().describe('null: it is private'),
      name: z.string().nullable(),
    }),
  ),
  ...storedView,
});

const unreadable = (version: number): Validity => ({
  isValid: false,
  problems: [{ path: 'query', message: `its form, version ${version}, is not understood here` }],
  reason: null,
});

/** Validity is read for all of them at once, and not known where the rows cannot be read now. */
const validities = async (documents: readonly Document[], { caller, ports }: ResourceContext): Promise<Validity[]> => {
  const queries = documents.map(({ query, queryVersion: version }) => readSaved(query, version));
  const known = queries.filter((query) => query !== undefined);
  const next = (await validitiesNow(known, caller, ports)).values();
  return documents.map((document, index) =>
    queries[index] === undefined ? unreadable(document.queryVersion) : (next.next().value as Validity),
  );
};

const show = async (documents: readonly (Document & Stored)[], context: ResourceContext) => {
  const { caller, ports } = context;
  const own = ports.documents.of(caller.tenantId);
  const ids = documents.map(({ id }) => id);
  const [valid, uses, marked, usedBy] = await Promise.all([
    validities(documents, context),
    Promise.all(ids.map((id) => own.collection(savedQueryUses).find(id))),
    own
      .collection(savedQueryFavourites)
      .list({ filter: { userId: caller.actor.id, savedQueryId: { $in: ids } }, limit: Math.max(1, ids.length) }),
    Promise.all(ids.map((id) => usersOf(own, { collection: savedQueries, id }))),
  ]);
  const favourites = new Set(marked.items.map(({ savedQueryId }) => savedQueryId));
  return documents.map((document, index) => ({
    ...document,
    isFavourite: favourites.has(document.id),
    runs: uses[index]?.runs ?? 0,
    lastRunAt: uses[index]?.lastRunAt ?? null,
    validity: valid[index] as Validity,
    usedBy: usedBy[index] ?? [],
  }));
};

export const savedQueryResource = defineResource<typeof SavedQueryFields, Document, typeof View>({
  noun: 'saved query',
  plural: 'saved queries',
  path: '/api/saved-queries',
  collection: savedQueries as CollectionDefinition<object> as CollectionDefinition<Document>,
  verbs: ['list', 'create', 'read', 'replace', 'delete'],
  roles: { read: 'viewer', write: 'editor' },
  fields: SavedQueryFields,
  example: {
    name: 'Errors by service',
    description: 'Log records of errors, by the service that wrote them',
    tags: ['errors'],
    query: {
      kind: 'aggregate',
      signal: 'logs',
      search: 'severity:error',
      measures: [{ function: 'count' }],
      groupBy: ['service'],
    },
  },
  view: View,
  live: true,
  visible: sharedOrOwn,
  initial: ({ caller }) => ({ queryVersion, ownerId: caller.actor.id }),
  // What is written is always of today's form. It stays its owner's, so that nobody takes another one's private.
  prepare: (after, { before, caller }) => ({
    ...after,
    queryVersion,
    visibility: before !== undefined && before.ownerId !== caller.actor.id ? before.visibility : after.visibility,
  }),
  show,
  list: {
    searched: ['name', 'description'],
    filters: { tag: equals('tags'), visibility: equals('visibility'), ownerId: equals('ownerId') },
  },
});
