/** A thousand messages with one that no consumer can process, and how an operator handles it. */
import type { ExecutionContext } from 'ava';
import type { Bus, Message } from '../../schemas/ports/bus.ts';
import { encodeHeaders } from '../../schemas/telemetry-message.ts';
import { topics } from '../../schemas/topics.ts';
import { type DeadLetterCommand, listDeadLetters, payloadIn, waitForList } from './dead-letter-command.ts';
import { logsRequest } from './oracle.ts';

const count = 1000;
const poisonAt = 371;
const garbage = Buffer.from('none of this is OTLP, whatever the headers say');

/** Messages as published by receivers. One has valid headers and a body that receivers would have refused. */
const messages = (): Message[] =>
  Array.from({ length: count }, (_, index) => {
    const value = index === poisonAt ? garbage : logsRequest('poison', [`good ${index}`]);
    const member = {
      length: value.length,
      size: value.length,
      records: 1,
      receivedAtMs: Date.now(),
      source: '127.0.0.1',
      traceparent: '',
    };
    const headers = encodeHeaders({
      tenantId: 'default',
      projectId: 'default',
      keyId: 'key',
      signal: 'logs',
      format: 'otlp',
      encoding: 'identity',
      members: [member],
    });
    return { topic: topics.logs.name, key: 'default/0', value, headers };
  });

/** Publishes the thousand messages without the receivers. */
export const publishPoison = async (bus: Bus): Promise<void> => {
  const producer = await bus.producer();
  await producer.publish(messages());
  await producer.close();
};

/** Expected bodies with their counts. */
const expected = new Map(
  Array.from({ length: count }, (_, index) => [`good ${index}`, 1] as const).filter((_, index) => index !== poisonAt),
);

/** Compares the stored records of the service `poison`. */
export const assertPoisonReadBack = (t: ExecutionContext, landed: ReadonlyMap<string, number>): void => {
  t.deepEqual(sorted(landed), sorted(expected));
};

const sorted = (counts: ReadonlyMap<string, number>): Map<string, number> => new Map([...counts].sort());

/** Finds the only dead letter, replays it without success, and discards it. */
export const handlePoison = async (t: ExecutionContext, run: DeadLetterCommand): Promise<void> => {
  const [id = ''] = await listDeadLetters(run, 1);
  t.deepEqual(payloadIn(await run('show', id)), garbage);
  // The dead letter returns to its topic for its consumer alone, which fails again.
  t.regex(await run('replay', id), /^replayed: 1 of 1$/m);
  const isAnother = (ids: readonly string[]): boolean => ids.length === 1 && ids[0] !== id;
  const again = await waitForList('the letter of the replay', run, isAnother);
  t.deepEqual(await listDeadLetters(run, 1, '--state', 'replayed'), [id]);
  t.regex(await run('replay', id), /^replayed: 0 of 0$/m);
  t.regex(await run('discard', again[0] ?? ''), /^discarded: 1 of 1$/m);
  t.deepEqual(await listDeadLetters(run, 0), []);
  t.deepEqual(await listDeadLetters(run, 1, '--state', 'discarded'), again);
};
