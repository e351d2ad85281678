import { z } from 'zod';
import { parseSavedQuery, Query, queryVersion } from '../../../queries/query.ts';
import { DurationText, TimeText } from '../../../queries/time-parameters.ts';
import { Validity } from '../../../queries/validity.ts';
import type { CollectionDefinition, StoredMetadata } from '../../../schemas/ports/documents.ts';
import {
  type SavedQuery,
  savedQueries,
  savedQueryFavourites,
  savedQueryUses,
} from '../../../schemas/resources/saved-query.ts';
import { readValidities } from '../../kernel/query-reader.ts';
import { defineResource } from '../../resources/resource.ts';
import { createEqualsFilter } from '../../resources/resource-list.ts';
import { findReferencingDocuments } from '../../resources/resource-references.ts';
import { type ResourceContext, storedView } from '../../resources/resource-spec.ts';
import { sharedOrOwnVisibility } from '../../resources/visibility.ts';

/** Fields of a saved query that callers can write. */
export const SavedQueryFields = z.strictObject({
  name: z.string().min(1).max(256),
  description: z.string().max(4096).default(''),
  tags: z.array(z.string().min(1).max(64)).max(32).default([]),
  visibility: z
    .enum(['private', 'organization'])
    .default('organization')
    .describe('private: visible to its owner only'),
  from: TimeText.default('now-1h').describe('Default start of the range of a run'),
  to: TimeText.default('now'),
  step: DurationText.optional().describe('With a step the result is series, without one a table'),
  query: Query,
});
type Fields = z.output<typeof SavedQueryFields>;

/** A saved query that this version can parse. */
export type SavedQueryDocument = Fields & Pick<SavedQuery, 'queryVersion' | 'ownerId'>;

const View = z.strictObject({
  ...SavedQueryFields.shape,
  queryVersion: z.int().describe('Version of the stored format; older versions are supported'),
  ownerId: z.string().describe('Creator: id of a user or service account'),
  isFavourite: z.boolean().describe('Whether it is a favorite of the caller'),
  runs: z.int().describe('Number of runs'),
  lastRunAt: z.string().nullable(),
  validity: Validity.describe('Whether everything that it references exists'),
  usedBy: z.array(
    z.strictObject({
      noun: z.string(),
      id: z.string().nullable().describe('null: it is private'),
      name: z.string().nullable(),
    }),
  ),
  ...storedView,
});

const unsupportedVersion = (version: number): Validity => ({
  isValid: false,
  problems: [{ path: 'query', message: `its format, version ${version}, is not supported` }],
  reason: null,
});

/** Reads the validity of all queries at once. The validity is unknown if the telemetry cannot be read. */
const checkValidities = async (
  documents: readonly SavedQueryDocument[],
  { caller, ports }: ResourceContext,
): Promise<Validity[]> => {
  const queries = documents.map(({ query, queryVersion: version }) => parseSavedQuery(query, version));
  const parsedQueries = queries.filter((query) => query !== undefined);
  const nextValidity = (await readValidities(parsedQueries, caller, ports)).values();
  return documents.map((document, index) =>
    queries[index] === undefined ? unsupportedVersion(document.queryVersion) : (nextValidity.next().value as Validity),
  );
};

const toViews = async (documents: readonly (SavedQueryDocument & StoredMetadata)[], context: ResourceContext) => {
  const { caller, ports } = context;
  const tenantDocuments = ports.documents.forTenant(caller.tenantId);
  const ids = documents.map(({ id }) => id);
  const [validities, uses, favouritePage, usedBy] = await Promise.all([
    checkValidities(documents, context),
    Promise.all(ids.map((id) => tenantDocuments.collection(savedQueryUses).find(id))),
    tenantDocuments
      .collection(savedQueryFavourites)
      .list({ filter: { userId: caller.actor.id, savedQueryId: { $in: ids } }, limit: Math.max(1, ids.length) }),
    Promise.all(ids.map((id) => findReferencingDocuments(tenantDocuments, { collection: savedQueries, id }))),
  ]);
  const favourites = new Set(favouritePage.items.map(({ savedQueryId }) => savedQueryId));
  return documents.map((document, index) => ({
    ...document,
    isFavourite: favourites.has(document.id),
    runs: uses[index]?.runs ?? 0,
    lastRunAt: uses[index]?.lastRunAt ?? null,
    validity: validities[index] as Validity,
    usedBy: usedBy[index] ?? [],
  }));
};

export const savedQueryResource = defineResource<typeof SavedQueryFields, SavedQueryDocument, typeof View>({
  noun: 'saved query',
  plural: 'saved queries',
  path: '/api/saved-queries',
  collection: savedQueries as CollectionDefinition<object> as CollectionDefinition<SavedQueryDocument>,
  verbs: ['list', 'create', 'read', 'replace', 'delete'],
  roles: { read: 'viewer', write: 'editor' },
  fields: SavedQueryFields,
  example: {
    name: 'Errors by service',
    description: 'Error log records by service',
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
  visible: sharedOrOwnVisibility,
  initial: ({ caller }) => ({ queryVersion, ownerId: caller.actor.id }),
  // Documents are always written in the current format. Only the owner can change the visibility, so that nobody can make
  // another person's query private.
  prepare: (after, { before, caller }) => ({
    ...after,
    queryVersion,
    visibility: before !== undefined && before.ownerId !== caller.actor.id ? before.visibility : after.visibility,
  }),
  show: toViews,
  list: {
    searched: ['name', 'description'],
    filters: {
      tag: createEqualsFilter('tags'),
      visibility: createEqualsFilter('visibility'),
      ownerId: createEqualsFilter('ownerId'),
    },
  },
});
