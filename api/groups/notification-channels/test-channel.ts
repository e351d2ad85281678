import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Notification } from '../../../schemas/notifications.ts';
import { contacts } from '../../../schemas/resources/contact.ts';
import { type NotificationChannel, notificationChannels } from '../../../schemas/resources/notification-channel.ts';
import { organizations, organizationsTenant } from '../../../schemas/resources/organization.ts';
import { toPlatformEvent } from '../../../subjects/alerts/evaluation-record.ts';
import {
  attemptDelivery,
  type DeliveryAttempt,
  unsealSettings,
} from '../../../subjects/notification-channels/deliver.ts';
import { recordOutcome } from '../../../subjects/notification-channels/health.ts';
import { renderMessage } from '../../../subjects/notification-channels/message.ts';
import { endOutage } from '../../../subjects/notification-channels/outage.ts';
import { findChannelType } from '../../../subjects/notification-channels/registry.ts';
import type { Caller } from '../../callers/caller.ts';
import type { Transact } from '../../changes.ts';
import { ApiError, createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import type { Ports } from '../../kernel/ports.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { Templates } from './channel.ts';

/** A sample group of two alerts, marked as a test. */
const createSample = (tenantId: string, channelId: string, atMs: number): Notification => {
  const commonLabels = { alertname: 'NotificationTest', severity: 'info' };
  const annotations = { summary: 'This is a test of a notification channel. No action is required.' };
  const createAlert = (instance: string) => ({
    alertId: `test-${instance}`,
    ruleId: 'test',
    status: 'firing' as const,
    annotations,
    value: 42,
    isTest: true,
    labels: { ...commonLabels, instance },
    startsAtMs: atMs - 60_000,
  });
  return {
    tenantId,
    channelId,
    id: `test-${randomUUID()}`,
    receiver: 'test',
    atMs,
    isTest: true,
    groupKey: `{}/test:{alertname="NotificationTest"}/${channelId}`,
    groupLabels: { alertname: 'NotificationTest' },
    commonLabels,
    commonAnnotations: annotations,
    status: 'firing',
    reason: 'first',
    alerts: [createAlert('a'), createAlert('b')],
    firing: 2,
    resolved: 0,
    truncatedAlerts: 0,
  };
};

/** Returns the resolved notification for a sample that opened an incident in an external service. */
const toResolvedSample = (sample: Notification): Notification => ({
  ...sample,
  id: `${sample.id}-end`,
  status: 'resolved',
  reason: 'resolved',
  firing: 0,
  resolved: sample.firing,
  alerts: sample.alerts.map((alert) => ({ ...alert, status: 'resolved', endsAtMs: sample.atMs })),
});

const missingUrlNote =
  'OIQ_PUBLIC_URL is not set: messages have no links, and webhooks contain the host name of the sender';

const TestResult = z.strictObject({
  delivered: z.boolean(),
  statusCode: z.int().nullable().describe('null without an HTTP response'),
  answer: z.string().describe('Beginning of the response, or the reason why there was none'),
  latencyMs: z.int(),
  notes: z.array(z.string()).describe('Missing parts of messages, and how to enable them'),
});

type TestTarget = Pick<NotificationChannel, 'name' | 'settings'> &
  Partial<Pick<NotificationChannel, 'templates'>> & { readonly id: string };

/**
 * Records that a test was delivered: messages that wait for the channel or contact are sent, and the alert about a
 * failing channel ends.
 */
const recordDelivery = async (
  { id, name }: TestTarget,
  purpose: 'notification-channel' | 'contact',
  tenantId: string,
  { documents, clock, events, alertTransitions }: Ports,
): Promise<void> => {
  await endOutage(documents, tenantId, id);
  if (purpose === 'contact') return;
  const transition = await recordOutcome(documents, {
    tenantId,
    channelId: id,
    channelName: name,
    nowMs: clock.now(),
    outcome: 'delivered',
    answer: '',
  });
  if (transition === undefined) return;
  await alertTransitions.publish(transition);
  const event = toPlatformEvent(transition);
  if (event !== undefined) await events.publish(event);
};

/** Sends a test to a channel or a contact, and a resolved notification if the test opened an incident there. */
const sendTest = async (
  target: TestTarget,
  purpose: 'notification-channel' | 'contact',
  { caller, change }: { readonly caller: Caller; readonly change: Transact },
  ports: Ports,
): Promise<z.input<typeof TestResult>> => {
  const { documents, secretBox, settings: installationSettings, clock, mailer, outbound } = ports;
  const type = findChannelType(target.settings.type);
  const settings = unsealSettings(target.settings, type, secretBox, purpose);
  if (settings === undefined)
    throw new ApiError('CONFLICT', 'its secrets were encrypted with another key of the installation: enter them again');
  await change(async ({ record }) => record({ id: target.id, name: target.name }));
  const sample = createSample(caller.tenantId, target.id, clock.now());
  const organization = await documents.forTenant(organizationsTenant).collection(organizations).find(caller.tenantId);
  const send = (notification: Notification): Promise<DeliveryAttempt> => {
    const message = renderMessage(notification, {
      templates: target.templates ?? {},
      publicUrl: installationSettings.PUBLIC_URL ?? '',
      address: installationSettings.HTTP_ADDRESS,
      timeZone: organization?.timeZone,
    });
    return attemptDelivery(type, { message, settings }, { outbound, mailer, clock });
  };
  let result = await send(sample);
  if (result.outcome === 'delivered' && type.opens !== undefined) {
    const end = await send(toResolvedSample(sample));
    const answer = `the test alert was accepted, but its resolution was not: close it there. ${end.answer}`;
    result = end.outcome === 'delivered' ? result : { ...end, answer };
  }
  const { outcome, statusCode, answer, latencyMs } = result;
  if (outcome === 'delivered') await recordDelivery(target, purpose, caller.tenantId, ports);
  const notes = installationSettings.PUBLIC_URL === undefined ? [missingUrlNote] : [];
  return { delivered: outcome === 'delivered', statusCode, answer, latencyMs, notes };
};

export const testChannel = defineOperation({
  method: 'POST',
  path: '/api/notification-channels/{id}/test',
  operationId: 'testNotificationChannel',
  summary: 'Send a test, marked as one; it counts as delivered only if the receiver confirms it',
  role: 'editor',
  audit: 'notification-channel.test',
  params: idParameter,
  limit: { rate: 1, burst: 60 },
  response: TestResult,
  async handler(input, ports) {
    const { caller, params } = input;
    const channel = await ports.documents.forTenant(caller.tenantId).collection(notificationChannels).find(params.id);
    if (channel === undefined) throw createNotFoundError('notification channel');
    return sendTest(channel, 'notification-channel', input, ports);
  },
});

export const testContact = defineOperation({
  method: 'POST',
  path: '/api/contacts/{id}/test',
  operationId: 'testContact',
  summary: 'Send a test to one of my contacts, marked as one; it counts as delivered only if the receiver confirms it',
  role: 'session',
  audit: 'contact.test',
  params: idParameter,
  // Every role may call it, and it sends to an address chosen by the caller.
  limit: { rate: 0.1, burst: 30 },
  response: TestResult,
  async handler(input, ports) {
    const { caller, params } = input;
    const contact = await ports.documents.forTenant(caller.tenantId).collection(contacts).find(params.id);
    if (contact?.ownerId !== caller.actor.id) throw createNotFoundError('contact');
    return sendTest(contact, 'contact', input, ports);
  },
});

export const previewTemplates = defineOperation({
  method: 'POST',
  path: '/api/notification-channels/preview',
  operationId: 'previewNotificationTemplates',
  summary: 'Preview templates with a sample of two alerts',
  role: 'editor',
  auditExemption: 'it sends and stores nothing',
  body: Templates,
  response: z.strictObject({ title: z.string(), text: z.string() }),
  handler({ caller, body }, { clock, settings }) {
    const sample = createSample(caller.tenantId, 'preview', clock.now());
    const { title, text } = renderMessage(sample, { templates: body, publicUrl: settings.PUBLIC_URL ?? '' });
    return { title, text };
  },
});
