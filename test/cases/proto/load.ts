/** Loads the published schemas with protobufjs, and creates random messages and manually encoded bytes. */
import { isAbsolute, join } from 'node:path';
import fc from 'fast-check';
import protobuf from 'protobufjs';
import type { Signal } from '../../../schemas/telemetry-signals.ts';

const here = import.meta.dirname;
/** The OpenTelemetry definitions are those that the gRPC receiver serves by reflection. */
const served = join(here, '../../../receivers/otlp-grpc/protos');
const pathOf = (file: string): string => join(file.startsWith('opentelemetry/') ? served : here, file);

const load = (...files: string[]): protobuf.Root => {
  const root = new protobuf.Root();
  root.resolvePath = (_origin, target) => (isAbsolute(target) ? target : pathOf(target));
  root.loadSync(files).resolveAll();
  return root;
};

const collector = load(
  ...['logs', 'metrics', 'trace'].map((name) => `opentelemetry/proto/collector/${name}/v1/${name}_service.proto`),
);
const collectorType = (name: string): protobuf.Type => collector.lookupType(`opentelemetry.proto.collector.${name}`);

/** The request type of each signal. */
export const requestTypes: Readonly<Record<Signal, protobuf.Type>> = {
  logs: collectorType('logs.v1.ExportLogsServiceRequest'),
  metrics: collectorType('metrics.v1.ExportMetricsServiceRequest'),
  traces: collectorType('trace.v1.ExportTraceServiceRequest'),
};

/** The request type of each version of remote-write. */
export const writeRequestTypes: Readonly<Record<1 | 2, protobuf.Type>> = {
  1: load('prometheus/remote-write-1.proto').lookupType('prometheus.WriteRequest'),
  2: load('prometheus/remote-write-2.proto').lookupType('io.prometheus.write.v2.Request'),
};

/** Fields that must be valid, because the tests search records by them. */
const recordKinds: readonly (readonly [RegExp, string])[] = [
  [/^(?:LogRecord|\w*DataPoint)\.timeUnixNano$|^Span\.startTimeUnixNano$/, 'recordNanoseconds'],
  [/^LogRecord\.observedTimeUnixNano$/, 'fallbackNanoseconds'],
  [/^(?:Sample|Histogram)\.timestamp$/, 'recordMilliseconds'],
  [/^Span\.traceId$/, 'requiredTraceId'],
  [/^Span\.spanId$/, 'requiredSpanId'],
];

/** The fields of a type as our schemas declare them; `ids` are byte fields with a fixed size in OTLP. */
export const declarationsOf = (type: protobuf.Type, ids: ReadonlySet<string> = new Set()): Record<string, unknown> => {
  const kindOf = ({ name, type: scalar, resolvedType }: protobuf.Field): string => {
    if (resolvedType instanceof protobuf.Enum) return 'enum';
    if (resolvedType instanceof protobuf.Type) return resolvedType.name;
    const recordKind = recordKinds.find(([field]) => field.test(`${type.name}.${name}`));
    if (recordKind !== undefined) return recordKind[1];
    if (/[tT]imeUnixNano$/.test(name)) return 'nanoseconds';
    if (/[tT]imestamp$/.test(name)) return 'milliseconds';
    if (!ids.has(name)) return scalar;
    return name === 'traceId' ? 'traceId' : 'spanId';
  };
  const entries = type.fieldsArray.map((one) => [
    one.name,
    [one.id, kindOf(one), ...(one.repeated ? ['repeated'] : [])],
  ]);
  return Object.fromEntries(entries);
};

/** Returns all message types that a type references, starting with itself. */
export const reachable = (type: protobuf.Type, seen = new Set<protobuf.Type>()): ReadonlySet<protobuf.Type> => {
  if (seen.has(type)) return seen;
  seen.add(type);
  for (const { resolvedType } of type.fieldsArray)
    if (resolvedType instanceof protobuf.Type) reachable(resolvedType, seen);
  return seen;
};

/** Converts a decoded message to a plain object, so that equal messages are deeply equal. */
export const plain = (type: protobuf.Type, bytes: Uint8Array): Record<string, unknown> =>
  type.toObject(type.decode(bytes), { bytes: String, json: false });

const idSize = (name: string): number => {
  if (name === 'traceId') return 16;
  return name === 'spanId' || name === 'parentSpanId' ? 8 : 0;
};

