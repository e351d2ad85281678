/** Why tests failed, out of what ava prints behind all of them: its list has titles alone, and of a long run people may be shown the end. */

/** What ava's list says behind a title where an error is the reason. */
const kind = / (?:Rejected promise returned by|Error thrown in) test$/;

/** Takes ava's lines as they come. */
export class Reasons {
  readonly #reasons = new Map<string, string>();
  #title = '';

  /** A failure as ava's list has it. */
  add(failure: string): void {
    this.#reasons.set(failure.replace(kind, ''), '');
  }

  read(line: string): void {
    const title = line.slice(2);
    if (this.#reasons.has(title)) this.#title = title;
    const message = /^ {4}message: (.*)$/.exec(line)?.[1];
    if (message !== undefined && this.#reasons.get(this.#title) === '') this.#reasons.set(this.#title, message);
  }

  /** The failure, and the message of its error where it had one. */
  describeFailure(failure: string): string {
    return [failure, this.#reasons.get(failure.replace(kind, '')) ?? ''].filter((part) => part !== '').join(': ');
  }
}
