import { z } from 'zod';
import { type Query, readSaved } from '../../queries/query.ts';
import { Validity } from '../../queries/validity.ts';
import type { CollectionDefinition, Stored, TenantDocuments } from '../../schemas/ports/documents.ts';
import {
  dashboardOpenings,
  dashboardSummaries,
  dashboards,
  type StoredDashboard,
  savedQueriesOfPanels,
} from '../../schemas/resources/dashboard.ts';
import { templateUses } from '../../schemas/resources/dashboard-template.ts';
import { type SavedQuery, savedQueries } from '../../schemas/resources/saved-query.ts';
import { DashboardId } from '../../subjects/dashboards/as-code.ts';
import { comparedDashboards } from '../../subjects/dashboards/compared.ts';
import { DashboardFields } from '../../subjects/dashboards/document.ts';
import { withStableIds } from '../../subjects/dashboards/ids.ts';
import { countedDays, timesOpened } from '../../subjects/dashboards/openings.ts';
import { Loss, presentForm, readDashboard, type SavedForm } from '../../subjects/dashboards/read-saved.ts';
import { removeSnapshots } from '../../subjects/dashboards/snapshots/remove.ts';
import { summaryOf } from '../../subjects/dashboards/summary.ts';
import { checkStatically, validityOf } from '../../subjects/dashboards/validity.ts';
import type { Caller } from '../callers/caller.ts';
import { ApiError, invalid } from '../errors.ts';
import { validitiesNow } from '../kernel/reading.ts';
import { defineResource } from '../resources/resource.ts';
import { hasSameContent } from '../resources/resource-history.ts';
import { type ResourceContext, storedView } from '../resources/resource-spec.ts';
import { sharedOrOwn } from '../resources/shared-or-own.ts';

/** A dashboard as it is stored, of today's form. */
export type Document = DashboardFields &
  Pick<StoredDashboard, 'documentVersion' | 'queryVersion' | 'ownerId' | 'changedBy' | 'source'>;

/** Where dashboards are kept as code, such as `git:shop/dashboards`. */
export const SourceName = z.string().min(1).max(512);

const source = SourceName.optional().describe(
  'Where the one who asks keeps it as code: the dashboard says so, and is changed by hand only with force',
);
const force = z
  .enum(['true'])
  .optional()
  .describe('true: changes by hand what is kept as code; the next plan of its source shows it');

/** Parameters of changes that come from no source. */
export const byHand = z.strictObject({ force });

const NewParameters = z.strictObject({
  id: DashboardId.optional().describe('Of the author’s choice; without it one is made'),
  source,
});
const ChangeParameters = z.strictObject({ source, force });

/** How a change was asked. */
interface ChangeOptions {
  readonly id?: string | undefined;
  readonly source?: string | undefined;
  readonly force?: 'true' | undefined;
}

export const DashboardView = z.strictObject({
  ...DashboardFields.shape,
  ownerId: z.string().describe('Who made it: a user or a service account'),
  changedBy: z.string().describe('Who changed it last'),
  source: z.string().nullable().describe('Where it is kept as code; null where it is not'),
  documentVersion: z.int().describe('Of the form in which it was saved; older ones are brought along'),
  losses: z.array(Loss).describe('What was in an older form and has no place in this one'),
  validity: Validity.describe('Whether what its panels name is there'),
  createdFrom: z
    .strictObject({ templateId: z.string(), templateVersion: z.string() })
    .nullable()
    .describe('The template that it was made of'),
  opened: z.strictObject({ days: z.int(), times: z.int() }).describe('How often people opened it'),
  ...storedView,
});

/** What a stored dashboard says, in today's form. */
export const parseSavedDashboard = (stored: SavedForm) => {
  const read = readDashboard(stored);
  if (read !== undefined) return read;
  const message = `the form of this dashboard, version ${stored.documentVersion}, is not understood here`;
  throw new ApiError('CONFLICT', message);
};

const savedQueryIdsIn = ({ panels }: Pick<DashboardFields, 'panels'>): string[] =>
  panels.flatMap(({ queries }) => queries.flatMap(({ savedQueryId }) => savedQueryId ?? []));

/** Saved queries that panels ask, as far as the caller may know of them. */
const savedQueriesIn = async (
  documents: Pick<TenantDocuments, 'collection'>,
  document: DashboardFields,
  caller: Caller,
): Promise<ReadonlyMap<string, SavedQuery>> => {
  const ids = new Set(savedQueryIdsIn(document));
  const found = await Promise.all([...ids].map((id) => documents.collection(savedQueries).find(id)));
  return new Map(found.flatMap((one) => (one === undefined || !sharedOrOwn.to(one, caller) ? [] : [[one.id, one]])));
};

/** The queries that they save, of those that are understood here. */
export const understoodQueriesIn = async (
  documents: Pick<TenantDocuments, 'collection'>,
  document: DashboardFields,
  caller: Caller,
): Promise<ReadonlyMap<string, Query>> => {
  const saved = await savedQueriesIn(documents, document, caller);
  const understood = [...saved].flatMap(([id, { query, queryVersion }]): [string, Query][] => {
    const read = readSaved(query, queryVersion);
    return read === undefined ? [] : [[id, read]];
  });
  return new Map(understood);
};

