import { z } from 'zod';
import { cursorParameter } from '../../../queries/cursor.ts';
import { deliveryStates } from '../../../schemas/notifications.ts';
import { notificationChannels } from '../../../schemas/resources/notification-channel.ts';
import { channelHealths } from '../../../schemas/resources/notification-delivery.ts';
import { Delivery, listDeliveries } from '../../../subjects/alerts/deliveries.ts';
import { createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { idParameter } from '../../resources/resource-operations.ts';

export const listChannelDeliveries = defineOperation({
  method: 'GET',
  path: '/api/notification-channels/{id}/deliveries',
  operationId: 'listNotificationDeliveries',
  summary: 'List deliveries to a channel, the latest first, with every attempt and its response',
  role: 'viewer',
  params: idParameter,
  query: z.strictObject({
    state: z.enum(deliveryStates).optional(),
    groupKey: z.string().min(1).max(8192).optional().describe('Only deliveries for this group of alerts'),
    limit: z.coerce.number().int().min(1).max(500).default(100),
    cursor: cursorParameter,
  }),
  response: z.strictObject({
    items: z.array(Delivery),
    nextCursor: z.string().nullable(),
    health: z.strictObject({
      failures: z.int().describe('Failed attempts since the last success'),
      failingSince: z.string().nullable().describe('Start of the alert about the failing channel'),
      lastDeliveredAt: z.string().nullable(),
      lastError: z.string().nullable(),
    }),
  }),
  async handler({ caller, params, query }, { documents, columns }) {
    const tenantDocuments = documents.forTenant(caller.tenantId);
    if ((await tenantDocuments.collection(notificationChannels).find(params.id)) === undefined)
      throw createNotFoundError('notification channel');
    const [page, health] = await Promise.all([
      listDeliveries(columns.forTenant(caller.tenantId), { channelId: params.id, ...query }),
      tenantDocuments.collection(channelHealths).find(params.id),
    ]);
    const { failures = 0, failingSince = null, lastDeliveredAt = null, lastError = null } = health ?? {};
    return { ...page, health: { failures, failingSince, lastDeliveredAt, lastError } };
  },
});
