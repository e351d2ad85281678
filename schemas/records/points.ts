import { decodeZigzag, toDouble, toSignedNumber, toUnsignedBigint, type WireCursor } from '../protobuf/cursor.ts';
import { Metric, type MetricKind } from './metric.ts';
import { type RecordOrigin, Resource, Scope } from './origin.ts';
import {
  type Buckets,
  type Exemplar,
  type ExponentialBuckets,
  emptyBuckets,
  maxTimeHigh,
  OptionalField64,
  type Quantile,
  readBuckets,
  readExemplar,
  readQuantile,
  readWords,
  toUnsignedNumber,
} from './point-parts.ts';
import { type Group, getReceivedNs, RecordView, toTimeMs, toTimeNs } from './record.ts';

/** Tags of the fields that the kinds of points share. `words` are 64 bits wide. */
interface PointLayout {
  readonly attributes: number;
  readonly exemplars: number;
  readonly flags: number;
  readonly wideFieldTags: Readonly<Partial<Record<WideField, number>>>;
}
type WideField = 'double' | 'integer' | 'count' | 'sum' | 'min' | 'max' | 'zeroCount' | 'zeroThreshold';

const numberLayout: PointLayout = {
  attributes: 0x3a,
  exemplars: 0x2a,
  flags: 0x40,
  wideFieldTags: { double: 0x21, integer: 0x31 },
};
const layouts: Readonly<Record<MetricKind, PointLayout>> = {
  gauge: numberLayout,
  sum: numberLayout,
  histogram: {
    attributes: 0x4a,
    exemplars: 0x42,
    flags: 0x50,
    wideFieldTags: { count: 0x21, sum: 0x29, min: 0x59, max: 0x61 },
  },
  exponential_histogram: {
    attributes: 0x0a,
    exemplars: 0x5a,
    flags: 0x50,
    wideFieldTags: { count: 0x21, sum: 0x29, min: 0x61, max: 0x69, zeroCount: 0x39, zeroThreshold: 0x71 },
  },
  summary: { attributes: 0x3a, exemplars: 0, flags: 0x40, wideFieldTags: { count: 0x21, sum: 0x29 } },
};

const noRecordedValueFlag = 1;
/**
 * A data point of any kind. Its values are those of the stored row. Fields that the kind does not have are undefined or
 * empty.
 */
