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
import { type Answered, callOf, creationOf, type Filtered, removalOf, replacementOf } from '../../client/call.ts';

export const listDashboardsCall = callOf<Filtered<typeof listDashboards>>('GET', '/api/dashboards');
export const readCall = callOf<typeof getDashboard>('GET', '/api/dashboards/{id}');
export const createCall = creationOf<typeof dashboardResource, typeof DashboardFields>('/api/dashboards');
export const saveCall = replacementOf<typeof dashboardResource, typeof DashboardFields>('/api/dashboards/{id}');
export const removeCall = removalOf('/api/dashboards/{id}');
export const addPanelCall = callOf<typeof addPanel>('POST', '/api/dashboards/{id}/panels');
export const cloneCall = callOf<typeof cloneDashboard>('POST', '/api/dashboards/{id}/clone');
export const queryCall = callOf<typeof queryDashboard>('POST', '/api/dashboards/{id}/query');
export const importCall = callOf<typeof importDashboard>('POST', '/api/dashboards/import');
export const versionsCall = callOf<typeof listDashboardVersions>('GET', '/api/dashboards/{id}/versions');
export const versionCall = callOf<typeof getDashboardVersion>('GET', '/api/dashboards/{id}/versions/{version}');
export const restoreCall = callOf<typeof restoreDashboardVersion>(
  'POST',
  '/api/dashboards/{id}/versions/{version}/restore',
);
export const snapshotsCall = callOf<typeof listDashboardSnapshots>('GET', '/api/dashboards/{id}/snapshots');
export const createSnapshotCall = callOf<typeof createDashboardSnapshot>('POST', '/api/dashboards/{id}/snapshots');
export const revokeSnapshotCall = callOf<typeof revokeDashboardSnapshot>('DELETE', '/api/snapshots/{id}');
export const sharedSnapshotCall = callOf<typeof getSharedSnapshot>('GET', '/api/shared-snapshots/{token}');
export const templatesCall = callOf<typeof listTemplates>('GET', '/api/templates');
export const templateCall = callOf<typeof getTemplate>('GET', '/api/templates/{id}');
export const templateUsageCall = callOf<typeof getTemplateUsage>('GET', '/api/templates/usage');
export const instantiateCall = callOf<typeof instantiateTemplate>('POST', '/api/templates/{id}/instantiate');
export const addFavouriteCall = callOf<typeof markTemplate>('PUT', '/api/templates/{id}/favourite');
export const removeFavouriteCall = callOf<typeof unmarkTemplate>('DELETE', '/api/templates/{id}/favourite');

export type Dashboard = Answered<typeof getDashboard>;
export type Summaries = Answered<typeof listDashboards>;
export type Summary = Summaries['items'][number];
/** Writable fields of a dashboard */
export type Document = DashboardFields;
export type Panel = DeclaredPanel;
/** Visualization of a panel */
export type Visual = Panel['visual'];
export type Section = Document['sections'][number];
export type Variable = Document['variables'][number];
export type TemplateDetails = Answered<typeof getTemplate>;
export type Template = Answered<typeof listTemplates>['items'][number];
export type Snapshot = Answered<typeof getSharedSnapshot>;

const documentFields = [
  ...(['name', 'description', 'folder', 'tags', 'visibility', 'time', 'variables', 'sections'] as const),
  ...(['panels', 'annotations', 'links', 'cursor', 'imported'] as const),
] as const;

/** Returns the document of a dashboard, without the fields that the server sets. */
export const toDocument = (dashboard: Document): Document =>
  Object.fromEntries(
    documentFields.flatMap((name) => (dashboard[name] === undefined ? [] : [[name, dashboard[name]]])),
  ) as Document;
