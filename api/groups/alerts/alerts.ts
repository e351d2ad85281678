import { z } from 'zod';
import {
  cursorParameter,
  decodeCursor,
  decodeText,
  encodeCursor,
  encodeText,
  nonEmptyTextPattern,
  uint64Pattern,
} from '../../../queries/cursor.ts';
import { alertStates } from '../../../schemas/alerts.ts';
import { ConflictError } from '../../../schemas/ports/documents.ts';
import { type AlertAcknowledgement, alertAcknowledgements } from '../../../schemas/resources/alert-rule.ts';
import { alertAnnotations, alertLabels } from '../../../subjects/alerts/evaluate.ts';
import { type ActiveAlert, type AlertFilter, readAlerts } from '../../../subjects/alerts/history.ts';
import { type ActivePlatformAlert, platformRuleId } from '../../../subjects/alerts/platform-alerts.ts';
import { createTemplateQuery } from '../../../subjects/alerts/query-text.ts';
import type { AlertRule } from '../../../subjects/alerts/rule.ts';
import { type QueryResultLookup, renderWithQueries } from '../../../subjects/alerts/templates/queries.ts';
import type { Caller } from '../../callers/caller.ts';
import { ApiError, createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { Ports } from '../../kernel/ports.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { collection, parseRuleDocument } from './alert-rule.ts';
import { createMutingLookup } from './muting-lookup.ts';
import { listFiringPlatformAlerts } from './platform-alerts.ts';
import { GroupView, Staleness, toGroupView, toIsoTime, toStalenessView } from './views.ts';

const activeStates = alertStates.filter((state) => state !== 'inactive');

const AcknowledgementView = z.strictObject({ by: z.string(), at: z.string(), note: z.string() });

const AlertView = z.strictObject({
  id: z.string(),
  origin: z
    .enum(['rule', 'platform'])
    .describe(
      'platform: an alert of the platform about itself: rules are not evaluated, records are late, or a notification channel fails',
    ),
  ruleId: z.string().describe('`platform` if the origin is platform'),
  ruleName: z.string(),
  ...GroupView.omit({ alertId: true }).shape,
  labels: z.record(z.string(), z.string()).describe('All labels, including those of the rule'),
  annotations: z.record(z.string(), z.string()),
  projectId: z.string(),
  evaluatedAt: z.string().nullable(),
  ...Staleness.shape,
  acknowledged: AcknowledgementView.nullable().describe('Acknowledgement since it began to fire'),
  silencedBy: z.array(z.string()).describe('IDs of the silences that mute its notifications now'),
  inhibitedBy: z
    .array(z.string())
    .describe('ID of a firing alert that mutes its notifications, by an inhibition rule of the routing document'),
});
/** An alert without its silences and inhibitions. */
type BaseAlertView = Omit<z.input<typeof AlertView>, 'silencedBy' | 'inhibitedBy'>;

/** Alerts with the data of their rules; alerts of deleted rules are omitted. */
const toRuleAlertViews = async (
  alerts: readonly ActiveAlert[],
  caller: Caller,
  ports: Ports,
): Promise<BaseAlertView[]> => {
  const tenantDocuments = ports.documents.forTenant(caller.tenantId);
  const ids = [...new Set(alerts.map(({ ruleId }) => ruleId))];
  const rules = new Map(
    await Promise.all(ids.map(async (id) => [id, await tenantDocuments.collection(collection).find(id)] as const)),
  );
  const marks = await Promise.all(
    alerts.map(({ alertId }) => tenantDocuments.collection(alertAcknowledgements).find(alertId)),
  );
  return renderWithQueries(
    (queryResults) =>
      alerts.flatMap((alert, index) => {
        const document = rules.get(alert.ruleId);
        const rule = document && parseRuleDocument(document);
        if (rule === undefined) return [];
        const stored = { ...rule, updatedAt: document?.updatedAt ?? '' };
        return toRuleAlertView(alert, stored, { queryResults, mark: marks[index], nowMs: ports.clock.now() });
      }),
    createTemplateQuery(createQueryReader(caller, ports)),
  );
};

interface ViewContext {
  readonly queryResults: QueryResultLookup;
  readonly mark: AlertAcknowledgement | undefined;
  readonly nowMs: number;
}

const toRuleAlertView = (
  alert: ActiveAlert,
  rule: AlertRule & { readonly updatedAt: string },
  { queryResults, mark, nowMs }: ViewContext,
): BaseAlertView => {
  const { alertId, ruleId, startedAtMs, labels, value } = alert;
  const templateValues = { labels, value, severity: alert.severity ?? 'info', atMs: alert.evaluatedMs };
  return {
    id: alertId,
    origin: 'rule',
    ruleId,
    ruleName: rule.name,
    projectId: alert.projectId,
    evaluatedAt: toIsoTime(alert.evaluatedMs),
    ...toStalenessView(rule, alert.evaluatedMs, nowMs),
    state: alert.state,
    severity: alert.severity,
    value,
    reason: alert.reason,
    since: toIsoTime(alert.sinceMs),
    startedAt: toIsoTime(startedAtMs),
    labels: alertLabels(rule, templateValues),
    annotations: alertAnnotations(rule, templateValues, queryResults),
    acknowledged: toAcknowledgementView(getCurrentAcknowledgement(mark, startedAtMs)),
  };
};

const toAcknowledgementView = (mark: AlertAcknowledgement | undefined): z.input<typeof AcknowledgementView> | null =>
  mark === undefined ? null : { by: mark.by, at: mark.at, note: mark.note };

const toPlatformAlertViews = async (
  alerts: readonly ActivePlatformAlert[],
  { tenantId }: Caller,
  { documents }: Ports,
): Promise<BaseAlertView[]> => {
  const marks = documents.forTenant(tenantId).collection(alertAcknowledgements);
  return Promise.all(
    alerts.map(async ({ alertId, ruleId, ruleName, projectId, annotations, evaluatedMs, ...alert }) => {
      const { labels, state, severity, value, reason, sinceMs, startedAtMs } = alert;
      return {
        id: alertId,
        origin: 'platform' as const,
        ruleId,
        ruleName,
        projectId,
        evaluatedAt: toIsoTime(evaluatedMs),
        stale: false,
        staleSince: null,
        state,
        severity,
        value,
        reason,
        since: toIsoTime(sinceMs),
        startedAt: toIsoTime(startedAtMs),
        labels: { ...labels },
        annotations: { ...annotations },
        acknowledged: toAcknowledgementView(getCurrentAcknowledgement(await marks.find(alertId), startedAtMs)),
      };
    }),
  );
};

const readPlatformAlerts = async (
  { tenantId }: Caller,
  { documents, clock }: Ports,
  { ruleIds, alertId, states, after }: AlertFilter,
): Promise<ActivePlatformAlert[]> =>
  (await listFiringPlatformAlerts(documents, tenantId, clock.now()))
    .filter((alert) => states.includes(alert.state) && (ruleIds?.includes(alert.ruleId) ?? true))
    .filter((alert) => alertId === undefined || alert.alertId === alertId)
    .filter((alert) => after === undefined || isAfterCursor(alert, after));

/** Sorts by start, the newest first, like `readAlerts`. */
const compareByStart = (left: ActiveAlert, right: ActiveAlert): number =>
  (right.sinceMs ?? 0) - (left.sinceMs ?? 0) || (left.alertId < right.alertId ? -1 : 1);

const isAfterCursor = ({ sinceMs, alertId }: ActiveAlert, after: NonNullable<AlertFilter['after']>): boolean =>
  (sinceMs ?? 0) < Number(after.sinceMs) || ((sinceMs ?? 0) === Number(after.sinceMs) && alertId > after.alertId);

/** Reads the alerts of rules and of the platform, sorted together. */
const readAllAlerts = async (caller: Caller, ports: Ports, filter: AlertFilter, limit: number) => {
  const [ruleAlerts, platformAlertList] = await Promise.all([
    readAlerts(createQueryReader(caller, ports), filter, limit),
    readPlatformAlerts(caller, ports, filter),
  ]);
  return [...ruleAlerts, ...platformAlertList].sort(compareByStart).slice(0, limit);
};

const isPlatformAlert = (alert: ActiveAlert): alert is ActivePlatformAlert => alert.ruleId === platformRuleId;

/** Converts alerts to their API views, in the same order. */
const toAlertViews = async (
  alerts: readonly ActiveAlert[],
  caller: Caller,
  ports: Ports,
): Promise<z.input<typeof AlertView>[]> => {
  const [ruleAlertViews, platformAlertViews, findMuting] = await Promise.all([
    toRuleAlertViews(
      alerts.filter((alert) => !isPlatformAlert(alert)),
      caller,
      ports,
    ),
    toPlatformAlertViews(alerts.filter(isPlatformAlert), caller, ports),
    createMutingLookup(caller, ports),
  ]);
  const byId = new Map([...ruleAlertViews, ...platformAlertViews].map((view) => [view.id, view]));
  return alerts
    .flatMap(({ alertId }) => byId.get(alertId) ?? [])
    .map((view) => {
      const { silencedBy, inhibitedBy } = findMuting(view.labels);
      return { ...view, silencedBy, inhibitedBy };
    });
};

/** Returns the acknowledgement if it belongs to the current firing of the alert; each applies to one firing only. */
const getCurrentAcknowledgement = (
  mark: AlertAcknowledgement | undefined,
  startedAtMs: number | null,
): AlertAcknowledgement | undefined => (mark?.startedAtMs === (startedAtMs ?? 0) ? mark : undefined);

const knownStates = new Set<string>(alertStates);

export const listAlerts = defineOperation({
  method: 'GET',
  path: '/api/alerts',
  operationId: 'listAlerts',
  summary: 'List current alerts, the most recently started first',
  role: 'viewer',
  query: z.strictObject({
    state: z
      .string()
      .max(128)
      .refine(
        (text) => text.split(',').every((value) => knownStates.has(value)),
        `must be some of ${alertStates.join(',')}`,
      )
      .optional()
      .describe(`Comma-separated, of ${alertStates.join(', ')}; default: all but inactive`),
    ruleId: z.string().max(128).optional(),
    alertId: z.string().min(1).max(128).optional().describe('Only this alert, in any state by default'),
    limit: z.coerce.number().int().min(1).max(1000).default(100),
    cursor: cursorParameter,
  }),
  response: z.strictObject({ items: z.array(AlertView), nextCursor: z.string().nullable() }),
  async handler({ caller, query }, ports) {
    const [sinceMs = '', after = ''] =
      query.cursor === undefined ? [] : decodeCursor('alerts', query.cursor, [uint64Pattern, nonEmptyTextPattern]);
    const filter = {
      states:
        query.state === undefined
          ? query.alertId === undefined
            ? activeStates
            : alertStates
          : alertStates.filter((state) => query.state?.split(',').includes(state)),
      ruleIds: query.ruleId === undefined ? undefined : [query.ruleId],
      alertId: query.alertId,
      after: query.cursor === undefined ? undefined : { sinceMs, alertId: decodeText(after) },
    };
    const alerts = await readAllAlerts(caller, ports, filter, query.limit + 1);
    const page = alerts.slice(0, query.limit);
    const last = page.at(-1);
    const hasNext = alerts.length > query.limit && last !== undefined;
    return {
      items: await toAlertViews(page, caller, ports),
      nextCursor: hasNext ? encodeCursor('alerts', [last.sinceMs ?? 0, encodeText(last.alertId)]) : null,
    };
  },
});

export const acknowledgeAlert = defineOperation({
  method: 'POST',
  path: '/api/alerts/{id}/acknowledge',
  operationId: 'acknowledgeAlert',
  summary: 'Acknowledge an alert: its notifications are not repeated while it is active',
  role: 'editor',
  audit: 'alert.acknowledge',
  params: idParameter,
  body: z.strictObject({ note: z.string().max(2048).default('') }),
  response: AlertView,
  async handler({ caller, params, body, change }, ports) {
    const [alert] = await readAllAlerts(caller, ports, { alertId: params.id, states: activeStates }, 1);
    const [alertView] = alert === undefined ? [] : await toAlertViews([alert], caller, ports);
    if (alert === undefined || alertView === undefined) throw createNotFoundError('alert');
    const mark: AlertAcknowledgement = {
      ruleId: alert.ruleId,
      startedAtMs: alert.startedAtMs ?? 0,
      by: caller.actor.id,
      note: body.note,
      at: new Date(ports.clock.now()).toISOString(),
    };
    try {
      await change(async (scope) => {
        const marks = scope.forTenant(caller.tenantId).collection(alertAcknowledgements);
        const before = await marks.find(params.id);
        if (before === undefined) await marks.insert({ id: params.id, ...mark });
        else await marks.replace(params.id, mark, before.version);
        scope.record({
          id: params.id,
          name: alertView.ruleName,
          before: getCurrentAcknowledgement(before, alert.startedAtMs),
          after: mark,
        });
      });
    } catch (error) {
      if (error instanceof ConflictError)
        throw new ApiError('CONFLICT', 'somebody else acknowledged the alert at the same time: read it again');
      throw error;
    }
    return { ...alertView, acknowledged: { by: mark.by, at: mark.at, note: mark.note } };
  },
});

export const listRuleGroups = defineOperation({
  method: 'GET',
  path: '/api/v2/alerts/rules/{id}/groups',
  operationId: 'listAlertRuleGroups',
  summary: 'List the groups of an alert rule in its last evaluation, with state, value and reason',
  role: 'viewer',
  params: idParameter,
  query: z.strictObject({ limit: z.coerce.number().int().min(1).max(10_000).default(1000) }),
  response: z.strictObject({
    items: z.array(z.strictObject({ ...GroupView.shape, evaluatedAt: z.string().nullable() })),
    nextCursor: z.null(),
    isTruncated: z.boolean().describe('Whether there are more'),
  }),
  async handler({ caller, params, query }, ports) {
    const rule = await ports.documents.forTenant(caller.tenantId).collection(collection).find(params.id);
    if (rule === undefined) throw createNotFoundError('alert rule');
    const alerts = await readAlerts(
      createQueryReader(caller, ports),
      { ruleIds: [rule.id], states: alertStates },
      query.limit + 1,
    );
    const items = alerts
      .slice(0, query.limit)
      .map(({ alertId, labels, state, severity, value, reason, sinceMs, startedAtMs, evaluatedMs }) => ({
        ...toGroupView({ alertId, labels, state, severity, value, reason, sinceMs, startedAtMs }),
        evaluatedAt: toIsoTime(evaluatedMs),
      }));
    return { items, nextCursor: null, isTruncated: alerts.length > query.limit };
  },
});