const bytesOf = (name: string): fc.Arbitrary<Uint8Array> => {
  const size = idSize(name);
  if (size === 0) return fc.uint8Array({ maxLength: 40 });
  return fc.oneof(fc.constant(new Uint8Array()), fc.uint8Array({ minLength: size, maxLength: size }));
};

const scalars: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  double: fc.double(),
  bool: fc.boolean(),
  int32: fc.integer(),
  sint32: fc.integer(),
  uint32: fc.nat(),
  fixed32: fc.nat(),
  int64: fc.maxSafeInteger(),
  sint64: fc.maxSafeInteger(),
  sfixed64: fc.maxSafeInteger(),
  uint64: fc.maxSafeNat(),
  fixed64: fc.maxSafeNat(),
};

/** Created on first use: strings with all Unicode characters take a second, and most tests do not need them. */
let text: fc.Arbitrary<string> | undefined;
const textOf = (): fc.Arbitrary<string> => {
  text ??= fc.oneof(fc.string({ unit: 'binary', maxLength: 30 }), fc.string({ maxLength: 900 }));
  return text;
};

const arbitraryOf = (field: protobuf.Field, depth: number): fc.Arbitrary<unknown> => {
  if (field.resolvedType instanceof protobuf.Enum) return fc.constantFrom(...Object.values(field.resolvedType.values));
  if (field.resolvedType !== null) return messageOf(field.resolvedType as protobuf.Type, depth - 1);
  if (/[tT]imestamp$/.test(field.name)) return fc.integer({ min: -2_000_000_000_000, max: 4_294_967_295_999 });
  if (field.type === 'string') return textOf();
  return field.type === 'bytes' ? bytesOf(field.name) : (scalars[field.type] ?? fc.constant(undefined));
};

const idOf = (size: number): fc.Arbitrary<Uint8Array> =>
  fc.uint8Array({ minLength: size, maxLength: size }).filter((bytes) => bytes.some((byte) => byte !== 0));

/**
 * Random valid messages: any field can be absent except the ids of a span, and each oneof has at most one field.
 * `depth` limits the nesting.
 */
export const messageOf = (type: protobuf.Type, depth: number): fc.Arbitrary<Record<string, unknown>> => {
  const model: Record<string, fc.Arbitrary<unknown>> = {};
  for (const field of type.fieldsArray) {
    if (field.resolvedType instanceof protobuf.Type && depth <= 0) continue;
    const value = arbitraryOf(field, depth);
    model[field.name] = field.repeated ? fc.array(value, { maxLength: 3 }) : value;
  }
  const requiredKeys = type.name === 'Span' ? ['traceId', 'spanId'] : [];
  for (const name of requiredKeys) model[name] = idOf(idSize(name));
  return fc.tuple(fc.record(model, { requiredKeys }), fc.nat()).map(([message, chosen]) => {
    for (const { oneof } of type.oneofsArray.filter(({ oneof }) => oneof.length > 1)) {
      const present = oneof.filter((name) => Object.hasOwn(message, name));
      const remainingName = present[chosen % Math.max(1, present.length)];
      for (const name of present) if (name !== remainingName) delete message[name];
    }
    return message;
  });
};

/** Encodes a protobuf varint. */
export const varint = (value: number | bigint): Buffer => {
  const bytes: number[] = [];
  let rest = BigInt(value);
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  bytes.push(Number(rest));
  return Buffer.from(bytes);
};

/** Encodes a field of wire type 2. */
export const field = (number: number, ...content: (Uint8Array | string)[]): Buffer => {
  const body = Buffer.concat(content.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
  return Buffer.concat([varint(number * 8 + 2), varint(body.length), body]);
};

/** Reverses the order of fields at every level of a message; repeated fields keep their order. */
export const backwards = (type: protobuf.Type, bytes: Uint8Array): Uint8Array => {
  const reader = protobuf.Reader.create(bytes);
  const fields: { readonly number: number; readonly bytes: Uint8Array }[] = [];
  while (reader.pos < reader.len) {
    const start = reader.pos;
    const tag = reader.uint32();
    const number = tag >>> 3;
    const inner = type.fieldsById[number]?.resolvedType;
    if (inner instanceof protobuf.Type) {
      const content = backwards(inner, reader.bytes());
      fields.push({ number, bytes: Buffer.concat([varint(tag), varint(content.length), content]) });
    } else {
      reader.skipType(tag & 7);
      fields.push({ number, bytes: bytes.subarray(start, reader.pos) });
    }
  }
  return Buffer.concat(fields.sort((left, right) => right.number - left.number).map((field) => field.bytes));
};
