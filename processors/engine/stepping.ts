/** Items of one message during a step. Stepping can stop after any item and continue later. */
import type { BusRecord } from '../../schemas/ports/bus.ts';
import type { DecodedMessage } from '../../schemas/records/decoded-request.ts';
import type { IsMatch } from '../../schemas/records/record-filter.ts';
import type { Context, Emits, Follows, Processor } from './definition.ts';
import { onlyOrdinals } from './ordinals.ts';
import type { TimeSlice } from './time-slice.ts';

/** A record time that is this much later than its reception does not move the watermark. */
const maxAheadMs = 5_000;

/**
 * Latest time of the items of a message that moves a watermark. Processors of one thread share the opened message, so
 * it is computed once.
 */
const latestTimes = new WeakMap<DecodedMessage<unknown>, number>();

export class MessageStepper {
  /** Items that were stepped or filtered out. */
  items = 0;
  /** Milliseconds of thread time. */
  ms = 0;
  /** Latest time of an item that moves the watermark. */
  latestMs = Number.NEGATIVE_INFINITY;
  /** Ordinals of failed items, and the reason of the first failure. */
  readonly poison: number[] = [];
  failure: unknown;
  readonly #processor: Processor;
  readonly #message: BusRecord;
  readonly #opened: DecodedMessage<unknown>;
  readonly #context: Context<Emits, Follows, unknown>;
  /** Selects the items of a replayed dead letter. */
  readonly #isSelected: ((ordinal: number) => boolean) | undefined;
  readonly #matchesFilter: IsMatch | undefined;
  readonly #tracksTime: boolean;
  #next = 0;

  constructor(
    processor: Processor,
    message: BusRecord,
    opened: DecodedMessage<unknown>,
    context: Context<Emits, Follows, unknown>,
  ) {
    this.#processor = processor;
    this.#message = message;
    this.#opened = opened;
    this.#context = context;
    this.#isSelected = onlyOrdinals(message.headers['only-ordinals']);
    this.#matchesFilter = processor.itemFilter?.of(opened);
    const known = this.#isSelected === undefined ? latestTimes.get(opened) : undefined;
    this.latestMs = known ?? Number.NEGATIVE_INFINITY;
    this.#tracksTime = processor.readsTime && known === undefined;
  }

  /** Whether all items of the message failed. */
  get isAllPoison(): boolean {
    return this.poison.length === this.#opened.count;
  }

  /** Steps items until the time slice is over; returns whether all were stepped. */
  run(slice: TimeSlice): boolean {
    const began = performance.now();
    const opened = this.#opened;
    const { count } = opened;
    while (this.#next < count) {
      const ordinal = this.#next++;
      if (this.#isSelected?.(ordinal) !== false) this.#processItem(ordinal);
      if (slice.isOver()) break;
    }
    this.ms += performance.now() - began;
    if (this.#next < count) return false;
    if (this.#tracksTime && this.#isSelected === undefined) latestTimes.set(opened, this.latestMs);
    return true;
  }

  #processItem(ordinal: number): void {
    this.items++;
    const isMatch = this.#matchesFilter?.(ordinal) !== false;
    if (!(isMatch || this.#tracksTime)) return;
    const item = this.#opened.getItem(ordinal);
    if (this.#tracksTime) this.#updateLatestTime(item);
    if (isMatch) this.#step(item, ordinal);
  }

  #step(item: unknown, ordinal: number): void {
    try {
      this.#processor.step(item, this.#context);
    } catch (error) {
      if (this.poison.length === 0) this.failure = error;
      this.poison.push(ordinal);
    }
  }

  #updateLatestTime(item: unknown): void {
    const { reads } = this.#processor;
    const { timestampMs } = this.#message;
    const time = reads.timeOf?.(item) ?? timestampMs;
    if (time > this.latestMs && time <= (reads.receivedAtOf?.(item) ?? timestampMs) + maxAheadMs) this.latestMs = time;
  }
}
