import { z } from 'zod';
import { deleteMatching } from '../../../runtime/delete-matching.ts';
import type { CollectionDefinition, StoredMetadata, TenantDocuments } from '../../../schemas/ports/documents.ts';
import { ImportedFrom } from '../../../schemas/resources/imported-from.ts';
import type { Plan } from '../../../schemas/resources/plan.ts';
import { maxChecks, type StoredCheck, syntheticChecks } from '../../../schemas/resources/synthetic-check.ts';
import { syntheticHeartbeatTokens } from '../../../schemas/resources/synthetic-heartbeat-token.ts';
import { syntheticPictures } from '../../../schemas/resources/synthetic-picture.ts';
import { checkStates } from '../../../schemas/synthetic-runs.ts';
import { createAlertRule } from '../../../subjects/synthetics/alert-rules.ts';
import { CheckFields, toStoredCheck } from '../../../subjects/synthetics/check.ts';
import { findActiveDowntime, readWindows } from '../../../subjects/synthetics/downtimes.ts';
import { listNextDueTimes } from '../../../subjects/synthetics/heartbeat-times.ts';
import { findQuotaProblem } from '../../../subjects/synthetics/monthly-runs.ts';
import { findCheckProblems } from '../../../subjects/synthetics/problems.ts';
import { readKnownNames } from '../../../subjects/synthetics/read-checks.ts';
import type { CheckState } from '../../../subjects/synthetics/state.ts';
import { type CheckStatus, readCheckStatuses, readLastDue } from '../../../subjects/synthetics/stored-results.ts';
import type { TimePeriod } from '../../../subjects/synthetics/uptime.ts';
import { ApiError, createFieldErrors } from '../../errors.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { createNoDataFlag, deleteReportWith, HasNoData, readIdsWithoutData } from '../../resources/empty-results.ts';
import { defineResource } from '../../resources/resource.ts';
import { createEqualsFilter } from '../../resources/resource-list.ts';
import { type ResourceContext, storedView } from '../../resources/resource-spec.ts';
import { syncManagedRules } from '../alerts/managed-rules.ts';
import { createHeartbeatToken } from './heartbeat-token.ts';

const NullableShare = z.number().nullable();

const View = z.strictObject({
  ...CheckFields.shape,
  locations: z.array(z.string()).describe('Empty if its last location was deleted; then the check does not run'),
  state: z
    .enum([...checkStates, 'maintenance'])
    .nullable()
    .describe('maintenance: in a planned downtime; null if it has not been evaluated yet, or is currently unavailable'),
  since: z.iso.datetime().nullable(),
  hasNoData: HasNoData,
  uptime: z
    .strictObject({
      day: NullableShare,
      days30: NullableShare,
      days90: NullableShare,
      hours: z.array(NullableShare).describe('Of each of the last 24 hours, the latest last'),
    })
    .nullable()
    .describe('Of the last 1, 30 and 90 days, without exclusions'),
  nextDueAt: z
    .array(z.iso.datetime())
    .nullable()
    .describe('The next five due times of a heartbeat, empty while it is disabled; null for other types'),
  tokenPrefix: z.string().nullable().describe('First characters of the heartbeat’s token; null: none'),
  importedFrom: ImportedFrom.nullable().describe(
    'Identity in the document from which it was imported; null if it was not',
  ),
  token: z.string().optional().describe('Token for /beats/TOKEN; shown only once, when the heartbeat is created'),
  ...storedView,
});

/** A stored check */
export type ImportableCheck = CheckFields & Pick<StoredCheck, 'importedFrom'>;
type CheckDocument = ImportableCheck & StoredMetadata;

interface CheckStateView {
  readonly state: CheckState | null;
  readonly since: string | null;
}

/** A planned downtime overrides the status of the check. */
const toStateView = (status: CheckStatus | undefined, downtime: TimePeriod | undefined): CheckStateView => {
  const toIsoTime = (ms: number): string => new Date(ms).toISOString();
  if (downtime !== undefined) return { state: 'maintenance', since: toIsoTime(downtime.fromMs) };
  return status === undefined
    ? { state: null, since: null }
    : { state: status.state, since: toIsoTime(status.sinceMs) };
};

const nextDueCount = 5;

/** Additional fields of heartbeats, by id */
const readHeartbeatFields = async (documents: readonly CheckDocument[], { caller, ports }: ResourceContext) => {
  const heartbeatChecks = documents.filter(({ type }) => type === 'heartbeat');
  if (heartbeatChecks.length === 0) return new Map<string, { nextDueAt: string[]; tokenPrefix: string | null }>();
  const nowMs = ports.clock.now();
  const ids = heartbeatChecks.map(({ id }) => id);
  const [tokens, lastDueTimes] = await Promise.all([
    ports.documents
      .forTenant(caller.tenantId)
      .collection(syntheticHeartbeatTokens)
      .list({ filter: { id: { $in: ids } }, limit: ids.length }),
    readLastDue(createQueryReader(caller, ports), ids).catch((error: unknown) => {
      ports.log.warn({ error: String(error) }, 'cannot read the last due times of heartbeats');
      return new Map<string, number>();
    }),
  ]);
  const prefixes = new Map(tokens.items.map(({ id, prefix }) => [id, prefix]));
  return new Map(
    heartbeatChecks.map(({ id, enabled, every, heartbeat, createdAt }) => {
      const options = { baseMs: lastDueTimes.get(id) ?? Date.parse(createdAt), nowMs, count: nextDueCount };
      const times = enabled && heartbeat !== undefined ? listNextDueTimes({ every, heartbeat }, options) : [];
      const nextDueAt = times.map((ms) => new Date(ms).toISOString());
      return [id, { nextDueAt, tokenPrefix: prefixes.get(id) ?? null }];
    }),
  );
};

