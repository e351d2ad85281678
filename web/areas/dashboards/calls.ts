/** API calls of the dashboards area */

import type { cloneDashboard } from '../../../api/groups/dashboards/clone.ts';
import type { dashboardResource } from '../../../api/groups/dashboards/dashboard.ts';
import type { importDashboard } from '../../../api/groups/dashboards/import.ts';
import type { listDashboards } from '../../../api/groups/dashboards/list.ts';
import type { addPanel } from '../../../api/groups/dashboards/panels.ts';
import type { queryDashboard } from '../../../api/groups/dashboards/query.ts';
import type { getDashboard } from '../../../api/groups/dashboards/read.ts';
import type {
  createDashboardSnapshot,
  getSharedSnapshot,
  listDashboardSnapshots,
  revokeDashboardSnapshot,
} from '../../../api/groups/dashboards/snapshots.ts';
import type {
  getDashboardVersion,
  listDashboardVersions,
  restoreDashboardVersion,
} from '../../../api/groups/dashboards/versions.ts';
import type { markTemplate, unmarkTemplate } from '../../../api/groups/templates/favourite.ts';
import type { instantiateTemplate } from '../../../api/groups/templates/instantiate.ts';
import type { listTemplates } from '../../../api/groups/templates/list.ts';
import type { getTemplate } from '../../../api/groups/templates/read.ts';
import type { getTemplateUsage } from '../../../api/groups/templates/usage.ts';
import type { DashboardFields, Panel as DeclaredPanel } from '../../../subjects/dashboards/document.ts';
import {
  declareCall,
  declareCreateCall,
  declareDeleteCall,
  declareReplaceCall,
  type ResponseBody,
  type WithFilters,
} from '../../client/call.ts';

export const listDashboardsCall = declareCall<WithFilters<typeof listDashboards>>('GET', '/api/dashboards');
export const getDashboardCall = declareCall<typeof getDashboard>('GET', '/api/dashboards/{id}');
export const createDashboardCall = declareCreateCall<typeof dashboardResource, typeof DashboardFields>(
  '/api/dashboards',
);
export const replaceDashboardCall = declareReplaceCall<typeof dashboardResource, typeof DashboardFields>(
  '/api/dashboards/{id}',
);
export const deleteDashboardCall = declareDeleteCall('/api/dashboards/{id}');
export const addPanelCall = declareCall<typeof addPanel>('POST', '/api/dashboards/{id}/panels');
export const cloneDashboardCall = declareCall<typeof cloneDashboard>('POST', '/api/dashboards/{id}/clone');
export const queryDashboardCall = declareCall<typeof queryDashboard>('POST', '/api/dashboards/{id}/query');
export const importDashboardCall = declareCall<typeof importDashboard>('POST', '/api/dashboards/import');
export const listVersionsCall = declareCall<typeof listDashboardVersions>('GET', '/api/dashboards/{id}/versions');
export const getVersionCall = declareCall<typeof getDashboardVersion>('GET', '/api/dashboards/{id}/versions/{version}');
export const restoreVersionCall = declareCall<typeof restoreDashboardVersion>(
  'POST',
  '/api/dashboards/{id}/versions/{version}/restore',
);
export const snapshotsCall = declareCall<typeof listDashboardSnapshots>('GET', '/api/dashboards/{id}/snapshots');
export const createSnapshotCall = declareCall<typeof createDashboardSnapshot>('POST', '/api/dashboards/{id}/snapshots');
export const revokeSnapshotCall = declareCall<typeof revokeDashboardSnapshot>('DELETE', '/api/snapshots/{id}');
export const sharedSnapshotCall = declareCall<typeof getSharedSnapshot>('GET', '/api/shared-snapshots/{token}');
export const templatesCall = declareCall<typeof listTemplates>('GET', '/api/templates');
export const templateCall = declareCall<typeof getTemplate>('GET', '/api/templates/{id}');
export const templateUsageCall = declareCall<typeof getTemplateUsage>('GET', '/api/templates/usage');
export const instantiateCall = declareCall<typeof instantiateTemplate>('POST', '/api/templates/{id}/instantiate');
export const addFavouriteCall = declareCall<typeof markTemplate>('PUT', '/api/templates/{id}/favourite');
export const removeFavouriteCall = declareCall<typeof unmarkTemplate>('DELETE', '/api/templates/{id}/favourite');

export type Dashboard = ResponseBody<typeof getDashboard>;
export type DashboardList = ResponseBody<typeof listDashboards>;
export type DashboardSummary = DashboardList['items'][number];
/** Writable fields of a dashboard */
export type Document = DashboardFields;
export type Panel = DeclaredPanel;
/** Visualization of a panel */
export type Visual = Panel['visual'];
export type Section = Document['sections'][number];
export type Variable = Document['variables'][number];
export type TemplateDetails = ResponseBody<typeof getTemplate>;
export type Template = ResponseBody<typeof listTemplates>['items'][number];
export type Snapshot = ResponseBody<typeof getSharedSnapshot>;

const documentFields = [
  ...(['name', 'description', 'folder', 'tags', 'visibility', 'time', 'variables', 'sections'] as const),
  ...(['panels', 'annotations', 'links', 'cursor', 'imported'] as const),
] as const;

/** Returns the document of a dashboard, without the fields that the server sets. */
export const toDocument = (dashboard: Document): Document =>
  Object.fromEntries(
    documentFields.flatMap((name) => (dashboard[name] === undefined ? [] : [[name, dashboard[name]]])),
  ) as Document;
