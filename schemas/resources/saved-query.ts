import { defineCollection } from '../ports/documents.ts';

/** A query with a name. What may stand in `query` is declared where queries are (`queries/query.ts`), in the version that is stored beside it. */
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
  /** Id of the user or service account who made it. */
  readonly ownerId: string;
}

/** Names are one person's: another one's private queries cannot be guessed by theirs. */
export const savedQueries = defineCollection<SavedQuery>({ name: 'saved-queries', unique: [['ownerId', 'name']] });

/** How often a saved query was run. The id is the query's. */
export interface SavedQueryUse {
  readonly runs: number;
  readonly lastRunAt: string;
}
export const savedQueryUses = defineCollection<SavedQueryUse>({ name: 'saved-query-uses' });

/** That a person has marked a saved query. */
export interface SavedQueryFavourite {
  readonly savedQueryId: string;
  readonly userId: string;
}
export const savedQueryFavourites = defineCollection<SavedQueryFavourite>({
  name: 'saved-query-favourites',
  unique: [['userId', 'savedQueryId']],
});
