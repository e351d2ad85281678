/**
 * Converts OTLP/JSON to protobuf in one pass over the text. Builds no document, and preserves all digits of 64-bit
 * integers.
 */
import { isScalar, messageNumber, nesting, type ScalarType, wireTypeOf } from '../protobuf/messages.ts';
import { maxValueDepth } from '../protobuf/scan.ts';
import { WireWriter } from '../protobuf/writer.ts';
import type { Signal } from '../telemetry-signals.ts';
import type { JsonReader } from './json-reader.ts';
import { scalarCopies } from './json-scalars.ts';
import { readJsonText } from './json-text.ts';
import { otlpSchema } from './messages.ts';

interface JsonField {
  readonly name: Buffer;
  /** Bit of the field in the set of fields that a message has had. */
  readonly bit: number;
  /** Tag of one value */
  readonly tag: number;
  readonly repeated: boolean;
  /** Whether repeated numbers are written packed. */
  readonly packed: boolean;
  readonly scalar: ScalarType | undefined;
  /** Number of the message type, if the field is not a scalar. */
  readonly message: number;
}

const fieldOf = (name: string, [number, type, repeated]: readonly [number, string, string?]): JsonField => {
  const scalar = isScalar(type) ? type : undefined;
  const wireType = scalar === undefined ? 2 : wireTypeOf(scalar);
  const packed = repeated !== undefined && wireType !== 2;
  return {
    name: Buffer.from(name),
    bit: 2 ** number,
    tag: number * 8 + (packed ? 2 : wireType),
    repeated: repeated !== undefined,
    packed,
    scalar,
    message: scalar === undefined ? messageNumber(otlpSchema, type) : -1,
  };
};

/** Message number → length of a name → fields with names of that length */
const fieldsByLength: readonly (readonly (readonly JsonField[] | undefined)[])[] = Object.values(
  otlpSchema.messages,
).map((declarations) => {
  const byLength: JsonField[][] = [];
  for (const [name, declaration] of Object.entries(declarations)) {
    byLength[name.length] ??= [];
    byLength[name.length]?.push(fieldOf(name, declaration));
  }
  return byLength;
});

const requests: Readonly<Record<Signal, number>> = {
  logs: messageNumber(otlpSchema, 'LogsRequest'),
  metrics: messageNumber(otlpSchema, 'MetricsRequest'),
  traces: messageNumber(otlpSchema, 'TracesRequest'),
};

class Translation {
  readonly reader: JsonReader;
  readonly writer: WireWriter;

  constructor(reader: JsonReader, writer: WireWriter) {
    this.reader = reader;
    this.writer = writer;
  }

  message(message: number, depth: number): void {
    const { reader } = this;
    let seen = 0;
    for (let more = reader.beginObject(); more; more = reader.moreMembers()) {
      const at = reader.position;
      reader.key();
      const field = this.#field(message);
      reader.peek();
      if (field === undefined) reader.skipValue();
      else if (!reader.literal('null')) {
        if (seen & field.bit) throw reader.fault(`the name ${field.name.toString()} occurs twice`, at);
        seen |= field.bit;
        this.#value(field, depth);
      }
    }
  }

  /** Returns the field of the last name. */
  #field(message: number): JsonField | undefined {
    const { reader } = this;
    if (reader.escaped) {
      const name = Buffer.from(reader.unescaped());
      return fieldsByLength[message]?.[name.length]?.find((field) => field.name.equals(name));
    }
    const { text, start, end } = reader;
    const candidates = fieldsByLength[message]?.[end - start];
    if (candidates === undefined) return undefined;
    for (const field of candidates) {
      let index = 0;
      while (start + index < end && text[start + index] === field.name[index]) index++;
      if (start + index === end) return field;
    }
    return undefined;
  }

  #value(field: JsonField, depth: number): void {
    if (!field.repeated) {
      this.#single(field, depth);
      return;
    }
    const { reader, writer } = this;
    if (!reader.beginArray()) return;
    let mark = -1;
    if (field.packed) {
      writer.varint(field.tag);
      mark = writer.begin();
    }
    do {
      if (field.packed) this.#scalar(field);
      else this.#single(field, depth);
    } while (reader.moreElements());
    if (mark >= 0) writer.end(mark);
  }

  #single(field: JsonField, depth: number): void {
    const { writer } = this;
    writer.varint(field.tag);
    if (field.scalar !== undefined) {
      this.#scalar(field);
      return;
    }
    const below = (otlpSchema.flags[field.message] as number) & nesting ? depth + 1 : depth;
    if (below > maxValueDepth) {
      const message = `attribute values nest deeper than ${maxValueDepth}`;
      throw this.reader.fault(message, this.reader.position, 'too-deep');
    }
    const mark = writer.begin();
    this.message(field.message, below);
    writer.end(mark);
  }

  #scalar(field: JsonField): void {
    if (field.scalar !== undefined) scalarCopies[field.scalar](this.reader, this.writer);
  }
}

/**
 * Converts an export request from OTLP/JSON to protobuf. Ignores unknown names, and treats `null` as absent. Throws
 * `PermanentError` for invalid input. The message names the path, and the position is the byte offset. The result
 * passes `scanRequest`.
 */
export const requestFromJson = (signal: Signal, body: Buffer): Buffer => {
  const writer = new WireWriter(body.length);
  readJsonText(body, (reader) => new Translation(reader, writer).message(requests[signal], 0));
  return writer.finish();
};
