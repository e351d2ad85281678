import type { ByteTextSearcher } from '../byte-texts.ts';
import { readTypeCode, readValueText } from '../otlp/any-value.ts';
import type { WireCursor } from '../protobuf/cursor.ts';
import {
  type AttributeType,
  type AttributeVisitor,
  findPlainTextStart,
  visitAttribute,
  visitValue,
} from './attributes.ts';
import { LogRows, logRow, logRowWidth } from './log-row.ts';
import { type NestedValue, readNestedBody } from './nested-values.ts';
import type { RecordOrigin, Resource, Scope } from './origin.ts';
import { getReceivedNs, TracedRecord, toTimeMs, toTimeNs } from './record.ts';
import { getSeverityText } from './severity.ts';

/** For messages with more records, each reader scans them again: a message may contain 8 million. */
const maxCachedRows = 4_096;
const emptyRows = new LogRows(new Uint8Array(0));

/** Reads a time into `low` and `high` of the cursor. Returns `false` if it is absent or zero. */
const readTime = (cursor: WireCursor, position: number): boolean => {
  if (position < 0) return false;
  cursor.position = position;
  cursor.readFixed64();
  return (cursor.low | cursor.high) !== 0;
};

/** A log record. Its values are those of the stored row in `logs`. */
export class LogRecord extends TracedRecord {
  protected readonly attributesTag = 0x32;
  /** Positions of the times; -1 if absent */
  #timeStart = -1;
  #observedTimeStart = -1;
  #severity = 0;
  #textStart = 0;
  #textEnd = 0;
  #nameStart = 0;
  #nameEnd = 0;
  #bodyStart = 0;
  #bodyEnd = 0;
  /** Field positions of the message's records: of all records, or of the last few thousand that were read */
  readonly #rows: Int32Array;
  readonly #rowMask: number;
  #rowFinder = emptyRows;

  /** `count`: number of records of the message. */
  constructor(origin: RecordOrigin, count: number, getResourceAttribute?: Resource, scope?: Scope) {
    super(origin, getResourceAttribute, scope);
    let rowCount = 1;
    while (rowCount < count && rowCount < maxCachedRows) rowCount *= 2;
    this.#rows = new Int32Array(rowCount * logRowWidth);
    this.#rowMask = rowCount - 1;
  }

