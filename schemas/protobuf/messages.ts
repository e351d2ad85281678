/**
 * Declarations of protobuf schemas as plain objects, from which both the scanner's table and the JSON mapping are
 * built. Names are those of the JSON mapping (lowerCamelCase).
 */

/**
 * Scalar types. `traceId` and `spanId` are `bytes` of length 0 or exactly 16 or 8, hexadecimal in OTLP/JSON;
 * `requiredTraceId` and `requiredSpanId` have this length and a byte that is not 0.
 * `nanoseconds` is a `fixed64` and `milliseconds` an `int64`, both times since 1970. `recordNanoseconds` and
 * `recordMilliseconds` are the times by which queries find a record, `fallbackNanoseconds` applies if the former is 0.
 */
export type ScalarType =
  | 'double'
  | 'fixed64'
  | 'nanoseconds'
  | 'recordNanoseconds'
  | 'fallbackNanoseconds'
  | 'milliseconds'
  | 'recordMilliseconds'
  | 'sfixed64'
  | 'fixed32'
  | 'int32'
  | 'int64'
  | 'uint32'
  | 'uint64'
  | 'sint32'
  | 'sint64'
  | 'bool'
  | 'enum'
  | 'string'
  | 'bytes'
  | 'traceId'
  | 'spanId'
  | 'requiredTraceId'
  | 'requiredSpanId';

/** Field number, type (of a scalar, or a message name), and whether it repeats. Numbers are below 32. */
type FieldDeclaration = readonly [number: number, type: string, repeated?: 'repeated'];

/** Message name → field name → declaration. */
export type MessageDeclarations = Readonly<Record<string, Readonly<Record<string, FieldDeclaration>>>>;

/** Scanner action for a tag. Values from `messageAction` on mean "descend into message (value − messageAction)". */
export const scanActions = {
  unknown: 0,
  varint: 1,
  fixed64: 2,
  enum: 3,
  nanoseconds: 4,
  recordNanoseconds: 5,
  fallbackNanoseconds: 6,
  milliseconds: 7,
  recordMilliseconds: 8,
  fixed32: 9,
  string: 10,
  bytes: 11,
  traceId: 12,
  spanId: 13,
  requiredTraceId: 14,
  requiredSpanId: 15,
  packedFixed64: 16,
  packedVarint: 17,
} as const;
export const messageAction = 32;

/** Enums are stored in one byte. Larger values are rejected on receipt instead of being stored as another value. */
export const maxEnumValue = 255;

/**
 * Tables store times in 32-bit seconds, and no times before 1900. Other times are rejected on receipt instead of
 * being stored as another time.
 */
export const lastTime = '2106-02-07T06:28:15.999999999Z';
/** The upper half of that time in nanoseconds; any lower half is valid. */
export const lastNanosecondsHigh = 999_999_999;
/** 1900 plus a day for rounding, as the unsigned integer of a varint. */
export const firstMilliseconds = 2 ** 64 + Date.UTC(1900, 0, 2);
export const lastMilliseconds = 2 ** 32 * 1000 - 1;

/** Flags of a message type. */
export const countedFlag = 1;
export const nestingFlag = 2;
export const identifiedFlag = 4;
export const timedFlag = 8;

/** A schema compiled for scanning. */
export interface WireSchema {
  readonly messages: MessageDeclarations;
  /** Message names in the order of their numbers. */
  readonly names: readonly string[];
  /** Message number × 256 + tag (field number and wire type in one byte) → action */
  readonly actions: Uint8Array;
  /**
   * Message number → `countedFlag` (its occurrences are the request's records), `nestingFlag` (it counts towards the
   * depth), `identifiedFlag` (it has a `requiredTraceId` and a `requiredSpanId`), `timedFlag` (its
   * `recordMilliseconds` are 0 if they are absent)
   */
  readonly flags: Uint8Array;
  /**
   * Whether a known field with a different wire type is skipped like an unknown field, as in sinks. Otherwise it is a
   * fault.
   */
  readonly skipsUnexpectedWireTypes?: boolean;
}

