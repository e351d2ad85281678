import { defineGroup } from '../define-group.ts';

export const savedQueriesGroup = defineGroup({
  name: 'saved-queries',
  summary: 'Queries saved under a name.',
  planned: [
    ['GET /api/saved-queries', 'viewer', 'list'],
    ['POST /api/saved-queries', 'editor', 'create'],
    ['GET /api/saved-queries/{id}', 'viewer', 'one'],
    ['PUT /api/saved-queries/{id}', 'editor', 'replace'],
    ['DELETE /api/saved-queries/{id}', 'editor', 'delete'],
    ['POST /api/saved-queries/{id}/run', 'viewer', 'run it'],
    ['GET /api/query-templates', 'viewer', 'shipped query templates'],
  ],
});