export class DataPoint extends RecordView {
  /** Shared data of the metric's points. The object is reused as well. */
  readonly metric: Metric;
  readonly #time = new OptionalField64();
  readonly #start = new OptionalField64();
  readonly #number = new OptionalField64();
  readonly #count = new OptionalField64();
  readonly #sum = new OptionalField64();
  readonly #min = new OptionalField64();
  readonly #max = new OptionalField64();
  readonly #zeroCount = new OptionalField64();
  readonly #zeroThreshold = new OptionalField64();
  readonly #words = [
    ...[this.#time, this.#start, this.#number, this.#count, this.#sum],
    ...[this.#min, this.#max, this.#zeroCount, this.#zeroThreshold],
  ];
  #layout: PointLayout = numberLayout;
  #isInteger = false;
  #flags = 0;
  #pointStart = 0;
  #pointEnd = 0;

  constructor(origin: RecordOrigin, getResourceAttribute = new Resource(), scope = new Scope(), metric = new Metric()) {
    super(origin, getResourceAttribute, scope);
    this.metric = metric;
  }

  override enterGroup(group: Group): void {
    super.enterGroup(group);
    this.metric.moveTo(this.bytes, group.metric);
  }

  get kind(): MetricKind {
    return this.metric.kind;
  }

  /** The point's time, or else its reception time, in epoch nanoseconds. */
  get timeNs(): bigint {
    this.ensureLocated();
    const { low, high } = this.#time;
    return (low | high) === 0 ? getReceivedNs(this.origin) : toTimeNs(low, high, maxTimeHigh);
  }

  /** The point's time in whole milliseconds; cheap. */
  get timeMs(): number {
    this.ensureLocated();
    const { low, high } = this.#time;
    return (low | high) === 0 ? Math.trunc(this.receivedAtMs) : toTimeMs(low, high, maxTimeHigh);
  }

  /** Start of the aggregation; 0 if the sender specified none. */
  get startTimeNs(): bigint {
    this.ensureLocated();
    return toTimeNs(this.#start.low, this.#start.high, maxTimeHigh);
  }

  get flags(): number {
    this.ensureLocated();
    return this.#flags;
  }

  /** Whether the series ended here: the sender reports that there is no value. */
  get isStale(): boolean {
    return (this.flags & noRecordedValueFlag) !== 0;
  }

  /** Value of a gauge or sum; NaN if it is absent. Integers above 2⁵³ are rounded: `integer` is exact. */
  get value(): number | undefined {
    this.ensureLocated();
    if (this.#layout !== numberLayout) return undefined;
    if (this.isStale) return Number.NaN;
    return this.#isInteger ? toSignedNumber(this.#number.low, this.#number.high) : this.#number.asDouble;
  }

  /** The exact value, if the sender sent an integer. */
  get integer(): bigint | undefined {
    this.ensureLocated();
    if (this.#layout !== numberLayout || !this.#isInteger || this.isStale) return undefined;
    return BigInt.asIntN(64, toUnsignedBigint(this.#number.low, this.#number.high));
  }

  /** Number of observations of a histogram or summary. */
  get count(): number | undefined {
    this.ensureLocated();
    return this.#layout === numberLayout ? undefined : this.#count.asCount;
  }

  get sum(): number | undefined {
    this.ensureLocated();
    return this.kind === 'summary' ? this.#sum.asDouble : this.#sum.asOptionalDouble;
  }

  get min(): number | undefined {
    this.ensureLocated();
    return this.#min.asOptionalDouble;
  }

  get max(): number | undefined {
    this.ensureLocated();
    return this.#max.asOptionalDouble;
  }

  /** Buckets of an explicit histogram. */
  get buckets(): Buckets {
    if (this.kind !== 'histogram') return { bounds: [], counts: [] };
    const bounds: number[] = [];
    const counts: number[] = [];
    this.#readFields([0x3a, 0x39], (cursor, end) => readWords(cursor, end, bounds, toDouble));
    this.#readFields([0x32, 0x31], (cursor, end) => readWords(cursor, end, counts, toUnsignedNumber));
    return { bounds, counts };
  }

  /** Scale of an exponential histogram: bucket bounds are powers of 2 ** (2 ** -scale). */
  get scale(): number {
    let scale = 0;
    if (this.kind !== 'exponential_histogram') return scale;
    this.#readFields([0x30], (cursor) => {
      scale = decodeZigzag(cursor.readVarint());
    });
    return scale;
  }

  get zeroCount(): number {
    this.ensureLocated();
    return this.#zeroCount.asCount;
  }

  get zeroThreshold(): number {
    this.ensureLocated();
    return this.#zeroThreshold.asDouble;
  }

  get positive(): ExponentialBuckets {
    return this.#readExponentialBuckets(0x42);
  }

  get negative(): ExponentialBuckets {
    return this.#readExponentialBuckets(0x4a);
  }

  /** Quantiles of a summary. */
  get quantiles(): readonly Quantile[] {
    const quantiles: Quantile[] = [];
    if (this.kind !== 'summary') return quantiles;
    this.#readFields([0x32], (cursor, end) => quantiles.push(readQuantile(cursor, end)));
    return quantiles;
  }

  get exemplars(): readonly Exemplar[] {
    this.ensureLocated();
    const exemplars: Exemplar[] = [];
    this.#readFields([this.#layout.exemplars], (cursor, end) => exemplars.push(readExemplar(cursor, end)));
    return exemplars;
  }

  override copy(): DataPoint {
    const copy = new DataPoint(this.origin, this.resourceView.copy(), this.scope.copy(), this.metric.copy());
    this.copyInto(copy);
    return copy;
  }

  protected get attributesTag(): number {
    return this.#layout.attributes;
  }

  protected override locate(cursor: WireCursor, end: number): void {
    this.#layout = layouts[this.metric.kind];
    for (const word of this.#words) word.clear();
    this.#isInteger = false;
    this.#flags = 0;
    this.#pointStart = cursor.position;
    this.#pointEnd = end;
    const { attributes, flags } = this.#layout;
    while (cursor.position < end) {
      const start = cursor.position;
      const tag = cursor.readVarint();
      if (tag === attributes) this.skipAttribute(cursor, start, end);
      else if (tag === 0x19) this.#time.read(cursor);
      else if (tag === 0x11) this.#start.read(cursor);
      else if (tag === flags) this.#flags = cursor.readVarint();
      else if (!this.#readWord(cursor, tag)) cursor.skip(tag, end);
    }
  }

  /** Reads a 64-bit field of the point's kind. Returns `false` if the tag is a different field. */
  #readWord(cursor: WireCursor, tag: number): boolean {
    const { wideFieldTags } = this.#layout;
    if (tag === wideFieldTags.double || tag === wideFieldTags.integer) {
      this.#number.read(cursor);
      this.#isInteger = tag === wideFieldTags.integer;
    } else if (tag === wideFieldTags.count) this.#count.read(cursor);
    else if (tag === wideFieldTags.sum) this.#sum.read(cursor);
    else if (tag === wideFieldTags.min) this.#min.read(cursor);
    else if (tag === wideFieldTags.max) this.#max.read(cursor);
    else if (tag === wideFieldTags.zeroCount) this.#zeroCount.read(cursor);
    else if (tag === wideFieldTags.zeroThreshold) this.#zeroThreshold.read(cursor);
    else return false;
    return true;
  }

  /** Calls `read` with each field with those tags and its end. A length-delimited field is then skipped to its end. */
  #readFields(tags: readonly number[], read: (cursor: WireCursor, end: number) => void): void {
    const cursor = this.ensureLocated();
    cursor.position = this.#pointStart;
    while (cursor.position < this.#pointEnd) {
      const tag = cursor.readVarint();
      if (!tags.includes(tag)) {
        cursor.skip(tag, this.#pointEnd);
        continue;
      }
      const { position } = cursor;
      cursor.skip(tag, this.#pointEnd);
      const end = cursor.position;
      cursor.position = position;
      if ((tag & 7) === 2) cursor.readEnd(this.#pointEnd);
      read(cursor, end);
      cursor.position = end;
    }
  }

  #readExponentialBuckets(tag: number): ExponentialBuckets {
    let buckets = emptyBuckets;
    if (this.kind !== 'exponential_histogram') return buckets;
    this.#readFields([tag], (cursor, end) => {
      const { offset, counts } = readBuckets(cursor, end);
      buckets = { offset, counts: [...buckets.counts, ...counts] };
    });
    return buckets;
  }
}
