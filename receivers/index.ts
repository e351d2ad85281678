/** The role that runs the receivers. */

import type { DeadLetterHeaders } from '../schemas/dead-letter.ts';
import { PermanentError } from '../schemas/errors.ts';
import type { Message } from '../schemas/ports/bus.ts';
import { openBeats } from './beats/beats.ts';
import { republishRefused as republish } from './engine/refuse.ts';
import { type Receivers, type ReceiversOptions, start } from './engine/start.ts';
import { formatOfLetter, receivers } from './registry.ts';

/** Starts every receiver. Listens once everything there is about license keys is known; rejects when an address is taken. */
export const startReceivers = (options: ReceiversOptions): Promise<Receivers> => start(receivers, openBeats, options);

/**
 * Checks the body of a refused request again and gives the messages that its receiver would have published, for a
 * replay to publish in its transaction. Throws `PermanentError` when the body is still malformed, was cut, or holds no records.
 */
export const republishRefused = (letter: DeadLetterHeaders, body: Buffer, shards = 1): Message[] => {
  const receiver = receivers.find(({ name }) => name === letter.origin);
  if (receiver === undefined)
    throw new PermanentError('bad-headers', `the dead letter's origin ${letter.origin} is no receiver`);
  return republish(letter, body, shards, { format: formatOfLetter(letter), capBytes: receiver.maxBodyBytes });
};
