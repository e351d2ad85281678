/** Shared data of a metric's points. The object is reused for each metric, and copied with a point. */
import { textOf } from '../otlp/any-value.ts';
import { WireCursor } from '../protobuf/cursor.ts';
import { type Attribute, attributeList } from './attributes.ts';
import { noRun, type Run } from './origin.ts';

/** Tags of Metric's alternatives → type names of the series */
const kinds = {
  42: 'gauge',
  58: 'sum',
  74: 'histogram',
  82: 'exponential_histogram',
  90: 'summary',
} as const;
export type MetricKind = (typeof kinds)[keyof typeof kinds];

const metadataTag = 0x62;

/** A metric. */
export class Metric {
  readonly #cursor = new WireCursor(new Uint8Array(0));
  #run: Run = noRun;
  #isRead = false;
  #name = '';
  #description = '';
  #unit = '';
  #kind: MetricKind = 'gauge';
  #temporality = 0;
  #monotonic = false;
  #metadata: readonly Attribute[] | undefined;
  #copy: Metric | undefined;

  moveTo(bytes: Uint8Array, run: Run): void {
    this.#cursor.bytes = bytes;
    this.#run = run;
    this.#isRead = false;
    this.#copy = undefined;
  }

  get name(): string {
    return this.#read().#name;
  }

  get description(): string {
    return this.#read().#description;
  }

  get unit(): string {
    return this.#read().#unit;
  }

  get kind(): MetricKind {
    return this.#read().#kind;
  }

  /** OTLP temporality: 0 unspecified, 1 delta, 2 cumulative. */
  get temporality(): number {
    return this.#read().#temporality;
  }

  get monotonic(): boolean {
    return this.#read().#monotonic;
  }

  get metadata(): readonly Attribute[] {
    return this.#metadata ?? attributeList(this.#cursor, metadataTag, ...this.#run);
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
    copy.#monotonic = monotonic;
    copy.#metadata = metadata;
    copy.#copy = copy;
    this.#copy = copy;
    return copy;
  }

  #read(): this {
    if (this.#isRead) return this;
    this.#isRead = true;
    this.#name = '';
    this.#description = '';
    this.#unit = '';
    let points: Run = noRun;
    const cursor = this.#cursor;
    const [start, end] = this.#run;
    cursor.at = start;
    while (cursor.at < end) {
      const tag = cursor.varint();
      if ((tag & 7) !== 2) {
        cursor.skip(tag, end);
        continue;
      }
      const stop = cursor.end(end);
      if (tag === 0x0a) this.#name = textOf(cursor.bytes, cursor.at, stop);
      else if (tag === 0x12) this.#description = textOf(cursor.bytes, cursor.at, stop);
      else if (tag === 0x1a) this.#unit = textOf(cursor.bytes, cursor.at, stop);
      else if (tag in kinds) {
        this.#kind = kinds[tag as keyof typeof kinds];
        points = [cursor.at, stop];
      }
      cursor.at = stop;
    }
    this.#readPoints(points);
    return this;
  }

  #readPoints([start, end]: Run): void {
    this.#temporality = 0;
    this.#monotonic = false;
    const cursor = this.#cursor;
    cursor.at = start;
    while (cursor.at < end) {
      const tag = cursor.varint();
      if (tag === 0x10) this.#temporality = Math.min(cursor.varint(), 255);
      else if (tag === 0x18) this.#monotonic = cursor.varint() !== 0;
      else cursor.skip(tag, end);
    }
  }
}
