/** What log records, spans and data points have in common. */

import { textOf } from '../otlp/any-value.ts';
import { bigintOf, idStart, WireCursor } from '../protobuf/cursor.ts';
import { lastNanosecondsHigh } from '../protobuf/messages.ts';
import {
  type Attribute,
  type AttributeType,
  attributeList,
  attributesAmong,
  attributeText,
  attributeType,
  type NameSet,
} from './attributes.ts';
import { copyOf, type Origin, type Place, Resource, type Run, Scope } from './origin.ts';

/** What a record's place among others is made of; of one resource and scope, and for data points of one metric. */
export interface Group {
  readonly resource: Run;
  readonly resourceSchema: Run;
  readonly scope: Run;
  readonly scopeSchema: Run;
  /** Data points: the whole metric. */
  readonly metric: Run;
  /** Where the records are, in fields of the tag `tag`. */
  readonly records: Run;
  readonly tag: number;
}

/** Hexadecimal of an id. One of zeros only is none, as in tables. */
const hexOf = (bytes: Uint8Array, start: number, count: number): string => {
  let at = start;
  while (at < start + count && bytes[at] === 0) at++;
  return at === start + count ? '' : Buffer.from(bytes.buffer, bytes.byteOffset + start, count).toString('hex');
};

/** Reads an id as hexadecimal, empty for none. */
export const readId = (cursor: WireCursor, limit: number, width: number): string => {
  const start = idStart(cursor, limit, width);
  return start < 0 ? '' : hexOf(cursor.bytes, start, width);
};

/**
 * A record of a batch, read where it lies. It is moved: the next step of the iteration makes it the next record, and the memory
 * under it is the bus'. What shall outlive the step is copied (`copy`), or is a value that a getter answered. Getters do not
 * throw: the message was checked before its first record was given. Nothing is decoded before it is asked for.
 */
export abstract class RecordView {
  readonly #cursor = new WireCursor(new Uint8Array(0));
  #origin: Origin;
  #isLocated = false;
  #start = 0;
  #end = 0;
  /** Its resource; the object is moved as well. */
  readonly resourceView: Resource;
  /** Its instrumentation scope; the object is moved as well. */
  readonly scope: Scope;
  /** Number of the record within its message. */
  ordinal = 0;

  constructor(origin: Origin, resource = new Resource(), scope = new Scope()) {
    this.#origin = origin;
    this.resourceView = resource;
    this.scope = scope;
  }

  /** The tag of the record's attributes. */
  protected abstract readonly attributesTag: number;

  /** One that outlives the batch. Copies of records of one resource share it. */
  abstract copy(): RecordView;

  /** Finds where the fields lie, in one pass; `cursor` is at the record's start. */
  protected abstract locate(cursor: WireCursor, end: number): void;

  /** The member that the next records are of. */
  enter(origin: Origin, bytes: Uint8Array): void {
    this.#origin = origin;
    this.#cursor.bytes = bytes;
  }

  /** The group that the next records are of. */
  group({ resource, resourceSchema, scope, scopeSchema }: Group): void {
    const { bytes } = this.#cursor;
    this.resourceView.moveTo(bytes, resource, resourceSchema);
    this.scope.moveTo(bytes, scope, scopeSchema);
  }

  /** Throws a `PermanentError` for a record that a sink would not land, where the check of its request steps over records. */
  check(): void {
    // Most are checked with their request.
  }

  /** The next record. */
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

  get place(): Place {
    const { topic, partition, offset } = this.#origin;
    return { topic, partition, offset, ordinal: this.ordinal };
  }

  /** `service.name` of the resource, or an empty string. */
  get service(): string {
    return this.resourceView.service;
  }

