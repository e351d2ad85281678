/**
 * Trips when a consumer sends too many messages to the dead-letter topic. Then the consumer is at fault, not the
 * messages.
 */
export class Fuse {
  readonly #group: string;
  readonly #ratio: number;
  readonly #minMessages: number;
  #seen = 0;
  #dead = 0;

  /**
   * `check` throws if more than `ratio` of the recent messages became dead letters. At least `least` messages are
   * required.
   */
  constructor(group: string, { ratio = 0.1, least: minMessages = 20 } = {}) {
    this.#group = group;
    this.#ratio = ratio;
    this.#minMessages = minMessages;
  }

  /** Counts one batch. Call it before the batch publishes anything. */
  check(messages: number, dead: number): void {
    const seen = this.#seen + messages;
    const bad = this.#dead + dead;
    if (dead > 0 && seen >= this.#minMessages && bad / seen > this.#ratio) {
      throw new Error(
        `${this.#group} could not process ${bad} of the last ${seen} messages and stopped rather than sending them all to the dead letter: fix the cause, then start it again`,
      );
    }
    // Older messages count half at the end of each window, so that an old incident does not trip the fuse again.
    const halve = seen >= 1_000 ? 2 : 1;
    this.#seen = seen / halve;
    this.#dead = bad / halve;
  }
}
