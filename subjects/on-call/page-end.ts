/** Notifies services in which pages opened an item that the incident was acknowledged or resolved */
import { hashOf } from '../../runtime/hash-of.ts';
import type { Stored } from '../../schemas/ports/documents.ts';
import type { Escalation, PageOpening } from '../../schemas/resources/escalation.ts';
import type { Incident } from '../../schemas/resources/incident.ts';
import type { PendingDelivery } from '../../schemas/resources/notification-delivery.ts';
import type { EscalationCheck } from './incident-escalation.ts';
import { labelsOf, openingLane, type Paging, pageGroupOf } from './page.ts';

/** End notification: acknowledged, or resolved. Items that must be opened again are resolved first. */
type PageEndKind = 'acknowledged' | 'resolved';

/**
 * Returns the notification to send to services in which pages opened an item, based on an evaluation; `undefined` if
 * there is none.
 */
export const decidePageEnd = (
  { status }: Pick<Incident, 'status'>,
  known: { readonly key: string; readonly state: Escalation } | undefined,
  { key, isTimedOut }: Pick<EscalationCheck, 'key' | 'isTimedOut'>,
): PageEndKind | undefined => {
  // If the item remained open, the service would deduplicate the next page into it.
  if (isTimedOut || (status === 'open' && known !== undefined && known.key !== key)) return 'resolved';
  if (status === 'open') return undefined;
  return status === 'acknowledged' ? 'acknowledged' : 'resolved';
};

/**
 * Returns the queued notification, ordered after the pages of the incident, and before pages queued at the same time.
 */
export const toPageEndDelivery = (
  incident: Incident & Stored,
  { channelId, userId }: PageOpening,
  endKind: PageEndKind,
  { tenantId, policyName, nowMs }: Paging,
): PendingDelivery & { readonly id: string } => {
  const { id: incidentId, title, openedAt, reopenedAt, acknowledgedAt } = incident;
  const id = `page-end-${hashOf(incidentId, channelId, endKind, [reopenedAt, acknowledgedAt])}`;
  const queuedAt = new Date(nowMs - 1).toISOString();
  const labels = labelsOf(incident);
  const startsAtMs = Date.parse(reopenedAt ?? openedAt);
  const isOver = endKind === 'resolved';
  const count = Math.max(1, incident.alertIds.length);
  return {
    id,
    channelId,
    lane: openingLane(channelId, incidentId),
    queuedAt,
    attempts: 0,
    dueAt: queuedAt,
    endedAt: null,
    notification: {
      tenantId,
      id,
      channelId,
      receiver: policyName,
      groupKey: pageGroupOf(incidentId),
      groupLabels: {},
      commonLabels: labels,
      commonAnnotations: {},
      status: isOver ? 'resolved' : 'firing',
      reason: endKind,
      firing: isOver ? 0 : count,
      resolved: isOver ? count : 0,
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
          status: isOver ? 'resolved' : 'firing',
          ...(isOver && { endsAtMs: Math.max(nowMs, startsAtMs) }),
          reason: isOver ? `the incident “${title}” no longer needs a page` : 'the incident was acknowledged',
        },
      ],
      page: { incidentId, userId, sinceMs: startsAtMs, isEnd: true },
    },
  };
};
