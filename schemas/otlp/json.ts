/**
 * Converts OTLP/JSON to protobuf in one pass over the text. Builds no document, and preserves all digits of 64-bit
 * integers.
 */
import {
  countedFlag,
  getMessageNumber,
  getWireType,
  identifiedFlag,
  isScalar,
  nestingFlag,
  type ScalarType,
} from '../protobuf/messages.ts';
import { maxValueDepth } from '../protobuf/scan.ts';
import type { RejectedBody } from '../protobuf/separate.ts';
import type { SplittableMessage } from '../protobuf/split.ts';
import { WireWriter } from '../protobuf/writer.ts';
import type { TimeRange } from '../readable-times.ts';
import type { Signal } from '../telemetry-signals.ts';
import type { JsonReader } from './json-reader.ts';
import { JsonRecords } from './json-records.ts';
import { scalarCopies } from './json-scalars.ts';
import { readJsonText } from './json-text.ts';
import { otlpSchema } from './messages.ts';
import { splittableRequests } from './split.ts';

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

/** Message number → names of the fields in which its records are, for messages that contain records. */
const recordFields = new Map<number, readonly string[]>();
const addRecordFields = ({ message, fields }: SplittableMessage): void => {
  const declarations = Object.entries(otlpSchema.messages[otlpSchema.names[message] ?? ''] ?? {});
  const names = declarations.filter(([, [number]]) => fields.has(number)).map(([name]) => name);
  recordFields.set(message, names);
  for (const nestedMessage of fields.values()) if (nestedMessage !== undefined) addRecordFields(nestedMessage);
};
for (const message of Object.values(splittableRequests)) addRecordFields(message);

const requestNumbers = new Set(Object.values(requestMessages));

const maxNameLength = 64;
const openBrace = 0x7b;
const openBracket = 0x5b;
/** Bits of `Span.traceId` and `Span.spanId`. */
const idBits = 2 ** 1 + 2 ** 2;

interface UnknownContent {
  readonly name: string;
  readonly position: number;
}

class JsonTranslator {
  readonly reader: JsonReader;
  readonly writer: WireWriter;
  readonly #records: JsonRecords;
  readonly #times: TimeRange | undefined;

  constructor(reader: JsonReader, writer: WireWriter, records: JsonRecords, times: TimeRange | undefined) {
    this.reader = reader;
    this.writer = writer;
    this.#records = records;
    this.#times = times;
  }

  writeMessage(messageNumber: number, depth: number): void {
    const { reader } = this;
    const start = reader.position;
    const recordCount = this.#records.count;
    let unknown: UnknownContent | undefined;
    let seenFields = 0;
    for (let hasMore = reader.beginObject(); hasMore; hasMore = reader.hasMoreMembers()) {
      const at = reader.position;
      reader.readKey();
      const field = this.#findField(messageNumber);
      const byte = reader.peek();
      if (field === undefined) {
        unknown ??= this.#findContent(messageNumber, byte, at, seenFields);
        reader.skipValue();
      } else if (!reader.skipLiteral('null')) {
        if (seenFields & field.bit) throw reader.createFault(`the name ${field.name.toString()} occurs twice`, at);
        seenFields |= field.bit;
        this.#writeValue(field, depth);
      }
    }
    if ((otlpSchema.flags[messageNumber] as number) & identifiedFlag && (seenFields & idBits) !== idBits)
      throw reader.createFault('a span needs a traceId and a spanId', start, 'bad-id');
    if (unknown !== undefined && this.#records.count === recordCount) this.#reportUnknown(messageNumber, unknown);
  }

  /**
   * Returns the name and position of a value with an unknown name in which records may be: an object or an array, or
   * anything in a request without known names before.
   */
  #findContent(messageNumber: number, byte: number, position: number, seenFields: number): UnknownContent | undefined {
    const hasContents =
      byte === openBrace || byte === openBracket || (seenFields === 0 && requestNumbers.has(messageNumber));
    if (!hasContents || !recordFields.has(messageNumber)) return undefined;
    return { name: this.reader.readUnescaped().slice(0, maxNameLength), position };
  }

  #reportUnknown(messageNumber: number, { name, position }: UnknownContent): void {
    const expected = recordFields.get(messageNumber)?.join(', ');
    const message = `no record was found: the name ${name} is unknown here, expected ${expected}`;
    this.#records.addFault(this.reader.createFault(message, position, 'no-records'));
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
    const isRecord =
      field.scalar === undefined && ((otlpSchema.flags[field.messageNumber] as number) & countedFlag) !== 0;
    if (isRecord || recordFields.has(field.messageNumber)) {
      let length = 0;
      const write = (): void => {
        length = writer.length;
        this.#writeSingle(field, depth);
      };
      this.#records.readElements(reader, write, { isRecord, undo: () => writer.truncate(length) });
      return;
    }
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
    if (field.scalar !== undefined) scalarCopies[field.scalar](this.reader, this.writer, this.#times);
  }
}

/**
 * Writes the export request at the position of `reader` as protobuf, for bodies that contain one. Records that are
 * invalid or outside of `times` are set aside in `records`.
 */
export const copyJsonRequest = (
  signal: Signal,
  reader: JsonReader,
  { writer, records, times }: { writer: WireWriter; records: JsonRecords; times: TimeRange | undefined },
): void => new JsonTranslator(reader, writer, records, times).writeMessage(requestMessages[signal], 0);

/** A request in protobuf, and the part of the text that is not in it. */
export interface ConvertedRequest {
  readonly body: Buffer;
  readonly rejected: RejectedBody | undefined;
}

/**
 * Converts an export request from OTLP/JSON to protobuf. Ignores unknown names, and treats `null` as absent. Sets records
 * aside that are invalid or, with `times`, outside of this range, and content with unknown names in which no record was
 * found. Throws `PermanentError` for invalid input, and if no record is valid. The message contains the path, and the
 * position is the byte offset. The result passes `scanRequest`.
 */
export const separateJsonRequest = (signal: Signal, text: Buffer, times?: TimeRange): ConvertedRequest => {
  const writer = new WireWriter(text.length);
  const records = new JsonRecords();
  let rejected: RejectedBody | undefined;
  readJsonText(text, (reader) => {
    copyJsonRequest(signal, reader, { writer, records, times });
    rejected = records.finish(text);
  });
  return { body: writer.finish(), rejected };
};

/** Converts a request whose records are all valid: see `separateJsonRequest`. Throws the first fault. */
export const convertJsonRequest = (signal: Signal, text: Buffer): Buffer => {
  const { body, rejected } = separateJsonRequest(signal, text);
  if (rejected !== undefined && rejected.records > 0) throw rejected.error;
  return body;
};
