import { getFormerGroup, isReplayForAnotherGroup, toConsumerGroup } from '../../runtime/consumer-groups.ts';
import { DeadLetterCircuitBreaker } from '../../runtime/fuse.ts';
import { buildUnprocessable } from '../../schemas/dead-letter.ts';
import type { Batch, BusRecord, Message, Producer } from '../../schemas/ports/bus.ts';
import type { Clock } from '../../schemas/ports/clock.ts';
import type { Columns } from '../../schemas/ports/columns.ts';
import type { Log } from '../../schemas/ports/log.ts';
import type { Metrics } from '../../schemas/ports/metrics.ts';
import { getNewestReceivedMs } from '../../schemas/telemetry-message.ts';
import { Duplicates } from './duplicates.ts';
import { Landing, type UnlandableMessage } from './landing.ts';
import type { ScanPool } from './scan-pool.ts';
import type { Sink } from './sink.ts';

export interface SinkRuntime {
  readonly producer: Producer;
  readonly columns: Columns;
  readonly pool: ScanPool;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly clock: Clock;
}

/** The last range of a partition in this process */
interface Progress {
  readonly last: number;
  readonly atMs: number;
}

/**
 * After this time without a batch, a range is in doubt: another member may have owned the partition, and the tables may
 * have dropped the range's deduplication tokens.
 */
const maxIdleMs = 600_000;

/**
 * Returns the handler of a sink's batches. Resolving commits the batch. Landing is exactly once: a range has the same
 * token in every delivery. A range that may have landed too long ago for tokens is first counted in the tables.
 */
export const createBatchHandler = (sink: Sink, runtime: SinkRuntime): ((batch: Batch) => Promise<void>) => {
  const { metrics, log, clock } = runtime;
  const group = toConsumerGroup('sinks', sink.name);
  const fuse = new DeadLetterCircuitBreaker(group);
  const duplicates = sink.positionsTable && new Duplicates(sink.positionsTable, runtime.columns);
  const progress = new Map<string, Progress>();

  return async (batch) => {
    const key = `${batch.topic}:${batch.partition}`;
    const mayHaveLanded = isInDoubt(progress.get(key), batch, clock);
    progress.set(key, { last: batch.last, atMs: clock.now() });
    try {
      await landBatch(sink, { ...runtime, fuse, duplicates }, batch, mayHaveLanded);
    } catch (error) {
      metrics.add('oiq_consumer_batches_total', 1, { group, outcome: 'rejected' });
      log.warn(
        {
          sink: sink.name,
          topic: batch.topic,
          partition: batch.partition,
          first: batch.first,
          last: batch.last,
          error,
        },
        'batch rejected',
      );
      throw error;
    }
    metrics.add('oiq_consumer_batches_total', 1, { group, outcome: 'committed' });
  };
};

const isInDoubt = (previousProgress: Progress | undefined, { first }: Batch, clock: Clock): boolean =>
  previousProgress === undefined || first <= previousProgress.last || clock.now() - previousProgress.atMs > maxIdleMs;

const landBatch = async (
  sink: Sink,
  runtime: SinkRuntime & { readonly fuse: DeadLetterCircuitBreaker; readonly duplicates: Duplicates | undefined },
  batch: Batch,
  mayHaveLanded: boolean,
): Promise<void> => {
  const { producer, columns, pool, metrics, fuse, duplicates } = runtime;
  const input = sink.inputs.find(({ topic }) => topic.name === batch.topic);
  if (input === undefined) throw new Error(`sink ${sink.name} does not read topic ${batch.topic}`);
  const group = toConsumerGroup('sinks', sink.name);
  const ownRecords = batch.records.filter(({ headers }) => !isReplayForAnotherGroup(headers, group));
  const records = duplicates === undefined ? ownRecords : await duplicates.excludeDuplicates(input, batch, ownRecords);
  if (records.length < ownRecords.length)
    metrics.add('oiq_duplicates_total', ownRecords.length - records.length, { group });
  const newestReceivedMs = sink.watermarkTable === undefined ? undefined : getNewestReceivedMs(records);
  const landing = new Landing(batch, {
    sink: sink.name,
    topic: batch.topic,
    partition: batch.partition + input.partitionOffset,
    mayHaveLanded,
    ...(newestReceivedMs !== undefined && { tenants: [...newestReceivedMs.keys()] }),
    pool,
    columns,
    metrics,
  });
  const poison = await landing.land(records);
  if (sink.watermarkTable !== undefined && newestReceivedMs !== undefined) {
    const landedReceivedMs =
      poison.length === 0 ? newestReceivedMs : getNewestReceivedMs(removeUnlandable(records, poison));
    columns.recordWatermark(sink.watermarkTable.name, landedReceivedMs, batch.partition);
  }
  fuse.check(records.length, poison.length);
  for (const { reason } of poison) metrics.add('oiq_dead_letters_total', 1, { origin: group, reason });
  if (poison.length > 0) await disposeUnlandable(sink, batch, poison, producer, runtime.log);
};

const removeUnlandable = (
  records: readonly BusRecord[],
  poison: readonly UnlandableMessage[],
): readonly BusRecord[] => {
  const poisonRecords = new Set(poison.map(({ record }) => record));
  return records.filter((record) => !poisonRecords.has(record));
};

const disposeUnlandable = async (
  sink: Sink,
  { topic, partition }: Batch,
  poison: readonly UnlandableMessage[],
  producer: Producer,
  log: Log,
): Promise<void> => {
  if (sink.unprocessable === 'drop') {
    for (const { record, reason, message } of poison) {
      log.error({ sink: sink.name, topic, partition, offset: record.offset, reason, message }, 'message skipped');
    }
    return;
  }
  const group = toConsumerGroup('sinks', sink.name);
  // A range whose dead letters the previous version wrote may be redelivered to this version.
  const origin = { group, identity: getFormerGroup(group), topic, partition };
  const messages: Message[] = poison.flatMap(({ record, reason, message }) =>
    buildUnprocessable({ ...origin, record, reason, message, receivedAtMs: record.timestampMs }),
  );
  await producer.publish(messages);
};
