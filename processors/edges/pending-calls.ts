/** Call ends of one tenant that wait for their other side. */
import { type CallEnd, getEndMs, type UnpairedReason } from '../../schemas/edges.ts';
import { type End, EndWriter, readEnd, type SavedEnd, type SavedNames } from './ends.ts';

/** A callee span that arrived before its caller. */
type EarlyCallee = readonly [id: string, end: End];

/**
 * A caller span, or the callees that wait for it. It stays after pairing, because one client span may make several
 * calls.
 */
interface Entry {
  caller: End | undefined;
  early: readonly EarlyCallee[];
  /** Ids of the paired callee spans. */
  paired: readonly string[];
  /** Second of the watermark at which the entry expires. */
  due: number;
  /** Second at which the entry is checked: `due`, or earlier. */
  checkSecond: number;
}

interface Saved extends SavedNames {
  readonly entries: readonly [
    key: string,
    caller: SavedEnd | null,
    early: readonly (readonly [id: string, end: SavedEnd])[],
    paired: readonly string[],
    due: number,
  ][];
  /** Indexes of entries. */
  readonly dues: readonly [second: number, entries: readonly number[]][];
}

export interface PairingHandlers {
  pair(caller: End, callee: End): void;
  unpaired(end: End, isCaller: boolean, reason: UnpairedReason): void;
}

/** Limit of one tenant in one partition: about 90,000 calls. Beyond it, those that wait longest are dropped first. */
const defaultMaxBytes = 48 * 1024 * 1024;
/** Maximum number of callee spans per caller whose ids are remembered. */
const maxCallees = 1_000;
/**
 * Maximum time by which an end may be ahead of the clock of the bus. Ends of senders whose clocks are ahead would
 * otherwise wait forever.
 */
const maxAheadMs = 5_000;

const maxNames = 10_000;
/**
 * An array that grows reserves sixteen more slots. Most of these arrays hold at most one element, so they are
 * replaced instead of extended.
 */
const emptyList: readonly never[] = [];

/** As measured (`test/bench/edges.ts`). */
const bytesOfEnd = 420;
const bytesOfPaired = 130;

/**
 * Joins caller and callee spans by the caller's ids, in either order of arrival. Equal ends in equal order have equal
 * outcomes in equal order, also across `save`.
 */
export class PendingCalls {
  readonly #entries = new Map<string, Entry>();
  /** Keys by the second at which they are checked. */
  readonly #keysBySecond = new Map<number, Set<string>>();
  readonly #names = new Map<string, string>();
  readonly #waitMs: number;
  readonly #maxBytes: number;
  #ends = 0;
  #pairedIds = 0;
  evicted = 0;

