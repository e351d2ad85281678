/** Steps through the items of one message. It can stop after any item and continue later. */
import type { BusRecord } from '../../schemas/ports/bus.ts';
import type { DecodedMessage } from '../../schemas/records/decoded-request.ts';
import type { MatchesRecord } from '../../schemas/records/record-filter.ts';
import type { Context, Emits, Follows, Processor } from './definition.ts';
import { parseOrdinalFilter } from './ordinals.ts';
import type { TimeSlice } from './time-slice.ts';

/** A record time that is later than its reception by more than this does not advance the watermark. */
const maxAheadMs = 5_000;

/**
 * Latest item time of each message that advances the watermark. Processors of one thread share the decoded message, so
 * the time is computed once.
 */
const latestTimes = new WeakMap<DecodedMessage<unknown>, number>();

export class MessageStepper {
  /** Items that were stepped or filtered out. */
  processedItems = 0;
  /** Milliseconds of thread time. */
  elapsedMs = 0;
  /** Latest time of an item that moves the watermark. */
  latestMs = Number.NEGATIVE_INFINITY;
  /** Ordinals of failed items; `failure` is the error of the first one. */
  readonly failedOrdinals: number[] = [];
  failure: unknown;
  readonly #processor: Processor;
  readonly #message: BusRecord;
  readonly #decoded: DecodedMessage<unknown>;
  readonly #context: Context<Emits, Follows, unknown>;
  /** Selects the items of a replayed dead letter. */
  readonly #isSelected: ((ordinal: number) => boolean) | undefined;
  readonly #matchesFilter: MatchesRecord | undefined;
  readonly #tracksTime: boolean;
  #nextOrdinal = 0;

  constructor(
    processor: Processor,
    message: BusRecord,
    decoded: DecodedMessage<unknown>,
    context: Context<Emits, Follows, unknown>,
  ) {
    this.#processor = processor;
    this.#message = message;
    this.#decoded = decoded;
    this.#context = context;
    this.#isSelected = parseOrdinalFilter(message.headers['only-ordinals']);
    this.#matchesFilter = processor.itemFilter?.createPredicate(decoded);
    const cachedLatestMs = this.#isSelected === undefined ? latestTimes.get(decoded) : undefined;
    this.latestMs = cachedLatestMs ?? Number.NEGATIVE_INFINITY;
    this.#tracksTime = processor.readsTime && cachedLatestMs === undefined;
  }

  /** Whether all items of the message failed. */
  get hasOnlyFailures(): boolean {
    return this.failedOrdinals.length === this.#decoded.count;
  }

  /** Steps items until the time slice is over; returns whether all were stepped. */
  run(slice: TimeSlice): boolean {
    const startMs = performance.now();
    const decoded = this.#decoded;
    const { count } = decoded;
    while (this.#nextOrdinal < count) {
      const ordinal = this.#nextOrdinal++;
      if (this.#isSelected?.(ordinal) !== false) this.#processItem(ordinal);
      if (slice.isOver()) break;
    }
    this.elapsedMs += performance.now() - startMs;
    if (this.#nextOrdinal < count) return false;
    if (this.#tracksTime && this.#isSelected === undefined) latestTimes.set(decoded, this.latestMs);
    return true;
  }

  #processItem(ordinal: number): void {
    this.processedItems++;
    const isMatch = this.#matchesFilter?.(ordinal) !== false;
    if (!(isMatch || this.#tracksTime)) return;
    const item = this.#decoded.getItem(ordinal);
    if (this.#tracksTime) this.#updateLatestTime(item);
    if (isMatch) this.#step(item, ordinal);
  }

  #step(item: unknown, ordinal: number): void {
    try {
      this.#processor.step(item, this.#context);
    } catch (error) {
      if (this.failedOrdinals.length === 0) this.failure = error;
      this.failedOrdinals.push(ordinal);
    }
  }

  #updateLatestTime(item: unknown): void {
    const { reads } = this.#processor;
    const { timestampMs } = this.#message;
    const time = reads.getTimeMs?.(item) ?? timestampMs;
    if (time > this.latestMs && time <= (reads.getReceivedAtMs?.(item) ?? timestampMs) + maxAheadMs)
      this.latestMs = time;
  }
}
