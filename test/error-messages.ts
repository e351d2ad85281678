/**
 * Error messages of failed tests, parsed from ava's output: its summary has only titles, and of a long run often only
 * the end is read.
 */

/** What ava appends to the title of a test that failed with an error. */
const kind = / (?:Rejected promise returned by|Error thrown in) test$/;

/** Collects the lines of ava's output. */
export class Reasons {
  readonly #reasons = new Map<string, string>();
  #title = '';

  /** Adds a failure from ava's summary. */
  add(failure: string): void {
    this.#reasons.set(failure.replace(kind, ''), '');
  }

  read(line: string): void {
    const title = line.slice(2);
    if (this.#reasons.has(title)) this.#title = title;
    const message = /^ {4}message: (.*)$/.exec(line)?.[1];
    if (message !== undefined && this.#reasons.get(this.#title) === '') this.#reasons.set(this.#title, message);
  }

  /** Returns the failure with the message of its error, if it has one. */
  describeFailure(failure: string): string {
    return [failure, this.#reasons.get(failure.replace(kind, '')) ?? ''].filter((part) => part !== '').join(': ');
  }
}
