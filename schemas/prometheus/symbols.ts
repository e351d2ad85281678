/** The strings of a Remote-Write 2.0 request, as positions in its body. */
import { PermanentError } from '../errors.ts';
import { WireReader } from '../protobuf/reader.ts';

/** Built from a body with a valid wire format. Symbols may be before, after or between the series. */
export class SymbolTable {
  #ranges = new Int32Array(1024);
  #length = 0;

  constructor(body: Uint8Array) {
    const reader = new WireReader(body);
    while (reader.position < body.length) {
      const tag = reader.readTag(body.length);
      if (tag !== 0x22) {
        reader.skip(tag, body.length);
        continue;
      }
      const end = reader.readLengthEnd(body.length);
      this.#add(reader.position, end);
      reader.position = end;
    }
    if (this.#length === 0 || this.getStart(0) !== this.getEnd(0)) {
      throw new PermanentError('bad-symbols', 'the symbols do not begin with the empty string', { position: 0 });
    }
  }

  /** Throws for a reference without a symbol. `position` is the position for the error. */
  requireSymbol(ref: number, position: number): void {
    if (ref < this.#length) return;
    const message = `the reference ${ref} is outside the ${this.#length} symbols`;
    throw new PermanentError('bad-symbols', message, { position: position });
  }

  getStart(ref: number): number {
    return this.#ranges[ref * 2] as number;
  }

  getEnd(ref: number): number {
    return this.#ranges[ref * 2 + 1] as number;
  }

  #add(start: number, end: number): void {
    if (this.#length * 2 === this.#ranges.length) {
      const grownRanges = new Int32Array(this.#ranges.length * 2);
      grownRanges.set(this.#ranges);
      this.#ranges = grownRanges;
    }
    this.#ranges[this.#length * 2] = start;
    this.#ranges[this.#length * 2 + 1] = end;
    this.#length++;
  }
}
