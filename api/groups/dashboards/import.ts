import { z } from 'zod';
import type { StoredMetadata, TenantDocuments } from '../../../schemas/ports/documents.ts';
import { DashboardId } from '../../../subjects/dashboards/as-code.ts';
import { DashboardFields } from '../../../subjects/dashboards/document.ts';
import { jsonOfYamlInWorker, readImportedInWorker } from '../../../subjects/dashboards/grafana/documents.ts';
import { type Imported, ImportReport } from '../../../subjects/dashboards/grafana/import.ts';
import type { Caller } from '../../callers/caller.ts';
import { ApiError, createFieldError, createFieldErrors } from '../../errors.ts';
import { requireShallow } from '../../kernel/json-body.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { hasSameContent } from '../../resources/resource-history.ts';
import {
  completeDashboard,
  type Document,
  dashboardResource,
  manualChangeParameters,
  parseSavedDashboard,
} from './dashboard.ts';

const Query = z.strictObject({
  dryRun: z
    .enum(['true', 'false'])
    .optional()
    .describe('true: nothing is written; the response contains the expected result'),
  folder: DashboardFields.shape.folder
    .unwrap()
    .optional()
    .describe('Default: the current folder, or the folder of the document'),
  id: DashboardId.optional().describe('Default: the id of the document, or one derived from its uid'),
  takeOver: z
    .enum(['true', 'false'])
    .optional()
    .describe('true: a document without an id or uid, which only its title identifies, changes an existing dashboard'),
  ...manualChangeParameters.shape,
});
type Query = z.output<typeof Query>;

/** A document with arbitrary fields */
const Body = z
  .looseObject(
    Object.fromEntries(['id', 'version', 'createdAt', 'updatedAt'].map((name) => [name, z.unknown().optional()])),
  )
  .describe(
    'The document: OIQ JSON or YAML, Grafana’s classic JSON of any schema version with or without the wrapper of its API, or its resource (dashboard.grafana.app)',
  );

const outcomes = ['created', 'changed', 'unchanged'] as const;

/** Returns the dashboard to store. Its folder and visibility stay unchanged if the document does not contain them. */
const toStoredDashboard = async (
  { document, report }: Imported,
  { before, query, caller, forTenant }: Importing,
): Promise<Document> => {
  const previousDashboard = before && parseSavedDashboard(before).document;
  const isOiqFormat = report.from === 'oiq';
  const folder = query.folder ?? (isOiqFormat ? document.folder : (previousDashboard?.folder ?? document.folder));
  const visibility = isOiqFormat ? document.visibility : (previousDashboard?.visibility ?? document.visibility);
  // The document was validated when it was parsed, and the folder with the parameters.
  return completeDashboard(
    { ...document, folder, visibility },
    { before, caller, forTenant, changeOptions: { force: query.force } },
  );
};

interface Importing {
  readonly before: (Document & StoredMetadata) | undefined;
  readonly query: Query;
  readonly caller: Caller;
  forTenant(tenantId: string): TenantDocuments;
}

/** Returns the dashboard with the id. Throws if the id belongs to a dashboard that the caller cannot see. */
const findExisting = async (id: string, documents: TenantDocuments, caller: Caller) => {
  const before = await documents.collection(dashboardResource.collection).find(id);
  if (before === undefined || dashboardResource.isVisibleTo(before, caller)) return before;
  throw new ApiError('CONFLICT', `another dashboard has the id ${id}: choose another one in the parameter id`);
};

/** Throws if only its title connects a document with the existing dashboard that it would change. */
const requireIdentified = (
  { isIdentifiedByTitle, document }: Imported,
  query: Query,
  [before, after]: readonly [before: (Document & StoredMetadata) | undefined, after: Document],
): void => {
  if (before === undefined || !isIdentifiedByTitle || query.id !== undefined || query.takeOver === 'true') return;
  if (hasSameContent(after, before)) return;
  throw new ApiError(
    'CONFLICT',
    `the document has no uid, and the dashboard ${before.id} was imported with its title ${document.name}: import again with takeOver to change that one, or with another id`,
  );
};

export const importDashboard = defineOperation({
  method: 'POST',
  path: '/api/dashboards/import',
  operationId: 'importDashboard',
  summary:
    'Import a dashboard of this platform or of Grafana, and report the result for each part; a repeated import changes nothing',
  role: 'editor',
  audit: ['dashboard.create', 'dashboard.update'],
  maxBodyBytes: 5 * 1024 * 1024,
  query: Query,
  body: Body,
  alsoAccepts: {
    'application/yaml': async (bytes, caller) => {
      const converted = await jsonOfYamlInWorker(
        { tenantId: caller?.tenantId ?? '', callerId: caller?.actor.id },
        Buffer.from(bytes).toString('utf8'),
      );
      if ('problem' in converted) throw createFieldError('', `the body is not YAML: ${converted.problem}`);
      requireShallow(Buffer.from(converted.json));
      return JSON.parse(converted.json);
    },
  },
  response: z.strictObject({
    outcome: z.enum(outcomes),
    dashboard: z.strictObject({
      id: z.string(),
      version: z.int().positive().nullable().describe('null if a dry run would create the first version'),
      ...DashboardFields.shape,
    }),
    report: ImportReport,
  }),
  async handler({ caller, query, body, change, signal }, ports) {
    const imported = await readImportedInWorker(
      { tenantId: caller.tenantId, callerId: caller.actor.id, signal },
      JSON.stringify(body),
    );
    if ('problems' in imported) throw createFieldErrors([...imported.problems]);
    const id = query.id ?? imported.id;
    const toOutcome = (stored: Document, outcome: (typeof outcomes)[number], version: number | null) => ({
      outcome,
      report: imported.report,
      dashboard: { id, version, ...parseSavedDashboard(stored).document },
    });
    const tenantDocuments = ports.documents.forTenant(caller.tenantId);
    if (query.dryRun === 'true') {
      const before = await findExisting(id, tenantDocuments, caller);
      const after = await toStoredDashboard(imported, {
        before,
        query,
        caller,
        forTenant: (tenantId) => ports.documents.forTenant(tenantId),
      });
      requireIdentified(imported, query, [before, after]);
      const isSame = before !== undefined && hasSameContent(after, before);
      return toOutcome(
        after,
        before === undefined ? 'created' : isSame ? 'unchanged' : 'changed',
        before?.version ?? null,
      );
    }
    return change(async (scope) => {
      const writer = dashboardResource.createWriter(scope, caller);
      const before = await findExisting(id, scope.forTenant(caller.tenantId), caller);
      const after = await toStoredDashboard(imported, { before, query, caller, forTenant: scope.forTenant });
      requireIdentified(imported, query, [before, after]);
      if (before === undefined) {
        const createdDashboard = await writer.create({ ...after, id });
        return toOutcome(createdDashboard, 'created', createdDashboard.version);
      }
      const precondition = [before.version];
      const changeResult = await writer.change(id, () => after, { precondition, action: 'dashboard.update' });
      if (!changeResult.isChanged) scope.markUnchanged();
      return toOutcome(
        changeResult.document,
        changeResult.isChanged ? 'changed' : 'unchanged',
        changeResult.document.version,
      );
    });
  },
});