  /** Pairs ends whose times differ by at most `waitMs`. */
  constructor(waitMs: number, saved?: Saved, maxBytes = defaultMaxBytes) {
    this.#waitMs = waitMs;
    this.#maxBytes = maxBytes;
    if (saved === undefined) return;
    for (const [key, caller, early, paired, due] of saved.entries) {
      const earlyCallees = early.map(([id, end]): EarlyCallee => [id, readEnd(saved, end)]);
      const entry = { caller: caller === null ? undefined : readEnd(saved, caller), paired, due, checkSecond: 0 };
      this.#entries.set(key, { ...entry, early: earlyCallees.length === 0 ? emptyList : earlyCallees });
      this.#ends += early.length + (caller === null ? 0 : 1);
      this.#pairedIds += paired.length;
    }
    const entries = [...this.#entries];
    for (const [second, numbers] of saved.dues) {
      const dueEntries = numbers.map((number) => entries[number] as [string, Entry]);
      for (const [, entry] of dueEntries) entry.checkSecond = second;
      this.#keysBySecond.set(second, new Set(dueEntries.map(([key]) => key)));
    }
  }

  save(): Saved {
    const writer = new EndWriter();
    const indexByKey = new Map<string, number>();
    const entries = Array.from(this.#entries, ([key, { caller, early, paired, due }]): Saved['entries'][number] => {
      indexByKey.set(key, indexByKey.size);
      const earlyCallees = early.map(([id, end]) => [id, writer.save(end)] as const);
      return [key, caller === undefined ? null : writer.save(caller), earlyCallees, paired, due];
    });
    const keysBySecond = Array.from(this.#keysBySecond, ([second, keys]): Saved['dues'][number] => [
      second,
      Array.from(keys, (key) => indexByKey.get(key) as number),
    ]);
    return { ...writer.saved, entries, dues: keysBySecond };
  }

  get entries(): number {
    return this.#entries.size;
  }

  get bytes(): number {
    return this.#ends * bytesOfEnd + this.#pairedIds * bytesOfPaired;
  }

  /**
   * Adds an end. Returns whether it arrived for the first time, and the second of the watermark at which to call
   * `expire`, unless that second was already returned.
   */
  add(
    callEnd: CallEnd,
    { clockMs, watermarkMs }: { readonly clockMs: number; readonly watermarkMs: number },
    outcomes: PairingHandlers,
  ): { readonly isNew: boolean; readonly due?: number } {
    const { traceId, callerId, calleeId } = callEnd;
    const endMs = getEndMs(callEnd);
    const end = this.#toEnd(callEnd, endMs < watermarkMs);
    const key = traceId + callerId;
    const entry = this.#entries.get(key) ?? this.#createEntry(key);
    const isNew =
      calleeId === undefined ? this.#addCaller(entry, end, outcomes) : this.#addCallee(entry, calleeId, end, outcomes);
    const due = this.#postpone(key, entry, Math.min(endMs, clockMs + maxAheadMs));
    while (this.bytes > this.#maxBytes) this.#evict(outcomes);
    return { isNew, ...(due !== undefined && { due }) };
  }

  /** Removes entries due by that second of the watermark. Returns the next second at which to call it. */
  expire(second: number, outcomes: PairingHandlers): number[] {
    const nextSeconds: number[] = [];
    const keys = this.#keysBySecond.get(second) ?? new Set();
    this.#keysBySecond.delete(second);
    for (const key of keys) {
      const entry = this.#entries.get(key);
      if (entry === undefined) continue;
      if (entry.due <= second) this.#removeEntry(key, entry, outcomes);
      else if (this.#scheduleCheck(key, entry)) nextSeconds.push(entry.due);
    }
    return nextSeconds;
  }

  /** Senders repeat a few names, so each is stored once. */
  #internName(name: string): string {
    const existingName = this.#names.get(name);
    if (existingName !== undefined) return existingName;
    if (this.#names.size >= maxNames) this.#names.clear();
    this.#names.set(name, name);
    return name;
  }

  #toEnd({ isMessage = false, environment = '', failed = false, ...end }: CallEnd, late: boolean): End {
    const { projectId, service, startMs, durationNs, peer } = end;
    return {
      projectId: this.#internName(projectId),
      service: this.#internName(service),
      environment: this.#internName(environment),
      isMessage,
      startMs,
      durationNs,
      failed,
      peer,
      late,
    };
  }

  #createEntry(key: string): Entry {
    const entry: Entry = { caller: undefined, early: emptyList, paired: emptyList, due: 0, checkSecond: 0 };
    this.#entries.set(key, entry);
    return entry;
  }

  #addCaller(entry: Entry, caller: End, outcomes: PairingHandlers): boolean {
    if (entry.caller !== undefined) return false;
    entry.caller = caller;
    this.#ends += 1 - entry.early.length;
    for (const [, callee] of entry.early) outcomes.pair(caller, callee);
    this.#pairedIds += entry.early.length;
    entry.paired = entry.early.map(([id]) => id);
    entry.early = emptyList;
    return true;
  }

  #addCallee(entry: Entry, id: string, callee: End, outcomes: PairingHandlers): boolean {
    const { caller, early, paired } = entry;
    if (paired.includes(id) || early.some(([existingId]) => existingId === id)) return false;
    if (caller !== undefined) {
      outcomes.pair(caller, callee);
      if (paired.length >= maxCallees) return true;
      entry.paired = [...paired, id];
      this.#pairedIds++;
    } else if (early.length >= maxCallees) outcomes.unpaired(callee, false, 'evicted');
    else {
      entry.early = [...early, [id, callee]];
      this.#ends++;
    }
    return true;
  }

  #postpone(key: string, entry: Entry, endMs: number): number | undefined {
    const due = Math.ceil((endMs + this.#waitMs) / 1000);
    if (entry.due >= due) return undefined;
    entry.due = due;
    return entry.checkSecond === 0 && this.#scheduleCheck(key, entry) ? due : undefined;
  }

  /** Returns whether the key is the first of its second. */
  #scheduleCheck(key: string, entry: Entry): boolean {
    entry.checkSecond = entry.due;
    const keys = this.#keysBySecond.get(entry.due);
    if (keys === undefined) this.#keysBySecond.set(entry.due, new Set([key]));
    else keys.add(key);
    return keys === undefined;
  }

  #evict(outcomes: PairingHandlers): void {
    const oldest = this.#entries.entries().next().value;
    if (oldest === undefined) return;
    this.evicted++;
    const [key, entry] = oldest;
    this.#keysBySecond.get(entry.checkSecond)?.delete(key);
    this.#removeEntry(key, entry, outcomes, 'evicted');
  }

  #removeEntry(
    key: string,
    { caller, early, paired }: Entry,
    outcomes: PairingHandlers,
    reason?: UnpairedReason,
  ): void {
    this.#entries.delete(key);
    this.#ends -= early.length + (caller === undefined ? 0 : 1);
    this.#pairedIds -= paired.length;
    if (caller !== undefined && paired.length === 0)
      outcomes.unpaired(caller, true, reason ?? (caller.late ? 'late' : 'expired'));
    for (const [, callee] of early) outcomes.unpaired(callee, false, reason ?? (callee.late ? 'late' : 'expired'));
  }
}
