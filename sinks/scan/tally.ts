/** Number of records at an index, and the times of the first and the last in milliseconds. */
export interface TallyEntry {
  readonly records: number;
  readonly first: number;
  readonly last: number;
}

/** Counters by index, which grow on demand. */
export class Tally {
  #records: Uint32Array<ArrayBuffer>;
  #first: Float64Array<ArrayBuffer>;
  #last: Float64Array<ArrayBuffer>;

  constructor(size: number) {
    this.#records = new Uint32Array(size);
    this.#first = new Float64Array(size);
    this.#last = new Float64Array(size);
  }

  /** Counts one record. */
  countOne(index: number, time: number): void {
    if (index >= this.#records.length) this.#grow(index);
    const before = this.#records[index] as number;
    this.#records[index] = before + 1;
    if (before === 0) {
      this.#first[index] = time;
      this.#last[index] = time;
    } else if (time < (this.#first[index] as number)) this.#first[index] = time;
    else if (time > (this.#last[index] as number)) this.#last[index] = time;
  }

  /** Counts several records. */
  countMany(index: number, { records, first, last }: TallyEntry): void {
    if (records === 0) return;
    if (index >= this.#records.length) this.#grow(index);
    const before = this.#records[index] as number;
    this.#records[index] = before + records;
    if (before === 0 || first < (this.#first[index] as number)) this.#first[index] = first;
    if (before === 0 || last > (this.#last[index] as number)) this.#last[index] = last;
  }

  getEntry(index: number): TallyEntry {
    return {
      records: this.#records[index] as number,
      first: this.#first[index] as number,
      last: this.#last[index] as number,
    };
  }

  /** Iterates over the indexes with a count. */
  *entries(): Generator<readonly [place: number, tallied: TallyEntry]> {
    for (const [index, records] of this.#records.entries()) if (records > 0) yield [index, this.getEntry(index)];
  }

  #grow(index: number): void {
    const size = Math.max(index + 1, this.#records.length * 2);
    const [records, first, last] = [new Uint32Array(size), new Float64Array(size), new Float64Array(size)];
    records.set(this.#records);
    first.set(this.#first);
    last.set(this.#last);
    this.#records = records;
    this.#first = first;
    this.#last = last;
  }
}
