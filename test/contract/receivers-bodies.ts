/** Export requests in protobuf and JSON. */
import { convertJsonRequest } from '../../schemas/otlp/json.ts';
import type { Signal } from '../../schemas/telemetry-signals.ts';

/** Recent, because receivers reject records that no query can find. */
const timeMs = Date.now() - 60_000;
const time = `${timeMs}000000`;
const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'checkout' } }] };
const traceId = '0102030405060708090a0b0c0d0e0f10';

const record = (text: string) => ({ timeUnixNano: time, severityNumber: 9, body: { stringValue: text } });
const span = (name: string) => ({
  traceId,
  spanId: '0102030405060708',
  name,
  kind: 2,
  startTimeUnixNano: time,
  endTimeUnixNano: time,
});

/** OTLP/JSON of a request with `count` records, each with `text`. */
export const jsonRequest = (signal: Signal, count = 1, text = 'hello'): string => {
  const each = <Value>(make: (index: number) => Value): Value[] =>
    Array.from({ length: count }, (_, index) => make(index));
  const requests = {
    logs: () => ({
      resourceLogs: [{ resource, scopeLogs: [{ scope: {}, logRecords: each((n) => record(`${text} ${n}`)) }] }],
    }),
    traces: () => ({
      resourceSpans: [{ resource, scopeSpans: [{ scope: {}, spans: each((n) => span(`${text} ${n}`)) }] }],
    }),
    metrics: () => ({
      resourceMetrics: [
        {
          resource,
          scopeMetrics: [
            {
              scope: {},
              metrics: [
                {
                  name: 'requests',
                  description: text,
                  gauge: { dataPoints: each((index) => ({ timeUnixNano: time, asDouble: index })) },
                },
              ],
            },
          ],
        },
      ],
    }),
  };
  return JSON.stringify(requests[signal]());
};

/** The same request as protobuf. */
export const request = (signal: Signal, count = 1, text = 'hello'): Buffer =>
  convertJsonRequest(signal, Buffer.from(jsonRequest(signal, count, text)));

export const varint = (value: number): number[] =>
  value < 128 ? [value] : [(value % 128) | 128, ...varint(Math.floor(value / 128))];
export const field = (number: number, bytes: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from([(number << 3) | 2, ...varint(bytes.length)]), bytes]);
const text = (value: string): Buffer => Buffer.from(value);
const double = (value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return bytes;
};

/** A log request whose only body is `depth` array values deep. */
export const nestedArrays = (depth: number): Buffer => {
  let value = field(1, text('x'));
  for (let level = 0; level < depth; level++) value = field(5, field(1, value));
  return field(1, field(2, field(2, field(5, value))));
};

/** Remote-write 1.0 with `count` series of one sample. */
export const writeRequest = (count = 1): Buffer =>
  Buffer.concat(
    Array.from({ length: count }, (_, index) =>
      field(
        1,
        Buffer.concat([
          field(1, Buffer.concat([field(1, text('__name__')), field(2, text('up'))])),
          field(1, Buffer.concat([field(1, text('instance')), field(2, text(`host-${index}`))])),
          field(2, Buffer.concat([Buffer.from([9]), double(1), Buffer.from([16, ...varint(timeMs)])])),
        ]),
      ),
    ),
  );

/** Remote-write 2.0 with one series of one sample. */
export const writeRequest2 = (): Buffer =>
  Buffer.concat([
    ...['', '__name__', 'up'].map((symbol) => field(4, text(symbol))),
    field(
      5,
      Buffer.concat([
        field(1, Buffer.from([1, 2])),
        field(2, Buffer.concat([Buffer.from([9]), double(1), Buffer.from([16, ...varint(timeMs)])])),
      ]),
    ),
  ]);
