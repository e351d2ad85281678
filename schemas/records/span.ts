import { decodeText } from '../otlp/any-value.ts';
import { readIdStart, toUnsignedBigint, type WireCursor } from '../protobuf/cursor.ts';
import { type Attribute, readAttributes } from './attributes.ts';
import { getReceivedNs, readId, TracedRecord, toTimeMs, toTimeNs } from './record.ts';

/** An event of a span. */
export interface SpanEvent {
  readonly timeNs: bigint;
  readonly name: string;
  readonly attributes: readonly Attribute[];
  readonly droppedAttributes: number;
}

/** A link of a span to another. */
export interface SpanLink {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceState: string;
  readonly attributes: readonly Attribute[];
  readonly droppedAttributes: number;
  readonly flags: number;
}

const eventTag = 0x5a;
const linkTag = 0x6a;

/** A span. Its values are those of the stored row in `spans`. */
export class Span extends TracedRecord {
  protected readonly attributesTag = 0x4a;
  #startLow = 0;
  #startHigh = 0;
  #endLow = 0;
  #endHigh = 0;
  #parentIdStart = -1;
  #stateStart = 0;
  #stateEnd = 0;
  #nameStart = 0;
  #nameEnd = 0;
  #kind = 0;
  #statusCode = 0;
  #statusStart = 0;
  #statusEnd = 0;
  #droppedEvents = 0;
  #droppedLinks = 0;
  /** Start of the first event or link, and the end of the span; -1 without one */
  #eventsStart = -1;
  #end = 0;

