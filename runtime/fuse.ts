/**
 * Trips when a consumer sends too many messages to the dead-letter topic. Then the consumer is probably the cause,
 * not the messages.
 */
export class DeadLetterCircuitBreaker {
  readonly #group: string;
  readonly #ratio: number;
  readonly #minMessages: number;
  #recentMessages = 0;
  #recentDeadLetters = 0;

  /**
   * `check` throws if more than `ratio` of the recent messages became dead letters. At least `minMessages` messages
   * are required.
   */
  constructor(group: string, { ratio = 0.1, least: minMessages = 20 } = {}) {
    this.#group = group;
    this.#ratio = ratio;
    this.#minMessages = minMessages;
  }

  /** Counts one batch. Call it before the batch publishes anything. */
  check(messages: number, deadLetters: number): void {
    const recentMessages = this.#recentMessages + messages;
    const recentDeadLetters = this.#recentDeadLetters + deadLetters;
    if (deadLetters > 0 && recentMessages >= this.#minMessages && recentDeadLetters / recentMessages > this.#ratio) {
      throw new Error(
        `${this.#group} could not process ${recentDeadLetters} of the last ${recentMessages} messages and stopped instead of sending all of them to the dead-letter topic: fix the cause, then start it again`,
      );
    }
    // Halves both counts after every 1,000 messages, so that an old incident does not trip the fuse again.
    const divisor = recentMessages >= 1_000 ? 2 : 1;
    this.#recentMessages = recentMessages / divisor;
    this.#recentDeadLetters = recentDeadLetters / divisor;
  }
}
