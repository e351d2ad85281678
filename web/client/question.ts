/** A call that a view shows: its answer, how old that is, and what went wrong. */
import { signal } from '@preact/signals';
import { asCurl } from './as-curl.ts';
import { ask, CallError } from './ask.ts';
import type { Answered, Call, Declared, Sent } from './call.ts';

/** What is known of a call. While it is asked anew, the answer before stays. */
export interface Standing<Answer> {
  readonly isAsking: boolean;
  readonly answer?: Answer | undefined;
  readonly error?: CallError | undefined;
  /** When the answer came, in epoch milliseconds. */
  readonly answeredAt?: number | undefined;
  readonly tookMs?: number | undefined;
  /** The last call, for a shell. */
  readonly curl?: string | undefined;
  /** Ends the call, on the server too. */
  readonly cancel?: (() => void) | undefined;
}

const errorOf = (error: unknown): CallError =>
  error instanceof CallError
    ? error
    : new CallError(`The page failed: ${String(error)}`, { status: 0, code: 'INTERNAL' });

/** A call that is asked again and again with other parameters. The last one counts; those before are cancelled, on the server too. */
export class Question<Operation extends Declared> {
  readonly call: Call<Operation>;
  readonly standing = signal<Standing<Answered<Operation>>>({ isAsking: false });
  #cancel: AbortController | undefined;
  #again: ReturnType<typeof setTimeout> | undefined;

  constructor(call: Call<Operation>) {
    this.call = call;
  }

  ask(sent: Sent<Operation>): void {
    this.cancel();
    const cancel = new AbortController();
    this.#cancel = cancel;
    const started = performance.now();
    const curl = asCurl(this.call, sent);
    this.standing.value = { ...this.standing.peek(), isAsking: true, curl, cancel: () => this.cancel() };
    void ask(this.call, sent, cancel.signal).then(
      (answer) => {
        if (cancel.signal.aborted) return;
        const tookMs = performance.now() - started;
        this.standing.value = { isAsking: false, answer, answeredAt: Date.now(), tookMs, curl };
      },
      (failed: unknown) => {
        if (cancel.signal.aborted) return;
        const error = errorOf(failed);
        error.isAskedAgain = error.retrySeconds !== undefined;
        this.standing.value = { ...this.standing.peek(), isAsking: false, error };
        if (error.retrySeconds !== undefined)
          this.#again = setTimeout(() => this.ask(sent), error.retrySeconds * 1_000);
      },
    );
  }

  /** Forgets the answer: what is asked next is another thing. */
  clear(): void {
    this.cancel();
    this.standing.value = { isAsking: false };
  }

  cancel(): void {
    clearTimeout(this.#again);
    this.#cancel?.abort();
    if (this.standing.peek().isAsking) this.standing.value = { ...this.standing.peek(), isAsking: false };
  }
}
