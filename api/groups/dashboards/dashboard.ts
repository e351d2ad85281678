import { z } from 'zod';
import { parseSavedQuery, type Query } from '../../../queries/query.ts';
import { Validity } from '../../../queries/validity.ts';
import type { CollectionDefinition, StoredMetadata, TenantDocuments } from '../../../schemas/ports/documents.ts';
import {
  dashboardOpenings,
  dashboardSummaries,
  dashboards,
  type StoredDashboard,
  savedQueryIdPath,
} from '../../../schemas/resources/dashboard.ts';
import { templateUses } from '../../../schemas/resources/dashboard-template.ts';
import { type SavedQuery, savedQueries } from '../../../schemas/resources/saved-query.ts';
import { DashboardId } from '../../../subjects/dashboards/as-code.ts';
import { selectDifferences } from '../../../subjects/dashboards/differences.ts';
import { DashboardFields } from '../../../subjects/dashboards/document.ts';
import { withStableIds } from '../../../subjects/dashboards/ids.ts';
import {
  currentVersions,
  Loss,
  parseStoredDashboard,
  type SavedVersions,
} from '../../../subjects/dashboards/read-saved.ts';
import { removeSnapshots } from '../../../subjects/dashboards/snapshots/remove.ts';
import { toSummary } from '../../../subjects/dashboards/summary.ts';
import { checkWithoutReads, combineValidity } from '../../../subjects/dashboards/validity.ts';
import { countedDays, countViews } from '../../../subjects/dashboards/view-counts.ts';
import type { Caller } from '../../callers/caller.ts';
import { ApiError, createFieldError } from '../../errors.ts';
import { readValidities } from '../../kernel/query-reader.ts';
import { defineResource } from '../../resources/resource.ts';
import { hasSameContent } from '../../resources/resource-history.ts';
import { type ResourceContext, storedView } from '../../resources/resource-spec.ts';
import { sharedOrOwnVisibility } from '../../resources/visibility.ts';

/** A stored dashboard in the current form. */
export type Document = DashboardFields &
  Pick<StoredDashboard, 'documentVersion' | 'queryVersion' | 'ownerId' | 'changedBy' | 'source'>;

/** Source of dashboards that are managed as code, for example `git:shop/dashboards`. */
export const SourceName = z.string().min(1).max(512);

const source = SourceName.optional().describe(
  'Source that manages it as code: the dashboard names it, and allows manual changes only with force',
);
const force = z
  .enum(['true'])
  .optional()
  .describe('true: manually changes a dashboard that is managed as code; the next plan of its source shows the change');

/** Parameters of changes without a source. */
export const manualChangeParameters = z.strictObject({ force });

const NewParameters = z.strictObject({
  id: DashboardId.optional().describe('Chosen by the author; generated if omitted'),
  source,
});
const ChangeParameters = z.strictObject({ source, force });

/** Options of a change request. */
interface ChangeOptions {
  readonly id?: string | undefined;
  readonly source?: string | undefined;
  readonly force?: 'true' | undefined;
}

export const DashboardView = z.strictObject({
  ...DashboardFields.shape,
  ownerId: z.string().describe('Creator: id of a user or service account'),
  changedBy: z.string().describe('Id of the last editor'),
  source: z.string().nullable().describe('Source that manages it as code; null for none'),
  documentVersion: z.int().describe('Version of the form in which it was saved; older forms are migrated'),
  losses: z.array(Loss).describe('Content of an older form that the current form cannot represent'),
  validity: Validity.describe('Whether everything that its panels reference exists'),
  createdFrom: z
    .strictObject({ templateId: z.string(), templateVersion: z.string() })
    .nullable()
    .describe('Template from which it was created'),
  opened: z.strictObject({ days: z.int(), times: z.int() }).describe('Number of times people opened it'),
  ...storedView,
});

/** Converts a stored dashboard to the current form. */
export const parseSavedDashboard = (stored: SavedVersions) => {
  const parsed = parseStoredDashboard(stored);
  if (parsed !== undefined) return parsed;
  const message = `the format of this dashboard, version ${stored.documentVersion}, is not supported`;
  throw new ApiError('CONFLICT', message);
};

