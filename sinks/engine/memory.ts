const kept = 8;
const largestKept = 64 * 1024 * 1024;

/** Memory that is used again: a fresh page costs more than what is copied into it. */
export class Memory {
  readonly #free: ArrayBuffer[] = [];

  /** At least `bytes`; contents are whatever was there. */
  take(bytes: number): ArrayBuffer {
    const index = this.#free.findIndex(({ byteLength }) => byteLength >= bytes);
    const [found] = index < 0 ? [] : this.#free.splice(index, 1);
    return found ?? Buffer.allocUnsafeSlow(Math.ceil((bytes * 1.25) / 65_536) * 65_536 + 65_536).buffer;
  }

  give(memory: ArrayBuffer): void {
    if (memory.byteLength === 0 || memory.byteLength > largestKept) return;
    this.#free.push(memory);
    if (this.#free.length > kept) this.#free.shift();
  }
}
