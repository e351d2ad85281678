/** API call that changes data on a user action */
import { signal } from '@preact/signals';
import type { Call, CallInput, OperationDeclaration, ResponseBody } from './call.ts';
import { CallError, request } from './request.ts';

export class Action<Operation extends OperationDeclaration> {
  readonly call: Call<Operation>;
  readonly isRunning = signal(false);
  /** Error of the last call */
  readonly error = signal<CallError | undefined>(undefined);

  constructor(call: Call<Operation>) {
    this.call = call;
  }

  /**
   * Sends the call and returns the response, or `undefined` if the call failed or another one is running. `error` has
   * the reason of a failure.
   */
  async run(callInput: CallInput<Operation>): Promise<ResponseBody<Operation> | undefined> {
    if (this.isRunning.peek()) return undefined;
    this.isRunning.value = true;
    this.error.value = undefined;
    try {
      return await request(this.call, callInput);
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      this.error.value = error;
      return undefined;
    } finally {
      this.isRunning.value = false;
    }
  }
}