const wireTypes: Readonly<Record<ScalarType, readonly [wireType: number, action: number]>> = {
  double: [1, scanActions.fixed64],
  fixed64: [1, scanActions.fixed64],
  nanoseconds: [1, scanActions.nanoseconds],
  recordNanoseconds: [1, scanActions.recordNanoseconds],
  fallbackNanoseconds: [1, scanActions.fallbackNanoseconds],
  milliseconds: [0, scanActions.milliseconds],
  recordMilliseconds: [0, scanActions.recordMilliseconds],
  sfixed64: [1, scanActions.fixed64],
  fixed32: [5, scanActions.fixed32],
  int32: [0, scanActions.varint],
  int64: [0, scanActions.varint],
  uint32: [0, scanActions.varint],
  uint64: [0, scanActions.varint],
  sint32: [0, scanActions.varint],
  sint64: [0, scanActions.varint],
  bool: [0, scanActions.varint],
  enum: [0, scanActions.enum],
  string: [2, scanActions.string],
  bytes: [2, scanActions.bytes],
  traceId: [2, scanActions.traceId],
  spanId: [2, scanActions.spanId],
  requiredTraceId: [2, scanActions.requiredTraceId],
  requiredSpanId: [2, scanActions.requiredSpanId],
};

/** Returns whether a declared type is a scalar. All others are messages. */
export const isScalar = (type: string): type is ScalarType => Object.hasOwn(wireTypes, type);

/** Returns the wire type of a single scalar. */
export const getWireType = (type: ScalarType): number => wireTypes[type][0];

/** Accepted wire types of a field, each with the scanner's action. */
const getActions = (names: readonly string[], [, type, repeated]: FieldDeclaration): (readonly [number, number])[] => {
  if (!isScalar(type)) return [[2, messageAction + names.indexOf(type)]];
  const scalarAction = wireTypes[type];
  // Repeated numbers are packed or separate, depending on the sender's generator.
  if (repeated && scalarAction[0] === 0) return [scalarAction, [2, scanActions.packedVarint]];
  if (repeated && scalarAction[0] === 1) return [scalarAction, [2, scanActions.packedFixed64]];
  return [scalarAction];
};

/** Flags that follow from the fields of a message. */
const getFieldFlags = (messages: MessageDeclarations, name: string): number => {
  const types = Object.values(messages[name] ?? {}).map(([, type]) => type);
  return (
    (types.includes('requiredTraceId') ? identifiedFlag : 0) | (types.includes('recordMilliseconds') ? timedFlag : 0)
  );
};

/**
 * Compiles the scanner's table. `records` and `nests` name the messages that are counted and that count towards the
 * depth.
 */
export const compileSchema = (
  messages: MessageDeclarations,
  { records, nesting }: { records: readonly string[]; nesting: readonly string[] },
): WireSchema => {
  const names = Object.keys(messages);
  const actions = new Uint8Array(names.length * 256);
  const flags = new Uint8Array(names.length);
  for (const [index, name] of names.entries()) {
    flags[index] =
      (records.includes(name) ? countedFlag : 0) |
      (nesting.includes(name) ? nestingFlag : 0) |
      getFieldFlags(messages, name);
    for (const declaration of Object.values(messages[name] ?? {})) {
      for (const [wireType, scanAction] of getActions(names, declaration)) {
        actions[(index << 8) | (declaration[0] << 3) | wireType] = scanAction;
      }
    }
  }
  return { messages, names, actions, flags };
};

/** Returns the number of a message type, for starting a scan. */
export const getMessageNumber = (schema: WireSchema, name: string): number => {
  const index = schema.names.indexOf(name);
  if (index < 0) throw new TypeError(`the schema has no message ${name}`);
  return index;
};