  /** Text of an attribute as it lands (`attribute_types` tell what it was), of several of one key the first; undefined without one. */
  attribute(key: string): string | undefined {
    this.located();
    return attributeText(this.#cursor, this.attributesTag, this.attributesStart, this.attributesEnd, key);
  }

  attributeType(key: string): AttributeType | undefined {
    this.located();
    return attributeType(this.#cursor, this.attributesTag, this.attributesStart, this.attributesEnd, key);
  }

  /** All attributes in the sender's order. */
  get attributes(): readonly Attribute[] {
    this.located();
    return attributeList(this.#cursor, this.attributesTag, this.attributesStart, this.attributesEnd);
  }

  /** Calls `found` with each name of the set that one of its attributes has. */
  attributesAmong(names: NameSet, found: (name: string) => void): void {
    this.located();
    attributesAmong(this.#cursor, [this.attributesTag, this.attributesStart, this.attributesEnd], names, found);
  }

  /** Text of an attribute of the resource; of several of one key the one that sorts first, as tables answer. */
  resource(key: string): string | undefined {
    return this.resourceView.get(key);
  }

  resourceType(key: string): AttributeType | undefined {
    return this.resourceView.typeOf(key);
  }

  /** All attributes of the resource by key, decoded once for its records. */
  get resourceAttributes(): ReadonlyMap<string, Attribute> {
    return this.resourceView.attributes;
  }

  /** Where the first attribute begins and the last one ends. */
  protected attributesStart = 0;
  protected attributesEnd = 0;

  /** The cursor, once it is known where the fields lie. */
  protected located(): WireCursor {
    const cursor = this.#cursor;
    if (this.#isLocated) return cursor;
    this.#isLocated = true;
    cursor.at = this.#start;
    this.attributesStart = 0;
    this.attributesEnd = 0;
    this.locate(cursor, this.#end);
    return cursor;
  }

  /** The cursor, at the record's first byte. */
  protected begun(): WireCursor {
    const cursor = this.#cursor;
    cursor.at = this.#start;
    return cursor;
  }

  protected get recordEnd(): number {
    return this.#end;
  }

  /** Steps over an attribute whose tag begins at `start`. */
  protected passAttribute(cursor: WireCursor, start: number, end: number): void {
    cursor.at = cursor.end(end);
    if (this.attributesEnd === 0) this.attributesStart = start;
    this.attributesEnd = cursor.at;
  }

  protected textAt(start: number, end: number): string {
    return start === end ? '' : textOf(this.#cursor.bytes, start, end);
  }

  /** Hexadecimal of an id, empty for none. */
  protected idAt(start: number, width: number): string {
    return start < 0 ? '' : hexOf(this.#cursor.bytes, start, width);
  }

  /** Gives a copy what this one has: its own bytes, resource and scope. */
  protected lend(copy: RecordView): void {
    const bytes = copyOf(this.#cursor.bytes, [this.#start, this.#end]);
    copy.enter(this.#origin, bytes);
    copy.moveTo(0, bytes.length, this.ordinal);
  }

  protected get bytes(): Uint8Array {
    return this.#cursor.bytes;
  }

  protected get origin(): Origin {
    return this.#origin;
  }
}

/** A record that belongs to a trace: a log record or a span. */
export abstract class TracedRecord extends RecordView {
  protected traceAt = -1;
  protected spanAt = -1;
  protected flagBits = 0;
  protected dropped = 0;

  /** 32 hexadecimal digits, or empty. */
  get traceId(): string {
    this.located();
    return this.idAt(this.traceAt, 16);
  }

  /** 16 hexadecimal digits, or empty. */
  get spanId(): string {
    this.located();
    return this.idAt(this.spanAt, 8);
  }

  get flags(): number {
    this.located();
    return this.flagBits;
  }

  get droppedAttributes(): number {
    this.located();
    return this.dropped;
  }
}

const millisecondNs = 1_000_000n;

/** Nanoseconds of the time of reception. */
export const receivedNs = ({ receivedAtMs }: Origin): bigint => BigInt(Math.trunc(receivedAtMs)) * millisecondNs;

/** A time in two words. Later times than a table holds are its last instant, as there. */
export const timeNsOf = (low: number, high: number, lastHigh = lastNanosecondsHigh): bigint =>
  high > lastHigh ? bigintOf(0xffffffff, lastHigh) : bigintOf(low, high);

/** The same in whole milliseconds, without a bigint: 2³² is 4,294 · 10⁶ + 967,296. */
export const timeMsOf = (low: number, high: number, lastHigh = lastNanosecondsHigh): number =>
  high > lastHigh
    ? timeMsOf(0xffffffff, lastHigh, lastHigh)
    : high * 4_294 + Math.floor((high * 967_296 + low) / 1_000_000);
