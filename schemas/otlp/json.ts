/** OTLP/JSON → protobuf in one pass over the text: no document is built, every digit of a 64-bit integer is kept. */
import { isUtf8 } from 'node:buffer';
import { PermanentError } from '../errors.ts';
import { isScalar, messageNumber, nesting, type ScalarType, wireTypeOf } from '../protobuf/messages.ts';
import { maxValueDepth } from '../protobuf/scan.ts';
import { utf8Fault } from '../protobuf/utf8.ts';
import { WireWriter } from '../protobuf/writer.ts';
import type { Signal } from '../topics.ts';
import { pathAt } from './json-path.ts';
import { JsonReader } from './json-reader.ts';
import { scalarCopies } from './json-scalars.ts';
import { otlpSchema } from './messages.ts';

interface JsonField {
  readonly name: Buffer;
  /** Its bit in the set of fields that a message has had. */
  readonly bit: number;
  /** Tag of one value. */
  readonly tag: number;
  readonly repeated: boolean;
  /** Repeated numbers are written packed. */
  readonly packed: boolean;
  readonly scalar: ScalarType | undefined;
  /** Number of the message type when it is not a scalar. */
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

/** Message number → length of a name → the fields whose names are that long. */
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

  constructor(text: Buffer) {
    this.reader = new JsonReader(text);
    this.writer = new WireWriter(text.length);
  }

  request(message: number): void {
    this.#message(message, 0);
    if (this.reader.peek() >= 0) throw this.reader.fault('something follows the end of the JSON text');
  }

  #message(message: number, depth: number): void {
    const { reader } = this;
    let seen = 0;
    for (let more = reader.beginObject(); more; more = reader.moreMembers()) {
      const at = reader.position;
      reader.key();
      const field = this.#field(message);
      reader.peek();
      if (field === undefined) reader.skipValue();
      else if (!reader.literal('null')) {
        if (seen & field.bit) throw reader.fault(`the name ${field.name.toString()} comes twice`, at);
        seen |= field.bit;
        this.#value(field, depth);
      }
    }
  }

  /** The field that the name read last belongs to. */
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
    this.#message(field.message, below);
    writer.end(mark);
  }

  #scalar(field: JsonField): void {
    if (field.scalar !== undefined) scalarCopies[field.scalar](this.reader, this.writer);
  }
}

const withPath = (fault: PermanentError, body: Buffer): PermanentError => {
  const path = pathAt(body, fault.position ?? 0);
  const message = path === '' ? fault.message : `${path}: ${fault.message}`;
  return new PermanentError(fault.reason, message, { position: fault.position, cause: fault });
};

/**
 * Translates an export request from OTLP/JSON to protobuf. Names that the schema does not know are ignored and `null`
 * counts as absent. What does not fit is a `PermanentError` whose message names the path and whose position is that
 * of the byte. What comes out passes `scanRequest`.
 */
export const requestFromJson = (signal: Signal, body: Buffer): Buffer => {
  if (!isUtf8(body)) {
    throw new PermanentError('bad-utf8', 'the JSON text is not UTF-8', { position: utf8Fault(body, 0, body.length) });
  }
  const translation = new Translation(body);
  try {
    translation.request(requests[signal]);
  } catch (error) {
    throw error instanceof PermanentError ? withPath(error, body) : error;
  }
  return translation.writer.finish();
};
