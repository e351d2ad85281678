import { rumReplaysTable } from '../schemas/tables/rum-replays.ts';
import { topics } from '../schemas/topics.ts';
import { defineValueSink } from './engine/land-values.ts';

export const rumReplays = defineValueSink({
  topic: topics.rumReplays,
  table: rumReplaysTable,
  row: (chunk) => ({
    tenant_id: chunk.tenantId,
    project_id: chunk.projectId,
    application: chunk.application,
    session_id: chunk.sessionId,
    tab: chunk.tab,
    first: chunk.first,
    last: chunk.last,
    from_ms: chunk.fromMs,
    to_ms: chunk.toMs,
    has_snapshot: chunk.hasSnapshot,
    masked: chunk.masked,
    data: chunk.data,
  }),
});
