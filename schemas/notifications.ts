/** Notifications about a group of alerts to one channel, and their delivery. */
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
  endsAtMs: z.int().optional().describe('End time; present if the alert no longer fires'),
  value: z.number().nullable().describe('Value when the alert last fired'),
  held: AlertHeld.optional(),
  reason: z.string().max(4096).optional().describe('Reason for the state, as a sentence for people'),
  isTest: z.boolean().optional(),
});
export type NotifiedAlert = z.output<typeof NotifiedAlert>;

/**
 * Reasons for a notification: the group is new, the severity of an alert rose, alerts started firing, alerts were
 * resolved, the severity of an alert fell, or nothing changed during the repeat interval. For a page: somebody acknowledged the
 * incident.
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

/** A notification to one channel. Its ID is deterministic, so that a repetition has the same ID. */
export const Notification = z.strictObject({
  tenantId: z.string(),
  id: z.string().describe('Idempotency key, equal in every attempt'),
  channelId: z.string().describe('Channel ID; empty for notifications that open an incident, and for pages'),
  escalationPolicyId: z
    .string()
    .optional()
    .describe('Escalation policy of the receiver, for notifications that open an incident'),
  receiver: z.string(),
  groupKey: z.string(),
  groupLabels: labels,
  commonLabels: labels,
  commonAnnotations: labels,
  status: z.enum(['firing', 'resolved']),
  reason: z.enum(notificationReasons),
  alerts: z.array(NotifiedAlert),
  firing: z.int().describe('Number of firing alerts of the group, including omitted ones'),
  resolved: z.int(),
  truncatedAlerts: z.int().describe('Number of alerts omitted because of the message size'),
  atMs: z.int(),
  isTest: z.boolean().optional(),
  page: z
    .strictObject({
      incidentId: z.string(),
      userId: z.string().nullable().describe('User ID of the recipient; `null` for a channel'),
      sinceMs: z.int().describe('When the incident was opened or last reopened'),
      isEnd: z.boolean().optional().describe('Whether the page announces that an earlier page is obsolete'),
    })
    .optional()
    .describe('Page of an incident'),
});
export type Notification = z.output<typeof Notification>;

export const deliveryStates = ['queued', 'retrying', 'delivered', 'failed', 'withdrawn'] as const;

/** One step of a delivery, for the ledger: queued (attempt 0), or an attempt with its response. */
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
  state: z.enum(deliveryStates).describe('State after this step'),
  statusCode: z.int().nullable().describe('HTTP status code of the response; `null` if there was none'),
  answer: z.string().max(2000).describe('Beginning of the response, or the reason why there was none'),
  latencyMs: z.int().nullable(),
});
export type DeliveryStep = z.output<typeof DeliveryStep>;
