/** Transactions: one producer per transactional id, which invalidates every earlier producer of that id. */
import { type Kafka, Partitioners } from 'kafkajs';
import { UnavailableError } from '../../schemas/errors.ts';
import { describeFailure } from './failures.ts';
import type { OutgoingMessage } from './wire.ts';

type Send = (messages: readonly OutgoingMessage[]) => Promise<void>;

/**
 * Long enough for a coordinator to move to another broker, and for the first transaction of a cluster to create the
 * transaction topic.
 */
const retryOptions = { retries: 10, initialRetryTime: 200, maxRetryTime: 2000 };

const fencedTypes = ['PRODUCER_FENCED', 'INVALID_PRODUCER_EPOCH', 'INVALID_TXN_STATE'];

const isFenced = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false;
  const { type } = error as Error & { type?: string };
  return (type !== undefined && fencedTypes.includes(type)) || isFenced(error.cause);
};

const toUnavailableError = (name: string, error: unknown): Error =>
  isFenced(error)
    ? new UnavailableError(`transaction ${name} was taken over by a newer producer of the same name`, { cause: error })
    : new UnavailableError(`Kafka did not complete transaction ${name}: ${describeFailure(error)}`, { cause: error });

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
    retry: retryOptions,
  });
  const withTranslatedErrors = async <Value>(promise: Promise<Value>): Promise<Value> => {
    try {
      return await promise;
    } catch (error) {
      throw toUnavailableError(name, error);
    }
  };
  try {
    await withTranslatedErrors(producer.connect());
    const transaction = await withTranslatedErrors(producer.transaction());
    let failure: unknown;
    const send: Send = async (messages) => {
      try {
        await withTranslatedErrors(transaction.sendBatch({ acks: -1, topicMessages: groupByTopic(messages) }));
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
    await withTranslatedErrors(transaction.commit());
    return result;
  } finally {
    await producer.disconnect().catch(() => undefined);
  }
};

const groupByTopic = (messages: readonly OutgoingMessage[]) => {
  const byTopic = Map.groupBy(messages, ({ topic }) => topic);
  return [...byTopic].map(([topic, topicMessages]) => ({
    topic,
    messages: topicMessages.map(({ partition, key, value, headers }) => ({
      partition,
      key,
      value,
      headers: { ...headers },
    })),
  }));
};
