/** A call that a view shows: its answer, how old that is, and what went wrong. */
import { signal } from '@preact/signals';
import { asCurl } from './as-curl.ts';
import type { Answered, Call, Declared, Sent } from './call.ts';
import { CallError, request } from './request.ts';

/** What is known of a call. While it is asked anew, the answer before stays. */
export interface QueryState<Answer> {
  readonly isLoading: boolean;
  readonly answer?: Answer | undefined;
  readonly error?: CallError | undefined;
  /** When the answer came, in epoch milliseconds. */
  readonly answeredAt?: number | undefined;
  readonly durationMs?: number | undefined;
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
  readonly state = signal<QueryState<Answered<Operation>>>({ isLoading: false });
  #cancel: AbortController | undefined;
  #again: ReturnType<typeof setTimeout> | undefined;

  constructor(call: Call<Operation>) {
    this.call = call;
  }

  run(sent: Sent<Operation>): void {
    this.cancel();
    const cancel = new AbortController();
    this.#cancel = cancel;
    const started = performance.now();
    const curl = asCurl(this.call, sent);
    this.state.value = { ...this.state.peek(), isLoading: true, curl, cancel: () => this.cancel() };
    void request(this.call, sent, cancel.signal).then(
      (answer) => {
        if (cancel.signal.aborted) return;
        const durationMs = performance.now() - started;
        this.state.value = { isLoading: false, answer, answeredAt: Date.now(), durationMs, curl };
      },
      (failed: unknown) => {
        if (cancel.signal.aborted) return;
        const error = errorOf(failed);
        error.isRetrying = error.retrySeconds !== undefined;
        this.state.value = { ...this.state.peek(), isLoading: false, error };
        if (error.retrySeconds !== undefined)
          this.#again = setTimeout(() => this.run(sent), error.retrySeconds * 1_000);
      },
    );
  }

  /** Forgets the answer: what is asked next is another thing. */
  clear(): void {
    this.cancel();
    this.state.value = { isLoading: false };
  }

  cancel(): void {
    clearTimeout(this.#again);
    this.#cancel?.abort();
    if (this.state.peek().isLoading) this.state.value = { ...this.state.peek(), isLoading: false };
  }
}
