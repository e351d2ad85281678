import { dashboardOpenings, dashboardSummaries } from '../../../schemas/resources/dashboard.ts';
import { defineGroup } from '../define-group.ts';
import { cloneDashboard } from './clone.ts';
import { dashboardResource } from './dashboard.ts';
import { listDashboards } from './list.ts';
import { addPanel, removePanel, replacePanel } from './panels.ts';
import { queryDashboard } from './query.ts';
import { getDashboard } from './read.ts';
import { getDashboardVersion, listDashboardVersions, restoreDashboardVersion } from './versions.ts';

export const dashboardsGroup = defineGroup({
  name: 'dashboards',
  summary: 'Dashboards, their panels, versions and shared snapshots.',
  resources: [dashboardResource],
  operations: [
    listDashboards,
    getDashboard,
    addPanel,
    replacePanel,
    removePanel,
    queryDashboard,
    listDashboardVersions,
    getDashboardVersion,
    restoreDashboardVersion,
    cloneDashboard,
  ],
  collections: [dashboardSummaries, dashboardOpenings],
  planned: [
    ['POST /api/dashboards/import', 'editor', "from this platform's JSON or Grafana's"],
    ['GET /api/dashboards/{id}/export', 'viewer', 'JSON'],
    ['POST /api/dashboards/{id}/snapshots', 'editor', 'frozen data behind an unguessable, expiring link'],
    ['GET /api/dashboards/{id}/snapshots', 'viewer', 'list'],
    ['DELETE /api/snapshots/{id}', 'editor', 'revoke'],
    ['GET /api/shared-snapshots/{token}', 'none', 'read one by its link'],
  ],
});
