import { replayRetentionDays } from '../rum-replays.ts';
import { landedPosition, partitionByDayReceived, tenancy } from './parts.ts';
import { defineTable } from './table.ts';

/** Chunks of recordings. A chunk that was sent twice has two rows with equal numbers. */
export const rumReplaysTable = defineTable({
  name: 'rum_replays',
  summary: 'Recordings of sessions, in chunks of events',
  retention: { days: replayRetentionDays },
  columns: {
    ...tenancy,
    application: 'LowCardinality(String)',
    session_id: 'String CODEC(ZSTD(1))',
    tab: 'String CODEC(ZSTD(1))',
    first: 'UInt32',
    last: 'UInt32',
    from_ms: 'UInt64',
    to_ms: 'UInt64',
    has_snapshot: 'Bool',
    masked: 'UInt32',
    data: 'String CODEC(ZSTD(1))',
    ...landedPosition,
  },
  partitionBy: partitionByDayReceived,
  orderBy: ['tenant_id', 'session_id', 'tab', 'first'],
});
