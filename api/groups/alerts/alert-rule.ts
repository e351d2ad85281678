import { z } from 'zod';
import { requireEntitlement } from '../../../queries/entitlement.ts';
import { queryVersion } from '../../../queries/query.ts';
import { getQueryKind } from '../../../queries/query-kind.ts';
import { alertStates } from '../../../schemas/alerts.ts';
import type { CollectionDefinition, StoredMetadata, TenantDocuments } from '../../../schemas/ports/documents.ts';
import { alertRules, type StoredAlertRule } from '../../../schemas/resources/alert-rule.ts';
import { anomalyDetectors } from '../../../schemas/resources/anomaly-detector.ts';
import { minInterval, parseDurationMs } from '../../../subjects/alerts/durations.ts';
import { type ActiveAlert, readRuleStates } from '../../../subjects/alerts/history.ts';
import { AlertRuleFields, type AlertRuleFields as Fields, parseStoredRule } from '../../../subjects/alerts/rule.ts';
import { findStoredRuleProblems, type Problem } from '../../../subjects/alerts/rule-problems.ts';
import type { Caller } from '../../callers/caller.ts';
import { ApiError, createFieldErrors } from '../../errors.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { createNoDataFlag, deleteReportWith, HasNoData, readIdsWithoutData } from '../../resources/empty-results.ts';
import { defineResource } from '../../resources/resource.ts';
import { createEqualsFilter } from '../../resources/resource-list.ts';
import { type ResourceContext, type ResourceDefinition, storedView } from '../../resources/resource-spec.ts';
import { Staleness, toStalenessView } from './views.ts';

/** A rule with a condition that this version can parse. */
export type AlertRuleDocument = Fields & Pick<StoredAlertRule, 'queryVersion' | 'managedBy'>;

const Status = z
  .strictObject({
    state: z.enum(alertStates).describe('Most severe state of its alerts'),
    evaluatedAt: z.iso.datetime(),
    ...Staleness.shape,
    error: z.string().nullable().describe('Why the last evaluation failed; null if it succeeded'),
    groups: z.int().describe('Number of groups in the last evaluation'),
    firing: z.int().describe('Number of firing alerts'),
    durationMs: z.number().describe('Duration of the last evaluation'),
    lateMs: z.int().describe('Delay between its due time and its end'),
  })
  .nullable()
  .describe('Status after its last evaluation; null if there was none, or it is currently unavailable');

const ManagedBy = z
  .union([z.strictObject({ sloId: z.string() }), z.strictObject({ checkId: z.string() })])
  .nullable()
  .describe(
    'The SLO or synthetic check that manages the rule, which can only be changed through it; null for other rules',
  );

const View = z.strictObject({
  ...AlertRuleFields.shape,
  managedBy: ManagedBy,
  status: Status,
  hasNoData: HasNoData,
  ...storedView,
});

export const collection = alertRules as CollectionDefinition<object> as CollectionDefinition<AlertRuleDocument>;

const toStatus = (
  rule: AlertRuleDocument & StoredMetadata,
  ruleState: ActiveAlert | undefined,
  nowMs: number,
): z.input<typeof Status> =>
  ruleState === undefined
    ? null
    : {
        state: ruleState.state,
        groups: ruleState.groups,
        firing: ruleState.firing,
        error: ruleState.error || null,
        evaluatedAt: new Date(ruleState.evaluatedMs).toISOString(),
        ...toStalenessView(rule, ruleState.evaluatedMs, nowMs),
        durationMs: ruleState.durationMs,
        lateMs: ruleState.lateMs,
      };

const toViews = async (
  documents: readonly (AlertRuleDocument & StoredMetadata)[],
  context: ResourceContext,
): Promise<z.input<typeof View>[]> => {
  const { caller, ports } = context;
  const ids = documents.map(({ id }) => id);
  const [states, idsWithoutData] = await Promise.all([
    readRuleStates(createQueryReader(caller, ports), ids).catch((error: unknown) => {
      ports.log.warn({ error: String(error) }, 'the state of alert rules cannot be read');
      return new Map<string, ActiveAlert>();
    }),
    readIdsWithoutData('alert-rule', documents, context),
  ]);
  return documents.map((document) => ({
    ...AlertRuleFields.parse(
      Object.fromEntries(Object.entries(document).filter(([name]) => name in AlertRuleFields.shape)),
    ),
    id: document.id,
    version: document.version,
    createdAt: document.createdAt,
    updatedAt: document.updatedAt,
    managedBy: document.managedBy ?? null,
    status: toStatus(document, states.get(document.id), ports.clock.now()),
    hasNoData: idsWithoutData.has(document.id),
  }));
};

