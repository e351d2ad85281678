/** A call whose result a view displays: response, age, and error */
import { signal } from '@preact/signals';
import { asCurl } from './as-curl.ts';
import type { Answered, Call, Declared, Sent } from './call.ts';
import { CallError, request } from './request.ts';

/** State of a call. The previous response remains while a new one is loading. */
export interface QueryState<Answer> {
  readonly isLoading: boolean;
  readonly answer?: Answer | undefined;
  readonly error?: CallError | undefined;
  /** Time of the response, in epoch milliseconds */
  readonly answeredAt?: number | undefined;
  readonly durationMs?: number | undefined;
  /** Last call as a shell command */
  readonly curl?: string | undefined;
  /** Cancels the call, also on the server */
  readonly cancel?: (() => void) | undefined;
}

const errorOf = (error: unknown): CallError =>
  error instanceof CallError
    ? error
    : new CallError(`The page failed: ${String(error)}`, { status: 0, code: 'INTERNAL' });

/**
 * A call that is repeated with different parameters. Only the last one counts; earlier ones are cancelled, also on the
 * server.
 */
export class ApiQuery<Operation extends Declared> {
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

  /** Discards the response before an unrelated request. */
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
