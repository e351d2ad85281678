import { idStart, type WireCursor } from '../../schemas/protobuf/cursor.ts';
import { FixedStringColumn, NumberColumn, WordsColumn } from '../native/fixed.ts';
import { ArrayColumn, MapColumn } from '../native/nested.ts';
import { DictionaryColumn, StringColumn } from '../native/strings.ts';
import { AttributeWriter } from './attributes.ts';
import { pushTime } from './source.ts';

/** Numbers of a row that are mostly 0, and stored only if one is not */
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
  close(): void {
    if (this.#isAnySet) for (const value of this.#pending) this.#column.elements.push(value);
    this.#column.close();
    this.abandon();
  }

  abandon(): void {
    this.#pending.length = 0;
    this.#isAnySet = false;
  }
}

/** Events of a span, as arrays of equal length. */
export class EventColumns {
  readonly columns = {
    event_timestamps: new ArrayColumn(new WordsColumn("DateTime64(9, 'UTC')")),
    event_names: new ArrayColumn(new DictionaryColumn()),
    event_attributes: new ArrayColumn(new MapColumn()),
    event_attribute_types: new ArrayColumn(new DictionaryColumn()),
    event_dropped_attributes: new ArrayColumn(new NumberColumn('UInt32')),
  } as const;
  readonly #dropped = new SparseNumbers(this.columns.event_dropped_attributes);
  readonly #attributes = new AttributeWriter(
    this.columns.event_attributes.elements,
    this.columns.event_attribute_types.elements,
  );

  push(reader: WireCursor, end: number): void {
    let low = 0;
    let high = 0;
    let dropped = 0;
    let nameStart = 0;
    let nameEnd = 0;
    while (reader.at < end) {
      const tag = reader.varint();
      if (tag === 0x09) {
        reader.fixed64();
        low = reader.low;
        high = reader.high;
      } else if (tag === 0x12) {
        nameEnd = reader.end(end);
        nameStart = reader.at;
        reader.at = nameEnd;
      } else if (tag === 0x1a) this.#attributes.push(reader, reader.end(end));
      else if (tag === 0x20) dropped = reader.varint();
      else reader.skip(tag, end);
    }
    reader.expect(end);
    this.#dropped.push(dropped);
    pushTime(this.columns.event_timestamps.elements, low, high);
    this.columns.event_names.elements.push(reader.bytes, nameStart, nameEnd);
    this.#attributes.close();
  }

  /** Ends the span's row. */
  close(): void {
    this.columns.event_timestamps.close();
    this.columns.event_names.close();
    this.columns.event_attributes.close();
    this.columns.event_attribute_types.close();
    this.#dropped.close();
  }

  abandon(): void {
    this.#attributes.abandon();
    this.#dropped.abandon();
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
  readonly #dropped = new SparseNumbers(this.columns.link_dropped_attributes);
  readonly #flags = new SparseNumbers(this.columns.link_flags);
  readonly #attributes = new AttributeWriter(
    this.columns.link_attributes.elements,
    this.columns.link_attribute_types.elements,
  );

  push(reader: WireCursor, end: number): void {
    let trace = -1;
    let span = -1;
    let stateStart = 0;
    let stateEnd = 0;
    let dropped = 0;
    let flags = 0;
    while (reader.at < end) {
      const tag = reader.varint();
      if (tag === 0x0a) trace = idStart(reader, end, 16);
      else if (tag === 0x12) span = idStart(reader, end, 8);
      else if (tag === 0x1a) {
        stateEnd = reader.end(end);
        stateStart = reader.at;
        reader.at = stateEnd;
      } else if (tag === 0x22) this.#attributes.push(reader, reader.end(end));
      else if (tag === 0x28) dropped = reader.varint();
      else if (tag === 0x35) flags = reader.fixed32();
      else reader.skip(tag, end);
    }
    reader.expect(end);
    this.#dropped.push(dropped);
    this.#flags.push(flags);
    this.columns.link_trace_ids.elements.push(reader.bytes, trace);
    this.columns.link_span_ids.elements.push(reader.bytes, span);
    this.columns.link_trace_states.elements.push(reader.bytes, stateStart, stateEnd);
    this.#attributes.close();
  }

  /** Ends the span's row. */
  close(): void {
    this.columns.link_trace_ids.close();
    this.columns.link_span_ids.close();
    this.columns.link_trace_states.close();
    this.columns.link_attributes.close();
    this.columns.link_attribute_types.close();
    this.#dropped.close();
    this.#flags.close();
  }

  abandon(): void {
    this.#attributes.abandon();
    this.#dropped.abandon();
    this.#flags.abandon();
  }
}
