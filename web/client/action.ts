/** A call that changes data, sent on a user action */
import { signal } from '@preact/signals';
import type { Answered, Call, Declared, Sent } from './call.ts';
import { CallError, request } from './request.ts';

export class Action<Operation extends Declared> {
  readonly call: Call<Operation>;
  readonly isRunning = signal(false);
  /** Why the last call was rejected */
  readonly error = signal<CallError | undefined>(undefined);

  constructor(call: Call<Operation>) {
    this.call = call;
  }

  /**
   * Sends the call. Returns the response; `undefined` after a failure, for which `error` has the reason. Only one call
   * runs at a time.
   */
  async run(sent: Sent<Operation>): Promise<Answered<Operation> | undefined> {
    if (this.isRunning.peek()) return undefined;
    this.isRunning.value = true;
    this.error.value = undefined;
    try {
      return await request(this.call, sent);
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      this.error.value = error;
      return undefined;
    } finally {
      this.isRunning.value = false;
    }
  }
}
