/**
 * The queue of messages for the partitions of one leader. All waiting messages go into one request as soon as the
 * previous request is acknowledged.
 */
import type { BaseOptions } from '@platformatic/kafka';
import { TimeoutError } from '../../runtime/timeout.ts';
import { PermanentError, UnavailableError } from '../../schemas/errors.ts';
import { createDeadline } from './deadline.ts';
import { describeFailure, isProtocolError } from './failures.ts';
import { selectForRequest } from './select-for-request.ts';
import { Sender } from './sender.ts';
import type { OutgoingMessage } from './wire.ts';

/** A call of `publish` that is not acknowledged yet. */
export interface PublishCall {
  /** Number of its messages that are not acknowledged yet. */
  unacknowledgedCount: number;
  resolve(): void;
  reject(error: Error): void;
}

export interface Entry extends OutgoingMessage {
  readonly call: PublishCall;
}

export interface LeaderQueueOptions {
  readonly driver: BaseOptions;
  /** Returns the maximum bytes of one partition's messages in a request, per topic. */
  getMaxBytes(topic: string): number;
  onAcknowledged(): void;
  /** Called when a request failed and its calls reject with `reason`; the metadata of its topics may be out of date. */
  onFailure(reason: Error): void;
}

/** After this time without an acknowledgement, calls reject; Kafka may or may not have stored their messages. */
export const acknowledgementTimeoutMs = 8000;

export class LeaderQueue {
  readonly #options: LeaderQueueOptions;
  readonly #withinDeadline = createDeadline(acknowledgementTimeoutMs);
  #sender: Sender;
  #queue: Entry[] = [];
  #isFlushing = false;

  constructor(options: LeaderQueueOptions) {
    this.#options = options;
    this.#sender = new Sender(options.driver);
  }

  /** Whether no request is in progress. */
  get isIdle(): boolean {
    return !this.#isFlushing;
  }

  push(entry: Entry): void {
    this.#queue.push(entry);
    if (!this.#isFlushing) void this.#flush();
  }

  async #flush(): Promise<void> {
    this.#isFlushing = true;
    // Calls in the same tick of the event loop share the request.
    await Promise.resolve();
    while (this.#queue.length > 0) {
      const { round, remaining } = selectForRequest(this.#queue, this.#options.getMaxBytes);
      this.#queue = remaining;
      try {
        await this.#withinDeadline(this.#sender.send(round));
        this.#options.onAcknowledged();
        for (const { call } of round) if (--call.unacknowledgedCount === 0) call.resolve();
      } catch (error) {
        this.#fail(round, error);
      }
    }
    this.#isFlushing = false;
  }

  /** Rejects the calls of a failed request and all calls that wait behind it, because they would only wait as long again. */
  #fail(round: readonly Entry[], error: unknown): void {
    const failedCalls = new Set([...round, ...this.#queue].map(({ call }) => call));
    this.#queue = [];
    const isTooLarge = isProtocolError(error, 'MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE') && round.length === 1;
    const reason = isTooLarge
      ? new PermanentError('too-large', `Kafka refused a message of topic ${round[0]?.topic} as too large`)
      : new UnavailableError(`Kafka did not acknowledge: ${this.#describeFailure(error)}`, { cause: error });
    this.#options.onFailure(reason);
    for (const call of failedCalls) call.reject(reason);
    // Retries of the old sender must not interleave with messages that are published from now on.
    const failedSender = this.#sender;
    this.#sender = new Sender(this.#options.driver);
    void failedSender.close().catch(() => undefined);
  }

  #describeFailure(error: unknown): string {
    const { pendingFailure } = this.#sender;
    return error instanceof TimeoutError && pendingFailure !== undefined
      ? `${describeFailure(error)}; ${describeFailure(pendingFailure)}`
      : describeFailure(error);
  }

  /** Waits until all entries are settled, and closes the connections. */
  async close(): Promise<void> {
    while (this.#isFlushing) await new Promise((resolve) => setTimeout(resolve, 5));
    await this.#sender.close();
  }
}
