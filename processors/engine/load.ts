/** Loads the state of a partition's task. */
import { DamagedStateError, type Snapshot } from '../../runtime/states.ts';
import type { Processor } from './definition.ts';
import type { Origin } from './effects.ts';
import { findOffsetSince, readBatches, readBounds } from './partition-bounds.ts';
import type { TaskHandle } from './pool.ts';
import type { Runtime } from './runtime.ts';

/** Message or tenant that previously ended the thread of this partition's task, and how to avoid that this time. */
export type Precaution =
  | { readonly kind: 'skip'; readonly offset: number }
  | { readonly kind: 'limit'; readonly tenantId: string };

export interface LoadedTask {
  readonly task: TaskHandle;
  /** Number of the snapshot that this member saved. */
  readonly number: number;
}

export const stateKey = ({ processor, topic, partition }: Origin): string => `${processor}/${topic}/${partition}`;

/** Time for which messages of a tenant are skipped after its timer exceeded the time limit. */
const slowTimerMs = 600_000;

/**
 * Opens the task from the last snapshot, publishes the output of its last tick, steps newer messages without effects,
 * and saves it. From then on no previous owner of the partition can save. Rejects with `ConflictError` if another
 * member saved first.
 */
export const loadTask = async (
  processor: Processor,
  origin: Origin,
  runtime: Runtime,
  { committed, buckets, precautions }: { committed: number; buckets: number; precautions: readonly Precaution[] },
): Promise<LoadedTask> => {
  const { states, producer } = runtime;
  const saved = await loadSnapshot(origin, runtime);
  const task = await openTask(processor, origin, runtime, { committed, buckets, saved: saved?.bytes });
  try {
    if (task.outbox.length > 0) {
      await producer.publish(task.outbox);
      await task.published();
    }
    await replayMessages(origin, runtime, task, committed);
    for (const precaution of precautions) {
      if (precaution.kind === 'skip') await task.skip(precaution.offset);
      else await task.limit(precaution.tenantId, 'too-slow', slowTimerMs);
    }
    return { task, number: await states.save(stateKey(origin), await task.snapshot(), saved?.number) };
  } catch (error) {
    await task.close();
    throw error;
  }
};

const loadSnapshot = async (origin: Origin, { states, log }: Runtime): Promise<Snapshot | undefined> => {
  try {
    return await states.load(stateKey(origin));
  } catch (error) {
    if (error instanceof DamagedStateError)
      log.error(
        { ...origin, error },
        'the saved state of a processor is damaged: the partition waits until it is removed',
      );
    throw error;
  }
};

interface OpenOptions {
  readonly committed: number;
  readonly buckets: number;
  readonly saved: Uint8Array | undefined;
}

const openTask = async (
  processor: Processor,
  origin: Origin,
  runtime: Runtime,
  { committed, buckets, saved }: OpenOptions,
): Promise<TaskHandle> => {
  const { bus, pool, log, metrics } = runtime;
  const { topic, partition } = origin;
  const taskPartition = { processor: processor.name, topic, partition, buckets };
  const { earliest, end } = await readBounds(bus, topic, partition);
  const task = await pool.open(taskPartition, saved);
  const { nextOffset } = task.holding;
  const isNew = saved === undefined;
  if (nextOffset > end) {
    log.warn(
      { ...origin, nextOffset, end },
      'a snapshot is ahead of its partition: it belongs to another bus and is ignored',
    );
    await task.close();
    return await openTask(processor, origin, runtime, { committed, buckets, saved: undefined });
  }
  if (isNew || task.isEmptied) {
    if (task.isEmptied)
      log.warn({ ...origin }, 'the state of an older version cannot be read: the processor starts with an empty state');
    // Effects of the lost state were already published, so its messages are not stepped again with effects.
    const endOffset = isNew ? committed : Math.max(committed, nextOffset);
    await task.moveTo(await findReplayStart(processor, origin, runtime, earliest, endOffset));
    await replayMessages(origin, runtime, task, endOffset);
  } else if (nextOffset < earliest) {
    log.error({ ...origin, nextOffset, earliest }, 'messages missing from the state are no longer retained');
    metrics.add('oiq_processor_dropped_total', earliest - nextOffset, {
      processor: origin.processor,
      reason: 'not-kept',
    });
    await task.moveTo(earliest);
  }
  return task;
};

/** Returns the offset at which the replay that rebuilds the state begins. */
const findReplayStart = async (
  { state: { rebuildMs = 0 } }: Processor,
  { topic, partition }: Origin,
  { bus, clock }: Runtime,
  earliest: number,
  to: number,
): Promise<number> => {
  if (rebuildMs === 0 || to <= earliest) return to;
  let lastMs = clock.now();
  for await (const { timestampMs } of bus.read(topic, partition, to - 1, to)) lastMs = timestampMs;
  return await findOffsetSince(bus, { topic, partition, from: earliest, to }, lastMs - rebuildMs);
};

/** Steps messages that the state does not contain yet, up to an offset. */
const replayMessages = async (origin: Origin, runtime: Runtime, task: TaskHandle, to: number): Promise<void> => {
  const { topic, partition, processor } = origin;
  const from = task.holding.nextOffset;
  if (from >= to) return;
  for await (const records of readBatches(runtime.bus, { topic, partition, from, to })) {
    await task.replay(records, records.at(-1)?.offset ?? from);
    runtime.metrics.add('oiq_processor_replayed_messages_total', records.length, { processor });
  }
  await task.replay([], to - 1);
};
