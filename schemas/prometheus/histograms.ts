/** Prometheus's requirements for a native histogram, so that its buckets can be read back correctly. */
import { PermanentError } from '../errors.ts';
import { WireReader } from '../protobuf/reader.ts';

/** Gaps between spans become zeros in storage, and must not exhaust the memory. */
const maxBuckets = 65_536;
/** The schema of explicit bounds. All others are resolutions. */
const customBounds = -53;
const minSchema = -9;
const maxSchema = 52;

/** Buckets of one sign. */
class SignBuckets {
  readonly name: string;
  /** Offset and length of each span */
  readonly spans: number[] = [];
  /** Deltas of integer histograms: the difference of each bucket from the previous one */
  readonly deltas: number[] = [];
  /** Counts of float histograms */
  readonly counts: number[] = [];

  constructor(name: string) {
    this.name = name;
  }

  clear(): void {
    this.spans.length = 0;
    this.deltas.length = 0;
    this.counts.length = 0;
  }

  /** Returns a problem of the spans themselves, the number of buckets that they describe, and the range that they cover. */
  computeLayout(): { problem?: string; buckets: number; bucketRange: number } {
    let bucketCount = 0;
    let bucketRange = 0;
    for (let spanIndex = 0; spanIndex < this.spans.length; spanIndex += 2) {
      const offset = this.spans[spanIndex] as number;
      const length = this.spans[spanIndex + 1] as number;
      if (spanIndex > 0 && offset < 0)
        return {
          problem: `a ${this.name} span begins before the previous one ends`,
          buckets: bucketCount,
          bucketRange,
        };
      bucketCount += length;
      bucketRange += (spanIndex > 0 ? offset : 0) + length;
      if (bucketRange > maxBuckets)
        return { problem: `the ${this.name} spans cover too many buckets`, buckets: bucketCount, bucketRange };
    }
    return { buckets: bucketCount, bucketRange };
  }

  /** Sum of an integer histogram's buckets; negative if a bucket is negative. */
  sumBuckets(): number {
    let bucketTotal = 0;
    let total = 0;
    for (const delta of this.deltas) {
      bucketTotal += delta;
      if (bucketTotal < 0) return -1;
      total += bucketTotal;
    }
    return total;
  }
}

/**
 * Validates the histograms of a body one after the other. The wire format of the body must be valid. Both versions have
 * the same fields.
 */
export class NativeHistograms {
  readonly #reader: WireReader;
  readonly #view: DataView;
  readonly #positive = new SignBuckets('positive');
  readonly #negative = new SignBuckets('negative');
  readonly #bounds: number[] = [];
  #isFloat = false;
  #schema = 0;
  #count = 0;
  #sum = 0;
  #zeroCount = 0;
  #zeroThreshold = 0;

  constructor(bytes: Uint8Array) {
    this.#reader = new WireReader(bytes);
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Throws `bad-histogram` if the fields of the histogram between `start` and `end` contradict each other. */
  requireValid(start: number, end: number): void {
    this.#clear();
    const reader = this.#reader;
    reader.position = start;
    while (reader.position < end) {
      const tag = reader.readTag(end);
      if (!(this.#readScalar(tag, end) || this.#readRepeated(tag, end))) reader.skip(tag, end);
    }
    const fault = this.#findFault();
    if (fault !== undefined) throw createHistogramError(fault, start);
  }

  #clear(): void {
    this.#positive.clear();
    this.#negative.clear();
    this.#bounds.length = 0;
    this.#isFloat = false;
    this.#schema = 0;
    this.#count = 0;
    this.#sum = 0;
    this.#zeroCount = 0;
    this.#zeroThreshold = 0;
  }

  #readScalar(tag: number, end: number): boolean {
    const reader = this.#reader;
    if (tag === 0x08) {
      this.#isFloat = false;
      this.#count = reader.readVarint(end);
    } else if (tag === 0x11) {
      this.#isFloat = true;
      this.#count = this.#readDouble();
    } else if (tag === 0x19) this.#sum = this.#readDouble();
    else if (tag === 0x20) this.#schema = decodeZigzag(reader.readVarint(end));
    else if (tag === 0x29) this.#zeroThreshold = this.#readDouble();
    else if (tag === 0x30) this.#zeroCount = reader.readVarint(end);
    else if (tag === 0x39) this.#zeroCount = this.#readDouble();
    else return false;
    return true;
  }

  #readRepeated(tag: number, end: number): boolean {
    const isPacked = tag % 8 === 2;
    if (tag === 0x42) this.#readSpan(this.#negative.spans, this.#reader.readLengthEnd(end));
    else if (tag === 0x5a) this.#readSpan(this.#positive.spans, this.#reader.readLengthEnd(end));
    else if (tag === 0x48 || tag === 0x4a) this.#readVarints(this.#negative.deltas, isPacked, end);
    else if (tag === 0x60 || tag === 0x62) this.#readVarints(this.#positive.deltas, isPacked, end);
    else if (tag === 0x51 || tag === 0x52) this.#readDoubles(this.#negative.counts, isPacked, end);
    else if (tag === 0x69 || tag === 0x6a) this.#readDoubles(this.#positive.counts, isPacked, end);
    else if (tag === 0x81 || tag === 0x82) this.#readDoubles(this.#bounds, isPacked, end);
    else return false;
    return true;
  }

