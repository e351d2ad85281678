/** Items of one message during a step. Stepping can stop after any item and continue later. */
import type { BusRecord } from '../../schemas/ports/bus.ts';
import type { Opened } from '../../schemas/records/decoded-request.ts';
import type { IsMatch } from '../../schemas/records/record-filter.ts';
import type { Context, Emits, Follows, Processor } from './definition.ts';
import { onlyOrdinals } from './ordinals.ts';
import type { TimeSlice } from './time-slice.ts';

/** A record time that is this much later than its reception does not move the watermark. */
const aheadMs = 5_000;

/**
 * Latest time of the items of a message that moves a watermark. Processors of one thread share the opened message, so
 * it is computed once.
 */
const latest = new WeakMap<Opened<unknown>, number>();

export class Stepping {
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
  readonly #opened: Opened<unknown>;
  readonly #context: Context<Emits, Follows, unknown>;
  /** Selects the items of a replayed dead letter. */
  readonly #isReplayed: ((ordinal: number) => boolean) | undefined;
  readonly #matches: IsMatch | undefined;
  readonly #seesTimes: boolean;
  #next = 0;

  constructor(
    processor: Processor,
    message: BusRecord,
    opened: Opened<unknown>,
    context: Context<Emits, Follows, unknown>,
  ) {
    this.#processor = processor;
    this.#message = message;
    this.#opened = opened;
    this.#context = context;
    this.#isReplayed = onlyOrdinals(message.headers['only-ordinals']);
    this.#matches = processor.itemFilter?.of(opened);
    const known = this.#isReplayed === undefined ? latest.get(opened) : undefined;
    this.latestMs = known ?? Number.NEGATIVE_INFINITY;
    this.#seesTimes = processor.readsTime && known === undefined;
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
      if (this.#isReplayed?.(ordinal) !== false) this.#pass(ordinal);
      if (slice.isOver()) break;
    }
    this.ms += performance.now() - began;
    if (this.#next < count) return false;
    if (this.#seesTimes && this.#isReplayed === undefined) latest.set(opened, this.latestMs);
    return true;
  }

  #pass(ordinal: number): void {
    this.items++;
    const isMatch = this.#matches?.(ordinal) !== false;
    if (!(isMatch || this.#seesTimes)) return;
    const item = this.#opened.at(ordinal);
    if (this.#seesTimes) this.#seeTime(item);
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

  #seeTime(item: unknown): void {
    const { reads } = this.#processor;
    const { timestampMs } = this.#message;
    const time = reads.timeOf?.(item) ?? timestampMs;
    if (time > this.latestMs && time <= (reads.receivedAtOf?.(item) ?? timestampMs) + aheadMs) this.latestMs = time;
  }
}
