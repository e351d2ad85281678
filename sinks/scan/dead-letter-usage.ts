import { getFormerGroup, toConsumerGroup } from '../../runtime/consumer-groups.ts';
import type { DeadLetterHeaders } from '../../schemas/dead-letter.ts';
import { remoteWritePartitions } from '../../schemas/tables/parts.ts';
import { signals } from '../../schemas/telemetry-signals.ts';
import { topics } from '../../schemas/topics.ts';
import { toAcceptedRows } from './message-usage.ts';
import { toHour } from './source.ts';
import { emptyUsageRow, type UsageRow } from './usage-columns.ts';

/**
 * Telemetry sinks are named after their signals. Messages that another consumer could not process were stored
 * nevertheless.
 */
const sinkGroupNames = signals.map((signal) => toConsumerGroup('sinks', signal));
const telemetrySinkGroups = new Set(sinkGroupNames.flatMap((group) => [group, getFormerGroup(group)]));

const toUsageRow = (deadLetter: DeadLetterHeaders): UsageRow => ({
  ...emptyUsageRow,
  tenant_id: deadLetter.tenantId,
  project_id: deadLetter.projectId,
  key_id: deadLetter.keyId,
  signal: deadLetter.signal,
  hour: toHour(deadLetter.receivedAtMs),
  requests: 1,
  bytes: deadLetter.bytes ?? deadLetter.size,
});

const toAcceptedUsageRows = (deadLetter: DeadLetterHeaders): UsageRow[] => {
  const partition = deadLetter.partition + (deadLetter.topic === topics.remoteWrite.name ? remoteWritePartitions : 0);
  const position = { partition, offset: deadLetter.offset };
  try {
    return toAcceptedRows(deadLetter.originalHeaders, position);
  } catch {
    // The headers themselves are invalid, so only the dead letter can be counted.
    return [{ ...toUsageRow(deadLetter), ...position }];
  }
};

/**
 * Returns the ledger rows of a dead letter. A message that no sink could store was still accepted, in its hour of
 * reception. This function builds that row, with the key that the sink would have used.
 */
export const toUsageRows = (deadLetter: DeadLetterHeaders): UsageRow[] => {
  const { id, kind, origin, reason } = deadLetter;
  if (kind === 'refused') return [{ ...toUsageRow(deadLetter), outcome: 'refused', id, reason }];
  if (!telemetrySinkGroups.has(origin)) return [];
  return toAcceptedUsageRows(deadLetter).flatMap((row) => [row, { ...row, outcome: 'dead-lettered', id, reason }]);
};
