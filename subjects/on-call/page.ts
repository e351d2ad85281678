/** Converts a page to an entry of the delivery ledger */
import { hashOf } from '../../runtime/hash-of.ts';
import type { Notification } from '../../schemas/notifications.ts';
import type { Stored } from '../../schemas/ports/documents.ts';
import type { Incident } from '../../schemas/resources/incident.ts';
import type { PendingDelivery } from '../../schemas/resources/notification-delivery.ts';
import { cut } from '../notification-channels/template.ts';
import type { Page } from './escalation.ts';
import { sinceOf } from './incident-escalation.ts';
import type { PageContact } from './people.ts';

/** Returns the group of deliveries of pages of an incident. */
export const pageGroupOf = (incidentId: string): string => `incident/${incidentId}`;

const maxSummaryLength = 1000;

/** Part of a delivery id for a contact that is the account's email */
const accountMail = 'account-mail';

/** Who pages. */
export interface Paging {
  readonly tenantId: string;
  readonly policyName: string;
  readonly nowMs: number;
}

/** Returns the labels of an incident in notifications. */
export const labelsOf = ({ title, severity, services }: Incident): Record<string, string> => ({
  alertname: title,
  severity,
  ...(services.length > 0 && { service: services.join(', ').slice(0, 256) }),
});

/** Returns the lane that serializes notifications of an incident to a channel in which pages open an item. */
export const openingLane = (channelId: string, incidentId: string): string => `${channelId}/${pageGroupOf(incidentId)}`;

/** Returns the id of the channel or contact; empty for the account's email. */
const channelOf = (to: Page['to'], contact: PageContact | undefined): string =>
  to.kind === 'channel' ? to.id : (contact?.id ?? '');

const notificationOf = (
  incident: Incident & Stored,
  { id, round, step, to, contact }: Page & { readonly contact: PageContact | undefined },
  { tenantId, policyName, nowMs }: Paging,
): Notification => {
  const { summary, alertIds } = incident;
  const sinceMs = Date.parse(sinceOf(incident));
  const labels = labelsOf(incident);
  const by = step === null ? 'No step reached anyone, so the owners are paged' : `Step ${step + 1}, round ${round + 1}`;
  return {
    tenantId,
    id,
    channelId: channelOf(to, contact),
    receiver: policyName,
    groupKey: pageGroupOf(incident.id),
    groupLabels: {},
    commonLabels: labels,
    commonAnnotations: {},
    status: 'firing',
    reason: round === 0 ? 'first' : 'repeated',
    firing: Math.max(1, alertIds.length),
    resolved: 0,
    truncatedAlerts: 0,
    atMs: nowMs,
    alerts: [
      {
        alertId: incident.id,
        ruleId: '',
        status: 'firing',
        labels,
        startsAtMs: sinceMs,
        value: null,
        // In short messages, the link after the summary is more important.
        annotations: summary === '' ? {} : { summary: cut(summary, maxSummaryLength) },
        reason: `${by}, escalation policy ${policyName}`,
      },
    ],
    page: { incidentId: incident.id, userId: to.kind === 'person' ? to.id : null, sinceMs },
  };
};

/**
 * Returns a queued page for a channel or one contact of a person. Its id is derived from the page and the contact, so
 * the same page is delivered once.
 */
export const deliveryOf = (
  incident: Incident & Stored,
  page: Page,
  { contact, ...paging }: Paging & { readonly contact?: PageContact },
): PendingDelivery & { readonly id: string } => {
  const { to } = page;
  const id = `page-${hashOf(page.id, to.kind === 'person' ? (contact?.id ?? accountMail) : '')}`;
  const channelId = channelOf(to, contact);
  const atOf = (ms: number): string => new Date(ms).toISOString();
  return {
    id,
    channelId,
    queuedAt: atOf(paging.nowMs),
    attempts: 0,
    endedAt: null,
    dueAt: atOf(paging.nowMs + (contact?.afterMinutes ?? 0) * 60_000),
    // Pages of a person do not wait for each other, unless an end notification must not overtake them.
    lane: to.kind === 'channel' || contact?.opens ? openingLane(channelId, incident.id) : `person ${to.id}/${id}`,
    notification: notificationOf(incident, { ...page, id, contact }, paging),
  };
};
