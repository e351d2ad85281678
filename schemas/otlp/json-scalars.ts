/** Conversion of each OTLP/JSON scalar to protobuf. Deviations from protobuf's JSON mapping are those of OTLP. */
import { lastTime, maxEnumValue, type ScalarType } from '../protobuf/messages.ts';
import type { WireWriter } from '../protobuf/writer.ts';
import { findTimeProblem, type TimeRange } from '../readable-times.ts';
import type { JsonReader } from './json-reader.ts';

const quote = 0x22;

/** Reads the next value and writes it without a tag. `times` are the readable times of records. */
type CopyScalar = (reader: JsonReader, writer: WireWriter, times?: TimeRange) => void;

const isNumberStart = (byte: number): boolean => byte === 0x2d || (byte >= 0x30 && byte <= 0x39);

/** Integers with up to this many digits are exact in a double. */
const maxExactDigits = 15;

const integerPattern = /^-?(?:0|[1-9][0-9]*)$/;
const numberPattern = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
/** Above the length of any 64-bit number; longer texts are not converted. */
const maxNumberLength = 64;

const zero = 0x30;

/** Value of plain digits that fit a double exactly, or -1. Avoids a string for most numbers. */
const parseShortDigits = (text: Buffer, start: number, end: number): number => {
  const first = text[start] ?? 0;
  if (end - start > maxExactDigits || end === start || (first === zero && end - start > 1)) return -1;
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
  if (byte === quote) reader.readString();
  else if (isNumberStart(byte)) reader.readNumber();
  else throw reader.createFault('expected an integer', at);
  const shortValue = parseShortDigits(reader.text, reader.start, reader.end);
  if (shortValue >= 0) return shortValue;
  if (reader.end - reader.start > maxNumberLength) throw reader.createFault('expected an integer', at);
  const text = reader.text.toString('latin1', reader.start, reader.end);
  if (integerPattern.test(text)) return text;
  // Protobuf's JSON mapping also accepts 1e3 and 2.0 as integers.
  const value = numberPattern.test(text) ? Number(text) : Number.NaN;
  if (!Number.isInteger(value)) throw reader.createFault('expected an integer', at);
  return BigInt(value).toString();
};

const createSmallIntegerCopy =
  (low: number, high: number, write: (writer: WireWriter, value: number) => void): CopyScalar =>
  (reader, writer) => {
    reader.peek();
    const at = reader.position;
    const value = Number(readInteger(reader));
    if (value < low || value > high) throw reader.createFault(`the integer is not between ${low} and ${high}`, at);
    write(writer, value);
  };

const createLargeIntegerCopy =
  (low: bigint, high: bigint, write: (writer: WireWriter, value: bigint) => void): CopyScalar =>
  (reader, writer) => {
    reader.peek();
    const at = reader.position;
    const value = BigInt(readInteger(reader));
    if (value < low || value > high) throw reader.createFault(`the integer is not between ${low} and ${high}`, at);
    write(writer, value);
  };

/** The first nanosecond that cannot be stored. */
const maxNanosecondsExclusive = 10n ** 9n * 2n ** 32n;

const copyNanoseconds = (reader: JsonReader, writer: WireWriter): number => {
  reader.peek();
  const at = reader.position;
  const value = BigInt(readInteger(reader));
  if (value < 0n) throw reader.createFault('the time is before 1970', at);
  if (value >= maxNanosecondsExclusive)
    throw reader.createFault(`the time is after ${lastTime}, which cannot be stored`, at, 'bad-time');
  writer.writeFixed64(value);
  return Number(value);
};

const copyRecordNanoseconds: CopyScalar = (reader, writer, times) => {
  reader.peek();
  const at = reader.position;
  const value = copyNanoseconds(reader, writer);
  const problem = value === 0 ? undefined : findTimeProblem(value, 'nanoseconds', times);
  if (problem !== undefined) throw reader.createFault(`the time ${problem.message}`, at, problem.reason);
};

const writeSignedVarint = (writer: WireWriter, value: number): void => {
  if (value < 0) writer.writeVarint64(BigInt(value));
  else writer.writeVarint(value);
};

const writeZigzag = (writer: WireWriter, value: number): void =>
  writer.writeVarint(value < 0 ? -2 * value - 1 : 2 * value);

const int32 = [-0x80000000, 0x7fffffff] as const;
const int64 = [-(2n ** 63n), 2n ** 63n - 1n] as const;
const uint64 = [0n, 2n ** 64n - 1n] as const;

const copyEnumInteger = createSmallIntegerCopy(0, maxEnumValue, (writer, value) => writer.writeVarint(value));

const copyEnum: CopyScalar = (reader, writer) => {
  if (reader.peek() === quote) throw reader.createFault('an enum must be an integer: OTLP/JSON has no enum names');
  copyEnumInteger(reader, writer);
};

const parseInt64 = (reader: JsonReader, token: string, at: number): bigint => {
  const value = BigInt(token);
  if (value >= int64[0] && value <= int64[1]) return value;
  throw reader.createFault(`the integer is not between ${int64[0]} and ${int64[1]}`, at);
};

/** Writes an int64 with few digits, the common case, without a BigInt. */
const copyInt64: CopyScalar = (reader, writer) => {
  reader.peek();
  const at = reader.position;
  const token = readInteger(reader);
  if (typeof token === 'number') writer.writeVarint(token);
  else writer.writeVarint64(parseInt64(reader, token, at));
};

const specialDoubles: ReadonlyMap<string, number> = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
]);

