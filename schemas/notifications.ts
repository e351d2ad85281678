/** What is told about a group of alerts to one channel, and what became of it. */
import { z } from 'zod';
import { AlertHeld } from './alerts.ts';

const labels = z.record(z.string().max(256), z.string().max(16_384));

/** One alert of a notification. */
export const NotifiedAlert = z.strictObject({
  alertId: z.string(),
  ruleId: z.string(),
  status: z.enum(['firing', 'resolved']),
  labels,
  annotations: labels,
  startsAtMs: z.int(),
  endsAtMs: z.int().optional().describe('Present where it fires no more'),
  value: z.number().nullable().describe('As it fired last'),
  held: AlertHeld.optional(),
  reason: z.string().max(4096).optional().describe('Why it is in this state, in a sentence for people'),
  isTest: z.boolean().optional(),
});
export type NotifiedAlert = z.output<typeof NotifiedAlert>;

/**
 * Why a group is told of: it is new, the severity of an alert rose, alerts began to fire, alerts ended, the severity of an alert fell, or
 * nothing changed for the repeat interval. Of a page: somebody sees to the incident.
 */
export const notificationReasons = [
  'first',
  'escalated',
  'firing',
  'resolved',
  'deescalated',
  'repeated',
  'acknowledged',
] as const;

/** What one channel is to be told. Its id is deterministic: the same notification has it again. */
export const Notification = z.strictObject({
  tenantId: z.string(),
  id: z.string().describe('The idempotency key: equal in every attempt'),
  channelId: z.string().describe('Empty for what opens an incident, and for a page of a person'),
  escalationPolicyId: z.string().optional().describe('Of the receiver, of what opens an incident'),
  receiver: z.string(),
  groupKey: z.string(),
  groupLabels: labels,
  commonLabels: labels,
  commonAnnotations: labels,
  status: z.enum(['firing', 'resolved']),
  reason: z.enum(notificationReasons),
  alerts: z.array(NotifiedAlert),
  firing: z.int().describe('Alerts of the group that fire, those that were left out counted'),
  resolved: z.int(),
  truncatedAlerts: z.int().describe('Alerts that were left out because they are too many for one message'),
  atMs: z.int(),
  isTest: z.boolean().optional(),
  page: z
    .strictObject({
      incidentId: z.string(),
      userId: z.string().nullable().describe('Whom it is for; null for a channel'),
      sinceMs: z.int().describe('When the incident opened, or reopened last'),
      isEnd: z.boolean().optional().describe('It tells where a page opened something that no page is needed now'),
    })
    .optional()
    .describe('Of a page for an incident'),
});
export type Notification = z.output<typeof Notification>;

export const deliveryStates = ['queued', 'retrying', 'delivered', 'failed', 'withdrawn'] as const;

/** One step of a delivery, for the ledger: that it was queued (attempt 0), or an attempt with its answer. */
export const DeliveryStep = z.strictObject({
  tenantId: z.string(),
  deliveryId: z.string(),
  channelId: z.string(),
  channelType: z.string(),
  receiver: z.string(),
  groupKey: z.string(),
  status: z.enum(['firing', 'resolved']),
  reason: z.enum(notificationReasons),
  firing: z.int(),
  resolved: z.int(),
  isTest: z.boolean(),
  queuedAtMs: z.int(),
  attempt: z.int(),
  atMs: z.int(),
  state: z.enum(deliveryStates).describe('After this step'),
  statusCode: z.int().nullable().describe('Of the answer; null where there was none'),
  answer: z.string().max(2000).describe('Begin of the answer, or why there was none'),
  latencyMs: z.int().nullable(),
});
export type DeliveryStep = z.output<typeof DeliveryStep>;
