/** The receivers, one line each, and the role that runs them. */

import type { DeadLetterHeaders } from '../schemas/dead-letter.ts';
import { PermanentError } from '../schemas/errors.ts';
import type { Message } from '../schemas/ports/bus.ts';
import type { Receiver } from './engine/receiver.ts';
import { republishRefused as republish } from './engine/refuse.ts';
import { type Receivers, type ReceiversOptions, start } from './engine/start.ts';
import { otlpGrpc } from './otlp-grpc/receiver.ts';
import { otlpHttp } from './otlp-http.ts';
import { remoteWrite } from './remote-write.ts';

export const receivers: readonly Receiver[] = [otlpHttp, otlpGrpc, remoteWrite];

/** Starts every receiver. Listens once everything there is about license keys is known; rejects when an address is taken. */
export const startReceivers = (options: ReceiversOptions): Promise<Receivers> => start(receivers, options);

/**
 * Checks the body of a refused request again and gives the messages that its receiver would have published, for a
 * replay to publish in its transaction. Throws `PermanentError` when the body is still malformed, or was cut.
 */
export const republishRefused = (letter: DeadLetterHeaders, body: Buffer, shards = 1): Message[] => {
  const receiver = receivers.find(({ name }) => name === letter.origin);
  if (receiver === undefined)
    throw new PermanentError('bad-headers', `the dead letter's origin ${letter.origin} is no receiver`);
  return republish(letter, body, shards, receiver.maxBodyBytes);
};
