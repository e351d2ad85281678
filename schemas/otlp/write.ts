/** Writes OTLP messages from plain objects, for receivers that convert other formats. */
import { getWireType, isScalar, type ScalarType } from '../protobuf/messages.ts';
import type { WireWriter } from '../protobuf/writer.ts';
import { otlpMessages } from './messages.ts';

type Messages = typeof otlpMessages;
type MessageName = keyof Messages;

type Scalar<Type extends ScalarType> = Type extends 'string'
  ? string
  : Type extends 'bool'
    ? boolean
    : Type extends 'bytes' | 'traceId' | 'spanId' | 'requiredTraceId' | 'requiredSpanId'
      ? Uint8Array
      : Type extends
            | 'fixed64'
            | 'sfixed64'
            | 'nanoseconds'
            | 'recordNanoseconds'
            | 'fallbackNanoseconds'
            | 'milliseconds'
            | 'recordMilliseconds'
            | 'int64'
            | 'uint64'
            | 'sint64'
        ? bigint
        : number;

type Value<Type> = Type extends ScalarType ? Scalar<Type> : Type extends MessageName ? OtlpMessage<Type> : never;

/** A message as an object: fields by their OTLP/JSON names, 64-bit integers as `bigint`, IDs as bytes. */
export type OtlpMessage<Name extends MessageName> = {
  readonly [Field in keyof Messages[Name]]?:
    | (Messages[Name][Field] extends readonly [number, infer Type, 'repeated']
        ? readonly Value<Type>[]
        : Messages[Name][Field] extends readonly [number, infer Type]
          ? Value<Type>
          : never)
    | undefined;
};

const writeVarint = (writer: WireWriter, value: never): void => writer.writeVarint64(BigInt(value));
const writeLengthDelimited = (writer: WireWriter, value: Uint8Array): void => {
  writer.writeVarint(value.length);
  writer.copyBytes(value, 0, value.length);
};
const writeZigzag = (writer: WireWriter, value: never): void => {
  const number = BigInt(value);
  writer.writeVarint64(number < 0n ? -2n * number - 1n : 2n * number);
};

const scalarWriters: { readonly [Type in ScalarType]: (writer: WireWriter, value: never) => void } = {
  double: (writer, value: number) => writer.writeDouble(value),
  fixed64: (writer, value: bigint) => writer.writeFixed64(value),
  nanoseconds: (writer, value: bigint) => writer.writeFixed64(value),
  recordNanoseconds: (writer, value: bigint) => writer.writeFixed64(value),
  fallbackNanoseconds: (writer, value: bigint) => writer.writeFixed64(value),
  milliseconds: writeVarint,
  recordMilliseconds: writeVarint,
  sfixed64: (writer, value: bigint) => writer.writeFixed64(value),
  fixed32: (writer, value: number) => writer.writeFixed32(value),
  int32: writeVarint,
  int64: writeVarint,
  uint32: writeVarint,
  uint64: writeVarint,
  sint32: writeZigzag,
  sint64: writeZigzag,
  bool: (writer, value: boolean) => writer.writeByte(value ? 1 : 0),
  enum: writeVarint,
  string: (writer, value: string) => {
    const mark = writer.beginLengthPrefixed();
    writer.writeUtf8(value);
    writer.endLengthPrefixed(mark);
  },
  bytes: writeLengthDelimited,
  traceId: writeLengthDelimited,
  spanId: writeLengthDelimited,
  requiredTraceId: writeLengthDelimited,
  requiredSpanId: writeLengthDelimited,
};

/** Writes field `number` of a message. `write` writes its content. */
export const writeField = (writer: WireWriter, number: number, write: () => void): void => {
  writer.writeVarint(number * 8 + 2);
  const mark = writer.beginLengthPrefixed();
  write();
  writer.endLengthPrefixed(mark);
};

const writeValue = (writer: WireWriter, number: number, type: string, value: unknown): void => {
  if (!isScalar(type)) {
    writeField(writer, number, () => writeMessage(writer, type as MessageName, value as object));
    return;
  }
  writer.writeVarint(number * 8 + getWireType(type));
  scalarWriters[type](writer, value as never);
};

/** Writes the fields of a message. Fields may be written in any order and in parts: see `writeField`. */
export const writeMessage = <Name extends MessageName>(
  writer: WireWriter,
  name: Name,
  message: OtlpMessage<Name>,
): void => {
  const fields: Readonly<Record<string, readonly [number, string, string?]>> = otlpMessages[name];
  for (const [field, value] of Object.entries(message)) {
    const declaration = fields[field];
    if (declaration === undefined || value === undefined) continue;
    const [number, type, repeated] = declaration;
    if (repeated === undefined) writeValue(writer, number, type, value);
    else for (const element of value as readonly unknown[]) writeValue(writer, number, type, element);
  }
};

/** Returns string attributes, the only kind in many formats. */
export const toTextAttributes = (pairs: Iterable<readonly [string, string]>): OtlpMessage<'KeyValue'>[] =>
  Array.from(pairs, ([key, stringValue]) => ({ key, value: { stringValue } }));
