/** A call that changes something, when somebody wants it. */
import { signal } from '@preact/signals';
import type { Answered, Call, Declared, Sent } from './call.ts';
import { CallError, request } from './request.ts';

export class Action<Operation extends Declared> {
  readonly call: Call<Operation>;
  readonly isRunning = signal(false);
  /** Why the last one was refused. */
  readonly error = signal<CallError | undefined>(undefined);

  constructor(call: Call<Operation>) {
    this.call = call;
  }

  /** The answer; undefined where there was none, and `error` says why. One call at a time. */
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
