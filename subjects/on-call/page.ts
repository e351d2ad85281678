/** Converts a page to an entry of the delivery ledger */
import { computeHashId } from '../../runtime/hash-id.ts';
import type { Notification, NotifiedAlert } from '../../schemas/notifications.ts';
import type { StoredMetadata } from '../../schemas/ports/documents.ts';
import type { Incident } from '../../schemas/resources/incident.ts';
import type { PendingDelivery } from '../../schemas/resources/notification-delivery.ts';
import { truncate } from '../notification-channels/template.ts';
import type { Page } from './escalation.ts';
import { getEscalationStart } from './incident-escalation.ts';
import type { PageContact } from './people.ts';

/** Returns the group of deliveries of pages of an incident. */
export const getPageGroupKey = (incidentId: string): string => `incident/${incidentId}`;

const maxSummaryLength = 1000;

/** Part of a delivery id for a contact that is the account's email */
const accountEmailKey = 'account-mail';

/** Organization, policy and time of a page */
export interface PagingContext {
  readonly tenantId: string;
  readonly policyName: string;
  readonly nowMs: number;
}

/** Returns the labels of an incident in notifications. */
export const getIncidentLabels = ({ title, severity, services }: Incident): Record<string, string> => ({
  alertname: title,
  severity,
  ...(services.length > 0 && { service: services.join(', ').slice(0, 256) }),
});

/** Returns the lane that serializes notifications of an incident to a channel in which pages open an item. */
export const getItemLane = (channelId: string, incidentId: string): string =>
  `${channelId}/${getPageGroupKey(incidentId)}`;

/** Returns the id of the channel or contact; empty for the account's email. */
const getReceiverChannelId = (to: Page['to'], contact: PageContact | undefined): string =>
  to.kind === 'channel' ? to.id : (contact?.id ?? '');

/** Returns alerts, the first one with one more reason. */
export const addReason = (alerts: readonly NotifiedAlert[], reason: string): NotifiedAlert[] =>
  alerts.map((alert, index) =>
    index > 0 ? alert : { ...alert, reason: [alert.reason, reason].filter(Boolean).join('\n').slice(0, 4096) },
  );

const createNotification = (
  incident: Incident & StoredMetadata,
  { id, round, step, to, contact }: Page & { readonly contact: PageContact | undefined },
  { tenantId, policyName, nowMs }: PagingContext,
): Notification => {
  const { summary, alertIds, notifiedAlerts = [] } = incident;
  const sinceMs = Date.parse(getEscalationStart(incident));
  const labels = getIncidentLabels(incident);
  const explanation =
    step === null ? 'No step reached anyone, so the owners are paged' : `Step ${step + 1}, round ${round + 1}`;
  return {
    tenantId,
    id,
    channelId: getReceiverChannelId(to, contact),
    receiver: policyName,
    groupKey: getPageGroupKey(incident.id),
    groupLabels: {},
    commonLabels: labels,
    commonAnnotations: {},
    status: 'firing',
    reason: round === 0 ? 'first' : 'repeated',
    firing: Math.max(1, alertIds.length),
    resolved: 0,
    truncatedAlerts: Math.max(0, alertIds.length - Math.max(1, notifiedAlerts.length)),
    atMs: nowMs,
    alerts: addReason(
      notifiedAlerts.length > 0
        ? notifiedAlerts
        : [
            {
              alertId: incident.id,
              ruleId: '',
              status: 'firing',
              labels,
              startsAtMs: sinceMs,
              value: null,
              // In short messages, the link after the summary is more important.
              annotations: summary === '' ? {} : { summary: truncate(summary, maxSummaryLength) },
            },
          ],
      `${explanation}, escalation policy ${policyName}`,
    ),
    page: { incidentId: incident.id, userId: to.kind === 'person' ? to.id : null, sinceMs },
  };
};

/**
 * Returns a queued page for a channel or one contact of a person. Its id is derived from the page and the contact, so
 * the same page is delivered once.
 */
export const createPageDelivery = (
  incident: Incident & StoredMetadata,
  page: Page,
  { contact, ...paging }: PagingContext & { readonly contact?: PageContact },
): PendingDelivery & { readonly id: string } => {
  const { to } = page;
  const id = `page-${computeHashId(page.id, to.kind === 'person' ? (contact?.id ?? accountEmailKey) : '')}`;
  const channelId = getReceiverChannelId(to, contact);
  const toIsoTime = (ms: number): string => new Date(ms).toISOString();
  return {
    id,
    channelId,
    queuedAt: toIsoTime(paging.nowMs),
    attempts: 0,
    endedAt: null,
    dueAt: toIsoTime(paging.nowMs + (contact?.afterMinutes ?? 0) * 60_000),
    // Pages of a person do not wait for each other, unless an end notification must not overtake them.
    lane: to.kind === 'channel' || contact?.opens ? getItemLane(channelId, incident.id) : `person ${to.id}/${id}`,
    notification: createNotification(incident, { ...page, id, contact }, paging),
  };
};
