import { readIdStart, type WireCursor } from '../../schemas/protobuf/cursor.ts';
import { FixedStringColumn, Int64Column, NumberColumn } from '../native/fixed-size-columns.ts';
import { ArrayColumn, MapColumn } from '../native/nested-columns.ts';
import { DictionaryColumn, StringColumn } from '../native/strings.ts';
import { AttributeWriter } from './attributes.ts';
import { pushTime } from './source.ts';

/** Numbers of a row that are mostly 0, and are stored only if at least one is not 0 */
class SparseNumbers {
  readonly #column: ArrayColumn<NumberColumn>;
  readonly #pending: number[] = [];
  #isAnySet = false;

  constructor(column: ArrayColumn<NumberColumn>) {
    this.#column = column;
  }

  push(value: number): void {
    this.#pending.push(value);
    this.#isAnySet ||= value !== 0;
  }

  /** Ends the row. */
  endRow(): void {
    if (this.#isAnySet) for (const value of this.#pending) this.#column.elements.push(value);
    this.#column.endRow();
    this.discardRow();
  }

  discardRow(): void {
    this.#pending.length = 0;
    this.#isAnySet = false;
  }
}

/** Events of a span, as arrays of equal length. */
export class EventColumns {
  readonly columns = {
    event_timestamps: new ArrayColumn(new Int64Column("DateTime64(9, 'UTC')")),
    event_names: new ArrayColumn(new DictionaryColumn()),
    event_attributes: new ArrayColumn(new MapColumn()),
    event_attribute_types: new ArrayColumn(new DictionaryColumn()),
    event_dropped_attributes: new ArrayColumn(new NumberColumn('UInt32')),
  } as const;
  readonly #droppedAttributes = new SparseNumbers(this.columns.event_dropped_attributes);
  readonly #attributes = new AttributeWriter(
    this.columns.event_attributes.elements,
    this.columns.event_attribute_types.elements,
    { hasNestedValues: true },
  );
  #omittedCount = 0;

  push(reader: WireCursor, end: number): void {
    let low = 0;
    let high = 0;
    let droppedAttributes = 0;
    let nameStart = 0;
    let nameEnd = 0;
    while (reader.position < end) {
      const tag = reader.readVarint();
      if (tag === 0x09) {
        reader.readFixed64();
        low = reader.low;
        high = reader.high;
      } else if (tag === 0x12) {
        nameEnd = reader.readEnd(end);
        nameStart = reader.position;
        reader.position = nameEnd;
      } else if (tag === 0x1a) this.#attributes.push(reader, reader.readEnd(end));
      else if (tag === 0x20) droppedAttributes = reader.readVarint();
      else reader.skip(tag, end);
    }
    reader.expectPosition(end);
    this.#droppedAttributes.push(droppedAttributes);
    pushTime(this.columns.event_timestamps.elements, low, high);
    this.columns.event_names.elements.push(reader.bytes, nameStart, nameEnd);
    this.#omittedCount += this.#attributes.endRow();
  }

  /** Ends the span's row, and returns the number of values inside arrays and maps that were omitted. */
  endRow(): number {
    const omittedCount = this.#omittedCount;
    this.#omittedCount = 0;
    this.columns.event_timestamps.endRow();
    this.columns.event_names.endRow();
    this.columns.event_attributes.endRow();
    this.columns.event_attribute_types.endRow();
    this.#droppedAttributes.endRow();
    return omittedCount;
  }

  discardRow(): void {
    this.#omittedCount = 0;
    this.#attributes.discardRow();
    this.#droppedAttributes.discardRow();
  }
}

/** Links of a span, as arrays of equal length. */
export class LinkColumns {
  readonly columns = {
    link_trace_ids: new ArrayColumn(new FixedStringColumn(16)),
    link_span_ids: new ArrayColumn(new FixedStringColumn(8)),
    link_trace_states: new ArrayColumn(new StringColumn()),
    link_attributes: new ArrayColumn(new MapColumn()),
    link_attribute_types: new ArrayColumn(new DictionaryColumn()),
    link_dropped_attributes: new ArrayColumn(new NumberColumn('UInt32')),
    link_flags: new ArrayColumn(new NumberColumn('UInt32')),
  } as const;
  readonly #linkDroppedAttributes = new SparseNumbers(this.columns.link_dropped_attributes);
  readonly #flags = new SparseNumbers(this.columns.link_flags);
  readonly #attributes = new AttributeWriter(
    this.columns.link_attributes.elements,
    this.columns.link_attribute_types.elements,
    { hasNestedValues: true },
  );
  #omittedCount = 0;

  push(reader: WireCursor, end: number): void {
    let traceStart = -1;
    let spanStart = -1;
    let stateStart = 0;
    let stateEnd = 0;
    let droppedAttributes = 0;
    let flags = 0;
    while (reader.position < end) {
      const tag = reader.readVarint();
      if (tag === 0x0a) traceStart = readIdStart(reader, end, 16);
      else if (tag === 0x12) spanStart = readIdStart(reader, end, 8);
      else if (tag === 0x1a) {
        stateEnd = reader.readEnd(end);
        stateStart = reader.position;
        reader.position = stateEnd;
      } else if (tag === 0x22) this.#attributes.push(reader, reader.readEnd(end));
      else if (tag === 0x28) droppedAttributes = reader.readVarint();
      else if (tag === 0x35) flags = reader.readFixed32();
      else reader.skip(tag, end);
    }
    reader.expectPosition(end);
    this.#linkDroppedAttributes.push(droppedAttributes);
    this.#flags.push(flags);
    this.columns.link_trace_ids.elements.push(reader.bytes, traceStart);
    this.columns.link_span_ids.elements.push(reader.bytes, spanStart);
    this.columns.link_trace_states.elements.push(reader.bytes, stateStart, stateEnd);
    this.#omittedCount += this.#attributes.endRow();
  }

  /** Ends the span's row, and returns the number of values inside arrays and maps that were omitted. */
  endRow(): number {
    const omittedCount = this.#omittedCount;
    this.#omittedCount = 0;
    this.columns.link_trace_ids.endRow();
    this.columns.link_span_ids.endRow();
    this.columns.link_trace_states.endRow();
    this.columns.link_attributes.endRow();
    this.columns.link_attribute_types.endRow();
    this.#linkDroppedAttributes.endRow();
    this.#flags.endRow();
    return omittedCount;
  }

  discardRow(): void {
    this.#omittedCount = 0;
    this.#attributes.discardRow();
    this.#linkDroppedAttributes.discardRow();
    this.#flags.discardRow();
  }
}
