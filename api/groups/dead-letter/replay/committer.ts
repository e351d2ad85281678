import { KeyedMutex } from '../../../../runtime/keyed-mutex.ts';
import type { PermanentError } from '../../../../schemas/errors.ts';
import type { Bus, Message } from '../../../../schemas/ports/bus.ts';
import type { Columns } from '../../../../schemas/ports/columns.ts';
import type { DeadLetterMark } from '../../../../schemas/topics.ts';
import type { DeadLetter } from '../../../../subjects/dead-letters/dead-letters.ts';
import { createLazyProducer } from '../../../bus-producer.ts';
import type { DeadLetterResult } from '../../../kernel/ports/dead-letters.ts';
import { readMarks, toMarkKey, toMarkMessage } from './marks.ts';

/** A dead letter with the messages that would be published for it. */
export interface PreparedDeadLetter {
  readonly deadLetter: DeadLetter;
  readonly messages: readonly Message[];
  readonly failure?: PermanentError;
}

const transactionName = 'dead-letter-replay';

/** Publishes dead letters and their marks in one transaction, so that no dead letter is published twice. */
export interface ReplayCommitter {
  commit(
    prepared: readonly PreparedDeadLetter[],
    mark: Pick<DeadLetterMark, 'outcome' | 'actor' | 'markedAt'>,
  ): Promise<DeadLetterResult[]>;
  close(): Promise<void>;
}

export const createCommitter = (bus: Bus, columns: Columns): ReplayCommitter => {
  const producer = createLazyProducer(bus);
  // Runs of one process are serialized; otherwise they would invalidate each other's producer of the transactional id.
  const mutex = new KeyedMutex();

  return {
    commit: (prepared, { outcome, actor, markedAt }) =>
      mutex.run(transactionName, async () =>
        (await producer.get()).transaction(transactionName, async (publish) => {
          // The marks are complete now: an earlier producer with this transactional id has either committed, or is fenced
          // and can no longer commit.
          const marks = await readMarks(
            bus,
            columns,
            prepared.map(({ deadLetter }) => deadLetter),
          );
          const messages: Message[] = [];
          const results = prepared.map(({ deadLetter, messages: deadLetterMessages }): DeadLetterResult => {
            const { tenantId, id } = deadLetter;
            const mark = marks.get(toMarkKey(deadLetter));
            // A mark of this same run is from an earlier attempt that committed, but whose response was lost.
            if (mark !== undefined)
              return { id, tenantId, outcome: mark.actor === actor && mark.markedAt === markedAt ? 'done' : 'already' };
            messages.push(...deadLetterMessages, toMarkMessage({ tenantId, id, outcome, markedAt, actor }));
            return { id, tenantId, outcome: 'done' };
          });
          if (messages.length > 0) await publish(messages);
          return results;
        }),
      ),
    async close() {
      await mutex.run(transactionName, () => producer.close());
    },
  };
};
