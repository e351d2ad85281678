/** Effects of a batch outside of its task: messages and metrics. */
import { buildUnprocessable } from '../../schemas/dead-letter.ts';
import type { BusRecord, Message } from '../../schemas/ports/bus.ts';
import type { Metrics } from '../../schemas/ports/metrics.ts';
import type { BatchResult, PoisonMessage } from './batch-result.ts';
import type { Runtime } from './runtime.ts';

export interface Origin {
  readonly processor: string;
  readonly group: string;
  readonly topic: string;
  readonly partition: number;
}

/** Builds the dead letter of a message. A replay steps the items that `only-ordinals` names. */
const toDeadLetter = (origin: Origin, record: BusRecord, { ordinals, reason, message }: PoisonMessage): Message[] => {
  const headers = ordinals === undefined ? record.headers : { ...record.headers, 'only-ordinals': ordinals };
  const { group, topic, partition } = origin;
  const deadRecord = { ...record, headers };
  return buildUnprocessable({
    group,
    topic,
    partition,
    record: deadRecord,
    reason,
    message,
    receivedAtMs: record.timestampMs,
  });
};

export const toDeadLetters = (
  origin: Origin,
  records: readonly BusRecord[],
  poison: readonly PoisonMessage[],
): Message[] => {
  if (poison.length === 0) return [];
  const byOffset = new Map(records.map((record) => [record.offset, record]));
  return poison.flatMap((poisonMessage) => {
    const record = byOffset.get(poisonMessage.offset);
    return record === undefined ? [] : toDeadLetter(origin, record, poisonMessage);
  });
};

/** Counts the results of a batch, once they took effect. */
export const countResult = (metrics: Metrics, { processor, group }: Origin, result: BatchResult): void => {
  const { counts, poison, limited, failedTimers, tenants } = result;
  if (counts.items > 0) metrics.add('oiq_processor_items_total', counts.items, { processor });
  for (const [reason, items] of Object.entries(counts.dropped))
    metrics.add('oiq_processor_dropped_total', items, { processor, reason });
  for (const [topic, values] of Object.entries(counts.emitted))
    metrics.add('oiq_processor_emitted_values_total', values, { processor, topic });
  for (const { tenantId: tenant, reason, records } of limited)
    metrics.add('oiq_processor_limited_records_total', records, { processor, tenant, reason });
  for (const { reason } of poison) metrics.add('oiq_dead_letters_total', 1, { origin: group, reason });
  if (failedTimers.length > 0) metrics.add('oiq_processor_failed_timers_total', failedTimers.length, { processor });
  if (counts.evicted > 0) metrics.add('oiq_processor_evictions_total', counts.evicted, { processor });
  const ms = tenants.reduce((total, item) => total + item.ms, 0);
  if (ms > 0) metrics.add('oiq_processor_step_seconds_total', ms / 1_000, { processor });
};

export const logFailedTimers = ({ log }: Runtime, { processor }: Origin, { failedTimers }: BatchResult): void => {
  const [first] = failedTimers;
  if (first !== undefined)
    log.warn({ processor, ...first, failed: failedTimers.length }, 'a timer of a processor failed');
};
