/** Activity of a thread in shared memory, which the main thread reads while the thread is busy. */
import type { Watch } from './task.ts';

export type ThreadActivity =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'message'; readonly task: number; readonly offset: number }
  | { readonly kind: 'timers'; readonly task: number; readonly tenantId: string };

const maxTenantIdBytes = 256;
const [kindIndex, taskIndex, offsetIndex, lengthIndex, countIndex, threadIndex] = [0, 1, 2, 3, 4, 5];
const numberCount = 6;

export class Progress implements Watch {
  readonly memory: SharedArrayBuffer;
  readonly #numbers: Float64Array;
  readonly #text: Uint8Array;

  constructor(memory = new SharedArrayBuffer(numberCount * 8 + maxTenantIdBytes)) {
    this.memory = memory;
    this.#numbers = new Float64Array(memory, 0, numberCount);
    this.#text = new Uint8Array(memory, numberCount * 8);
  }

  /** Linux thread id; 0 on other systems. */
  get thread(): number {
    return this.#numbers[threadIndex] ?? 0;
  }

  set thread(number: number) {
    this.#numbers[threadIndex] = number;
  }

  /** Called in the thread: assigns the following work to this task. */
  begin(task: number): void {
    this.#numbers[taskIndex] = task;
  }

  beginMessage(offset: number): void {
    this.#numbers[offsetIndex] = offset;
    this.#setKind(1);
  }

  beginTimers(tenantId: string): void {
    const bytes = Buffer.from(tenantId);
    this.#numbers[lengthIndex] = Math.min(bytes.length, maxTenantIdBytes);
    this.#text.set(bytes.subarray(0, maxTenantIdBytes));
    this.#setKind(2);
  }

  end(): void {
    this.#setKind(0);
  }

  /** Counter that changes with each new activity. */
  get count(): number {
    return this.#numbers[countIndex] ?? 0;
  }

  get activity(): ThreadActivity {
    const [kind = 0, task = 0, offset = 0, length = 0] = this.#numbers;
    if (kind === 0) return { kind: 'nothing' };
    if (kind === 1) return { kind: 'message', task, offset };
    return { kind: 'timers', task, tenantId: Buffer.from(this.#text.slice(0, length)).toString('utf8') };
  }

  #setKind(kind: number): void {
    this.#numbers[kindIndex] = kind;
    this.#numbers[countIndex] = this.count + 1;
  }
}
