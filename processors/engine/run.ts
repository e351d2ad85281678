/** Runs a processor in this process: its consumer, and a task for each assigned partition. */
import { toConsumerGroup } from '../../runtime/consumer-groups.ts';
import { runEvery } from '../../runtime/interval.ts';
import type { AssignedPartition, Batch, Consumer } from '../../schemas/ports/bus.ts';
import type { Processor } from './definition.ts';
import { PartitionRun } from './partition-run.ts';
import type { Runtime } from './runtime.ts';
import { TenantFuse } from './tenant-fuse.ts';

/** Number of message keys over which values of a tenant are spread if a topic has several partitions. */
const spreadBuckets = 32;

const toPartitionKey = ({ topic, partition }: Pick<Batch, 'topic' | 'partition'>): string => `${topic}:${partition}`;

/**
 * Runs a processor. For each batch it steps the items, publishes the output, saves the state if it is due, and
 * resolves, which commits the offsets. Back-pressure needs no code, because the consumer delivers the next batch after
 * this one is acknowledged. Resolves after `consumer.stop()`.
 */
export const runProcessor = async (processor: Processor, consumer: Consumer, runtime: Runtime): Promise<void> => {
  const { metrics, log, intervals } = runtime;
  const group = toConsumerGroup('processors', processor.name);
  const fuse = new TenantFuse(group);
  const partitions = new Map<string, PartitionRun>();

  const onAssigned = async (partition: AssignedPartition): Promise<void> => {
    // The bus has just replied, and the consumer retries rejected calls.
    const outputPartitions = await Promise.all(
      Object.values(processor.emits).map(({ name }) => runtime.bus.offsets(name)),
    );
    const buckets = outputPartitions.some(({ length }) => length > 1) ? spreadBuckets : 1;
    const run = new PartitionRun({ processor, group, runtime, fuse, buckets }, partition);
    await run.load();
    partitions.set(toPartitionKey(partition), run);
  };
  const onRevoked = async (partition: Pick<AssignedPartition, 'topic' | 'partition'>): Promise<void> => {
    const run = partitions.get(toPartitionKey(partition));
    partitions.delete(toPartitionKey(partition));
    await run?.saveAndClose();
  };
  const onBatch = async (batch: Batch): Promise<void> => {
    const { topic, partition, first, last } = batch;
    const run = partitions.get(toPartitionKey(batch));
    if (run === undefined) throw new Error(`${group} was not assigned partition ${partition} of ${topic}`);
    try {
      await run.processBatch(batch);
    } catch (error) {
      metrics.add('oiq_consumer_batches_total', 1, { group, outcome: 'rejected' });
      log.warn({ processor: processor.name, topic, partition, first, last, error }, 'batch rejected');
      throw error;
    }
    metrics.add('oiq_consumer_batches_total', 1, { group, outcome: 'committed' });
  };

  const reportSizes = (): void => {
    let entries = 0;
    let bytes = 0;
    for (const { holding } of partitions.values()) {
      entries += holding?.entries ?? 0;
      bytes += holding?.bytes ?? 0;
    }
    metrics.set('oiq_processor_state_entries', entries, { processor: processor.name });
    metrics.set('oiq_processor_state_bytes', bytes, { processor: processor.name });
  };
  const stopTicking = runEvery(intervals.tickMs, () => {
    reportSizes();
    for (const [key, run] of partitions) {
      run
        .tick()
        .catch((error: unknown) => log.warn({ processor: processor.name, partition: key, error }, 'a tick failed'));
    }
  });
  try {
    await consumer.run(
      processor.reads.topics.map(({ name }) => name),
      onBatch,
      { onAssigned: onAssigned, onRevoked },
    );
  } finally {
    stopTicking();
    reportSizes();
  }
};