const validityFor = async (document: DashboardFields, { caller, ports }: ResourceContext): Promise<Validity> => {
  const resolvedDocument = checkStatically(
    document,
    await understoodQueriesIn(ports.documents.of(caller.tenantId), document, caller),
  );
  return validityOf(
    resolvedDocument,
    await validitiesNow(
      resolvedDocument.toRead.map(({ query }) => query),
      caller,
      ports,
    ),
  );
};

const show = (documents: readonly (Document & Stored)[], context: ResourceContext) => {
  const { caller, ports } = context;
  const own = ports.documents.of(caller.tenantId);
  return Promise.all(
    documents.map(async (stored) => {
      const { document, losses } = parseSavedDashboard(stored);
      const { id, version, createdAt, updatedAt, ownerId, changedBy, documentVersion } = stored;
      const [validity, opened, use] = await Promise.all([
        validityFor(document, context),
        own.collection(dashboardOpenings).find(id),
        own.collection(templateUses).find(id),
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
        opened: { days: countedDays, times: timesOpened(opened, ports.clock.now()) },
        id,
        version,
        createdAt,
        updatedAt,
      };
    }),
  );
};

/** What completes a dashboard that is about to be stored, within its transaction. */
interface Completing {
  readonly before: (Document & Stored) | undefined;
  readonly caller: Caller;
  of(tenantId: string): TenantDocuments;
  readonly how?: ChangeOptions;
}

/** Refuses a change by hand of what is kept as code. */
const refuseByHand = (before: Document | undefined, how: ChangeOptions): void => {
  if (before?.source === undefined || before.source === how.source || how.force === 'true') return;
  throw new ApiError(
    'CONFLICT',
    `this dashboard is kept as code in ${before.source}: change it there, or here with force=true, which the next plan will show`,
  );
};

/** Refuses a saved query that is another one's alone, as one that there is not. */
const refuseUnseen = async (
  after: DashboardFields,
  former: DashboardFields | undefined,
  { caller, of }: Completing,
): Promise<void> => {
  const known = new Set(former === undefined ? [] : savedQueryIdsIn(former));
  const seen = await savedQueriesIn(of(caller.tenantId), after, caller);
  const unseen = savedQueryIdsIn(after).find((id) => !known.has(id) && !seen.has(id));
  if (unseen !== undefined)
    throw invalid(savedQueriesOfPanels, `${savedQueriesOfPanels}: ${unseen} does not exist in ${savedQueries.name}`);
};

/** A dashboard as it is stored, of what was written of it. */
export const completed = async (after: DashboardFields, completing: Completing): Promise<Document> => {
  const { before, caller, how = {} } = completing;
  const source = how.source ?? before?.source;
  const former = before && readDashboard(before)?.document;
  await refuseUnseen(after, former, completing);
  const ownerId = before?.ownerId ?? caller.actor.id;
  const document: Document = {
    ...(former === undefined ? after : withStableIds(former, after)),
    // It stays its owner's, so that nobody takes another one's private.
    visibility: before !== undefined && ownerId !== caller.actor.id ? before.visibility : after.visibility,
    ...presentForm,
    ownerId,
    changedBy: before?.changedBy ?? ownerId,
    ...(source === undefined ? {} : { source: source }),
  };
  const isSame = before !== undefined && hasSameContent(document, before);
  if (isSame) return document;
  refuseByHand(before, how);
  return { ...document, changedBy: caller.actor.id };
};

/** What a template made has gone with its dashboard: one that is made with its id by other means is not of that template. */
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
    description: 'How the checkout fares',
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
  visible: sharedOrOwn,
  initial: ({ caller }) => ({ ...presentForm, ownerId: caller.actor.id, changedBy: caller.actor.id }),
  parameters: { create: NewParameters, change: ChangeParameters },
  async prepare(after, { before, caller, of, parameters }) {
    const how: ChangeOptions = parameters;
    const document = await completed(after, { before, caller, of, how });
    return how.id === undefined ? document : { ...document, id: how.id };
  },
  refuseRemoval: (before, parameters) => refuseByHand(before, parameters),
  compared: comparedDashboards,
  async alongside(documents, { before, after }) {
    const summaries = documents.collection(dashboardSummaries);
    if (before === undefined || after === undefined) await endTemplateUse(documents, (before ?? after)?.id ?? '');
    if (after === undefined) {
      await summaries.delete(before?.id ?? '');
      await documents.collection(dashboardOpenings).delete(before?.id ?? '');
      await removeSnapshots(documents, { dashboardId: before?.id ?? '' });
    } else if (before === undefined) await summaries.insert({ id: after.id, ...summaryOf(after) });
    else await summaries.replace(after.id, summaryOf(after));
  },
  show,
});
