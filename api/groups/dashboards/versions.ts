import { z } from 'zod';
import { getFields } from '../../../runtime/stored-fields.ts';
import type { TenantDocuments } from '../../../schemas/ports/documents.ts';
import type { ResourceVersion } from '../../../schemas/resources/resource-history.ts';
import { DashboardDifference, findDashboardDifferences } from '../../../subjects/dashboards/difference.ts';
import { DashboardFields } from '../../../subjects/dashboards/document.ts';
import { Loss, type SavedVersions } from '../../../subjects/dashboards/read-saved.ts';
import { createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { readVersion, readVersions } from '../../resources/resource-history.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import {
  completeDashboard,
  DashboardView,
  dashboardResource,
  manualChangeParameters,
  parseSavedDashboard,
} from './dashboard.ts';
import { findDashboard } from './read.ts';

const versionParameters = z.strictObject({ ...idParameter.shape, version: z.string().min(1).max(128) });

const Version = z.strictObject({
  version: z.int().positive(),
  at: z.iso.datetime(),
  actor: z.strictObject({ type: z.string(), id: z.string() }).nullable().describe('Author; null if unknown'),
});

const toVersionView = ({ resource, at, actor }: ResourceVersion): z.input<typeof Version> => ({
  version: resource.version,
  at,
  actor,
});

export const listDashboardVersions = defineOperation({
  method: 'GET',
  path: '/api/dashboards/{id}/versions',
  operationId: 'listDashboardVersions',
  summary: 'List the stored versions of a dashboard, the newest first',
  role: 'viewer',
  params: idParameter,
  response: z.strictObject({ items: z.array(Version), nextCursor: z.null() }),
  async handler({ caller, params }, ports) {
    const { id } = await findDashboard(params.id, caller, ports);
    const versions = await readVersions(ports.documents.forTenant(caller.tenantId), dashboardResource.type, id);
    return { items: versions.map(toVersionView), nextCursor: null };
  },
});

/** Returns a stored version. */
const findVersion = async (
  documents: TenantDocuments,
  { id, version }: { readonly id: string; readonly version: string | number },
): Promise<ResourceVersion> => {
  const storedVersion = await readVersion(documents, dashboardResource.type, id, Number(version));
  if (storedVersion === undefined) throw createNotFoundError('stored version of the dashboard');
  return storedVersion;
};

export const getDashboardVersion = defineOperation({
  method: 'GET',
  path: '/api/dashboards/{id}/versions/{version}',
  operationId: 'getDashboardVersion',
  summary: 'Get a version of a dashboard, and its differences from the current version or another one',
  role: 'viewer',
  params: versionParameters,
  query: z.strictObject({
    compareWith: z.coerce.number().int().min(1).optional().describe('Another version; default: the current one'),
  }),
  response: z.strictObject({
    ...Version.shape,
    document: DashboardFields.describe('In the current form'),
    losses: z.array(Loss).describe('Content of an older form that the current form cannot represent'),
    comparedWith: z.int().positive().describe('Version of the comparison'),
    differences: z.array(DashboardDifference).describe('Differences from this version to that one'),
  }),
  async handler({ caller, params, query }, ports) {
    const current = await findDashboard(params.id, caller, ports);
    const documents = ports.documents.forTenant(caller.tenantId);
    const storedVersion = await findVersion(documents, params);
    const comparedWith = query.compareWith ?? current.version;
    const comparedVersion: object =
      comparedWith === current.version
        ? getFields(current)
        : (await findVersion(documents, { id: params.id, version: comparedWith })).fields;
    const { document, losses } = parseSavedDashboard(storedVersion.fields as SavedVersions);
    const differences = findDashboardDifferences(
      document,
      parseSavedDashboard(comparedVersion as SavedVersions).document,
    );
    return { ...toVersionView(storedVersion), document, losses, comparedWith, differences };
  },
});

export const restoreDashboardVersion = defineOperation({
  method: 'POST',
  path: '/api/dashboards/{id}/versions/{version}/restore',
  operationId: 'restoreDashboardVersion',
  summary: 'Restore a version of a dashboard as a new version; no new version if nothing differs',
  role: 'editor',
  audit: 'dashboard.restore',
  versions: 'require',
  params: versionParameters,
  query: manualChangeParameters,
  response: z.strictObject({
    ...DashboardView.shape,
    losses: DashboardView.shape.losses.describe(
      'Content of the version in an older form that the current form cannot represent',
    ),
  }),
  async handler(input, ports) {
    const { caller, params } = input;
    let restoredLosses: ReturnType<typeof parseSavedDashboard>['losses'] = [];
    const after = await dashboardResource.change(
      params.id,
      async (before, { forTenant }) => {
        const { document, losses } = parseSavedDashboard(
          (await findVersion(forTenant(caller.tenantId), params)).fields as SavedVersions,
        );
        restoredLosses = losses;
        const isSame = findDashboardDifferences(parseSavedDashboard(before).document, document).length === 0;
        return isSame
          ? getFields(before)
          : completeDashboard(document, { before, caller, forTenant: forTenant, changeOptions: input.query });
      },
      input,
    );
    return { ...(await dashboardResource.sendView(after, input, ports)), losses: restoredLosses };
  },
});
