/** Common base of log records, spans and data points. */

import { decodeText } from '../otlp/any-value.ts';
import { readIdStart, toUnsignedBigint, WireCursor } from '../protobuf/cursor.ts';
import { lastNanosecondsHigh } from '../protobuf/messages.ts';
import {
  type Attribute,
  type AttributeType,
  findAttributeType,
  findFirstAttributeText,
  type NameSet,
  readAttributes,
  readCompoundAttributes,
  visitMatchingNames,
} from './attributes.ts';
import { type NestedValue, readNestedAttributes } from './nested-values.ts';
import { type ByteRange, copyRange, type RecordLocation, type RecordOrigin, Resource, Scope } from './origin.ts';

/** Location of a group of records: of one resource and scope, and for data points of one metric. */
export interface Group {
  readonly resource: ByteRange;
  readonly resourceSchema: ByteRange;
  readonly scope: ByteRange;
  readonly scopeSchema: ByteRange;
  /** The complete metric, for data points. */
  readonly metric: ByteRange;
  /** Range of the records, in fields with the tag `tag`. */
  readonly records: ByteRange;
  readonly tag: number;
}

/** Hexadecimal form of an ID. An ID of zeros counts as absent, as in tables. */
const toHex = (bytes: Uint8Array, start: number, count: number): string => {
  let at = start;
  while (at < start + count && bytes[at] === 0) at++;
  return at === start + count ? '' : Buffer.from(bytes.buffer, bytes.byteOffset + start, count).toString('hex');
};

/** Reads an ID as hexadecimal; empty if absent. */
export const readId = (cursor: WireCursor, limit: number, width: number): string => {
  const start = readIdStart(cursor, limit, width);
  return start < 0 ? '' : toHex(cursor.bytes, start, width);
};

/**
 * A view of a record of a batch. The view is reused: the next step of the iteration moves it to the next record, and
 * the memory belongs to the bus. Use `copy`, or the values of getters, to retain data beyond the step. Getters do not
 * throw, since the message is validated before its first record. Fields are decoded on access.
 */
export abstract class RecordView {
  readonly #cursor = new WireCursor(new Uint8Array(0));
  #origin: RecordOrigin;
  #isLocated = false;
  #start = 0;
  #end = 0;
  /** Resource of the record. The object is reused as well. */
  readonly resourceView: Resource;
  /** Instrumentation scope of the record. The object is reused as well. */
  readonly scope: Scope;
  /** Number of the record within its message. */
  ordinal = 0;

  constructor(origin: RecordOrigin, resource = new Resource(), scope = new Scope()) {
    this.#origin = origin;
    this.resourceView = resource;
    this.scope = scope;
  }

  /** The tag of the record's attributes. */
  protected abstract readonly attributesTag: number;

  /** Returns a copy that outlives the batch. Copies of records of one resource share it. */
  abstract copy(): RecordView;

  /** Locates the fields in one pass. `cursor` is at the record's start. */
  protected abstract locate(cursor: WireCursor, end: number): void;

  /** Moves the view to a member of a message. */
  enterMember(origin: RecordOrigin, bytes: Uint8Array): void {
    this.#origin = origin;
    this.#cursor.bytes = bytes;
  }

  /** Moves the view to a group. */
  enterGroup({ resource, resourceSchema, scope, scopeSchema }: Group): void {
    const { bytes } = this.#cursor;
    this.resourceView.moveTo(bytes, resource, resourceSchema);
    this.scope.moveTo(bytes, scope, scopeSchema);
  }

  /**
   * Throws a `PermanentError` for a record that a sink would reject, if the validation of the request skips records.
   */
  validate(): void {
    // Most records are validated with their request.
  }

  /** Moves the view to the next record. */
  moveTo(start: number, end: number, ordinal: number): void {
    this.#start = start;
    this.#end = end;
    this.#isLocated = false;
    this.ordinal = ordinal;
  }

  get tenantId(): string {
    return this.#origin.tenantId;
  }

  get projectId(): string {
    return this.#origin.projectId;
  }

  get receivedAtMs(): number {
    return this.#origin.receivedAtMs;
  }

  get location(): RecordLocation {
    const { topic, partition, offset } = this.#origin;
    return { topic, partition, offset, ordinal: this.ordinal };
  }

  /** Service of the resource (`buildServiceName`), or an empty string. */
  get service(): string {
    return this.resourceView.service;
  }