const listSavedQueryIds = ({ panels }: Pick<DashboardFields, 'panels'>): string[] =>
  panels.flatMap(({ queries }) => queries.flatMap(({ savedQueryId }) => savedQueryId ?? []));

/** Returns the saved queries of the panels, if the caller may read them. */
const readSavedQueries = async (
  documents: Pick<TenantDocuments, 'collection'>,
  document: DashboardFields,
  caller: Caller,
): Promise<ReadonlyMap<string, SavedQuery>> => {
  const ids = new Set(listSavedQueryIds(document));
  const queryDocuments = await Promise.all([...ids].map((id) => documents.collection(savedQueries).find(id)));
  return new Map(
    queryDocuments.flatMap((savedQuery) =>
      savedQuery === undefined || !sharedOrOwnVisibility.to(savedQuery, caller) ? [] : [[savedQuery.id, savedQuery]],
    ),
  );
};

/** Returns the queries of the panels' saved queries, without those that this version cannot parse. */
export const readParsedQueries = async (
  documents: Pick<TenantDocuments, 'collection'>,
  document: DashboardFields,
  caller: Caller,
): Promise<ReadonlyMap<string, Query>> => {
  const storedQueries = await readSavedQueries(documents, document, caller);
  const parsedQueries = [...storedQueries].flatMap(([id, { query, queryVersion }]): [string, Query][] => {
    const parsed = parseSavedQuery(query, queryVersion);
    return parsed === undefined ? [] : [[id, parsed]];
  });
  return new Map(parsedQueries);
};

const checkValidity = async (document: DashboardFields, { caller, ports }: ResourceContext): Promise<Validity> => {
  const resolvedDocument = checkWithoutReads(
    document,
    await readParsedQueries(ports.documents.forTenant(caller.tenantId), document, caller),
  );
  return combineValidity(
    resolvedDocument,
    await readValidities(
      resolvedDocument.pendingQueries.map(({ query }) => query),
      caller,
      ports,
    ),
  );
};

const show = (documents: readonly (Document & StoredMetadata)[], context: ResourceContext) => {
  const { caller, ports } = context;
  const tenantDocuments = ports.documents.forTenant(caller.tenantId);
  return Promise.all(
    documents.map(async (stored) => {
      const { document, losses } = parseSavedDashboard(stored);
      const { id, version, createdAt, updatedAt, ownerId, changedBy, documentVersion } = stored;
      const [validity, opened, use] = await Promise.all([
        checkValidity(document, context),
        tenantDocuments.collection(dashboardOpenings).find(id),
        tenantDocuments.collection(templateUses).find(id),
      ]);
      return {
        ...document,
        ownerId,
        changedBy,
        documentVersion,
        losses,
        validity,
        source: stored.source ?? null,
        createdFrom:
          use === undefined || use.isGone ? null : { templateId: use.templateId, templateVersion: use.templateVersion },
        opened: { days: countedDays, times: countViews(opened, ports.clock.now()) },
        id,
        version,
        createdAt,
        updatedAt,
      };
    }),
  );
};

/** Inputs for completing a dashboard that is about to be stored, within its transaction. */
interface CompletionContext {
  readonly before: (Document & StoredMetadata) | undefined;
  readonly caller: Caller;
  forTenant(tenantId: string): TenantDocuments;
  readonly changeOptions?: ChangeOptions;
}

/** Rejects a manual change of a dashboard that is managed as code. */
const requireManualChangeAllowed = (before: Document | undefined, how: ChangeOptions): void => {
  if (before?.source === undefined || before.source === how.source || how.force === 'true') return;
  throw new ApiError(
    'CONFLICT',
    `this dashboard is managed as code in ${before.source}: change it there, or here with force=true, which the next plan will show`,
  );
};

