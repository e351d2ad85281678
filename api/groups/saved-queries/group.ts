import { savedQueryFavourites, savedQueryUses } from '../../../schemas/resources/saved-query.ts';
import { defineGroup } from '../define-group.ts';
import { markSavedQuery } from './favourite.ts';
import { runSavedQuery } from './run.ts';
import { savedQueryResource } from './saved-query.ts';
import { listQueryTemplates } from './templates.ts';

export const savedQueriesGroup = defineGroup({
  name: 'saved-queries',
  summary: 'Queries saved under a name.',
  resources: [savedQueryResource],
  operations: [runSavedQuery, markSavedQuery, listQueryTemplates],
  collections: [savedQueryUses, savedQueryFavourites],
});