  get name(): string {
    this.ensureLocated();
    return this.readTextRange(this.#nameStart, this.#nameEnd);
  }

  /** OTLP span kind: 0 unspecified, 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  get kind(): number {
    this.ensureLocated();
    return this.#kind;
  }

  /** OTLP status code: 0 unset, 1 ok, 2 error. */
  get statusCode(): number {
    this.ensureLocated();
    return this.#statusCode;
  }

  get statusMessage(): string {
    this.ensureLocated();
    return this.readTextRange(this.#statusStart, this.#statusEnd);
  }

  /** Start time, or else the reception time, in epoch nanoseconds. */
  get timeNs(): bigint {
    this.ensureLocated();
    return this.#hasStart ? toTimeNs(this.#startLow, this.#startHigh) : getReceivedNs(this.origin);
  }

  /** The time in whole milliseconds; cheap. */
  get timeMs(): number {
    this.ensureLocated();
    return this.#hasStart ? toTimeMs(this.#startLow, this.#startHigh) : Math.trunc(this.receivedAtMs);
  }

  /** Duration in nanoseconds; 0 if the end is before the start, or without a start. */
  get durationNs(): bigint {
    return this.#hasDuration
      ? toUnsignedBigint(this.#endLow, this.#endHigh) - toUnsignedBigint(this.#startLow, this.#startHigh)
      : 0n;
  }

  /** Duration in milliseconds, with a fraction; cheap. */
  get durationMs(): number {
    if (!this.#hasDuration) return 0;
    return ((this.#endHigh - this.#startHigh) * 4_294_967_296 + (this.#endLow - this.#startLow)) / 1_000_000;
  }

  /** 16 hexadecimal digits; empty for the root of a trace. */
  get parentSpanId(): string {
    this.ensureLocated();
    return this.readIdHex(this.#parentIdStart, 8);
  }

  get traceState(): string {
    this.ensureLocated();
    return this.readTextRange(this.#stateStart, this.#stateEnd);
  }

  get droppedEvents(): number {
    this.ensureLocated();
    return this.#droppedEvents;
  }

  get droppedLinks(): number {
    this.ensureLocated();
    return this.#droppedLinks;
  }

  get events(): readonly SpanEvent[] {
    return this.#readList(eventTag, (cursor, end) => readEvent(cursor, end)).filter((event) => event !== undefined);
  }

  /** Returns the events with that name. Attributes of other events are not decoded. */
  getEventsNamed(name: string): readonly SpanEvent[] {
    return this.#readList(eventTag, (cursor, end) => readEvent(cursor, end, name)).filter(
      (event) => event !== undefined,
    );
  }

  get links(): readonly SpanLink[] {
    return this.#readList(linkTag, readLink);
  }

  override copy(): Span {
    const copy = new Span(this.origin, this.resourceView.copy(), this.scope.copy());
    this.copyInto(copy);
    return copy;
  }

  get #hasStart(): boolean {
    return (this.#startLow | this.#startHigh) !== 0;
  }

  get #hasDuration(): boolean {
    this.ensureLocated();
    const isBefore =
      this.#endHigh < this.#startHigh || (this.#endHigh === this.#startHigh && this.#endLow < this.#startLow);
    return this.#hasStart && !isBefore;
  }

  #readList<Item>(listTag: number, read: (cursor: WireCursor, end: number) => Item): Item[] {
    const cursor = this.ensureLocated();
    const items: Item[] = [];
    if (this.#eventsStart < 0) return items;
    cursor.position = this.#eventsStart;
    while (cursor.position < this.#end) {
      const tag = cursor.readVarint();
      if (tag !== listTag) {
        cursor.skip(tag, this.#end);
        continue;
      }
      const stop = cursor.readEnd(this.#end);
      items.push(read(cursor, stop));
      cursor.position = stop;
    }
    return items;
  }

  #reset(end: number): void {
    this.#startLow = this.#startHigh = this.#endLow = this.#endHigh = 0;
    this.traceIdStart = this.spanIdStart = this.#parentIdStart = this.#eventsStart = -1;
    this.#stateStart = this.#stateEnd = this.#nameStart = this.#nameEnd = 0;
    this.#statusCode = this.#statusStart = this.#statusEnd = 0;
    this.#kind = this.flagsField = 0;
    this.droppedCount = this.#droppedEvents = this.#droppedLinks = 0;
    this.#end = end;
  }

  protected override locate(cursor: WireCursor, end: number): void {
    this.#reset(end);
    while (cursor.position < end) {
      const start = cursor.position;
      const tag = cursor.readVarint();
      switch (tag) {
        case 0x0a:
          this.traceIdStart = readIdStart(cursor, end, 16);
          break;
        case 0x12:
          this.spanIdStart = readIdStart(cursor, end, 8);
          break;
        case 0x22:
          this.#parentIdStart = readIdStart(cursor, end, 8);
          break;
        case 0x2a:
          this.#nameEnd = cursor.readEnd(end);
          this.#nameStart = cursor.position;
          cursor.position = this.#nameEnd;
          break;
        case 0x30:
          this.#kind = Math.min(cursor.readVarint(), 255);
          break;
        case 0x39:
          cursor.readFixed64();
          this.#startLow = cursor.low;
          this.#startHigh = cursor.high;
          break;
        case 0x41:
          cursor.readFixed64();
          this.#endLow = cursor.low;
          this.#endHigh = cursor.high;
          break;
        case 0x4a:
          this.skipAttribute(cursor, start, end);
          break;
        case 0x7a:
          this.#readStatus(cursor, cursor.readEnd(end));
          break;
        default:
          this.#readRareField(cursor, tag, start, end);
      }
    }
  }

  #readRareField(cursor: WireCursor, tag: number, start: number, end: number): void {
    if (tag === 0x50) this.droppedCount = cursor.readVarint();
    else if (tag === 0x60) this.#droppedEvents = cursor.readVarint();
    else if (tag === 0x70) this.#droppedLinks = cursor.readVarint();
    else if (tag === 0x85) this.flagsField = cursor.readFixed32();
    else if (tag === 0x1a) {
      this.#stateEnd = cursor.readEnd(end);
      this.#stateStart = cursor.position;
      cursor.position = this.#stateEnd;
    } else {
      if (this.#eventsStart < 0 && (tag === eventTag || tag === linkTag)) this.#eventsStart = start;
      cursor.skip(tag, end);
    }
  }

  #readStatus(cursor: WireCursor, end: number): void {
    while (cursor.position < end) {
      const tag = cursor.readVarint();
      if (tag === 0x12) {
        this.#statusEnd = cursor.readEnd(end);
        this.#statusStart = cursor.position;
        cursor.position = this.#statusEnd;
      } else if (tag === 0x18) this.#statusCode = Math.min(cursor.readVarint(), 255);
      else cursor.skip(tag, end);
    }
  }
}

const readText = (cursor: WireCursor, limit: number): string => {
  const end = cursor.readEnd(limit);
  const text = decodeText(cursor.bytes, cursor.position, end);
  cursor.position = end;
  return text;
};

/** Returns `undefined` for an event with a different name than requested. */
const readEvent = (cursor: WireCursor, end: number, requestedName?: string): SpanEvent | undefined => {
  const start = cursor.position;
  let timeNs = 0n;
  let name = '';
  let droppedAttributes = 0;
  while (cursor.position < end) {
    const tag = cursor.readVarint();
    if (tag === 0x09) {
      cursor.readFixed64();
      timeNs = toTimeNs(cursor.low, cursor.high);
    } else if (tag === 0x12) name = readText(cursor, end);
    else if (tag === 0x20) droppedAttributes = cursor.readVarint();
    else cursor.skip(tag, end);
  }
  if (requestedName !== undefined && name !== requestedName) return undefined;
  return { timeNs, name, attributes: readAttributes(cursor, 0x1a, start, end), droppedAttributes };
};

const readLink = (cursor: WireCursor, end: number): SpanLink => {
  const start = cursor.position;
  let traceId = '';
  let spanId = '';
  let traceState = '';
  let droppedAttributes = 0;
  let flags = 0;
  while (cursor.position < end) {
    const tag = cursor.readVarint();
    if (tag === 0x0a) traceId = readId(cursor, end, 16);
    else if (tag === 0x12) spanId = readId(cursor, end, 8);
    else if (tag === 0x1a) traceState = readText(cursor, end);
    else if (tag === 0x28) droppedAttributes = cursor.readVarint();
    else if (tag === 0x35) flags = cursor.readFixed32();
    else cursor.skip(tag, end);
  }
  return {
    traceId,
    spanId,
    traceState,
    attributes: readAttributes(cursor, 0x22, start, end),
    droppedAttributes,
    flags,
  };
};
