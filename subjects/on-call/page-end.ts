/**
 * Notifies external services (such as PagerDuty), in which a page opened an item, that the incident was acknowledged
 * or resolved
 */
import { computeHashId } from '../../runtime/hash-id.ts';
import type { StoredMetadata } from '../../schemas/ports/documents.ts';
import type { Escalation, PageOpening } from '../../schemas/resources/escalation.ts';
import type { Incident } from '../../schemas/resources/incident.ts';
import type { PendingDelivery } from '../../schemas/resources/notification-delivery.ts';
import type { EscalationCheck } from './incident-escalation.ts';
import { getIncidentLabels, getItemLane, getPageGroupKey, type PagingContext } from './page.ts';

/** Kind of an end notification. An item that the next page must open again is resolved first. */
type PageEndKind = 'acknowledged' | 'resolved';

/**
 * Returns the notification to send to services in which pages opened an item, based on an evaluation; `undefined` if
 * there is none.
 */
export const decidePageEnd = (
  { status }: Pick<Incident, 'status'>,
  storedEscalation: { readonly key: string; readonly state: Escalation } | undefined,
  { key, isTimedOut }: Pick<EscalationCheck, 'key' | 'isTimedOut'>,
): PageEndKind | undefined => {
  // If the item remained open, the service would deduplicate the next page into it.
  if (isTimedOut || (status === 'open' && storedEscalation !== undefined && storedEscalation.key !== key))
    return 'resolved';
  if (status === 'open') return undefined;
  return status === 'acknowledged' ? 'acknowledged' : 'resolved';
};

/**
 * Returns the queued notification, ordered after the pages of the incident, and before pages queued at the same time.
 */
export const toPageEndDelivery = (
  incident: Incident & StoredMetadata,
  { channelId, userId }: PageOpening,
  endKind: PageEndKind,
  { tenantId, policyName, nowMs }: PagingContext,
): PendingDelivery & { readonly id: string } => {
  const { id: incidentId, title, openedAt, reopenedAt, acknowledgedAt } = incident;
  const id = `page-end-${computeHashId(incidentId, channelId, endKind, [reopenedAt, acknowledgedAt])}`;
  const queuedAt = new Date(nowMs - 1).toISOString();
  const labels = getIncidentLabels(incident);
  const startsAtMs = Date.parse(reopenedAt ?? openedAt);
  const isResolved = endKind === 'resolved';
  const count = Math.max(1, incident.alertIds.length);
  return {
    id,
    channelId,
    lane: getItemLane(channelId, incidentId),
    queuedAt,
    attempts: 0,
    dueAt: queuedAt,
    endedAt: null,
    notification: {
      tenantId,
      id,
      channelId,
      receiver: policyName,
      groupKey: getPageGroupKey(incidentId),
      groupLabels: {},
      commonLabels: labels,
      commonAnnotations: {},
      status: isResolved ? 'resolved' : 'firing',
      reason: endKind,
      firing: isResolved ? 0 : count,
      resolved: isResolved ? count : 0,
      truncatedAlerts: 0,
      atMs: nowMs,
      alerts: [
        {
          alertId: incidentId,
          ruleId: '',
          labels,
          annotations: {},
          startsAtMs,
          value: null,
          status: isResolved ? 'resolved' : 'firing',
          ...(isResolved && { endsAtMs: Math.max(nowMs, startsAtMs) }),
          reason: isResolved ? `the incident “${title}” no longer needs a page` : 'the incident was acknowledged',
        },
      ],
      page: { incidentId, userId, sinceMs: startsAtMs, isEnd: true },
    },
  };
};
