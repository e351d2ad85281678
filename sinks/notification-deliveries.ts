import { notificationDeliveriesTable } from '../schemas/tables/notification-deliveries.ts';
import { topics } from '../schemas/topics.ts';
import { defineValueSink } from './engine/land-values.ts';

export const notificationDeliveries = defineValueSink({
  topic: topics.notificationDeliveries,
  table: notificationDeliveriesTable,
  row: (step) => ({
    tenant_id: step.tenantId,
    delivery_id: step.deliveryId,
    channel_id: step.channelId,
    channel_type: step.channelType,
    receiver: step.receiver,
    group_key: step.groupKey,
    status: step.status,
    reason: step.reason,
    firing: step.firing,
    resolved: step.resolved,
    is_test: step.isTest ? 1 : 0,
    queued_at: new Date(step.queuedAtMs).toISOString(),
    attempt: step.attempt,
    at: new Date(step.atMs).toISOString(),
    state: step.state,
    status_code: step.statusCode ?? 0,
    answer: step.answer,
    latency_ms: step.latencyMs ?? 0,
  }),
});