/** JSON represents infinity as a string. A number that is too large for a double is an error, as in the OpenTelemetry Collector. */
const parseFinite = (reader: JsonReader, text: string, at: number): number => {
  const value = Number(text);
  if (Number.isFinite(value)) return value;
  throw reader.createFault('the number is too large for a double', at);
};

const copyDouble: CopyScalar = (reader, writer) => {
  const byte = reader.peek();
  const at = reader.position;
  if (isNumberStart(byte)) {
    reader.readNumber();
    const shortValue = parseShortDigits(reader.text, reader.start, reader.end);
    writer.writeDouble(
      shortValue >= 0 ? shortValue : parseFinite(reader, reader.text.toString('latin1', reader.start, reader.end), at),
    );
    return;
  }
  if (byte !== quote) throw reader.createFault('expected a number', at);
  reader.readString();
  const text = reader.readUnescaped();
  const value = specialDoubles.get(text) ?? (numberPattern.test(text) ? parseFinite(reader, text, at) : undefined);
  if (value === undefined) {
    throw reader.createFault('expected a number, or one of "NaN", "Infinity" and "-Infinity"', at);
  }
  writer.writeDouble(value);
};

const copyBoolean: CopyScalar = (reader, writer) => {
  reader.peek();
  if (reader.skipLiteral('true')) writer.writeByte(1);
  else if (reader.skipLiteral('false')) writer.writeByte(0);
  else throw reader.createFault('expected true or false');
};

const copyString: CopyScalar = (reader, writer) => {
  if (reader.peek() !== quote) throw reader.createFault('expected a string');
  reader.readString();
  if (!reader.hasEscapes) {
    writer.writeVarint(reader.end - reader.start);
    writer.copyBytes(reader.text, reader.start, reader.end);
    return;
  }
  const mark = writer.beginLengthPrefixed();
  writer.writeUtf8(reader.readUnescaped());
  writer.endLengthPrefixed(mark);
};

const base64Pattern = /^[A-Za-z0-9+/_-]*={0,2}$/;

const copyBytes: CopyScalar = (reader, writer) => {
  const byte = reader.peek();
  const at = reader.position;
  if (byte !== quote) throw reader.createFault('expected bytes as base64 in a string');
  reader.readString();
  const text = reader.readUnescaped();
  if (!base64Pattern.test(text) || text.replace(/={1,2}$/, '').length % 4 === 1)
    throw reader.createFault('expected base64', at);
  const decoded = Buffer.from(text, 'base64');
  writer.writeVarint(decoded.length);
  writer.copyBytes(decoded, 0, decoded.length);
};

const parseHexDigit = (byte: number): number => {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lowercase = byte | 0x20;
  return lowercase >= 0x61 && lowercase <= 0x66 ? lowercase - 0x57 : -1;
};

/** Writes the bytes of the last string with their length. Returns 0 if they are only zeros, -1 if one is not a number. */
const copyHexBytes = ({ text, start, end }: JsonReader, writer: WireWriter): number => {
  let digits = 0;
  writer.writeVarint((end - start) / 2);
  for (let position = start; position < end; position += 2) {
    const high = parseHexDigit(text[position] as number);
    const low = parseHexDigit(text[position + 1] as number);
    if (high < 0 || low < 0) return -1;
    digits |= high | low;
    writer.writeByte((high << 4) | low);
  }
  return digits;
};

const createIdCopy =
  (size: number, isRequired = false): CopyScalar =>
  (reader, writer) => {
    const byte = reader.peek();
    const at = reader.position;
    const alternative = isRequired ? 'not only zeros' : 'or an empty one';
    const message = `expected an id of ${size * 2} hexadecimal digits, ${alternative}, in a string`;
    if (byte !== quote) throw reader.createFault(message, at, 'bad-id');
    reader.readString();
    const length = reader.end - reader.start;
    const isEmptyAllowed = length === 0 && !isRequired;
    if (length !== size * 2 && !isEmptyAllowed) throw reader.createFault(message, at, 'bad-id');
    const digits = copyHexBytes(reader, writer);
    if (digits < 0 || (digits === 0 && isRequired)) throw reader.createFault(message, at, 'bad-id');
  };

export const scalarCopies: Readonly<Record<ScalarType, CopyScalar>> = {
  double: copyDouble,
  fixed64: createLargeIntegerCopy(...uint64, (writer, value) => writer.writeFixed64(value)),
  nanoseconds: copyNanoseconds,
  recordNanoseconds: copyRecordNanoseconds,
  fallbackNanoseconds: copyNanoseconds,
  milliseconds: copyInt64,
  recordMilliseconds: copyInt64,
  sfixed64: createLargeIntegerCopy(...int64, (writer, value) => writer.writeFixed64(value)),
  fixed32: createSmallIntegerCopy(0, 0xffffffff, (writer, value) => writer.writeFixed32(value)),
  int32: createSmallIntegerCopy(...int32, writeSignedVarint),
  int64: copyInt64,
  uint32: createSmallIntegerCopy(0, 0xffffffff, (writer, value) => writer.writeVarint(value)),
  uint64: createLargeIntegerCopy(...uint64, (writer, value) => writer.writeVarint64(value)),
  sint32: createSmallIntegerCopy(...int32, writeZigzag),
  sint64: createLargeIntegerCopy(...int64, (writer, value) =>
    writer.writeVarint64(value < 0n ? -2n * value - 1n : 2n * value),
  ),
  bool: copyBoolean,
  enum: copyEnum,
  string: copyString,
  bytes: copyBytes,
  traceId: createIdCopy(16),
  spanId: createIdCopy(8),
  requiredTraceId: createIdCopy(16, true),
  requiredSpanId: createIdCopy(8, true),
};