const requireUnmanaged = (before: Pick<AlertRuleDocument, 'managedBy'> | undefined): void => {
  const managedBy = before?.managedBy;
  if (!managedBy) return;
  const owner =
    'sloId' in managedBy
      ? `service level objective ${managedBy.sloId}: change query.alerting there (PUT /api/slos/${managedBy.sloId})`
      : `synthetic check ${managedBy.checkId}: change alerting there (PATCH /api/synthetics/checks/${managedBy.checkId})`;
  throw new ApiError('CONFLICT', `the rule is managed by the ${owner}`);
};

/** Returns an error for each missing object that a condition references. Throws if the plan does not include its data source. */
const findMissingReferences = async (
  condition: Fields['condition'],
  caller: Caller,
  tenantDocuments: Pick<TenantDocuments, 'collection'>,
): Promise<Problem[]> => {
  if (condition.kind === 'composite') {
    const ruleCollection = tenantDocuments.collection(collection);
    const rules = Object.entries(condition.rules);
    const referencedRules = await Promise.all(
      rules.map(async ([name, id]) => ({ name, id, rule: await ruleCollection.find(id) })),
    );
    return referencedRules.flatMap(({ name, id, rule }) =>
      rule === undefined ? [{ path: `condition.rules.${name}`, message: `alert rule ${id} does not exist` }] : [],
    );
  }
  const { query } = condition;
  if (getQueryKind(query).isPrediction === true) requireEntitlement(caller, 'ai');
  const detectorId = 'detectorId' in query ? query.detectorId : undefined;
  if (detectorId === undefined || (await tenantDocuments.collection(anomalyDetectors).find(detectorId)) !== undefined)
    return [];
  return [{ path: 'condition.query.detectorId', message: `anomaly detector ${detectorId} does not exist` }];
};

const prepare: NonNullable<
  ResourceDefinition<typeof AlertRuleFields, AlertRuleDocument, typeof View>['prepare']
> = async (after, { caller, forTenant, before }) => {
  requireUnmanaged(before);
  const problems = findStoredRuleProblems(after);
  if (parseDurationMs(after.interval) < parseDurationMs(minInterval))
    problems.push({
      path: 'interval',
      message: `must be a duration from ${minInterval} to 1d, such as 30s, 5m or 1h`,
    });
  problems.push(...(await findMissingReferences(after.condition, caller, forTenant(caller.tenantId))));
  if (problems.length > 0) throw createFieldErrors(problems);
  return { ...after, queryVersion };
};

const sharedDefinition: Omit<
  ResourceDefinition<typeof AlertRuleFields, AlertRuleDocument, typeof View>,
  'noun' | 'plural' | 'path' | 'verbs'
> = {
  collection,
  roles: { read: 'viewer', write: 'editor' },
  fields: AlertRuleFields,
  example: {
    name: 'Errors of a service',
    description: 'More than 100 error records in five minutes',
    condition: {
      kind: 'threshold',
      query: {
        kind: 'aggregate',
        signal: 'logs',
        search: 'severity:error',
        measures: [{ function: 'count' }],
        groupBy: ['service'],
      },
      window: '5m',
      thresholds: [
        { severity: 'warning', operator: 'above', value: 100, recovery: 80 },
        { severity: 'critical', operator: 'above', value: 1000 },
      ],
    },
    for: '2m',
    labels: { team: 'shop' },
    annotations: { summary: '{{ $labels.service }} logged {{ $value }} errors' },
  },
  view: View,
  live: true,
  initial: () => ({ queryVersion }),
  prepare,
  rejectRemoval: requireUnmanaged,
  show: toViews,
  alongside: deleteReportWith('alert-rule'),
  list: {
    searched: ['name', 'description'],
    filters: { projectId: createEqualsFilter('projectId') },
    flags: createNoDataFlag('alert-rule'),
  },
};

/** Alert rules, shared by both versions of the API: the same documents. */
export const alertRuleResource = defineResource<typeof AlertRuleFields, AlertRuleDocument, typeof View>({
  ...sharedDefinition,
  noun: 'alert rule',
  path: '/api/alerts/rules',
  verbs: ['list', 'create', 'read', 'replace', 'patch', 'delete'],
});

export const alertRuleResourceV2 = defineResource<typeof AlertRuleFields, AlertRuleDocument, typeof View>({
  ...sharedDefinition,
  noun: 'alert rule v2',
  plural: 'alert rules v2',
  path: '/api/v2/alerts/rules',
  verbs: ['list', 'create', 'read', 'replace', 'delete'],
});

/** Parses a stored rule for its evaluation; undefined if this version cannot parse it. */
export const parseRuleDocument = (document: AlertRuleDocument & StoredMetadata) => parseStoredRule(document);