  /**
   * Returns the stored text of an attribute (`attribute_types` has its type), of the first with that key; `undefined`
   * without one.
   */
  getAttribute(key: string): string | undefined {
    this.ensureLocated();
    return findFirstAttributeText(this.#cursor, this.attributesTag, this.attributesStart, this.attributesEnd, key);
  }

  getAttributeType(key: string): AttributeType | undefined {
    this.ensureLocated();
    return findAttributeType(this.#cursor, this.attributesTag, this.attributesStart, this.attributesEnd, key);
  }

  /** All attributes in the sender's order. */
  get attributes(): readonly Attribute[] {
    this.ensureLocated();
    return readAttributes(this.#cursor, this.attributesTag, this.attributesStart, this.attributesEnd);
  }

  /** Values inside the attributes that are arrays or maps, as far as they land (`nestedLimits`). */
  get nestedAttributes(): readonly NestedValue[] {
    this.ensureLocated();
    return readNestedAttributes(
      readCompoundAttributes(this.#cursor, this.attributesTag, this.attributesStart, this.attributesEnd),
    ).values;
  }

  /** Values inside the body, for records with a body. */
  get bodyValues(): readonly NestedValue[] {
    return [];
  }

  /** Calls `onName` with each name of the set that one of the attributes has. */
  visitAttributeNames(names: NameSet, onName: (name: string) => void): void {
    this.ensureLocated();
    visitMatchingNames(this.#cursor, [this.attributesTag, this.attributesStart, this.attributesEnd], names, onName);
  }

  /**
   * Returns the text of a resource attribute. Of several with one key, the one that sorts first counts, as in tables.
   */
  getResourceAttribute(key: string): string | undefined {
    return this.resourceView.get(key);
  }

  getResourceAttributeType(key: string): AttributeType | undefined {
    return this.resourceView.getType(key);
  }

  /** All resource attributes by key, decoded once for its records. */
  get resourceAttributes(): ReadonlyMap<string, Attribute> {
    return this.resourceView.attributes;
  }

  /** Passes the bytes of the record, without those of its resource and scope, to `inspect`, and returns its result. */
  inspectBytes(inspect: (bytes: Uint8Array, from: number, to: number) => boolean): boolean {
    return inspect(this.#cursor.bytes, this.#start, this.#end);
  }

  /** Start of the first attribute and end of the last one */
  protected attributesStart = 0;
  protected attributesEnd = 0;

  /** Returns the cursor after the fields have been located. */
  protected ensureLocated(): WireCursor {
    const cursor = this.#cursor;
    if (this.#isLocated) return cursor;
    this.#isLocated = true;
    cursor.position = this.#start;
    this.attributesStart = 0;
    this.attributesEnd = 0;
    this.locate(cursor, this.#end);
    return cursor;
  }

  /** Returns the cursor at the record's first byte. */
  protected rewindToStart(): WireCursor {
    const cursor = this.#cursor;
    cursor.position = this.#start;
    return cursor;
  }

  protected get recordEnd(): number {
    return this.#end;
  }

  /** Skips an attribute whose tag begins at `start`. */
  protected skipAttribute(cursor: WireCursor, start: number, end: number): void {
    cursor.position = cursor.readEnd(end);
    if (this.attributesEnd === 0) this.attributesStart = start;
    this.attributesEnd = cursor.position;
  }

  protected readTextRange(start: number, end: number): string {
    return start === end ? '' : decodeText(this.#cursor.bytes, start, end);
  }

  /** Returns the hexadecimal form of an ID; empty if absent. */
  protected readIdHex(start: number, width: number): string {
    return start < 0 ? '' : toHex(this.#cursor.bytes, start, width);
  }

  /** Copies the bytes, resource and scope of this record into a copy. */
  protected copyInto(copy: RecordView): void {
    const bytes = copyRange(this.#cursor.bytes, [this.#start, this.#end]);
    copy.enterMember(this.#origin, bytes);
    copy.moveTo(0, bytes.length, this.ordinal);
  }

  protected get bytes(): Uint8Array {
    return this.#cursor.bytes;
  }

  protected get origin(): RecordOrigin {
    return this.#origin;
  }
}

/** A record that belongs to a trace: a log record or a span. */
export abstract class TracedRecord extends RecordView {
  protected traceIdStart = -1;
  protected spanIdStart = -1;
  protected flagsField = 0;
  protected droppedCount = 0;

  /** 32 hexadecimal digits, or empty if absent. */
  get traceId(): string {
    this.ensureLocated();
    return this.readIdHex(this.traceIdStart, 16);
  }

  /** 16 hexadecimal digits, or empty if absent. */
  get spanId(): string {
    this.ensureLocated();
    return this.readIdHex(this.spanIdStart, 8);
  }

  get flags(): number {
    this.ensureLocated();
    return this.flagsField;
  }

  get droppedAttributes(): number {
    this.ensureLocated();
    return this.droppedCount;
  }
}

const millisecondNs = 1_000_000n;

/** Returns the reception time in nanoseconds. */
export const getReceivedNs = ({ receivedAtMs }: RecordOrigin): bigint =>
  BigInt(Math.trunc(receivedAtMs)) * millisecondNs;

/** Returns a time from two words. Times beyond the range of a table become its last time, as in the table. */
export const toTimeNs = (low: number, high: number, maxHigh = lastNanosecondsHigh): bigint =>
  high > maxHigh ? toUnsignedBigint(0xffffffff, maxHigh) : toUnsignedBigint(low, high);

/** Returns the time in whole milliseconds, without a bigint: 2³² is 4,294 · 10⁶ + 967,296. */
export const toTimeMs = (low: number, high: number, maxHigh = lastNanosecondsHigh): number =>
  high > maxHigh
    ? toTimeMs(0xffffffff, maxHigh, maxHigh)
    : high * 4_294 + Math.floor((high * 967_296 + low) / 1_000_000);
