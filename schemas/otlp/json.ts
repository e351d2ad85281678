/**
 * Converts OTLP/JSON to protobuf in one pass over the text. Builds no document, and preserves all digits of 64-bit
 * integers.
 */
import { getMessageNumber, getWireType, isScalar, nestingFlag, type ScalarType } from '../protobuf/messages.ts';
import { maxValueDepth } from '../protobuf/scan.ts';
import { WireWriter } from '../protobuf/writer.ts';
import type { Signal } from '../telemetry-signals.ts';
import type { JsonReader } from './json-reader.ts';
import { scalarCopies } from './json-scalars.ts';
import { readJsonText } from './json-text.ts';
import { otlpSchema } from './messages.ts';

interface JsonField {
  readonly name: Buffer;
  /** Bit of the field in the set of fields that were already read. */
  readonly bit: number;
  /** Tag of one value */
  readonly tag: number;
  readonly isRepeated: boolean;
  /** Whether repeated numbers are written packed. */
  readonly isPacked: boolean;
  readonly scalar: ScalarType | undefined;
  /** Number of the message type, if the field is not a scalar. */
  readonly messageNumber: number;
}

const toJsonField = (name: string, [number, type, repeated]: readonly [number, string, string?]): JsonField => {
  const scalar = isScalar(type) ? type : undefined;
  const wireType = scalar === undefined ? 2 : getWireType(scalar);
  const isPacked = repeated !== undefined && wireType !== 2;
  return {
    name: Buffer.from(name),
    bit: 2 ** number,
    tag: number * 8 + (isPacked ? 2 : wireType),
    isRepeated: repeated !== undefined,
    isPacked,
    scalar,
    messageNumber: scalar === undefined ? getMessageNumber(otlpSchema, type) : -1,
  };
};

/** Message number → length of a name → fields with names of that length */
const fieldsByLength: readonly (readonly (readonly JsonField[] | undefined)[])[] = Object.values(
  otlpSchema.messages,
).map((declarations) => {
  const fieldsOfMessage: JsonField[][] = [];
  for (const [name, declaration] of Object.entries(declarations)) {
    fieldsOfMessage[name.length] ??= [];
    fieldsOfMessage[name.length]?.push(toJsonField(name, declaration));
  }
  return fieldsOfMessage;
});

const requestMessages: Readonly<Record<Signal, number>> = {
  logs: getMessageNumber(otlpSchema, 'LogsRequest'),
  metrics: getMessageNumber(otlpSchema, 'MetricsRequest'),
  traces: getMessageNumber(otlpSchema, 'TracesRequest'),
};

class JsonTranslator {
  readonly reader: JsonReader;
  readonly writer: WireWriter;

  constructor(reader: JsonReader, writer: WireWriter) {
    this.reader = reader;
    this.writer = writer;
  }

  writeMessage(writeMessage: number, depth: number): void {
    const { reader } = this;
    let seenFields = 0;
    for (let hasMore = reader.beginObject(); hasMore; hasMore = reader.hasMoreMembers()) {
      const at = reader.position;
      reader.readKey();
      const field = this.#findField(writeMessage);
      reader.peek();
      if (field === undefined) reader.skipValue();
      else if (!reader.skipLiteral('null')) {
        if (seenFields & field.bit) throw reader.createFault(`the name ${field.name.toString()} occurs twice`, at);
        seenFields |= field.bit;
        this.#writeValue(field, depth);
      }
    }
  }

  /** Returns the field of the last name. */
  #findField(messageNumber: number): JsonField | undefined {
    const { reader } = this;
    if (reader.hasEscapes) {
      const name = Buffer.from(reader.readUnescaped());
      return fieldsByLength[messageNumber]?.[name.length]?.find((field) => field.name.equals(name));
    }
    const { text, start, end } = reader;
    const candidates = fieldsByLength[messageNumber]?.[end - start];
    if (candidates === undefined) return undefined;
    for (const field of candidates) {
      let index = 0;
      while (start + index < end && text[start + index] === field.name[index]) index++;
      if (start + index === end) return field;
    }
    return undefined;
  }

  #writeValue(field: JsonField, depth: number): void {
    if (!field.isRepeated) {
      this.#writeSingle(field, depth);
      return;
    }
    const { reader, writer } = this;
    if (!reader.beginArray()) return;
    let mark = -1;
    if (field.isPacked) {
      writer.writeVarint(field.tag);
      mark = writer.beginLengthPrefixed();
    }
    do {
      if (field.isPacked) this.#writeScalar(field);
      else this.#writeSingle(field, depth);
    } while (reader.hasMoreElements());
    if (mark >= 0) writer.endLengthPrefixed(mark);
  }

  #writeSingle(field: JsonField, depth: number): void {
    const { writer } = this;
    writer.writeVarint(field.tag);
    if (field.scalar !== undefined) {
      this.#writeScalar(field);
      return;
    }
    const childDepth = (otlpSchema.flags[field.messageNumber] as number) & nestingFlag ? depth + 1 : depth;
    if (childDepth > maxValueDepth) {
      const message = `attribute values nest deeper than ${maxValueDepth}`;
      throw this.reader.createFault(message, this.reader.position, 'too-deep');
    }
    const mark = writer.beginLengthPrefixed();
    this.writeMessage(field.messageNumber, childDepth);
    writer.endLengthPrefixed(mark);
  }

  #writeScalar(field: JsonField): void {
    if (field.scalar !== undefined) scalarCopies[field.scalar](this.reader, this.writer);
  }
}

/**
 * Converts an export request from OTLP/JSON to protobuf. Ignores unknown names, and treats `null` as absent. Throws
 * `PermanentError` for invalid input. The message contains the path, and the position is the byte offset. The result
 * passes `scanRequest`.
 */
export const convertJsonRequest = (signal: Signal, body: Buffer): Buffer => {
  const writer = new WireWriter(body.length);
  readJsonText(body, (reader) => new JsonTranslator(reader, writer).writeMessage(requestMessages[signal], 0));
  return writer.finish();
};
