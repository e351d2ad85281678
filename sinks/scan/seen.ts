import type { Murmur } from './hash.ts';

const initialSlots = 4_096;
/** Most entries; then all are dropped, at the price of rows written once more. */
const maxEntries = 200_000;
const fields = 8;
const [tenantField, aField, bField, lowField, highField, hourField, serialField] = [0, 1, 2, 3, 4, 5, 6] as const;

/**
 * Which resources or series this process has landed in which hour, so that their rows are written once an hour rather
 * than with every request. An entry is found by the hash of its raw wire bytes and by its tenant: a crafted collision
 * harms no other tenant. An entry counts as landed only when the insert that carried its row has resolved.
 */
export class SeenIds {
  #table = new Int32Array(initialSlots * fields);
  #entries = 0;
  #generation = 0;
  #serial = 0;
  /** Slot and hour of each row written for the present batch. */
  #written: number[] = [];
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
    this.#table.set([tenant, a, b, low, high, 0, 0], at);
    return at;
  }

  low(slot: number): number {
    return (this.#table[slot + lowField] as number) >>> 0;
  }

  high(slot: number): number {
    return (this.#table[slot + highField] as number) >>> 0;
  }

  /** Whether a row is due, which is then taken as written. */
  claim(slot: number, hour: number): boolean {
    const table = this.#table;
    if ((table[slot + hourField] as number) >= hour || table[slot + serialField] === this.#serial) return false;
    table[slot + serialField] = this.#serial;
    this.#written.push(slot, hour);
    return true;
  }

  /** Begins a batch. */
  begin(serial: number): void {
    this.#serial = serial;
    this.#written = [];
    this.#mark = 0;
  }

  mark(): void {
    this.#mark = this.#written.length;
  }

  /** The rows claimed since `mark` were taken back. */
  rollback(): void {
    for (let index = this.#mark; index < this.#written.length; index += 2) {
      this.#table[(this.#written[index] as number) + serialField] = 0;
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
    for (let index = 0; index < batch.written.length; index += 2) {
      this.#table[(batch.written[index] as number) + hourField] = batch.written[index + 1] as number;
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
      if (before[at + serialField] === this.#serial) moved.set(at, to);
    }
    this.#written = this.#written.map((value, index) => (index % 2 === 0 ? (moved.get(value) ?? value) : value));
  }

  #forget(): void {
    this.#table = new Int32Array(initialSlots * fields);
    this.#entries = 0;
    this.#generation++;
    this.#written = [];
    this.#mark = 0;
    // Numbers are never given twice: a caller may still hold one.
    this.#tenants.clear();
  }
}
