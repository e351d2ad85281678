import { decodeText } from '../../schemas/otlp/any-value.ts';
import { readIdStart, type WireCursor } from '../../schemas/protobuf/cursor.ts';
import { readNestedBody } from '../../schemas/records/nested-values.ts';
import { severityNames } from '../../schemas/records/severity.ts';
import { logsTable } from '../../schemas/tables/logs.ts';
import { hasUnusualWords, toUnusualWords } from '../../schemas/tables/search-text.ts';
import { topics } from '../../schemas/topics.ts';
import { FixedStringColumn, Int64Column, NumberColumn } from '../native/fixed-size-columns.ts';
import { MapColumn } from '../native/nested-columns.ts';
import { createTableWriters } from '../native/rows.ts';
import { DictionaryColumn, StringColumn, skipVarint } from '../native/strings.ts';
import { pushAnyValue } from './any-value.ts';
import { AttributeWriter } from './attributes.ts';
import { isId, RecordScanner } from './record-scanner.ts';
import type { Scanner } from './scanner.ts';
import { pushTime } from './source.ts';

const nanosecondType = "DateTime64(9, 'UTC')";
/** Optional fields of a record, in bit order. */
const optionalFields = ['body', 'severity', 'severityText', 'eventName', 'traceId', 'spanId'];
const requiredFields = ['timestamp', 'observedTimestamp', 'severityNumber', 'flags'];
/** Maximum severity number with a name. */
const maxNamedSeverity = severityNames.length - 1;
const typeCodeBytes = new Uint8Array(1);

