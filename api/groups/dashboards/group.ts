import { defineGroup } from '../define-group.ts';

export const dashboardsGroup = defineGroup({
  name: 'dashboards',
  summary: 'Dashboards, their panels, versions and shared snapshots.',
  planned: [
    ['GET /api/dashboards', 'viewer', 'list, search, tags, folders'],
    ['POST /api/dashboards', 'editor', 'create'],
    ['GET /api/dashboards/{id}', 'viewer', 'one'],
    ['PUT /api/dashboards/{id}', 'editor', 'replace; If-Match guards against a lost update'],
    ['DELETE /api/dashboards/{id}', 'editor', 'delete'],
    ['POST /api/dashboards/{id}/panels', 'editor', 'add a panel'],
    ['PUT /api/dashboards/{id}/panels/{panelId}', 'editor', 'change a panel'],
    ['DELETE /api/dashboards/{id}/panels/{panelId}', 'editor', 'remove a panel'],
    ['POST /api/dashboards/{id}/query', 'viewer', 'data of every panel for a range and variables'],
    ['GET /api/dashboards/{id}/versions', 'viewer', 'versions'],
    ['GET /api/dashboards/{id}/versions/{version}', 'viewer', 'one version, and the difference to the current'],
    ['POST /api/dashboards/{id}/versions/{version}/restore', 'editor', 'restore'],
    ['POST /api/dashboards/{id}/clone', 'editor', 'copy'],
    ['POST /api/dashboards/import', 'editor', "from this platform's JSON or Grafana's"],
    ['GET /api/dashboards/{id}/export', 'viewer', 'JSON'],
    ['POST /api/dashboards/{id}/snapshots', 'editor', 'frozen data behind an unguessable, expiring link'],
    ['GET /api/dashboards/{id}/snapshots', 'viewer', 'list'],
    ['DELETE /api/snapshots/{id}', 'editor', 'revoke'],
    ['GET /api/shared-snapshots/{token}', 'none', 'read one by its link'],
  ],
});