  override enterMember(origin: RecordOrigin, bytes: Uint8Array): void {
    super.enterMember(origin, bytes);
    if (this.#rowFinder.bytes !== bytes) this.#rowFinder = new LogRows(bytes);
  }

  override validate(): void {
    this.ensureLocated();
  }

  /** ID of the record for `GET /api/logs/{id}`. */
  get recordId(): string {
    const { partition, offset, ordinal } = this.location;
    return `${this.timeNs}-${partition}-${offset}-${ordinal}`;
  }

  /** OTLP severity number: 1–4 trace, 5–8 debug, 9–12 info, 13–16 warn, 17–20 error, 21–24 fatal, 0 unspecified. */
  get severityNumber(): number {
    this.ensureLocated();
    return this.#severity;
  }

  /** The sender's text, or else OpenTelemetry's short name of the number (`ERROR`, `WARN2`); empty without both. */
  get severity(): string {
    return getSeverityText(this.severityText, this.severityNumber);
  }

  /** Severity text as the sender specified it. */
  get severityText(): string {
    this.ensureLocated();
    return this.readTextRange(this.#textStart, this.#textEnd);
  }

  get eventName(): string {
    this.ensureLocated();
    return this.readTextRange(this.#nameStart, this.#nameEnd);
  }

  /** Text of a string body, JSON of an array or map, or the text of another value. */
  get body(): string {
    const cursor = this.ensureLocated();
    cursor.position = this.#bodyStart;
    return readValueText(cursor, this.#bodyEnd);
  }

  /** Values inside a body that is JSON, as far as they land (`nestedLimits`). */
  override get bodyValues(): readonly NestedValue[] {
    return readNestedBody(this.body).values;
  }

  /** Calls `onFound` with the number of each text that occurs in the body, possibly several times. */
  findTextsInBody(texts: ByteTextSearcher, onFound: (id: number) => void): void {
    const cursor = this.ensureLocated();
    const start = findPlainTextStart(cursor, this.#bodyStart, this.#bodyEnd);
    if (start >= 0) texts.scan(cursor.bytes, start, this.#bodyEnd, onFound);
    else {
      const bytes = Buffer.from(this.body);
      texts.scan(bytes, 0, bytes.length, onFound);
    }
  }

  /**
   * Passes the bytes of a text body to `inspect` without decoding, and returns its result. Returns `false` if the body
   * is not a text.
   */
  inspectBody(inspect: (bytes: Uint8Array, from: number, to: number) => boolean): boolean {
    const cursor = this.ensureLocated();
    const start = findPlainTextStart(cursor, this.#bodyStart, this.#bodyEnd);
    return start >= 0 && inspect(cursor.bytes, start, this.#bodyEnd);
  }

  get bodyType(): AttributeType {
    const cursor = this.ensureLocated();
    cursor.position = this.#bodyStart;
    return String.fromCharCode(readTypeCode(cursor, this.#bodyEnd)) as AttributeType;
  }

  /** Visits the attributes and then the body without decoding them. Returns `false` if the visit ended early. */
  visitValues(visitValues: AttributeVisitor & { readonly body: Omit<AttributeVisitor, 'name'> }): boolean {
    const cursor = this.rewindToStart();
    const end = this.recordEnd;
    let bodyStart = end;
    let bodyEnd = end;
    while (cursor.position < end) {
      const tag = cursor.readVarint();
      if (tag === 0x32) {
        const stop = cursor.readEnd(end);
        if (!visitAttribute(cursor, stop, visitValues)) return false;
        cursor.position = stop;
      } else if (tag === 0x2a) {
        bodyEnd = cursor.readEnd(end);
        bodyStart = cursor.position;
        cursor.position = bodyEnd;
      } else cursor.skip(tag, end);
    }
    return visitValue(cursor, bodyStart, bodyEnd, visitValues.body);
  }

  /** The record's time, or else its observed time, or else its reception time, in epoch nanoseconds. */
  get timeNs(): bigint {
    const cursor = this.ensureLocated();
    return readTime(cursor, this.#timeStart) ? toTimeNs(cursor.low, cursor.high) : this.observedTimeNs;
  }

  /** The record's time in whole milliseconds; cheap. */
  get timeMs(): number {
    const cursor = this.ensureLocated();
    if (readTime(cursor, this.#timeStart) || readTime(cursor, this.#observedTimeStart))
      return toTimeMs(cursor.low, cursor.high);
    return Math.trunc(this.receivedAtMs);
  }

  /** The observed time, or else the reception time. */
  get observedTimeNs(): bigint {
    const cursor = this.ensureLocated();
    return readTime(cursor, this.#observedTimeStart) ? toTimeNs(cursor.low, cursor.high) : getReceivedNs(this.origin);
  }

  override copy(): LogRecord {
    const copy = new LogRecord(this.origin, 1, this.resourceView.copy(), this.scope.copy());
    this.copyInto(copy);
    return copy;
  }

  /** Also validates the record, the first time. */
  protected override locate(cursor: WireCursor, end: number): void {
    const rows = this.#rows;
    const row = (this.ordinal & this.#rowMask) * logRowWidth;
    if (rows[row + logRow.filled] !== this.ordinal + 1) {
      this.#rowFinder.fill(rows, row, cursor.position, end);
      rows[row + logRow.filled] = this.ordinal + 1;
    }
    this.#timeStart = rows[row + logRow.time] as number;
    this.#observedTimeStart = rows[row + logRow.observed] as number;
    this.#severity = rows[row + logRow.severity] as number;
    this.#textStart = rows[row + logRow.textStart] as number;
    this.#textEnd = rows[row + logRow.textEnd] as number;
    this.#nameStart = rows[row + logRow.nameStart] as number;
    this.#nameEnd = rows[row + logRow.nameEnd] as number;
    this.#bodyStart = rows[row + logRow.bodyStart] as number;
    this.#bodyEnd = rows[row + logRow.bodyEnd] as number;
    this.attributesStart = rows[row + logRow.attributesStart] as number;
    this.attributesEnd = rows[row + logRow.attributesEnd] as number;
    this.droppedCount = (rows[row + logRow.dropped] as number) >>> 0;
    this.flagsField = (rows[row + logRow.flags] as number) >>> 0;
    this.traceIdStart = rows[row + logRow.trace] as number;
    this.spanIdStart = rows[row + logRow.span] as number;
  }
}
