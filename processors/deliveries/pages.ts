/**
 * Decides about a page before it is sent. A page is withdrawn once somebody handles the incident. A user gets at most
 * ten pages in five minutes.
 */
import type { Notification } from '../../schemas/notifications.ts';
import { ConflictError, type Documents } from '../../schemas/ports/documents.ts';
import { contacts } from '../../schemas/resources/contact.ts';
import { incidents } from '../../schemas/resources/incident.ts';
import type { NotificationChannel } from '../../schemas/resources/notification-channel.ts';
import { type PageRate, pageRates } from '../../schemas/resources/notification-delivery.ts';
import { getEscalationStart } from '../../subjects/on-call/incident-escalation.ts';
import { addReason } from '../../subjects/on-call/page.ts';
import {
  createPageKey,
  decidePage,
  getPageIncidentId,
  noRecentPages,
  type PageDecision,
  withdrawPage,
} from '../../subjects/on-call/page-rate.ts';
import { readMember } from '../../subjects/on-call/people.ts';

type Page = NonNullable<Notification['page']>;
type Reading = Pick<Documents, 'forTenant'>;

/** Decision about a page at this time. */
export type PageOutcome =
  | Extract<PageDecision, { kind: 'send' | 'wait' }>
  | { readonly kind: 'withdrawn'; readonly reason: string };

/** Returns why a page is no longer needed; undefined if it still is. */
const findEndReason = async (documents: Reading, tenantId: string, { incidentId, sinceMs }: Page) => {
  const incident = await documents.forTenant(tenantId).collection(incidents).find(incidentId);
  if (incident === undefined) return 'the incident was deleted';
  if (Date.parse(getEscalationStart(incident)) !== sinceMs)
    return 'the incident was resolved and reopened in the meantime';
  return incident.status === 'open' ? undefined : `the incident is ${incident.status}`;
};

/** Updates the recent pages of a user, based on the version that was read. */
const updateRate = async <Result>(
  documents: Reading,
  { tenantId, userId }: { readonly tenantId: string; readonly userId: string },
  change: (rate: PageRate) => { readonly rate: PageRate; readonly result: Result },
): Promise<Result> => {
  const rates = documents.forTenant(tenantId).collection(pageRates);
  for (;;) {
    const storedRate = await rates.find(userId);
    const currentRate = storedRate === undefined ? noRecentPages : { sent: storedRate.sent, rest: storedRate.rest };
    const { rate, result } = change(currentRate);
    try {
      if (rate === currentRate) return result;
      if (storedRate === undefined) await rates.insert({ id: userId, ...rate });
      else await rates.replace(userId, rate, storedRate.version);
      return result;
    } catch (error) {
      // Another page to this user updated the rate first; retry.
      if (!(error instanceof ConflictError)) throw error;
    }
  }
};

/** Decides whether a page is sent now, waits, or is withdrawn. Repeated calls return the same decision. */
export const decidePageOutcome = async (
  documents: Reading,
  notification: Notification & { readonly page: Page },
  nowMs: number,
): Promise<PageOutcome> => {
  const { tenantId, id: deliveryId, page, commonLabels } = notification;
  // Deliveries of a page to several contacts of a user count as one page.
  const id = createPageKey(page.incidentId, notification.atMs);
  const endReason = await findEndReason(documents, tenantId, page);
  const { userId } = page;
  if (userId === null)
    return endReason === undefined ? { kind: 'send', rest: [] } : { kind: 'withdrawn', reason: endReason };
  return updateRate(documents, { tenantId, userId }, (storedRate): { rate: PageRate; result: PageOutcome } => {
    const { rest } = storedRate;
    // Earlier versions stored the id of the delivery.
    const currentRate = rest?.id === deliveryId ? { ...storedRate, rest: { ...rest, id } } : storedRate;
    const rateWithoutPage = endReason === undefined ? undefined : withdrawPage(currentRate, id);
    if (endReason !== undefined && rateWithoutPage !== undefined)
      return { rate: rateWithoutPage, result: { kind: 'withdrawn', reason: endReason } };
    const { rate, decision } = decidePage(currentRate, { id, title: commonLabels['alertname'] ?? '' }, nowMs);
    if (decision.kind !== 'counted') return { rate, result: decision };
    const reason = `the person was sent 10 pages within five minutes: the page of incident ${getPageIncidentId(decision.inId)} counts this one`;
    return { rate, result: { kind: 'withdrawn', reason } };
  });
};

const maxTitles = 20;

/** Returns the page with the names of the other pages that it counts. */
export const addCountedPages = (
  notification: Notification,
  rest: Extract<PageOutcome, { kind: 'send' }>['rest'],
): Notification => {
  const titlesByIncident = new Map(rest.map(({ id, title }) => [getPageIncidentId(id), title]));
  titlesByIncident.delete(notification.page?.incidentId ?? '');
  const count = titlesByIncident.size;
  if (count === 0) return notification;
  const titles = [...titlesByIncident.values()].slice(0, maxTitles);
  const suffix = count > titles.length ? `, and ${count - titles.length} others` : '';
  const summary = `and ${count} more ${count === 1 ? 'incident' : 'incidents'}: ${titles.join(', ')}${suffix}`.slice(
    0,
    4000,
  );
  const alerts = addReason(notification.alerts, summary);
  const name = `${notification.commonLabels['alertname'] ?? ''} and ${count} more`;
  return { ...notification, alerts, commonLabels: { ...notification.commonLabels, alertname: name } };
};

/**
 * Returns the channel of a user: one of their contacts, or mail to the account. Undefined if the contact or the
 * user no longer exists.
 */
export const getUserChannel = async (
  documents: Reading,
  tenantId: string,
  { userId, contactId }: { readonly userId: string; readonly contactId: string },
): Promise<NotificationChannel | undefined> => {
  const member = await readMember(documents, tenantId, userId);
  if (member === undefined) return undefined;
  const { name, email, isActive } = member;
  const defaults = { name, description: '', maxPerMinute: 60, templates: { title: '', text: '' } };
  if (contactId === '') return { ...defaults, enabled: isActive, settings: { type: 'email', to: [email] } };
  const contact = await documents.forTenant(tenantId).collection(contacts).find(contactId);
  if (contact?.ownerId !== userId) return undefined;
  const { enabled, settings } = contact;
  return { ...defaults, enabled: isActive && enabled, settings };
};
