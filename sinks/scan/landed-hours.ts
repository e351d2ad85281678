import type { Murmur } from './hash.ts';

const initialSlots = 4_096;
/** Maximum number of entries. When it is reached, all entries are dropped, and their rows are written again. */
const maxEntries = 200_000;
const fieldsPerEntry = 9;
const [tenantField, aField, bField, lowField, highField] = [0, 1, 2, 3, 4] as const;
/** Runs of consecutive landed hours: the latest ones, and those of late rows. First and last hour + 1; 0 for none. */
const [newestRunField, lateRunField] = [5, 7] as const;
/** Above any slot number. */
const slotFactor = 2 ** 26;

/**
 * Hours for which this process has stored each resource or series, so that its row is written once per hour instead
 * of with every request. Each entry has two runs of consecutive hours: for current and for late data. An entry is found by the
 * hash of its raw wire bytes and by its tenant, so that a crafted collision affects no other tenant. An entry counts as
 * landed only after the insert with its row has resolved.
 */
export class LandedHours {
  #table = new Int32Array(initialSlots * fieldsPerEntry);
  #entries = 0;
  #generation = 0;
  #batchId = 0;
  /** Slot, first and last hour of each row written for the current batch */
  #writtenRows: number[] = [];
  /** Hours and slots of these rows, combined in one number each */
  readonly #claimedHours = new Set<number>();
  #mark = 0;
  readonly #tenantNumbers = new Map<string, number>();
  #lastTenant = 0;
  readonly #unconfirmed = new Map<number, { readonly generation: number; readonly written: readonly number[] }>();

  /** Returns a small number above 0 for a tenant. */
  getTenantNumber(tenantId: string): number {
    let number = this.#tenantNumbers.get(tenantId);
    if (number === undefined) {
      number = ++this.#lastTenant;
      this.#tenantNumbers.set(tenantId, number);
    }
    return number;
  }

  /** Returns the slot of an entry, or -1. Slots are valid until the next `addEntry`. */
  find(tenant: number, { a, b }: Murmur): number {
    const table = this.#table;
    const mask = table.length / fieldsPerEntry - 1;
    for (let slot = a & mask; ; slot = (slot + 1) & mask) {
      const offset = slot * fieldsPerEntry;
      if (table[offset] === 0) return -1;
      if (table[offset + aField] === a && table[offset + bField] === b && table[offset + tenantField] === tenant)
        return offset;
    }
  }

