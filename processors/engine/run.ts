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
 * hands over the next batch when this one is acknowledged. Resolves after `consumer.stop()`.
 */
export const runProcessor = (
  processor: Processor,
  { config, clock, consumer, producer, metrics }: Runtime,
): Promise<void> => {
  const process = processor.create(config, clock);
  const fuse = new Fuse(processor.name);
  return consumer.run([processor.input.name], async (batch) => {
    const messages: Message[] = [];
    let deadLetters = 0;
    for (const record of batch.records) {
      if (isForAnother(record, processor.name)) continue;
      const outcome = await settled(process, record);
      if (outcome.kind === 'ok') messages.push(...outcome.messages);
      if (outcome.kind !== 'dead') continue;
      deadLetters++;
      metrics.add('oiq_dead_letters_total', 1, { origin: processor.name, reason: outcome.reason });
      messages.push(
        ...unprocessable({ ...letterOrigin(processor, batch), record, ...outcome, receivedAtMs: record.timestampMs }),
      );
    }
    fuse.check(batch.records.length, deadLetters);
    if (messages.length > 0) await producer.publish(messages);
  });
};

/** Replays of a consumer's dead letter name the only group that takes them again. */
const isForAnother = (record: BusRecord, group: string): boolean =>
  record.headers['only-group'] !== undefined && record.headers['only-group'] !== group;

const letterOrigin = ({ name }: Processor, { topic, partition }: Batch) => ({ group: name, topic, partition });

const settled = async (process: (record: BusRecord) => Promise<Outcome>, record: BusRecord): Promise<Outcome> => {
  try {
    return await process(record);
  } catch (error) {
    if (error instanceof PermanentError) return dead(error.reason, error.message);
    throw error;
  }
};
