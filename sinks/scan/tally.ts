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
  countOne(place: number, time: number): void {
    if (place >= this.#records.length) this.#grow(place);
    const before = this.#records[place] as number;
    this.#records[place] = before + 1;
    if (before === 0) {
      this.#first[place] = time;
      this.#last[place] = time;
    } else if (time < (this.#first[place] as number)) this.#first[place] = time;
    else if (time > (this.#last[place] as number)) this.#last[place] = time;
  }

  /** Counts several records. */
  countMany(place: number, { records, first, last }: TallyEntry): void {
    if (records === 0) return;
    if (place >= this.#records.length) this.#grow(place);
    const before = this.#records[place] as number;
    this.#records[place] = before + records;
    if (before === 0 || first < (this.#first[place] as number)) this.#first[place] = first;
    if (before === 0 || last > (this.#last[place] as number)) this.#last[place] = last;
  }

  entryAt(place: number): TallyEntry {
    return {
      records: this.#records[place] as number,
      first: this.#first[place] as number,
      last: this.#last[place] as number,
    };
  }

  /** Iterates over the indexes with a count. */
  *entries(): Generator<readonly [place: number, tallied: TallyEntry]> {
    for (const [place, records] of this.#records.entries()) if (records > 0) yield [place, this.entryAt(place)];
  }

  #grow(place: number): void {
    const size = Math.max(place + 1, this.#records.length * 2);
    const [records, first, last] = [new Uint32Array(size), new Float64Array(size), new Float64Array(size)];
    records.set(this.#records);
    first.set(this.#first);
    last.set(this.#last);
    this.#records = records;
    this.#first = first;
    this.#last = last;
  }
}
