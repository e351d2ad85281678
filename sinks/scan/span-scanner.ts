import { readIdStart, type WireCursor } from '../../schemas/protobuf/cursor.ts';
import { spansTable } from '../../schemas/tables/spans.ts';
import { topics } from '../../schemas/topics.ts';
import { FixedStringColumn, Int64Column, NumberColumn } from '../native/fixed-size-columns.ts';
import { createTableWriters } from '../native/rows.ts';
import { DictionaryColumn, StringColumn } from '../native/strings.ts';
import { isId, RecordScanner } from './record-scanner.ts';
import type { Scanner } from './scanner.ts';
import { pushTime } from './source.ts';
import { EventColumns, LinkColumns } from './span-parts.ts';

/** Optional fields of a span, in bit order. */
const optionalFields = ['name', 'statusMessage', 'traceId', 'spanId', 'parentSpanId', 'traceState'];
const requiredFields = ['timestamp', 'duration', 'kind', 'status', 'flags'];

/** Scans spans of OTLP export requests into rows, with their events and links. */
class SpanScanner extends RecordScanner {
  readonly #columns = {
    duration: new Int64Column('UInt64'),
    trace_id: new FixedStringColumn(16),
    span_id: new FixedStringColumn(8),
    parent_span_id: new FixedStringColumn(8),
    trace_state: new StringColumn(),
    flags: new NumberColumn('UInt32'),
    name: new DictionaryColumn(),
    kind: new NumberColumn('UInt8'),
    status_code: new NumberColumn('UInt8'),
    status_message: new StringColumn(),
    dropped_attributes: new NumberColumn('UInt32'),
    dropped_events: new NumberColumn('UInt32'),
    dropped_links: new NumberColumn('UInt32'),
  } as const;
  readonly #events = new EventColumns();
  readonly #links = new LinkColumns();
  protected readonly rows = createTableWriters(spansTable, {
    ...this.sharedColumns,
    ...this.#columns,
    ...this.#events.columns,
    ...this.#links.columns,
  });
  #statusCode = 0;
  #statusStart = 0;
  #statusEnd = 0;

  constructor() {
    super({ topic: topics.traces.name, optional: optionalFields, always: requiredFields });
  }

  override discardRow(): void {
    super.discardRow();
    this.#events.discardRow();
    this.#links.discardRow();
  }

  protected pushRecord(reader: WireCursor, end: number): void {
    let startLow = 0;
    let startHigh = 0;
    let endLow = 0;
    let endHigh = 0;
    let traceStart = -1;
    let spanStart = -1;
    let parentStart = -1;
    let stateStart = 0;
    let stateEnd = 0;
    let nameStart = 0;
    let nameEnd = 0;
    let kind = 0;
    let flags = 0;
    let droppedAttributes = 0;
    let droppedEvents = 0;
    let droppedLinks = 0;
    this.#statusCode = 0;
    this.#statusStart = 0;
    this.#statusEnd = 0;
    while (reader.position < end) {
      const tag = reader.readVarint();
      switch (tag) {
        case 0x0a:
          traceStart = readIdStart(reader, end, 16);
          break;
        case 0x12:
          spanStart = readIdStart(reader, end, 8);
          break;
        case 0x1a:
          stateEnd = reader.readEnd(end);
          stateStart = reader.position;
          reader.position = stateEnd;
          break;
        case 0x22:
          parentStart = readIdStart(reader, end, 8);
          break;
        case 0x2a:
          nameEnd = reader.readEnd(end);
          nameStart = reader.position;
          reader.position = nameEnd;
          break;
        case 0x30:
          kind = reader.readVarint();
          break;
        case 0x39:
          reader.readFixed64();
          startLow = reader.low;
          startHigh = reader.high;
          break;
        case 0x41:
          reader.readFixed64();
          endLow = reader.low;
          endHigh = reader.high;
          break;
        case 0x4a:
          this.attributes.push(reader, reader.readEnd(end));
          break;
        case 0x50:
          droppedAttributes = reader.readVarint();
          break;
        case 0x5a:
          this.#events.push(reader, reader.readEnd(end));
          break;
        case 0x60:
          droppedEvents = reader.readVarint();
          break;
        case 0x6a:
          this.#links.push(reader, reader.readEnd(end));
          break;
        case 0x70:
          droppedLinks = reader.readVarint();
          break;
        case 0x7a:
          this.#readStatus(reader, reader.readEnd(end));
          break;
        case 0x85:
          flags = reader.readFixed32();
          break;
        default:
          reader.skip(tag, end);
      }
    }
    reader.expectPosition(end);
    const columns = this.#columns;
    const { bytes } = reader;
    this.#pushTimes(startLow, startHigh, endLow, endHigh);
    columns.trace_id.push(bytes, traceStart);
    columns.span_id.push(bytes, spanStart);
    columns.parent_span_id.push(bytes, parentStart);
    columns.trace_state.push(bytes, stateStart, stateEnd);
    columns.flags.push(flags);
    columns.name.push(bytes, nameStart, nameEnd);
    columns.kind.push(Math.min(kind, 255));
    columns.status_code.push(this.#statusCode);
    columns.status_message.push(bytes, this.#statusStart, this.#statusEnd);
    let omittedCount = this.attributes.endRow();
    columns.dropped_attributes.push(droppedAttributes);
    omittedCount += this.#events.endRow();
    columns.dropped_events.push(droppedEvents);
    omittedCount += this.#links.endRow();
    columns.dropped_links.push(droppedLinks);
    this.counts.addOmittedValues(columns.flags.rows - 1, omittedCount);
    this.counts.setOptionalFields(
      columns.flags.rows - 1,
      (nameEnd > nameStart ? 1 : 0) +
        (this.#statusEnd > this.#statusStart ? 2 : 0) +
        (isId(bytes, traceStart, 16) ? 4 : 0) +
        (isId(bytes, spanStart, 8) ? 8 : 0) +
        (isId(bytes, parentStart, 8) ? 16 : 0) +
        (stateEnd > stateStart ? 32 : 0),
    );
  }

  #readStatus(reader: WireCursor, end: number): void {
    while (reader.position < end) {
      const tag = reader.readVarint();
      if (tag === 0x12) {
        this.#statusEnd = reader.readEnd(end);
        this.#statusStart = reader.position;
        reader.position = this.#statusEnd;
      } else if (tag === 0x18) this.#statusCode = Math.min(reader.readVarint(), 255);
      else reader.skip(tag, end);
    }
    reader.expectPosition(end);
  }

  /** Pushes the start time, or else the reception time; and the duration, at least 0. */
  #pushTimes(startLow: number, startHigh: number, endLow: number, endHigh: number): void {
    const hasStart = (startLow | startHigh) !== 0;
    const { duration } = this.#columns;
    pushTime(
      this.timestamp,
      hasStart ? startLow : this.receivedTime.low,
      hasStart ? startHigh : this.receivedTime.high,
    );
    const endsBeforeStart = endHigh < startHigh || (endHigh === startHigh && endLow < startLow);
    if (endsBeforeStart || !hasStart) duration.push(0, 0);
    else duration.push(endLow - startLow, endHigh - startHigh - (endLow < startLow ? 1 : 0));
  }
}

/** Returns the scanner of the traces sink. */
export const createSpanScanner = (): Scanner => new SpanScanner().createScanner();
