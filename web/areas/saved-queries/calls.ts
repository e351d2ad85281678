/** API calls of the saved queries area */
import type { markSavedQuery } from '../../../api/groups/saved-queries/favourite.ts';
import type { runSavedQuery } from '../../../api/groups/saved-queries/run.ts';
import type { SavedQueryFields, savedQueryResource } from '../../../api/groups/saved-queries/saved-query.ts';
import type { listQueryTemplates } from '../../../api/groups/saved-queries/templates.ts';
import { type Answered, callOf, creationOf, listOf, replacementOf, type ViewOf } from '../../client/call.ts';

export const savedQueriesCall = listOf<typeof savedQueryResource>('/api/saved-queries');
export const createCall = creationOf<typeof savedQueryResource, typeof SavedQueryFields>('/api/saved-queries');
export const replaceCall = replacementOf<typeof savedQueryResource, typeof SavedQueryFields>('/api/saved-queries/{id}');
export const runCall = callOf<typeof runSavedQuery>('POST', '/api/saved-queries/{id}/run');
export const setFavouriteCall = callOf<typeof markSavedQuery>('PUT', '/api/saved-queries/{id}/favourite');
export const templatesCall = callOf<typeof listQueryTemplates>('GET', '/api/query-templates');

export type SavedQuery = ViewOf<typeof savedQueryResource>;
export type Template = Answered<typeof listQueryTemplates>['items'][number];
