/** Shared data of a metric's points. The object is reused for each metric, and copied with a point. */
import { decodeText } from '../otlp/any-value.ts';
import { WireCursor } from '../protobuf/cursor.ts';
import { type Attribute, readAttributes } from './attributes.ts';
import { type ByteRange, emptyRange } from './origin.ts';

/** Tags of Metric's alternatives → type names of the series */
const kindsByTag = {
  42: 'gauge',
  58: 'sum',
  74: 'histogram',
  82: 'exponential_histogram',
  90: 'summary',
} as const;
export type MetricKind = (typeof kindsByTag)[keyof typeof kindsByTag];

const metadataTag = 0x62;

/** A metric. */
export class Metric {
  readonly #cursor = new WireCursor(new Uint8Array(0));
  #range: ByteRange = emptyRange;
  #isRead = false;
  #name = '';
  #description = '';
  #unit = '';
  #kind: MetricKind = 'gauge';
  #temporality = 0;
  #isMonotonic = false;
  #metadata: readonly Attribute[] | undefined;
  #copy: Metric | undefined;

  moveTo(bytes: Uint8Array, metricRange: ByteRange): void {
    this.#cursor.bytes = bytes;
    this.#range = metricRange;
    this.#isRead = false;
    this.#copy = undefined;
  }

  get name(): string {
    return this.#readOnce().#name;
  }

  get description(): string {
    return this.#readOnce().#description;
  }

  get unit(): string {
    return this.#readOnce().#unit;
  }

  get kind(): MetricKind {
    return this.#readOnce().#kind;
  }

  /** OTLP temporality: 0 unspecified, 1 delta, 2 cumulative. */
  get temporality(): number {
    return this.#readOnce().#temporality;
  }

  get monotonic(): boolean {
    return this.#readOnce().#isMonotonic;
  }

  get metadata(): readonly Attribute[] {
    return this.#metadata ?? readAttributes(this.#cursor, metadataTag, ...this.#range);
  }

  /** Returns a copy that outlives the batch, without the points. All copies of points share it. */
  copy(): Metric {
    if (this.#copy !== undefined) return this.#copy;
    const { name, description, unit, kind, temporality, monotonic, metadata } = this;
    const copy = new Metric();
    copy.#isRead = true;
    copy.#name = name;
    copy.#description = description;
    copy.#unit = unit;
    copy.#kind = kind;
    copy.#temporality = temporality;
    copy.#isMonotonic = monotonic;
    copy.#metadata = metadata;
    copy.#copy = copy;
    this.#copy = copy;
    return copy;
  }

  #readOnce(): this {
    if (this.#isRead) return this;
    this.#isRead = true;
    this.#name = '';
    this.#description = '';
    this.#unit = '';
    let points: ByteRange = emptyRange;
    const cursor = this.#cursor;
    const [start, end] = this.#range;
    cursor.position = start;
    while (cursor.position < end) {
      const tag = cursor.readVarint();
      if ((tag & 7) !== 2) {
        cursor.skip(tag, end);
        continue;
      }
      const stop = cursor.readEnd(end);
      if (tag === 0x0a) this.#name = decodeText(cursor.bytes, cursor.position, stop);
      else if (tag === 0x12) this.#description = decodeText(cursor.bytes, cursor.position, stop);
      else if (tag === 0x1a) this.#unit = decodeText(cursor.bytes, cursor.position, stop);
      else if (tag in kindsByTag) {
        this.#kind = kindsByTag[tag as keyof typeof kindsByTag];
        points = [cursor.position, stop];
      }
      cursor.position = stop;
    }
    this.#readPoints(points);
    return this;
  }

  #readPoints([start, end]: ByteRange): void {
    this.#temporality = 0;
    this.#isMonotonic = false;
    const cursor = this.#cursor;
    cursor.position = start;
    while (cursor.position < end) {
      const tag = cursor.readVarint();
      if (tag === 0x10) this.#temporality = Math.min(cursor.readVarint(), 255);
      else if (tag === 0x18) this.#isMonotonic = cursor.readVarint() !== 0;
      else cursor.skip(tag, end);
    }
  }
}
