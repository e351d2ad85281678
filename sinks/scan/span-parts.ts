import { FixedStringColumn, WordsColumn } from '../native/fixed.ts';
import { ArrayColumn, MapColumn } from '../native/nested.ts';
import { DictionaryColumn, StringColumn } from '../native/strings.ts';
import { AttributeWriter } from './attributes.ts';
import { pushTime } from './source.ts';
import { idStart, type WireReader } from './wire.ts';

/** A span's events: arrays of equal length. */
export class EventColumns {
  readonly columns = {
    event_timestamps: new ArrayColumn(new WordsColumn("DateTime64(9, 'UTC')")),
    event_names: new ArrayColumn(new DictionaryColumn()),
    event_attributes: new ArrayColumn(new MapColumn()),
    event_attribute_types: new ArrayColumn(new DictionaryColumn()),
  } as const;
  readonly #attributes = new AttributeWriter(
    this.columns.event_attributes.elements,
    this.columns.event_attribute_types.elements,
  );

  push(reader: WireReader, end: number): void {
    let low = 0;
    let high = 0;
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
      else reader.skip(tag, end);
    }
    reader.expect(end);
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
  }

  abandon(): void {
    this.#attributes.abandon();
  }
}

/** A span's links: arrays of equal length. */
export class LinkColumns {
  readonly columns = {
    link_trace_ids: new ArrayColumn(new FixedStringColumn(16)),
    link_span_ids: new ArrayColumn(new FixedStringColumn(8)),
    link_trace_states: new ArrayColumn(new StringColumn()),
    link_attributes: new ArrayColumn(new MapColumn()),
    link_attribute_types: new ArrayColumn(new DictionaryColumn()),
  } as const;
  readonly #attributes = new AttributeWriter(
    this.columns.link_attributes.elements,
    this.columns.link_attribute_types.elements,
  );

  push(reader: WireReader, end: number): void {
    let trace = -1;
    let span = -1;
    let stateStart = 0;
    let stateEnd = 0;
    while (reader.at < end) {
      const tag = reader.varint();
      if (tag === 0x0a) trace = idStart(reader, end, 16);
      else if (tag === 0x12) span = idStart(reader, end, 8);
      else if (tag === 0x1a) {
        stateEnd = reader.end(end);
        stateStart = reader.at;
        reader.at = stateEnd;
      } else if (tag === 0x22) this.#attributes.push(reader, reader.end(end));
      else reader.skip(tag, end);
    }
    reader.expect(end);
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
  }

  abandon(): void {
    this.#attributes.abandon();
  }
}
