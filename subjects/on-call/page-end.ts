/** What tells a service where a page opened something that somebody sees to the incident, or that it is over. */
import { hashOf } from '../../runtime/hash-of.ts';
import type { Stored } from '../../schemas/ports/documents.ts';
import type { Escalation, PageOpening } from '../../schemas/resources/escalation.ts';
import type { Incident } from '../../schemas/resources/incident.ts';
import type { PendingDelivery } from '../../schemas/resources/notification-delivery.ts';
import type { EscalationCheck } from './incident-escalation.ts';
import { labelsOf, openingLane, type Paging, pageGroupOf } from './page.ts';

/** What is told of an incident: that somebody sees to it, or that it is over, or to be opened anew. */
type PageEndKind = 'acknowledged' | 'resolved';

/** What is to be told where pages opened something, by what a look found; undefined for nothing. */
export const decidePageEnd = (
  { status }: Pick<Incident, 'status'>,
  known: { readonly key: string; readonly state: Escalation } | undefined,
  { key, isTimedOut }: Pick<EscalationCheck, 'key' | 'isTimedOut'>,
): PageEndKind | undefined => {
  // What stays open there would take the next page for the same.
  if (isTimedOut || (status === 'open' && known !== undefined && known.key !== key)) return 'resolved';
  if (status === 'open') return undefined;
  return status === 'acknowledged' ? 'acknowledged' : 'resolved';
};

/** It as it waits to be sent: behind the pages of the incident, and before those that are queued at the same time. */
export const endOf = (
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
          reason: isOver ? `the incident “${title}” needs no page any more` : 'somebody sees to the incident',
        },
      ],
      page: { incidentId, userId, sinceMs: startsAtMs, isEnd: true },
    },
  };
};
