import { idStart, type WireCursor } from '../../schemas/protobuf/cursor.ts';
import { spansTable } from '../../schemas/tables/spans.ts';
import { topics } from '../../schemas/topics.ts';
import { FixedStringColumn, NumberColumn, WordsColumn } from '../native/fixed.ts';
import { rowsOf } from '../native/rows.ts';
import { DictionaryColumn, StringColumn } from '../native/strings.ts';
import { isId, RecordScanner } from './record-scanner.ts';
import type { Scanner } from './scanner.ts';
import { pushTime } from './source.ts';
import { EventColumns, LinkColumns } from './span-parts.ts';

/** Optional fields of a span, in bit order. */
const optional = ['name', 'statusMessage', 'traceId', 'spanId', 'parentSpanId', 'traceState'];
const always = ['timestamp', 'duration', 'kind', 'status', 'flags'];

/** Scans spans of OTLP export requests into rows, with their events and links. */
class SpanScanner extends RecordScanner {
  readonly #columns = {
    duration: new WordsColumn('UInt64'),
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
  protected readonly rows = rowsOf(spansTable, {
    ...this.sharedColumns,
    ...this.#columns,
    ...this.#events.columns,
    ...this.#links.columns,
  });
  #statusCode = 0;
  #statusStart = 0;
  #statusEnd = 0;

  constructor() {
    super({ topic: topics.traces.name, optional, always });
  }

  override abandon(): void {
    super.abandon();
    this.#events.abandon();
    this.#links.abandon();
  }

  protected record(reader: WireCursor, end: number): void {
    let startLow = 0;
    let startHigh = 0;
    let endLow = 0;
    let endHigh = 0;
    let trace = -1;
    let span = -1;
    let parent = -1;
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
    while (reader.at < end) {
      const tag = reader.varint();
      switch (tag) {
        case 0x0a:
          trace = idStart(reader, end, 16);
          break;
        case 0x12:
          span = idStart(reader, end, 8);
          break;
        case 0x1a:
          stateEnd = reader.end(end);
          stateStart = reader.at;
          reader.at = stateEnd;
          break;
        case 0x22:
          parent = idStart(reader, end, 8);
          break;
        case 0x2a:
          nameEnd = reader.end(end);
          nameStart = reader.at;
          reader.at = nameEnd;
          break;
        case 0x30:
          kind = reader.varint();
          break;
        case 0x39:
          reader.fixed64();
          startLow = reader.low;
          startHigh = reader.high;
          break;
        case 0x41:
          reader.fixed64();
          endLow = reader.low;
          endHigh = reader.high;
          break;
        case 0x4a:
          this.attributes.push(reader, reader.end(end));
          break;
        case 0x50:
          droppedAttributes = reader.varint();
          break;
        case 0x5a:
          this.#events.push(reader, reader.end(end));
          break;
        case 0x60:
          droppedEvents = reader.varint();
          break;
        case 0x6a:
          this.#links.push(reader, reader.end(end));
          break;
        case 0x70:
          droppedLinks = reader.varint();
          break;
        case 0x7a:
          this.#status(reader, reader.end(end));
          break;
        case 0x85:
          flags = reader.fixed32();
          break;
        default:
          reader.skip(tag, end);
      }
    }
    reader.expect(end);
    const columns = this.#columns;
    const { bytes } = reader;
    this.#pushTimes(startLow, startHigh, endLow, endHigh);
    columns.trace_id.push(bytes, trace);
    columns.span_id.push(bytes, span);
    columns.parent_span_id.push(bytes, parent);
    columns.trace_state.push(bytes, stateStart, stateEnd);
    columns.flags.push(flags);
    columns.name.push(bytes, nameStart, nameEnd);
    columns.kind.push(Math.min(kind, 255));
    columns.status_code.push(this.#statusCode);
    columns.status_message.push(bytes, this.#statusStart, this.#statusEnd);
    this.attributes.close();
    columns.dropped_attributes.push(droppedAttributes);
    this.#events.close();
    columns.dropped_events.push(droppedEvents);
    this.#links.close();
    columns.dropped_links.push(droppedLinks);
    this.counts.optionalFields(
      columns.flags.rows - 1,
      (nameEnd > nameStart ? 1 : 0) +
        (this.#statusEnd > this.#statusStart ? 2 : 0) +
        (isId(bytes, trace, 16) ? 4 : 0) +
        (isId(bytes, span, 8) ? 8 : 0) +
        (isId(bytes, parent, 8) ? 16 : 0) +
        (stateEnd > stateStart ? 32 : 0),
    );
  }

  #status(reader: WireCursor, end: number): void {
    while (reader.at < end) {
      const tag = reader.varint();
      if (tag === 0x12) {
        this.#statusEnd = reader.end(end);
        this.#statusStart = reader.at;
        reader.at = this.#statusEnd;
      } else if (tag === 0x18) this.#statusCode = Math.min(reader.varint(), 255);
      else reader.skip(tag, end);
    }
    reader.expect(end);
  }

  /** Pushes the start time, or else the reception time; and the duration, at least 0. */
  #pushTimes(startLow: number, startHigh: number, endLow: number, endHigh: number): void {
    const isTimed = (startLow | startHigh) !== 0;
    const { duration } = this.#columns;
    pushTime(this.timestamp, isTimed ? startLow : this.received.low, isTimed ? startHigh : this.received.high);
    const isBefore = endHigh < startHigh || (endHigh === startHigh && endLow < startLow);
    if (isBefore || !isTimed) duration.push(0, 0);
    else duration.push(endLow - startLow, endHigh - startHigh - (endLow < startLow ? 1 : 0));
  }
}

/** Returns the scanner of the traces sink. */
export const spanScanner = (): Scanner => new SpanScanner().scanner();
