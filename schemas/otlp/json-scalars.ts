/** Conversion of each OTLP/JSON scalar to protobuf. Deviations from protobuf's JSON mapping are those of OTLP. */
import { lastTime, maxEnumValue, type ScalarType } from '../protobuf/messages.ts';
import type { WireWriter } from '../protobuf/writer.ts';
import type { JsonReader } from './json-reader.ts';

const quote = 0x22;

/** Reads the next value and writes it without a tag. */
type ScalarCopy = (reader: JsonReader, writer: WireWriter) => void;

const isNumberStart = (byte: number): boolean => byte === 0x2d || (byte >= 0x30 && byte <= 0x39);

/** Integers with up to this many digits are exact in a double. */
const exactDigits = 15;

const integerText = /^-?(?:0|[1-9][0-9]*)$/;
const numberText = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
/** Above the length of any 64-bit number; longer texts are not converted. */
const maxNumberLength = 64;

const zero = 0x30;

/** Value of plain digits that fit a double exactly, or -1. Avoids a string for most numbers. */
const parseShortDigits = (text: Buffer, start: number, end: number): number => {
  const first = text[start] ?? 0;
  if (end - start > exactDigits || end === start || (first === zero && end - start > 1)) return -1;
  let value = 0;
  for (let position = start; position < end; position++) {
    const digit = (text[position] as number) - zero;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
};

/** Reads an integer from a number or from decimal digits in a string. Returns a number if that is exact. */
const readInteger = (reader: JsonReader): number | string => {
  const byte = reader.peek();
  const at = reader.position;
  if (byte === quote) reader.string();
  else if (isNumberStart(byte)) reader.number();
  else throw reader.createFault('expected an integer', at);
  const short = parseShortDigits(reader.text, reader.start, reader.end);
  if (short >= 0) return short;
  if (reader.end - reader.start > maxNumberLength) throw reader.createFault('expected an integer', at);
  const text = reader.text.toString('latin1', reader.start, reader.end);
  if (integerText.test(text)) return text;
  // Protobuf's JSON mapping also accepts 1e3 and 2.0 as integers.
  const value = numberText.test(text) ? Number(text) : Number.NaN;
  if (!Number.isInteger(value)) throw reader.createFault('expected an integer', at);
  return BigInt(value).toString();
};

const smallInteger =
  (low: number, high: number, write: (writer: WireWriter, value: number) => void): ScalarCopy =>
  (reader, writer) => {
    reader.peek();
    const at = reader.position;
    const value = Number(readInteger(reader));
    if (value < low || value > high) throw reader.createFault(`the integer is not between ${low} and ${high}`, at);
    write(writer, value);
  };

const largeInteger =
  (low: bigint, high: bigint, write: (writer: WireWriter, value: bigint) => void): ScalarCopy =>
  (reader, writer) => {
    reader.peek();
    const at = reader.position;
    const value = BigInt(readInteger(reader));
    if (value < low || value > high) throw reader.createFault(`the integer is not between ${low} and ${high}`, at);
    write(writer, value);
  };

/** The first nanosecond that cannot be stored. */
const maxNanosecondsExclusive = 10n ** 9n * 2n ** 32n;

const nanoseconds: ScalarCopy = (reader, writer) => {
  reader.peek();
  const at = reader.position;
  const value = BigInt(readInteger(reader));
  if (value < 0n) throw reader.createFault('the time is before 1970', at);
  if (value >= maxNanosecondsExclusive)
    throw reader.createFault(`the time is after ${lastTime}, which cannot be stored`, at, 'bad-time');
  writer.fixed64(value);
};

const signedVarint = (writer: WireWriter, value: number): void => {
  if (value < 0) writer.varint64(BigInt(value));
  else writer.writeVarint(value);
};

const zigzag = (writer: WireWriter, value: number): void => writer.writeVarint(value < 0 ? -2 * value - 1 : 2 * value);

const int32 = [-0x80000000, 0x7fffffff] as const;
const int64 = [-(2n ** 63n), 2n ** 63n - 1n] as const;
const uint64 = [0n, 2n ** 64n - 1n] as const;

const copyEnumInteger = smallInteger(0, maxEnumValue, (writer, value) => writer.writeVarint(value));

const enumValue: ScalarCopy = (reader, writer) => {
  if (reader.peek() === quote) throw reader.createFault('an enum must be an integer: OTLP/JSON has no enum names');
  copyEnumInteger(reader, writer);
};

const parseInt64 = (reader: JsonReader, token: string, at: number): bigint => {
  const value = BigInt(token);
  if (value >= int64[0] && value <= int64[1]) return value;
  throw reader.createFault(`the integer is not between ${int64[0]} and ${int64[1]}`, at);
};

/** Writes an int64 with few digits, the common case, without a BigInt. */
const int64Value: ScalarCopy = (reader, writer) => {
  reader.peek();
  const at = reader.position;
  const token = readInteger(reader);
  if (typeof token === 'number') writer.writeVarint(token);
  else writer.varint64(parseInt64(reader, token, at));
};

const specialDoubles: ReadonlyMap<string, number> = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
]);