/** Scans log records of OTLP export requests into rows. One pass over each record, whose fields may have any order. */
class LogScanner extends RecordScanner {
  readonly #columns = {
    observed_timestamp: new Int64Column(nanosecondType),
    severity_number: new NumberColumn('UInt8'),
    severity_text: new DictionaryColumn(),
    event_name: new DictionaryColumn(),
    body: new StringColumn(),
    body_words: new StringColumn(),
    body_type: new DictionaryColumn(),
    body_values: new MapColumn(),
    body_value_types: new DictionaryColumn(),
    dropped_attributes: new NumberColumn('UInt32'),
    trace_id: new FixedStringColumn(16),
    span_id: new FixedStringColumn(8),
    flags: new NumberColumn('UInt32'),
  } as const;
  readonly #bodyValues = new AttributeWriter(this.#columns.body_values, this.#columns.body_value_types);
  protected readonly rows = createTableWriters(logsTable, { ...this.sharedColumns, ...this.#columns });

  constructor() {
    super({ topic: topics.logs.name, optional: optionalFields, always: requiredFields });
    this.counts.addBodyValues({ map: this.#columns.body_values, types: this.#columns.body_value_types });
  }

  override discardRow(): void {
    super.discardRow();
    this.#bodyValues.discardRow();
  }

  protected pushRecord(reader: WireCursor, end: number): void {
    const columns = this.#columns;
    let timeLow = 0;
    let timeHigh = 0;
    let observedLow = 0;
    let observedHigh = 0;
    let severity = 0;
    let textStart = 0;
    let textEnd = 0;
    let nameStart = 0;
    let nameEnd = 0;
    let droppedAttributes = 0;
    let flags = 0;
    let traceStart = -1;
    let spanStart = -1;
    let bodyStart = end;
    let bodyEnd = end;
    while (reader.position < end) {
      const tag = reader.readVarint();
      switch (tag) {
        case 0x09:
          reader.readFixed64();
          timeLow = reader.low;
          timeHigh = reader.high;
          break;
        case 0x10:
          severity = reader.readVarint();
          break;
        case 0x1a:
          textEnd = reader.readEnd(end);
          textStart = reader.position;
          reader.position = textEnd;
          break;
        case 0x2a:
          bodyEnd = reader.readEnd(end);
          bodyStart = reader.position;
          reader.position = bodyEnd;
          break;
        case 0x32:
          this.attributes.push(reader, reader.readEnd(end));
          break;
        case 0x38:
          droppedAttributes = reader.readVarint();
          break;
        case 0x45:
          flags = reader.readFixed32();
          break;
        case 0x4a:
          traceStart = readIdStart(reader, end, 16);
          break;
        case 0x52:
          spanStart = readIdStart(reader, end, 8);
          break;
        case 0x59:
          reader.readFixed64();
          observedLow = reader.low;
          observedHigh = reader.high;
          break;
        case 0x62:
          nameEnd = reader.readEnd(end);
          nameStart = reader.position;
          reader.position = nameEnd;
          break;
        default:
          reader.skip(tag, end);
      }
    }
    reader.expectPosition(end);
    this.#pushTimes(timeLow, timeHigh, observedLow, observedHigh);
    columns.severity_number.push(Math.min(severity, 255));
    columns.severity_text.push(reader.bytes, textStart, textEnd);
    columns.event_name.push(reader.bytes, nameStart, nameEnd);
    reader.position = bodyStart;
    const previousBodyLength = columns.body.length;
    columns.body_type.pushIndex(this.#getTypeCodeIndex(pushAnyValue(reader, bodyEnd, columns.body)));
    this.#pushWords(previousBodyLength);
    const omittedCount = this.#pushBodyValues(previousBodyLength) + this.attributes.endRow();
    reader.position = end;
    columns.dropped_attributes.push(droppedAttributes);
    columns.trace_id.push(reader.bytes, traceStart);
    columns.span_id.push(reader.bytes, spanStart);
    columns.flags.push(flags);
    this.counts.addOmittedValues(columns.flags.rows - 1, omittedCount);
    const hasText = textEnd > textStart;
    this.counts.setOptionalFields(
      columns.flags.rows - 1,
      // An empty body takes one byte, its length.
      (columns.body.length > previousBodyLength + 1 ? 1 : 0) +
        (hasText || (severity > 0 && severity <= maxNamedSeverity) ? 2 : 0) +
        (hasText ? 4 : 0) +
        (nameEnd > nameStart ? 8 : 0) +
        (isId(reader.bytes, traceStart, 16) ? 16 : 0) +
        (isId(reader.bytes, spanStart, 8) ? 32 : 0),
    );
  }

  /** Pushes the words of the body that begins at a position of its column, after its length. */
  #pushWords(bodyPosition: number): void {
    const { body, body_words: words } = this.#columns;
    const { bytes, length } = body;
    const start = skipVarint(bytes, bodyPosition);
    if (hasUnusualWords(bytes, start, length)) words.pushText(toUnusualWords(decodeText(bytes, start, length)));
    else words.push(bytes, start, start);
  }

  /**
   * Pushes the values inside a JSON body that begins at a position of its column, after its length. Returns the number
   * of omitted values.
   */
  #pushBodyValues(bodyPosition: number): number {
    const { bytes, length } = this.#columns.body;
    let omittedCount = 0;
    if (mayBeJson(bytes, skipVarint(bytes, bodyPosition), length)) {
      const nested = readNestedBody(this.#columns.body.getTextAt(bodyPosition));
      this.#bodyValues.pushNestedValues(nested.values);
      omittedCount = nested.omittedCount;
    }
    this.#bodyValues.endRow();
    return omittedCount;
  }

  /** Pushes the record's time, or else the observed time, or else the reception time. */
  #pushTimes(timeLow: number, timeHigh: number, observedLow: number, observedHigh: number): void {
    const isObserved = (observedLow | observedHigh) !== 0;
    const fallbackLow = isObserved ? observedLow : this.receivedTime.low;
    const fallbackHigh = isObserved ? observedHigh : this.receivedTime.high;
    const hasTime = (timeLow | timeHigh) !== 0;
    pushTime(this.timestamp, hasTime ? timeLow : fallbackLow, hasTime ? timeHigh : fallbackHigh);
    pushTime(this.#columns.observed_timestamp, fallbackLow, fallbackHigh);
  }

  #getTypeCodeIndex(typeCode: number): number {
    typeCodeBytes[0] = typeCode;
    return this.#columns.body_type.findOrAdd(typeCodeBytes, 0, 1);
  }
}

const [escapeByte, braceByte, bracketByte, spaceByte] = [0x1b, 0x7b, 0x5b, 0x20];

/** Returns whether a text begins like JSON, colored or not. Most bodies do not. */
const mayBeJson = (bytes: Uint8Array, from: number, to: number): boolean => {
  let position = from;
  while (position < to && (bytes[position] as number) <= spaceByte && bytes[position] !== escapeByte) position++;
  const first = position < to ? (bytes[position] as number) : 0;
  return first === braceByte || first === bracketByte || first === escapeByte;
};

/** Returns the scanner of the logs sink. */
export const createLogScanner = (): Scanner => new LogScanner().createScanner();
