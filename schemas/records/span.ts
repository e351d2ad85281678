import { textOf } from '../otlp/any-value.ts';
import { bigintOf, idStart, type WireCursor } from '../protobuf/cursor.ts';
import { type Attribute, attributeList } from './attributes.ts';
import { readId, receivedNs, TracedRecord, timeMsOf, timeNsOf } from './record.ts';

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
  #parent = -1;
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
  #parts = -1;
  #end = 0;

  get name(): string {
    this.located();
    return this.textAt(this.#nameStart, this.#nameEnd);
  }

  /** OTLP span kind: 0 unspecified, 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  get kind(): number {
    this.located();
    return this.#kind;
  }

  /** OTLP status code: 0 unset, 1 ok, 2 error. */
  get statusCode(): number {
    this.located();
    return this.#statusCode;
  }

  get statusMessage(): string {
    this.located();
    return this.textAt(this.#statusStart, this.#statusEnd);
  }

  /** Start time, or else the reception time, in epoch nanoseconds. */
  get timeNs(): bigint {
    this.located();
    return this.#isTimed ? timeNsOf(this.#startLow, this.#startHigh) : receivedNs(this.origin);
  }

  /** The time in whole milliseconds; cheap. */
  get timeMs(): number {
    this.located();
    return this.#isTimed ? timeMsOf(this.#startLow, this.#startHigh) : Math.trunc(this.receivedAtMs);
  }

  /** Duration in nanoseconds; 0 if the end is before the start, or without a start. */
  get durationNs(): bigint {
    return this.#hasDuration ? bigintOf(this.#endLow, this.#endHigh) - bigintOf(this.#startLow, this.#startHigh) : 0n;
  }

  /** Duration in milliseconds, with a fraction; cheap. */
  get durationMs(): number {
    if (!this.#hasDuration) return 0;
    return ((this.#endHigh - this.#startHigh) * 4_294_967_296 + (this.#endLow - this.#startLow)) / 1_000_000;
  }

  /** 16 hexadecimal digits; empty for the root of a trace. */
  get parentSpanId(): string {
    this.located();
    return this.idAt(this.#parent, 8);
  }

  get traceState(): string {
    this.located();
    return this.textAt(this.#stateStart, this.#stateEnd);
  }

  get droppedEvents(): number {
    this.located();
    return this.#droppedEvents;
  }

  get droppedLinks(): number {
    this.located();
    return this.#droppedLinks;
  }

  get events(): readonly SpanEvent[] {
    return this.#list(eventTag, (cursor, end) => eventOf(cursor, end)).filter((event) => event !== undefined);
  }

  /** Returns the events with that name. Attributes of other events are not decoded. */
  eventsNamed(name: string): readonly SpanEvent[] {
    return this.#list(eventTag, (cursor, end) => eventOf(cursor, end, name)).filter((event) => event !== undefined);
  }

  get links(): readonly SpanLink[] {
    return this.#list(linkTag, linkOf);
  }

  override copy(): Span {
    const copy = new Span(this.origin, this.resourceView.copy(), this.scope.copy());
    this.lend(copy);
    return copy;
  }

  get #isTimed(): boolean {
    return (this.#startLow | this.#startHigh) !== 0;
  }

  get #hasDuration(): boolean {
    this.located();
    const isBefore =
      this.#endHigh < this.#startHigh || (this.#endHigh === this.#startHigh && this.#endLow < this.#startLow);
    return this.#isTimed && !isBefore;
  }

  #list<Item>(listTag: number, read: (cursor: WireCursor, end: number) => Item): Item[] {
    const cursor = this.located();
    const items: Item[] = [];
    if (this.#parts < 0) return items;
    cursor.at = this.#parts;
    while (cursor.at < this.#end) {
      const tag = cursor.varint();
      if (tag !== listTag) {
        cursor.skip(tag, this.#end);
        continue;
      }
      const stop = cursor.end(this.#end);
      items.push(read(cursor, stop));
      cursor.at = stop;
    }
    return items;
  }

  #clear(end: number): void {
    this.#startLow = this.#startHigh = this.#endLow = this.#endHigh = 0;
    this.traceAt = this.spanAt = this.#parent = this.#parts = -1;
    this.#stateStart = this.#stateEnd = this.#nameStart = this.#nameEnd = 0;
    this.#statusCode = this.#statusStart = this.#statusEnd = 0;
    this.#kind = this.flagBits = 0;
    this.dropped = this.#droppedEvents = this.#droppedLinks = 0;
    this.#end = end;
  }

  protected override locate(cursor: WireCursor, end: number): void {
    this.#clear(end);
    while (cursor.at < end) {
      const start = cursor.at;
      const tag = cursor.varint();
      switch (tag) {
        case 0x0a:
          this.traceAt = idStart(cursor, end, 16);
          break;
        case 0x12:
          this.spanAt = idStart(cursor, end, 8);
          break;
        case 0x22:
          this.#parent = idStart(cursor, end, 8);
          break;
        case 0x2a:
          this.#nameEnd = cursor.end(end);
          this.#nameStart = cursor.at;
          cursor.at = this.#nameEnd;
          break;
        case 0x30:
          this.#kind = Math.min(cursor.varint(), 255);
          break;
        case 0x39:
          cursor.fixed64();
          this.#startLow = cursor.low;
          this.#startHigh = cursor.high;
          break;
        case 0x41:
          cursor.fixed64();
          this.#endLow = cursor.low;
          this.#endHigh = cursor.high;
          break;
        case 0x4a:
          this.passAttribute(cursor, start, end);
          break;
        case 0x7a:
          this.#status(cursor, cursor.end(end));
          break;
        default:
          this.#rare(cursor, tag, start, end);
      }
    }
  }

  #rare(cursor: WireCursor, tag: number, start: number, end: number): void {
    if (tag === 0x50) this.dropped = cursor.varint();
    else if (tag === 0x60) this.#droppedEvents = cursor.varint();
    else if (tag === 0x70) this.#droppedLinks = cursor.varint();
    else if (tag === 0x85) this.flagBits = cursor.fixed32();
    else if (tag === 0x1a) {
      this.#stateEnd = cursor.end(end);
      this.#stateStart = cursor.at;
      cursor.at = this.#stateEnd;
    } else {
      if (this.#parts < 0 && (tag === eventTag || tag === linkTag)) this.#parts = start;
      cursor.skip(tag, end);
    }
  }

  #status(cursor: WireCursor, end: number): void {
    while (cursor.at < end) {
      const tag = cursor.varint();
      if (tag === 0x12) {
        this.#statusEnd = cursor.end(end);
        this.#statusStart = cursor.at;
        cursor.at = this.#statusEnd;
      } else if (tag === 0x18) this.#statusCode = Math.min(cursor.varint(), 255);
      else cursor.skip(tag, end);
    }
  }
}

const readText = (cursor: WireCursor, limit: number): string => {
  const end = cursor.end(limit);
  const text = textOf(cursor.bytes, cursor.at, end);
  cursor.at = end;
  return text;
};

/** Returns `undefined` for an event with a different name than requested. */
const eventOf = (cursor: WireCursor, end: number, requestedName?: string): SpanEvent | undefined => {
  const start = cursor.at;
  let timeNs = 0n;
  let name = '';
  let droppedAttributes = 0;
  while (cursor.at < end) {
    const tag = cursor.varint();
    if (tag === 0x09) {
      cursor.fixed64();
      timeNs = timeNsOf(cursor.low, cursor.high);
    } else if (tag === 0x12) name = readText(cursor, end);
    else if (tag === 0x20) droppedAttributes = cursor.varint();
    else cursor.skip(tag, end);
  }
  if (requestedName !== undefined && name !== requestedName) return undefined;
  return { timeNs, name, attributes: attributeList(cursor, 0x1a, start, end), droppedAttributes };
};

const linkOf = (cursor: WireCursor, end: number): SpanLink => {
  const start = cursor.at;
  let traceId = '';
  let spanId = '';
  let traceState = '';
  let droppedAttributes = 0;
  let flags = 0;
  while (cursor.at < end) {
    const tag = cursor.varint();
    if (tag === 0x0a) traceId = readId(cursor, end, 16);
    else if (tag === 0x12) spanId = readId(cursor, end, 8);
    else if (tag === 0x1a) traceState = readText(cursor, end);
    else if (tag === 0x28) droppedAttributes = cursor.varint();
    else if (tag === 0x35) flags = cursor.fixed32();
    else cursor.skip(tag, end);
  }
  return {
    traceId,
    spanId,
    traceState,
    attributes: attributeList(cursor, 0x22, start, end),
    droppedAttributes,
    flags,
  };
};