/** Infinity is written as a word. A number too large for a double is a fault, as for the OpenTelemetry Collector. */
const parseFinite = (reader: JsonReader, text: string, at: number): number => {
  const value = Number(text);
  if (Number.isFinite(value)) return value;
  throw reader.createFault('the number is too large for a double', at);
};

const double: ScalarCopy = (reader, writer) => {
  const byte = reader.peek();
  const at = reader.position;
  if (isNumberStart(byte)) {
    reader.number();
    const short = parseShortDigits(reader.text, reader.start, reader.end);
    writer.double(
      short >= 0 ? short : parseFinite(reader, reader.text.toString('latin1', reader.start, reader.end), at),
    );
    return;
  }
  if (byte !== quote) throw reader.createFault('expected a number', at);
  reader.string();
  const text = reader.readUnescaped();
  const value = specialDoubles.get(text) ?? (numberText.test(text) ? parseFinite(reader, text, at) : undefined);
  if (value === undefined) {
    throw reader.createFault('expected a number, or one of "NaN", "Infinity" and "-Infinity"', at);
  }
  writer.double(value);
};

const bool: ScalarCopy = (reader, writer) => {
  reader.peek();
  if (reader.skipLiteral('true')) writer.byte(1);
  else if (reader.skipLiteral('false')) writer.byte(0);
  else throw reader.createFault('expected true or false');
};

const string: ScalarCopy = (reader, writer) => {
  if (reader.peek() !== quote) throw reader.createFault('expected a string');
  reader.string();
  if (!reader.hasEscapes) {
    writer.writeVarint(reader.end - reader.start);
    writer.copy(reader.text, reader.start, reader.end);
    return;
  }
  const mark = writer.beginLengthPrefixed();
  writer.utf8(reader.readUnescaped());
  writer.endLengthPrefixed(mark);
};

const base64Text = /^[A-Za-z0-9+/_-]*={0,2}$/;

const bytes: ScalarCopy = (reader, writer) => {
  const byte = reader.peek();
  const at = reader.position;
  if (byte !== quote) throw reader.createFault('expected bytes as base64 in a string');
  reader.string();
  const text = reader.readUnescaped();
  if (!base64Text.test(text) || text.replace(/={1,2}$/, '').length % 4 === 1)
    throw reader.createFault('this is not base64', at);
  const decoded = Buffer.from(text, 'base64');
  writer.writeVarint(decoded.length);
  writer.copy(decoded, 0, decoded.length);
};

const hexDigit = (byte: number): number => {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lowercase = byte | 0x20;
  return lowercase >= 0x61 && lowercase <= 0x66 ? lowercase - 0x57 : -1;
};

const fixedSizeId =
  (size: number): ScalarCopy =>
  (reader, writer) => {
    const byte = reader.peek();
    const at = reader.position;
    const fault = `expected an id of ${size * 2} hexadecimal digits, or an empty one, in a string`;
    if (byte !== quote) throw reader.createFault(fault, at, 'bad-id');
    reader.string();
    const { start, end, text } = reader;
    if (end !== start && end - start !== size * 2) throw reader.createFault(fault, at, 'bad-id');
    writer.writeVarint((end - start) / 2);
    for (let position = start; position < end; position += 2) {
      const high = hexDigit(text[position] as number);
      const low = hexDigit(text[position + 1] as number);
      if (high < 0 || low < 0) throw reader.createFault(fault, at, 'bad-id');
      writer.byte((high << 4) | low);
    }
  };

export const scalarCopies: Readonly<Record<ScalarType, ScalarCopy>> = {
  double,
  fixed64: largeInteger(...uint64, (writer, value) => writer.fixed64(value)),
  nanoseconds,
  milliseconds: int64Value,
  sfixed64: largeInteger(...int64, (writer, value) => writer.fixed64(value)),
  fixed32: smallInteger(0, 0xffffffff, (writer, value) => writer.fixed32(value)),
  int32: smallInteger(...int32, signedVarint),
  int64: int64Value,
  uint32: smallInteger(0, 0xffffffff, (writer, value) => writer.writeVarint(value)),
  uint64: largeInteger(...uint64, (writer, value) => writer.varint64(value)),
  sint32: smallInteger(...int32, zigzag),
  sint64: largeInteger(...int64, (writer, value) => writer.varint64(value < 0n ? -2n * value - 1n : 2n * value)),
  bool,
  enum: enumValue,
  string,
  bytes,
  traceId: fixedSizeId(16),
  spanId: fixedSizeId(8),
};