  addEntry(tenant: number, { a, b }: { readonly a: number; readonly b: number }, low: number, high: number): number {
    if (this.#entries >= maxEntries) this.#clearEntries();
    if ((this.#entries + 1) * 2 > this.#table.length / fieldsPerEntry) this.#grow();
    this.#entries++;
    const at = this.#findFreeSlot(a);
    this.#table.set([tenant, a, b, low, high], at);
    return at;
  }

  getLowWord(slot: number): number {
    return (this.#table[slot + lowField] as number) >>> 0;
  }

  getHighWord(slot: number): number {
    return (this.#table[slot + highField] as number) >>> 0;
  }

  /** Returns whether a row for this range of hours is due, and marks it as written. */
  claim(slot: number, first: number, last = first): boolean {
    if (this.#hasLanded(slot, first, last)) return false;
    const hourAndSlot = first * slotFactor + slot;
    if (first === last && this.#claimedHours.has(hourAndSlot)) return false;
    this.#claimedHours.add(hourAndSlot);
    if (first !== last) this.#claimedHours.add(last * slotFactor + slot);
    this.#writtenRows.push(slot, first, last);
    return true;
  }

  #hasLanded(slot: number, first: number, last: number): boolean {
    return this.#runContains(slot + newestRunField, first, last) || this.#runContains(slot + lateRunField, first, last);
  }

  #runContains(run: number, first: number, last: number): boolean {
    return last < (this.#table[run + 1] as number) && first + 1 >= (this.#table[run] as number);
  }

  /** Hours adjacent to a run extend it; other hours start a new run. */
  #recordHours(slot: number, firstHour: number, lastHour: number): void {
    if (this.#hasLanded(slot, firstHour, lastHour)) return;
    const table = this.#table;
    const [first, last] = [firstHour + 1, lastHour + 1];
    const run = last >= (table[slot + newestRunField] as number) - 1 ? newestRunField : lateRunField;
    const [begin, end] = [table[slot + run] as number, table[slot + run + 1] as number];
    const isAdjacent = end > 0 && last >= begin - 1 && first <= end + 1;
    // The previous latest run becomes the late one.
    if (run === newestRunField && !isAdjacent && end > 0) table.set([begin, end], slot + lateRunField);
    table.set(isAdjacent ? [Math.min(begin, first), Math.max(end, last)] : [first, last], slot + run);
  }

  /** Begins a batch. */
  begin(batchId: number): void {
    this.#batchId = batchId;
    this.#writtenRows = [];
    this.#claimedHours.clear();
    this.#mark = 0;
  }

  mark(): void {
    this.#mark = this.#writtenRows.length;
  }

  /** Undoes the claims since `mark`. An hour that an earlier row also covers is then written once more. */
  rollback(): void {
    for (let index = this.#mark; index < this.#writtenRows.length; index += 3) {
      const [slot = 0, first = 0, last = 0] = this.#writtenRows.slice(index, index + 3);
      this.#claimedHours.delete(first * slotFactor + slot);
      this.#claimedHours.delete(last * slotFactor + slot);
    }
    this.#writtenRows.length = this.#mark;
  }

  /** Ends the batch. `settle` with its serial follows when its result is known. */
  end(): void {
    if (this.#writtenRows.length > 0) {
      this.#unconfirmed.set(this.#batchId, { generation: this.#generation, written: this.#writtenRows });
    }
  }

  settle(batchId: number, hasLanded: boolean): void {
    const batch = this.#unconfirmed.get(batchId);
    this.#unconfirmed.delete(batchId);
    if (!hasLanded || batch === undefined || batch.generation !== this.#generation) return;
    for (let index = 0; index < batch.written.length; index += 3) {
      const [slot = 0, first = 0, last = 0] = batch.written.slice(index, index + 3);
      this.#recordHours(slot, first, last);
    }
  }

  #findFreeSlot(a: number): number {
    const mask = this.#table.length / fieldsPerEntry - 1;
    let slot = a & mask;
    while (this.#table[slot * fieldsPerEntry] !== 0) slot = (slot + 1) & mask;
    return slot * fieldsPerEntry;
  }

  /** Moves the slots. Unconfirmed entries are dropped; their rows are written again later. */
  #grow(): void {
    const before = this.#table;
    this.#table = new Int32Array(before.length * 4);
    this.#generation++;
    const newSlots = new Map<number, number>();
    for (let at = 0; at < before.length; at += fieldsPerEntry) {
      if (before[at] === 0) continue;
      const to = this.#findFreeSlot(before[at + aField] as number);
      this.#table.set(before.subarray(at, at + fieldsPerEntry), to);
      newSlots.set(at, to);
    }
    this.#writtenRows = this.#writtenRows.map((value, index) =>
      index % 3 === 0 ? (newSlots.get(value) ?? value) : value,
    );
    this.#claimedHours.clear();
    for (let index = 0; index < this.#writtenRows.length; index += 3) {
      const [slot = 0, first = 0, last = 0] = this.#writtenRows.slice(index, index + 3);
      this.#claimedHours.add(first * slotFactor + slot);
      this.#claimedHours.add(last * slotFactor + slot);
    }
  }

  #clearEntries(): void {
    this.#table = new Int32Array(initialSlots * fieldsPerEntry);
    this.#entries = 0;
    this.#generation++;
    this.#writtenRows = [];
    this.#claimedHours.clear();
    this.#mark = 0;
    // Numbers are never reused, because a caller may still use one.
    this.#tenantNumbers.clear();
  }
}
