import { consumerGroup, formerGroup } from '../../runtime/consumer-groups.ts';
import type { DeadLetterHeaders } from '../../schemas/dead-letter.ts';
import { remoteWritePartitions } from '../../schemas/tables/parts.ts';
import { signals } from '../../schemas/telemetry-signals.ts';
import { topics } from '../../schemas/topics.ts';
import { acceptedRows } from './message-usage.ts';
import { hourOf } from './source.ts';
import { emptyUsageRow, type UsageRow } from './usage-columns.ts';

/** Sinks of telemetry are named after what they land. What another consumer could not process has landed all the same. */
const groups = signals.map((signal) => consumerGroup('sinks', signal));
const sinks = new Set(groups.flatMap((group) => [group, formerGroup(group)]));

const ofLetter = (letter: DeadLetterHeaders): UsageRow => ({
  ...emptyUsageRow,
  tenant_id: letter.tenantId,
  project_id: letter.projectId,
  key_id: letter.keyId,
  signal: letter.signal,
  hour: hourOf(letter.receivedAtMs),
  requests: 1,
  bytes: letter.bytes ?? letter.size,
});

const accepted = (letter: DeadLetterHeaders): UsageRow[] => {
  const partition = letter.partition + (letter.topic === topics.remoteWrite.name ? remoteWritePartitions : 0);
  const place = { partition, offset: letter.offset };
  try {
    return acceptedRows(letter.originalHeaders, place);
  } catch {
    // Its headers are what is wrong with it: it is all that can be counted.
    return [{ ...ofLetter(letter), ...place }];
  }
};

/**
 * The ledger's rows of a dead letter. A message that no sink could land was accepted all the same, in the hour in which it was
 * received: that row is made here, with the key that the sink would have given it.
 */
export const deadLetterUsage = (letter: DeadLetterHeaders): UsageRow[] => {
  const { id, kind, origin, reason } = letter;
  if (kind === 'refused') return [{ ...ofLetter(letter), outcome: 'refused', id, reason }];
  if (!sinks.has(origin)) return [];
  return accepted(letter).flatMap((row) => [row, { ...row, outcome: 'dead-lettered', id, reason }]);
};
