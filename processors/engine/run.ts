import { consumerGroup, isForAnotherGroup } from '../../runtime/consumer-groups.ts';
import { Fuse } from '../../runtime/fuse.ts';
import { unprocessable } from '../../schemas/dead-letter.ts';
import { PermanentError } from '../../schemas/errors.ts';
import type { Batch, BusRecord, Consumer, Message, Producer } from '../../schemas/ports/bus.ts';
import type { Clock } from '../../schemas/ports/clock.ts';
import type { Metrics } from '../../schemas/ports/metrics.ts';
import { dead, type Outcome, type Processor } from './processor.ts';

interface Runtime {
  readonly config: unknown;
  readonly clock: Clock;
  readonly consumer: Consumer;
  readonly producer: Producer;
  readonly metrics: Metrics;
}

/**
 * At least once: process, publish, and only then resolve, which commits. Back-pressure needs no code: the consumer
 * delivers the next batch when this one is acknowledged. Resolves after `consumer.stop()`.
 */
export const runProcessor = (
  processor: Processor,
  { config, clock, consumer, producer, metrics }: Runtime,
): Promise<void> => {
  const process = processor.create(config, clock);
  const group = consumerGroup('processors', processor.name);
  const fuse = new Fuse(group);
  return consumer.run([processor.input.name], async (batch) => {
    const messages: Message[] = [];
    let deadLetters = 0;
    for (const record of batch.records) {
      if (isForAnotherGroup(record.headers, group)) continue;
      const outcome = await settled(process, record);
      if (outcome.kind === 'ok') messages.push(...outcome.messages);
      if (outcome.kind !== 'dead') continue;
      deadLetters++;
      metrics.add('oiq_dead_letters_total', 1, { origin: group, reason: outcome.reason });
      messages.push(
        ...unprocessable({ ...letterOrigin(group, batch), record, ...outcome, receivedAtMs: record.timestampMs }),
      );
    }
    fuse.check(batch.records.length, deadLetters);
    if (messages.length > 0) await producer.publish(messages);
  });
};

const letterOrigin = (group: string, { topic, partition }: Batch) => ({ group, topic, partition });

const settled = async (process: (record: BusRecord) => Promise<Outcome>, record: BusRecord): Promise<Outcome> => {
  try {
    return await process(record);
  } catch (error) {
    if (error instanceof PermanentError) return dead(error.reason, error.message);
    throw error;
  }
};
