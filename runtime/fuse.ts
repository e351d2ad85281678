/** Blows when a consumer sends too much to the dead letter: then something is wrong with the consumer, not with the messages. */
export class Fuse {
  readonly #group: string;
  readonly #ratio: number;
  readonly #minMessages: number;
  #seen = 0;
  #dead = 0;

  /** Above `ratio` dead letters among the last messages (`least` of them at least), `check` throws. */
  constructor(group: string, { ratio = 0.1, least: minMessages = 20 } = {}) {
    this.#group = group;
    this.#ratio = ratio;
    this.#minMessages = minMessages;
  }

  /** Counts one batch, before anything of it is published. */
  check(messages: number, dead: number): void {
    const seen = this.#seen + messages;
    const bad = this.#dead + dead;
    if (dead > 0 && seen >= this.#minMessages && bad / seen > this.#ratio) {
      throw new Error(
        `${this.#group} could not process ${bad} of the last ${seen} messages and stopped rather than sending them all to the dead letter: fix the cause, then start it again`,
      );
    }
    // Older messages count half at each window's end, so that an old incident does not blame a new one.
    const halve = seen >= 1_000 ? 2 : 1;
    this.#seen = seen / halve;
    this.#dead = bad / halve;
  }
}