const toViews = async (
  documents: readonly CheckDocument[],
  context: ResourceContext,
): Promise<z.input<typeof View>[]> => {
  const { caller, ports } = context;
  const nowMs = ports.clock.now();
  const ids = documents.map(({ id }) => id);
  const [statuses, windows, heartbeats, idsWithoutData] = await Promise.all([
    readCheckStatuses(createQueryReader(caller, ports), ids, nowMs).catch((error: unknown) => {
      ports.log.warn({ error: String(error) }, 'cannot read the status of checks');
      return new Map<string, CheckStatus>();
    }),
    readWindows(ports.documents.forTenant(caller.tenantId)),
    readHeartbeatFields(documents, context),
    readIdsWithoutData('synthetic-check', documents, context),
  ]);
  const findDowntime = findActiveDowntime(windows, nowMs);
  return documents.map((document) => {
    const status = statuses.get(document.id);
    const [day = null, days30 = null, days90 = null] = status?.uptime ?? [];
    return {
      ...document,
      importedFrom: document.importedFrom ?? null,
      ...toStateView(status, document.enabled ? findDowntime(document) : undefined),
      hasNoData: idsWithoutData.has(document.id),
      uptime: status === undefined ? null : { day, days30, days90, hours: [...status.hours] },
      ...(heartbeats.get(document.id) ?? { nextDueAt: null, tokenPrefix: null }),
    };
  });
};

const requireRunsWithinPlan = async (
  tenantDocuments: TenantDocuments,
  { name, limits }: Plan,
  { after, before }: { readonly after: CheckFields; readonly before: CheckDocument | undefined },
): Promise<void> => {
  const maxRuns = limits.syntheticRunsPerMonth ?? null;
  if (maxRuns === null) return;
  const { items } = await tenantDocuments.collection(syntheticChecks).list({ limit: maxChecks });
  const otherChecks = items.filter(({ id }) => id !== before?.id);
  const problem = findQuotaProblem(after, { before, others: otherChecks, maxRuns, plan: name });
  if (problem !== undefined) throw new ApiError('CONFLICT', problem);
};

const deleteReport = deleteReportWith('synthetic-check');

export const checkResource = defineResource<typeof CheckFields, ImportableCheck, typeof View>({
  noun: 'synthetic check',
  path: '/api/synthetics/checks',
  collection: syntheticChecks as CollectionDefinition<object> as CollectionDefinition<ImportableCheck>,
  verbs: ['list', 'create', 'read', 'replace', 'patch', 'delete'],
  roles: { read: 'viewer', write: 'editor' },
  fields: CheckFields,
  example: {
    name: 'Shop answers',
    description: 'The start page and its resources',
    type: 'http',
    every: '1m',
    http: {
      steps: [
        {
          url: 'https://shop.example.com/',
          assertions: [
            { source: 'status', operator: 'is', value: 200 },
            { source: 'duration', operator: 'lt', value: 2000, level: 'degrade' },
          ],
        },
      ],
    },
  },
  view: View,
  live: true,
  show: toViews,
  async prepare(checkFields, { caller, forTenant, before }) {
    const after = toStoredCheck(checkFields);
    const tenantDocuments = forTenant(caller.tenantId);
    const problems = findCheckProblems(after, await readKnownNames(tenantDocuments));
    if (problems.length > 0) throw createFieldErrors(problems);
    await requireRunsWithinPlan(tenantDocuments, caller.plan, { after, before });
    return after;
  },
  created: async (documents, { id, type }) => (type === 'heartbeat' ? createHeartbeatToken(documents, id) : {}),
  async alongside(documents, { before, after }) {
    const id = (after ?? before)?.id ?? '';
    await deleteReport(documents, { before, after });
    await syncManagedRules(documents, { checkId: id }, after === undefined ? [] : [[id, createAlertRule(id, after)]]);
    const isNoLongerBrowserCheck = before !== undefined && before.type === 'browser' && after?.type !== 'browser';
    if (isNoLongerBrowserCheck) await deleteMatching(documents.collection(syntheticPictures), { checkId: before.id });
    if (before?.type === 'heartbeat' && after?.type !== 'heartbeat')
      await deleteMatching(documents.collection(syntheticHeartbeatTokens), { id: before.id });
  },
  maxCount: maxChecks,
  list: {
    searched: ['name', 'description'],
    filters: { type: createEqualsFilter('type'), projectId: createEqualsFilter('projectId') },
    flags: createNoDataFlag('synthetic-check'),
  },
});
