import type { Murmur } from './hash.ts';

const initialSlots = 4_096;
/** Most entries; then all are dropped, at the price of rows written once more. */
const maxEntries = 200_000;
const fields = 9;
const [tenantField, aField, bField, lowField, highField] = [0, 1, 2, 3, 4] as const;
/** Hours that landed, one after the other without a gap: the newest ones, and those of late rows. First and last hour + 1; 0 for none. */
const [newest, late] = [5, 7] as const;
/** More than any slot. */
const slotFactor = 2 ** 26;

/**
 * Which resources or series this process has landed in which hours, so that their rows are written once an hour rather
 * than with every request. Of each, two runs of hours without a gap are kept: of what is sent now and of what comes late beside it. An
 * entry is found by the hash of its raw wire bytes and by its tenant: a crafted collision harms no other tenant. An entry counts as landed
 * only when the insert that carried its row has resolved.
 */
export class SeenIds {
  #table = new Int32Array(initialSlots * fields);
  #entries = 0;
  #generation = 0;
  #serial = 0;
  /** Slot, first and last hour of each row written for the present batch. */
  #written: number[] = [];
  /** Which hours of which slots they tell of, in one number each. */
  readonly #claimed = new Set<number>();
  #mark = 0;
  readonly #tenants = new Map<string, number>();
  #lastTenant = 0;
  readonly #unconfirmed = new Map<number, { readonly generation: number; readonly written: readonly number[] }>();

  /** A small number for a tenant, above 0. */
  tenant(tenantId: string): number {
    let number = this.#tenants.get(tenantId);
    if (number === undefined) {
      number = ++this.#lastTenant;
      this.#tenants.set(tenantId, number);
    }
    return number;
  }

  /** Slot of an entry, or -1. Slots are valid until the next `add`. */
  find(tenant: number, { a, b }: Murmur): number {
    const table = this.#table;
    const mask = table.length / fields - 1;
    for (let slot = a & mask; ; slot = (slot + 1) & mask) {
      const at = slot * fields;
      if (table[at] === 0) return -1;
      if (table[at + aField] === a && table[at + bField] === b && table[at + tenantField] === tenant) return at;
    }
  }

  add(tenant: number, { a, b }: { readonly a: number; readonly b: number }, low: number, high: number): number {
    if (this.#entries >= maxEntries) this.#forget();
    if ((this.#entries + 1) * 2 > this.#table.length / fields) this.#grow();
    this.#entries++;
    const at = this.#free(a);
    this.#table.set([tenant, a, b, low, high], at);
    return at;
  }

  low(slot: number): number {
    return (this.#table[slot + lowField] as number) >>> 0;
  }

  high(slot: number): number {
    return (this.#table[slot + highField] as number) >>> 0;
  }

  /** Whether a row is due that tells of these hours and all between, which is then taken as written. */
  claim(slot: number, first: number, last = first): boolean {
    if (this.#hasLanded(slot, first, last)) return false;
    const claim = first * slotFactor + slot;
    if (first === last && this.#claimed.has(claim)) return false;
    this.#claimed.add(claim);
    if (first !== last) this.#claimed.add(last * slotFactor + slot);
    this.#written.push(slot, first, last);
    return true;
  }

  #hasLanded(slot: number, first: number, last: number): boolean {
    return this.#isIn(slot + newest, first, last) || this.#isIn(slot + late, first, last);
  }

  #isIn(run: number, first: number, last: number): boolean {
    return last < (this.#table[run + 1] as number) && first + 1 >= (this.#table[run] as number);
  }

  /** Hours next to those of a run make it longer; any others begin one anew. */
  #land(slot: number, firstHour: number, lastHour: number): void {
    if (this.#hasLanded(slot, firstHour, lastHour)) return;
    const table = this.#table;
    const [first, last] = [firstHour + 1, lastHour + 1];
    const run = last >= (table[slot + newest] as number) - 1 ? newest : late;
    const [begin, end] = [table[slot + run] as number, table[slot + run + 1] as number];
    const isNext = end > 0 && last >= begin - 1 && first <= end + 1;
    // What was newest is late from now on.
    if (run === newest && !isNext && end > 0) table.set([begin, end], slot + late);
    table.set(isNext ? [Math.min(begin, first), Math.max(end, last)] : [first, last], slot + run);
  }

  /** Begins a batch. */
  begin(serial: number): void {
    this.#serial = serial;
    this.#written = [];
    this.#claimed.clear();
    this.#mark = 0;
  }

  mark(): void {
    this.#mark = this.#written.length;
  }

  /** The rows claimed since `mark` were taken back. An hour that an earlier row tells of too is told once more. */
  rollback(): void {
    for (let index = this.#mark; index < this.#written.length; index += 3) {
      const [slot = 0, first = 0, last = 0] = this.#written.slice(index, index + 3);
      this.#claimed.delete(first * slotFactor + slot);
      this.#claimed.delete(last * slotFactor + slot);
    }
    this.#written.length = this.#mark;
  }

  /** Ends the batch; `settle` with its serial follows when its fate is known. */
  end(): void {
    if (this.#written.length > 0) {
      this.#unconfirmed.set(this.#serial, { generation: this.#generation, written: this.#written });
    }
  }

  settle(serial: number, landed: boolean): void {
    const batch = this.#unconfirmed.get(serial);
    this.#unconfirmed.delete(serial);
    if (!landed || batch === undefined || batch.generation !== this.#generation) return;
    for (let index = 0; index < batch.written.length; index += 3) {
      const [slot = 0, first = 0, last = 0] = batch.written.slice(index, index + 3);
      this.#land(slot, first, last);
    }
  }

  #free(a: number): number {
    const mask = this.#table.length / fields - 1;
    let slot = a & mask;
    while (this.#table[slot * fields] !== 0) slot = (slot + 1) & mask;
    return slot * fields;
  }

  /** Slots move: what is not confirmed yet is forgotten, and written again in time. */
  #grow(): void {
    const before = this.#table;
    this.#table = new Int32Array(before.length * 4);
    this.#generation++;
    const moved = new Map<number, number>();
    for (let at = 0; at < before.length; at += fields) {
      if (before[at] === 0) continue;
      const to = this.#free(before[at + aField] as number);
      this.#table.set(before.subarray(at, at + fields), to);
      moved.set(at, to);
    }
    this.#written = this.#written.map((value, index) => (index % 3 === 0 ? (moved.get(value) ?? value) : value));
    this.#claimed.clear();
    for (let index = 0; index < this.#written.length; index += 3) {
      const [slot = 0, first = 0, last = 0] = this.#written.slice(index, index + 3);
      this.#claimed.add(first * slotFactor + slot);
      this.#claimed.add(last * slotFactor + slot);
    }
  }

  #forget(): void {
    this.#table = new Int32Array(initialSlots * fields);
    this.#entries = 0;
    this.#generation++;
    this.#written = [];
    this.#claimed.clear();
    this.#mark = 0;
    // Numbers are never given twice: a caller may still hold one.
    this.#tenants.clear();
  }
}
