/** API call whose response, age and error a view displays */
import { signal } from '@preact/signals';
import { toCurl } from './as-curl.ts';
import type { Call, CallInput, OperationDeclaration, ResponseBody } from './call.ts';
import { CallError, request } from './request.ts';

/** State of a call. The previous response remains while a new one is loading. */
export interface QueryState<Response> {
  readonly isLoading: boolean;
  readonly response?: Response | undefined;
  readonly error?: CallError | undefined;
  /** Time of the response, in epoch milliseconds */
  readonly respondedAt?: number | undefined;
  readonly durationMs?: number | undefined;
  /** Last call as a curl command */
  readonly curl?: string | undefined;
  /** Cancels the call, also on the server */
  readonly abortController?: (() => void) | undefined;
}

const toCallError = (error: unknown): CallError =>
  error instanceof CallError
    ? error
    : new CallError(`The page failed: ${String(error)}`, { status: 0, code: 'INTERNAL' });

/** API call that a view repeats with new parameters. Each run cancels the previous one, also on the server. */
export class ApiQuery<Operation extends OperationDeclaration> {
  readonly call: Call<Operation>;
  readonly state = signal<QueryState<ResponseBody<Operation>>>({ isLoading: false });
  #abortController: AbortController | undefined;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(call: Call<Operation>) {
    this.call = call;
  }

  run(input: CallInput<Operation>): void {
    this.cancel();
    const cancel = new AbortController();
    this.#abortController = cancel;
    const startMs = performance.now();
    const curl = toCurl(this.call, input);
    this.state.value = { ...this.state.peek(), isLoading: true, curl, abortController: () => this.cancel() };
    void request(this.call, input, cancel.signal).then(
      (response) => {
        if (cancel.signal.aborted) return;
        const durationMs = performance.now() - startMs;
        this.state.value = { isLoading: false, response, respondedAt: Date.now(), durationMs, curl };
      },
      (reason: unknown) => {
        if (cancel.signal.aborted) return;
        const error = toCallError(reason);
        error.isRetrying = error.retrySeconds !== undefined;
        this.state.value = { ...this.state.peek(), isLoading: false, error };
        if (error.retrySeconds !== undefined)
          this.#retryTimer = setTimeout(() => this.run(input), error.retrySeconds * 1_000);
      },
    );
  }

  /** Cancels the call and discards its response. */
  clear(): void {
    this.cancel();
    this.state.value = { isLoading: false };
  }

  cancel(): void {
    clearTimeout(this.#retryTimer);
    this.#abortController?.abort();
    if (this.state.peek().isLoading) this.state.value = { ...this.state.peek(), isLoading: false };
  }
}
