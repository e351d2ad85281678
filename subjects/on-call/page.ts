/** A page as the ledger of deliveries sends it. */
import { hashOf } from '../../runtime/hash-of.ts';
import type { Notification } from '../../schemas/notifications.ts';
import type { Stored } from '../../schemas/ports/documents.ts';
import type { Incident } from '../../schemas/resources/incident.ts';
import type { PendingDelivery } from '../../schemas/resources/notification-delivery.ts';
import type { Page } from './escalation.ts';
import { sinceOf } from './incident-escalation.ts';

/** What deliveries of pages of an incident are grouped by. */
export const pageGroupOf = (incidentId: string): string => `incident/${incidentId}`;

/** The contact of a person who has named none: mail to the account. */
const accountMail = 'account-mail';

/** Who pages. */
export interface Paging {
  readonly tenantId: string;
  readonly policyName: string;
  readonly nowMs: number;
}

const notificationOf = (
  incident: Incident & Stored,
  { id, round, step, to }: Page,
  { tenantId, policyName, nowMs }: Paging,
): Notification => {
  const { title, summary, severity, services, alertIds } = incident;
  const sinceMs = Date.parse(sinceOf(incident));
  const [service] = services;
  const labels = {
    alertname: title,
    severity,
    ...(service !== undefined && { service: services.join(', ').slice(0, 256) }),
  };
  const by =
    step === null ? 'No step reached anybody, so the owners are paged' : `Step ${step + 1}, round ${round + 1}`;
  return {
    ...{ tenantId, id, channelId: to.kind === 'channel' ? to.id : '', receiver: policyName },
    ...{ groupKey: pageGroupOf(incident.id), groupLabels: {}, commonLabels: labels, commonAnnotations: {} },
    ...{ status: 'firing', reason: round === 0 ? 'first' : 'repeated', firing: Math.max(1, alertIds.length) },
    ...{ resolved: 0, truncatedAlerts: 0, atMs: nowMs },
    alerts: [
      {
        ...{ alertId: incident.id, ruleId: '', status: 'firing', labels, startsAtMs: sinceMs, value: null },
        annotations: summary === '' ? {} : { summary },
        reason: `${by}, escalation policy ${policyName}`,
      },
    ],
    page: { incidentId: incident.id, userId: to.kind === 'person' ? to.id : null, sinceMs },
  };
};

/** A page as it waits to be sent. Its id follows from the page and the contact, so the same page is one delivery. */
export const deliveryOf = (
  incident: Incident & Stored,
  page: Page,
  paging: Paging,
): PendingDelivery & { readonly id: string } => {
  const { to } = page;
  const contact = to.kind === 'person' ? accountMail : '';
  const id = `page-${hashOf(page.id, contact)}`;
  const channelId = to.kind === 'channel' ? to.id : '';
  const queuedAt = new Date(paging.nowMs).toISOString();
  return {
    ...{ id, channelId, queuedAt, attempts: 0, dueAt: queuedAt, endedAt: null },
    // Pages of a person do not wait for each other.
    lane: to.kind === 'channel' ? `${to.id}/${pageGroupOf(incident.id)}` : `person ${to.id}/${id}`,
    notification: notificationOf(incident, { ...page, id }, paging),
  };
};
