import { letterOf, textOfValue } from '../otlp/any-value.ts';
import { idStart, type WireCursor } from '../protobuf/cursor.ts';
import { type AttributeType, type Glance, glanceAtAttributes, glanceAtValue } from './attributes.ts';
import { receivedNs, TracedRecord, timeMsOf, timeNsOf } from './record.ts';
import { severityOf } from './severity.ts';

/** A log record. Values are those of the row that lands in `logs`. */
export class LogRecord extends TracedRecord {
  protected readonly attributesTag = 0x32;
  #timeLow = 0;
  #timeHigh = 0;
  #observedLow = 0;
  #observedHigh = 0;
  #severity = 0;
  #textStart = 0;
  #textEnd = 0;
  #nameStart = 0;
  #nameEnd = 0;
  #bodyStart = 0;
  #bodyEnd = 0;

  /** OTLP's number: 1–4 trace, 5–8 debug, 9–12 info, 13–16 warn, 17–20 error, 21–24 fatal, 0 unspecified. */
  get severityNumber(): number {
    this.located();
    return this.#severity;
  }

  /** The sender's text, else OpenTelemetry's short name of the number (`ERROR`, `WARN2`); empty without both. */
  get severity(): string {
    return severityOf(this.severityText, this.severityNumber);
  }

  /** As the sender gave it. */
  get severityText(): string {
    this.located();
    return this.textAt(this.#textStart, this.#textEnd);
  }

  get eventName(): string {
    this.located();
    return this.textAt(this.#nameStart, this.#nameEnd);
  }

  /** Text of a string body; JSON of an array or map; text of any other. */
  get body(): string {
    const cursor = this.located();
    cursor.at = this.#bodyStart;
    return textOfValue(cursor, this.#bodyEnd);
  }

  get bodyType(): AttributeType {
    const cursor = this.located();
    cursor.at = this.#bodyStart;
    return String.fromCharCode(letterOf(cursor, this.#bodyEnd)) as AttributeType;
  }

  /** Shows its attributes and its body, which has the name `body`, to a glance, without decoding them; false where it did not go on to the end. */
  glance(glance: Glance & { body(bytes: Uint8Array, from: number, to: number): boolean }): boolean {
    const cursor = this.located();
    return (
      glanceAtAttributes(cursor, [this.attributesTag, this.attributesStart, this.attributesEnd], glance) &&
      glance.name('body') &&
      glanceAtValue(cursor, this.#bodyStart, this.#bodyEnd, { text: glance.body, scalar: glance.scalar })
    );
  }

  /** The record's time, else when it was observed, else when it was received; nanoseconds since the epoch. */
  get timeNs(): bigint {
    this.located();
    return (this.#timeLow | this.#timeHigh) === 0 ? this.observedTimeNs : timeNsOf(this.#timeLow, this.#timeHigh);
  }

  /** The same in whole milliseconds; cheap. */
  get timeMs(): number {
    this.located();
    if ((this.#timeLow | this.#timeHigh) !== 0) return timeMsOf(this.#timeLow, this.#timeHigh);
    if ((this.#observedLow | this.#observedHigh) !== 0) return timeMsOf(this.#observedLow, this.#observedHigh);
    return Math.trunc(this.receivedAtMs);
  }

  /** When it was observed, else when it was received. */
  get observedTimeNs(): bigint {
    this.located();
    const isObserved = (this.#observedLow | this.#observedHigh) !== 0;
    return isObserved ? timeNsOf(this.#observedLow, this.#observedHigh) : receivedNs(this.origin);
  }

  override copy(): LogRecord {
    const copy = new LogRecord(this.origin, this.resourceView.copy(), this.scope.copy());
    this.lend(copy);
    return copy;
  }

  protected override locate(cursor: WireCursor, end: number): void {
    this.#timeLow = 0;
    this.#timeHigh = 0;
    this.#observedLow = 0;
    this.#observedHigh = 0;
    this.#severity = 0;
    this.#textStart = this.#textEnd = 0;
    this.#nameStart = this.#nameEnd = 0;
    this.#bodyStart = this.#bodyEnd = end;
    this.dropped = 0;
    this.flagBits = 0;
    this.traceAt = -1;
    this.spanAt = -1;
    while (cursor.at < end) {
      const start = cursor.at;
      const tag = cursor.varint();
      switch (tag) {
        case 0x09:
          cursor.fixed64();
          this.#timeLow = cursor.low;
          this.#timeHigh = cursor.high;
          break;
        case 0x10:
          this.#severity = Math.min(cursor.varint(), 255);
          break;
        case 0x1a:
          this.#textEnd = cursor.end(end);
          this.#textStart = cursor.at;
          cursor.at = this.#textEnd;
          break;
        case 0x2a:
          this.#bodyEnd = cursor.end(end);
          this.#bodyStart = cursor.at;
          cursor.at = this.#bodyEnd;
          break;
        case 0x32:
          this.passAttribute(cursor, start, end);
          break;
        case 0x38:
          this.dropped = cursor.varint();
          break;
        case 0x45:
          this.flagBits = cursor.fixed32();
          break;
        case 0x4a:
          this.traceAt = idStart(cursor, end, 16);
          break;
        case 0x52:
          this.spanAt = idStart(cursor, end, 8);
          break;
        case 0x59:
          cursor.fixed64();
          this.#observedLow = cursor.low;
          this.#observedHigh = cursor.high;
          break;
        case 0x62:
          this.#nameEnd = cursor.end(end);
          this.#nameStart = cursor.at;
          cursor.at = this.#nameEnd;
          break;
        default:
          cursor.skip(tag, end);
      }
    }
  }
}
