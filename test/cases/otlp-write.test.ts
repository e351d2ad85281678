/** Requests encoded from objects equal those of a protobuf library. */
import test from 'ava';
import fc from 'fast-check';
import protobuf from 'protobufjs';
import { type OtlpMessage, writeMessage } from '../../schemas/otlp/write.ts';
import { WireWriter } from '../../schemas/protobuf/writer.ts';
import { signals } from '../../schemas/telemetry-signals.ts';
import { propertyRuns } from '../budget.ts';
import { messageOf, plain, requestTypes } from './proto/load.ts';

const large = new Set(['fixed64', 'sfixed64', 'int64', 'uint64', 'sint64']);

/** Converts the library's 64-bit numbers to ours. */
const ours = (type: protobuf.Type, message: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(message).map(([name, value]) => {
      const field = type.fields[name];
      const one = (element: unknown): unknown => {
        if (field?.resolvedType instanceof protobuf.Type)
          return ours(field.resolvedType, element as Record<string, unknown>);
        return large.has(field?.type ?? '') ? BigInt(element as number) : element;
      };
      return [name, Array.isArray(value) ? value.map(one) : one(value)];
    }),
  );

const names = { logs: 'LogsRequest', metrics: 'MetricsRequest', traces: 'TracesRequest' } as const;

for (const signal of signals) {
  test(`any written ${signal} request is decoded unchanged by a library`, (t) => {
    const type = requestTypes[signal];
    fc.assert(
      fc.property(messageOf(type, 7), (message) => {
        const writer = new WireWriter(0);
        writeMessage(writer, names[signal], ours(type, message) as OtlpMessage<'LogsRequest'>);
        t.deepEqual(plain(type, writer.finish()), plain(type, type.encode(type.fromObject(message)).finish()));
      }),
      { numRuns: propertyRuns(200), endOnFailure: true },
    );
  });
}
