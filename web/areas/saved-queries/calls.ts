/** API calls of the saved queries area */
import type { markSavedQuery } from '../../../api/groups/saved-queries/favourite.ts';
import type { runSavedQuery } from '../../../api/groups/saved-queries/run.ts';
import type { SavedQueryFields, savedQueryResource } from '../../../api/groups/saved-queries/saved-query.ts';
import type { listQueryTemplates } from '../../../api/groups/saved-queries/templates.ts';
import {
  declareCall,
  declareCreateCall,
  declareListCall,
  declareReplaceCall,
  type ResourceView,
  type ResponseBody,
} from '../../client/call.ts';

export const savedQueriesCall = declareListCall<typeof savedQueryResource>('/api/saved-queries');
export const createSavedQueryCall = declareCreateCall<typeof savedQueryResource, typeof SavedQueryFields>(
  '/api/saved-queries',
);
export const replaceSavedQueryCall = declareReplaceCall<typeof savedQueryResource, typeof SavedQueryFields>(
  '/api/saved-queries/{id}',
);
export const runSavedQueryCall = declareCall<typeof runSavedQuery>('POST', '/api/saved-queries/{id}/run');
export const setFavouriteCall = declareCall<typeof markSavedQuery>('PUT', '/api/saved-queries/{id}/favourite');
export const queryTemplatesCall = declareCall<typeof listQueryTemplates>('GET', '/api/query-templates');

export type SavedQuery = ResourceView<typeof savedQueryResource>;
export type QueryTemplate = ResponseBody<typeof listQueryTemplates>['items'][number];