  #readDouble(): number {
    const reader = this.#reader;
    reader.position += 8;
    return this.#view.getFloat64(reader.position - 8, true);
  }

  #readSpan(spans: number[], end: number): void {
    const reader = this.#reader;
    let offset = 0;
    let length = 0;
    while (reader.position < end) {
      const tag = reader.readTag(end);
      if (tag === 0x08) offset = decodeZigzag(reader.readVarint(end));
      else if (tag === 0x10) length = reader.readVarint(end);
      else reader.skip(tag, end);
    }
    this.#push(spans, offset);
    this.#push(spans, length);
  }

  #readVarints(values: number[], isPacked: boolean, end: number): void {
    const reader = this.#reader;
    const stop = isPacked ? reader.readLengthEnd(end) : reader.position + 1;
    while (reader.position < stop) this.#push(values, decodeZigzag(reader.readVarint(end)));
  }

  #readDoubles(values: number[], isPacked: boolean, end: number): void {
    const stop = isPacked ? this.#reader.readLengthEnd(end) : this.#reader.position + 1;
    while (this.#reader.position < stop) this.#push(values, this.#readDouble());
  }

  #push(values: number[], value: number): void {
    if (values.length > 2 * maxBuckets) throw createHistogramError('there are too many buckets', this.#reader.position);
    values.push(value);
  }

  #findFault(): string | undefined {
    if (this.#schema !== customBounds && !(this.#schema >= minSchema && this.#schema <= maxSchema))
      return `the schema ${this.#schema} does not exist`;
    return (
      this.#findSignFault(this.#positive) ??
      this.#findSignFault(this.#negative) ??
      this.#findCustomBoundsFault() ??
      this.#findCountFault()
    );
  }

  #findSignFault(signBuckets: SignBuckets): string | undefined {
    const { problem, buckets } = signBuckets.computeLayout();
    if (problem !== undefined) return problem;
    const bucketCount = this.#isFloat ? signBuckets.counts.length : signBuckets.deltas.length;
    if (bucketCount !== buckets)
      return `the ${signBuckets.name} spans describe ${buckets} buckets, but there are ${bucketCount}`;
    const hasNegativeCount = this.#isFloat
      ? signBuckets.counts.some((count) => !(count >= 0))
      : signBuckets.sumBuckets() < 0;
    return hasNegativeCount ? `a ${signBuckets.name} bucket counts below 0` : undefined;
  }

  #findCustomBoundsFault(): string | undefined {
    const bounds = this.#bounds;
    if (this.#schema !== customBounds)
      return bounds.length > 0 ? 'there are custom bounds without their schema' : undefined;
    if (this.#negative.spans.length > 0 || this.#zeroCount !== 0 || this.#zeroThreshold !== 0)
      return 'custom bounds allow neither negative buckets nor a zero bucket';
    if (
      bounds.some(
        (bound, index) =>
          !(bound > (bounds[index - 1] ?? Number.NEGATIVE_INFINITY)) || bound === Number.POSITIVE_INFINITY,
      )
    )
      return 'the custom bounds are not ascending, or end with infinity';
    const first = this.#positive.spans[0] ?? 0;
    if (first < 0 || first + this.#positive.computeLayout().bucketRange > bounds.length + 1)
      return `the spans reach beyond the buckets of ${bounds.length} custom bounds`;
    return undefined;
  }

  /** Float counts are rounded and need not add up. If the sum is not a number, some observations have no bucket. */
  #findCountFault(): string | undefined {
    if (this.#isFloat) return this.#count >= 0 && this.#zeroCount >= 0 ? undefined : 'a count is below 0';
    const total = this.#positive.sumBuckets() + this.#negative.sumBuckets() + this.#zeroCount;
    // Above 2⁵³ the numbers here are rounded.
    if (total > Number.MAX_SAFE_INTEGER || this.#count > Number.MAX_SAFE_INTEGER) return undefined;
    if (total === this.#count || (Number.isNaN(this.#sum) && total < this.#count)) return undefined;
    return `the buckets add up to ${total}, but the count is ${this.#count}`;
  }
}

const decodeZigzag = (value: number): number => (value % 2 === 0 ? value / 2 : -(value + 1) / 2);

const createHistogramError = (fault: string, position: number): PermanentError =>
  new PermanentError('bad-histogram', `a native histogram is invalid: ${fault}`, { position });
