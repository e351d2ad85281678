import { defineGroup } from '../define-group.ts';

export const templatesGroup = defineGroup({
  name: 'templates',
  summary: 'The gallery of dashboard templates.',
  planned: [
    [
      'GET /api/templates',
      'viewer',
      'dashboard template gallery, ranked by fit to the telemetry seen, use and favourites',
    ],
    ['GET /api/templates/{id}', 'viewer', 'one, with the ranking signals behind its place'],
    ['POST /api/templates/{id}/instantiate', 'editor', 'make a dashboard of it'],
    ['PUT /api/templates/{id}/favourite', 'viewer', 'favourite'],
    ['DELETE /api/templates/{id}/favourite', 'viewer', 'undo'],
    ['GET /api/templates/usage', 'viewer', 'usage statistics'],
  ],
});
