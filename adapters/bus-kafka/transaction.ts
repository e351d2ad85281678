/** Transactions: one producer per transactional id, which invalidates every earlier producer of that id. */
import { type Kafka, Partitioners } from 'kafkajs';
import { UnavailableError } from '../../schemas/errors.ts';
import { reasonOf } from './failures.ts';
import type { Outgoing } from './wire.ts';

type Send = (messages: readonly Outgoing[]) => Promise<void>;

/**
 * Covers a coordinator that moves to another broker, and the creation of the transaction topic by the first transaction
 * of a cluster.
 */
const retry = { retries: 10, initialRetryTime: 200, maxRetryTime: 2000 };

const fencedTypes = ['PRODUCER_FENCED', 'INVALID_PRODUCER_EPOCH', 'INVALID_TXN_STATE'];

const isFenced = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false;
  const { type } = error as Error & { type?: string };
  return (type !== undefined && fencedTypes.includes(type)) || isFenced(error.cause);
};

const translated = (name: string, error: unknown): Error =>
  isFenced(error)
    ? new UnavailableError(`transaction ${name} was taken over by a newer producer of the same name`, { cause: error })
    : new UnavailableError(`Kafka did not complete transaction ${name}: ${reasonOf(error)}`, { cause: error });

/** Runs `work`; commits when it resolves and aborts when it rejects. */
export const runTransaction = async <Result>(
  kafka: Kafka,
  name: string,
  work: (send: Send) => Promise<Result>,
): Promise<Result> => {
  const producer = kafka.producer({
    transactionalId: name,
    idempotent: true,
    maxInFlightRequests: 1,
    createPartitioner: Partitioners.DefaultPartitioner,
    allowAutoTopicCreation: false,
    retry,
  });
  const translating = async <Value>(promise: Promise<Value>): Promise<Value> => {
    try {
      return await promise;
    } catch (error) {
      throw translated(name, error);
    }
  };
  try {
    await translating(producer.connect());
    const transaction = await translating(producer.transaction());
    let failure: unknown;
    const send: Send = async (messages) => {
      try {
        await translating(transaction.sendBatch({ acks: -1, topicMessages: topicMessages(messages) }));
      } catch (error) {
        failure = error;
        throw error;
      }
    };
    let result: Result;
    try {
      result = await work(send);
      // A partial publish must fail the transaction, even if `work` ignored the rejection.
      if (failure !== undefined) throw failure;
    } catch (error) {
      await transaction.abort().catch(() => undefined);
      throw error;
    }
    await translating(transaction.commit());
    return result;
  } finally {
    await producer.disconnect().catch(() => undefined);
  }
};

const topicMessages = (messages: readonly Outgoing[]) => {
  const byTopic = Map.groupBy(messages, ({ topic }) => topic);
  return [...byTopic].map(([topic, ofTopic]) => ({
    topic,
    messages: ofTopic.map(({ partition, key, value, headers }) => ({ partition, key, value, headers: { ...headers } })),
  }));
};
