import { landedPosition, partitionByDayReceived } from './parts.ts';
import { defineTable } from './table.ts';

const sortingKeyStart = ['tenant_id', 'channel_id', 'toStartOfHour(queued_at)'] as const;

/** One row per step of a delivery. A repeated step has two rows: read one for each delivery and attempt. */
export const notificationDeliveriesTable = defineTable({
  name: 'notification_deliveries',
  summary: 'Notifications to channels: when each was queued, and its attempts with the responses',
  retention: 'longest',
  columns: {
    tenant_id: 'LowCardinality(String)',
    delivery_id: 'String CODEC(ZSTD(1))',
    channel_id: 'LowCardinality(String)',
    channel_type: 'LowCardinality(String)',
    receiver: 'LowCardinality(String)',
    group_key: 'String CODEC(ZSTD(1))',
    /** `firing` or `resolved`. */
    status: 'LowCardinality(String)',
    reason: 'LowCardinality(String)',
    firing: 'UInt32',
    resolved: 'UInt32',
    is_test: 'UInt8',
    queued_at: "DateTime64(3, 'UTC')",
    /** 0 for the queued step. */
    attempt: 'UInt16',
    at: "DateTime64(3, 'UTC')",
    /** State after the step: `queued`, `retrying`, `delivered`, `failed` or `withdrawn`. */
    state: 'LowCardinality(String)',
    /** 0 if there was no response. */
    status_code: 'UInt16',
    answer: 'String CODEC(ZSTD(1))',
    latency_ms: 'UInt32',
    ...landedPosition,
  },
  partitionBy: partitionByDayReceived,
  primaryKey: sortingKeyStart,
  orderBy: [...sortingKeyStart, 'queued_at', 'delivery_id', 'attempt'],
});