/** Throws if a new saved query does not exist, or is private and belongs to another owner: both give the same error. */
const requireVisibleQueries = async (
  after: DashboardFields,
  former: DashboardFields | undefined,
  { caller, forTenant }: CompletionContext,
): Promise<void> => {
  const formerIds = new Set(former === undefined ? [] : listSavedQueryIds(former));
  const visibleQueries = await readSavedQueries(forTenant(caller.tenantId), after, caller);
  const invisibleId = listSavedQueryIds(after).find((id) => !formerIds.has(id) && !visibleQueries.has(id));
  if (invisibleId !== undefined)
    throw createFieldError(
      savedQueryIdPath,
      `${savedQueryIdPath}: ${invisibleId} does not exist in ${savedQueries.name}`,
    );
};

/** Returns the dashboard to store: the given fields with owner, author and source. */
export const completeDashboard = async (
  after: DashboardFields,
  completionContext: CompletionContext,
): Promise<Document> => {
  const { before, caller, changeOptions: options = {} } = completionContext;
  const source = options.source ?? before?.source;
  const previousDashboard = before && parseStoredDashboard(before)?.document;
  await requireVisibleQueries(after, previousDashboard, completionContext);
  const ownerId = before?.ownerId ?? caller.actor.id;
  const document: Document = {
    ...(previousDashboard === undefined ? after : withStableIds(previousDashboard, after)),
    // Only the owner can change the visibility, so that nobody can make another person's dashboard private.
    visibility: before !== undefined && ownerId !== caller.actor.id ? before.visibility : after.visibility,
    ...currentVersions,
    ownerId,
    changedBy: before?.changedBy ?? ownerId,
    ...(source === undefined ? {} : { source }),
  };
  const isSame = before !== undefined && hasSameContent(document, before);
  if (isSame) return document;
  requireManualChangeAllowed(before, options);
  return { ...document, changedBy: caller.actor.id };
};

/**
 * Ends the link between a deleted dashboard and its template: a new dashboard with the same id does not belong to the
 * template.
 */
const endTemplateUse = async (documents: Pick<TenantDocuments, 'collection'>, id: string): Promise<void> => {
  const uses = documents.collection(templateUses);
  const use = await uses.find(id);
  if (use !== undefined && !use.isGone) await uses.update(id, { isGone: true });
};

export const dashboardResource = defineResource<typeof DashboardFields, Document, typeof DashboardView>({
  noun: 'dashboard',
  path: '/api/dashboards',
  collection: dashboards as CollectionDefinition<object> as CollectionDefinition<Document>,
  verbs: ['create', 'replace', 'delete'],
  roles: { read: 'viewer', write: 'editor' },
  fields: DashboardFields,
  example: {
    name: 'Checkout',
    description: 'State of the checkout',
    folder: 'Shop',
    tags: ['shop'],
    panels: [
      {
        id: 'errors',
        title: 'Errors',
        visual: { kind: 'time-series' },
        queries: [{ name: 'A', savedQueryId: 'the id of a saved query' }],
        fields: { unit: '{error}' },
      },
    ],
  },
  view: DashboardView,
  live: true,
  requiresIfMatch: true,
  maxBodyBytes: 4 * 1024 * 1024,
  visible: sharedOrOwnVisibility,
  initial: ({ caller }) => ({ ...currentVersions, ownerId: caller.actor.id, changedBy: caller.actor.id }),
  parameters: { create: NewParameters, change: ChangeParameters },
  async prepare(after, { before, caller, forTenant, parameters }) {
    const changeOptions: ChangeOptions = parameters;
    const document = await completeDashboard(after, { before, caller, forTenant: forTenant, changeOptions });
    return changeOptions.id === undefined ? document : { ...document, id: changeOptions.id };
  },
  rejectRemoval: (before, parameters) => requireManualChangeAllowed(before, parameters),
  compared: selectDifferences,
  async alongside(documents, { before, after }) {
    const summaries = documents.collection(dashboardSummaries);
    if (before === undefined || after === undefined) await endTemplateUse(documents, (before ?? after)?.id ?? '');
    if (after === undefined) {
      await summaries.delete(before?.id ?? '');
      await documents.collection(dashboardOpenings).delete(before?.id ?? '');
      await removeSnapshots(documents, { dashboardId: before?.id ?? '' });
    } else if (before === undefined) await summaries.insert({ id: after.id, ...toSummary(after) });
    else await summaries.replace(after.id, toSummary(after));
  },
  show,
});
