import { dashboardOpenings, dashboardSummaries } from '../../../schemas/resources/dashboard.ts';
import { dashboardSnapshotContents, dashboardSnapshots } from '../../../schemas/resources/dashboard-snapshot.ts';
import { defineGroup } from '../define-group.ts';
import { cloneDashboard } from './clone.ts';
import { dashboardResource } from './dashboard.ts';
import { exportDashboard } from './export.ts';
import { importDashboard } from './import.ts';
import { listDashboards } from './list.ts';
import { addPanel, removePanel, replacePanel } from './panels.ts';
import { queryDashboard } from './query.ts';
import { getDashboard } from './read.ts';
import {
  createDashboardSnapshot,
  getSharedSnapshot,
  listDashboardSnapshots,
  revokeDashboardSnapshot,
} from './snapshots.ts';
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
    createDashboardSnapshot,
    listDashboardSnapshots,
    revokeDashboardSnapshot,
    getSharedSnapshot,
    importDashboard,
    exportDashboard,
  ],
  collections: [dashboardSummaries, dashboardOpenings, dashboardSnapshots, dashboardSnapshotContents],
});
