import { defineCollection } from '../ports/documents.ts';

/** A named query. `queries/query.ts` declares the schema of `query`, in the version that is stored with it. */
export interface SavedQuery {
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly visibility: 'private' | 'organization';
  readonly from: string;
  readonly to: string;
  readonly step?: string | undefined;
  readonly query: { readonly kind: string };
  readonly queryVersion: number;
  /** ID of the user or service account that created it. */
  readonly ownerId: string;
}

/** Names are unique per person, so that nobody can guess the names of another user's private queries. */
export const savedQueries = defineCollection<SavedQuery>({ name: 'saved-queries', unique: [['ownerId', 'name']] });

/** Number of runs of a saved query. The ID is that of the query. */
export interface SavedQueryUse {
  readonly runs: number;
  readonly lastRunAt: string;
}
export const savedQueryUses = defineCollection<SavedQueryUse>({ name: 'saved-query-uses' });

/** Records that a user marked a saved query as a favorite. */
export interface SavedQueryFavourite {
  readonly savedQueryId: string;
  readonly userId: string;
}
export const savedQueryFavourites = defineCollection<SavedQueryFavourite>({
  name: 'saved-query-favourites',
  unique: [['userId', 'savedQueryId']],
});
