/** The role that runs the receivers. */

import type { SecretBox } from '../runtime/secret-box.ts';
import type { DeadLetterHeaders } from '../schemas/dead-letter.ts';
import { PermanentError } from '../schemas/errors.ts';
import type { Message } from '../schemas/ports/bus.ts';
import type { TimeRange } from '../schemas/readable-times.ts';
import { republishRejected as republish } from './engine/dead-letters.ts';
import { type Receivers, type ReceiversOptions, start } from './engine/start.ts';
import { openHeartbeats } from './heartbeats/heartbeats.ts';
import { openOpamp } from './opamp/opamp.ts';
import { getDeadLetterFormat, receivers } from './registry.ts';

/** Starts all receivers. They listen once all license keys are loaded; rejects if an address is in use. */
export const startReceivers = (options: ReceiversOptions): Promise<Receivers> =>
  start(receivers, new URL('./scan-worker.ts', import.meta.url), [openHeartbeats, openOpamp], options);

export interface ReplayOptions {
  readonly shards?: number;
  readonly times?: TimeRange | undefined;
  /** Decrypts the bodies of browsers. */
  readonly secretBox: SecretBox;
}

/**
 * Validates the body of a rejected request again and returns the messages that its receiver would have published, for a
 * replay to publish in its transaction: the valid records, and a dead letter of the others. With `times`, records outside
 * of this range are invalid. Throws `PermanentError` if no record is valid, or if the body was cut.
 */
export const republishRejected = (
  headers: DeadLetterHeaders,
  body: Buffer,
  { shards = 1, times, secretBox }: ReplayOptions,
): Message[] => {
  const receiver = receivers.find(({ name }) => name === headers.origin);
  if (receiver === undefined)
    throw new PermanentError('bad-headers', `the dead letter's origin ${headers.origin} is not a receiver`);
  const format = getDeadLetterFormat(headers);
  return republish(headers, body, shards, { format, limitBytes: receiver.maxBodyBytes, times, secretBox });
};
