import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import fc from 'fast-check';
import type protobuf from 'protobufjs';
import { PermanentError } from '../../schemas/errors.ts';
import { convertJsonRequest } from '../../schemas/otlp/json.ts';
import { otlpMessages } from '../../schemas/otlp/messages.ts';
import { scanRequest } from '../../schemas/otlp/scan.ts';
import { type Signal, signals } from '../../schemas/telemetry-signals.ts';
import { propertyRuns } from '../budget.ts';
import { declarationsOf, field, messageOf, reachable, requestTypes, varint } from './proto/load.ts';

const example = (name: string): Buffer => readFileSync(join(import.meta.dirname, 'otlp-examples', `${name}.json`));
const examples: readonly (readonly [string, Signal, number])[] = [
  ['logs', 'logs', 1],
  ['events', 'logs', 1],
  ['metrics', 'metrics', 4],
  ['trace', 'traces', 1],
];

/** A logs request with one record. */
const logRecord = (...content: Uint8Array[]): Buffer => field(1, field(2, field(2, ...content)));

/** Lists (field 5) or maps (field 6) around a string. Encoded from the inside out, so that any depth is possible. */
const nested = (depth: number, kind: 'array' | 'map'): Buffer => {
  const chunks: Buffer[] = [field(1, 'x')];
  let length = 3;
  const wrap = (number: number): void => {
    const head = Buffer.concat([varint(number * 8 + 2), varint(length)]);
    chunks.push(head);
    length += head.length;
  };
  for (let level = 0; level < depth; level++) {
    if (kind === 'map') wrap(2);
    wrap(1);
    wrap(kind === 'map' ? 6 : 5);
  }
  return Buffer.concat(chunks.reverse());
};

const recordsOf = (type: protobuf.Type, bytes: Uint8Array): number => {
  const counted = new Set(['logRecords', 'spans', 'dataPoints']);
  const count = (value: unknown): number => {
    if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + count(item), 0);
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return 0;
    return Object.entries(value).reduce(
      (sum, [name, inner]) => sum + (counted.has(name) && Array.isArray(inner) ? inner.length : 0) + count(inner),
      0,
    );
  };
  return count(type.toObject(type.decode(bytes)));
};

const fault = (signal: Signal, body: Uint8Array): PermanentError | undefined => {
  try {
    scanRequest(signal, body);
    return undefined;
  } catch (error) {
    if (error instanceof PermanentError) return error;
    throw error;
  }
};

for (const [name, signal, records] of examples) {
  test(`the published example ${name}.json passes with ${records} records`, (t) => {
    t.deepEqual(scanRequest(signal, convertJsonRequest(signal, example(name))), { records });
  });
}

test('an enum lands unchanged or is rejected: it has one byte in the tables', (t) => {
  const severity = (value: number): Buffer => logRecord(Buffer.from([0x10]), varint(value));
  for (const value of [0, 24, 127, 128, 255]) t.is(fault('logs', severity(value)), undefined, `${value}`);
  t.regex(fault('logs', severity(256))?.message ?? '', /severityNumber is not between 0 and 255/);
  const minusOne = logRecord(Buffer.from([0x10, ...Array(9).fill(0xff), 0x01]));
  t.regex(fault('logs', minusOne)?.message ?? '', /severityNumber is not between 0 and 255/);
});

test('a time is stored unchanged or rejected with its position: tables end in 2106', (t) => {
  const last = 2n ** 32n * 10n ** 9n - 1n;
  const times: Readonly<Record<string, (time: Buffer) => Buffer>> = {
    'LogRecord.timeUnixNano': (time) => logRecord(Buffer.from([0x09]), time),
    'LogRecord.observedTimeUnixNano': (time) => logRecord(Buffer.from([0x59]), time),
  };
  for (const [name, of] of Object.entries(times)) {
    const at = (time: bigint): Buffer => {
      const bytes = Buffer.alloc(8);
      bytes.writeBigUInt64LE(time);
      return of(bytes);
    };
    for (const time of [0n, 1n, last]) t.is(fault('logs', at(time)), undefined, `${time}`);
    for (const time of [last + 1n, 2n ** 63n, 2n ** 64n - 1n])
      t.like(fault('logs', at(time)), {
        reason: 'bad-time',
        position: at(time).length - 8,
        message: `${name} is a time before 1900 or after 2106-02-07T06:28:15.999999999Z, which cannot be stored`,
      });
  }
});

test('our schema has exactly the fields and types of the published schema', (t) => {
  const ours: Record<string, Record<string, readonly [number, string, string?]>> = otlpMessages;
  const names: Record<string, string> = {
    ExportLogsServiceRequest: 'LogsRequest',
    ExportMetricsServiceRequest: 'MetricsRequest',
    ExportTraceServiceRequest: 'TracesRequest',
  };
  const ids = new Set(['traceId', 'spanId', 'parentSpanId']);
  const types = new Set(signals.flatMap((signal) => [...reachable(requestTypes[signal])]));
  const published = [...types].map((type) => [names[type.name] ?? type.name, declarationsOf(type, ids)]);
  t.deepEqual(JSON.parse(JSON.stringify(ours)), Object.fromEntries(published));
});

for (const signal of signals) {
  const type = requestTypes[signal];

  test(`any valid ${signal} request is accepted, with as many records as protobufjs decodes`, (t) => {
    fc.assert(
      fc.property(messageOf(type, 7), (message) => {
        const bytes = type.encode(type.fromObject(message)).finish();
        return scanRequest(signal, bytes).records === recordsOf(type, bytes);
      }),
      { numRuns: propertyRuns(300), endOnFailure: true },
    );
    t.pass();
  });

  test(`${signal}: an accepted body with randomly changed bytes can be decoded by protobufjs, and all others are rejected`, (t) => {
    const change = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(messageOf(type, 6), change, (message, changes) => {
        const bytes = Uint8Array.from(type.encode(type.fromObject(message)).finish());
        if (bytes.length === 0) return;
        for (const [position, value] of changes) bytes[position % bytes.length] = value;
        if (fault(signal, bytes) === undefined) type.decode(bytes);
      }),
      { numRuns: propertyRuns(1500), endOnFailure: true },
    );
    t.pass();
  });
}

test('a body truncated at any byte is rejected, unless the cut is between two resources', (t) => {
  for (const [name, signal] of examples) {
    const body = convertJsonRequest(signal, example(name));
    const twice = Buffer.concat([body, body]);
    for (let length = 1; length < twice.length; length++) {
      const reason = fault(signal, twice.subarray(0, length))?.reason;
      t.is(reason, length === body.length ? undefined : 'malformed', `${name} cut to ${length}`);
    }
  }
});

test('an empty body is a request without records', (t) => {
  t.deepEqual(scanRequest('logs', new Uint8Array()), { records: 0 });
});

test('a body at an offset in its buffer is read from its own start', (t) => {
  const body = logRecord(field(3, 'é'.repeat(20)));
  const padded = Buffer.concat([Buffer.alloc(5, 0xff), body]);
  t.deepEqual(scanRequest('logs', padded.subarray(5)), { records: 1 });
});

for (const kind of ['array', 'map'] as const) {
  test(`attribute values nested as ${kind}s are accepted up to a depth of 32`, (t) => {
    t.deepEqual(scanRequest('logs', logRecord(field(5, nested(32, kind)))), { records: 1 });
    for (const depth of [33, 50, 1000, 10_000, 100_000]) {
      t.is(fault('logs', logRecord(field(5, nested(depth, kind))))?.reason, 'too-deep', `depth ${depth}`);
    }
  });
}

const bytes = (...values: number[]): Buffer => Buffer.from(values);
const wrongBodies: readonly (readonly [string, Uint8Array, string, number])[] = [
  ['a log record as a varint', field(1, field(2, bytes(0x10, 0x01))), 'malformed', 5],
  ['a time of 4 bytes', logRecord(bytes(0x0d, 0, 0, 0, 0)), 'malformed', 7],
  ['a truncated time', logRecord(bytes(0x09, 0, 0, 0)), 'malformed', 7],
  ['a length beyond the record', logRecord(bytes(0x1a, 0x05, 0x61)), 'malformed', 7],
  ['a length of more than 64 bits', logRecord(bytes(0x1a), Buffer.alloc(10, 0xff)), 'malformed', 7],
  ['a varint of eleven bytes', logRecord(bytes(0x10), Buffer.alloc(10, 0x80), bytes(0)), 'malformed', 7],
  ['a varint of more than 64 bits', logRecord(bytes(0x10), Buffer.alloc(9, 0xff), bytes(2)), 'malformed', 7],
  ['the field number 0', logRecord(bytes(0x02, 0x00)), 'malformed', 6],
  ['the wire type 6', logRecord(bytes(0x7e, 0x00)), 'malformed', 7],
  ['the end of a group that never started', logRecord(bytes(0x7c)), 'malformed', 7],
  ['a group that does not end', logRecord(bytes(0x7b)), 'malformed', 7],
  ['a group with the end of another field', logRecord(bytes(0x7b, 0x74)), 'malformed', 7],
  ['a known field as a group', logRecord(bytes(0x2b, 0x2c)), 'malformed', 7],
  ['groups nested 21,000 deep', Buffer.alloc(21_000, 0x7b), 'too-deep', 33],
  ['a trace id of 15 bytes', logRecord(field(9, Buffer.alloc(15))), 'bad-id', 8],
  ['a span id of 16 bytes', logRecord(field(10, Buffer.alloc(16))), 'bad-id', 8],
  ['an overlong form in a string', logRecord(field(3, bytes(0x61, 0xc0, 0x80))), 'bad-utf8', 9],
  ['an overlong form of three bytes', logRecord(field(3, bytes(0xe0, 0x80, 0x80))), 'bad-utf8', 8],
  ['an overlong form of four bytes', logRecord(field(3, bytes(0xf0, 0x80, 0x80, 0x80))), 'bad-utf8', 8],
  ['a surrogate in a string', logRecord(field(3, bytes(0xed, 0xa0, 0x80))), 'bad-utf8', 8],
  ['a character above U+10FFFF', logRecord(field(3, bytes(0xf4, 0x90, 0x80, 0x80))), 'bad-utf8', 8],
  ['a truncated character', logRecord(field(3, bytes(0xe2, 0x82))), 'bad-utf8', 8],
  ['a bad byte late in a long string', logRecord(field(3, Buffer.alloc(5000, 0x61), bytes(0xff))), 'bad-utf8', 5012],
];

for (const [name, body, reason, position] of wrongBodies) {
  test(`${name} is rejected with reason and position`, (t) => {
    const error = fault('logs', body);
    t.deepEqual([error?.reason, error?.position], [reason, position], error?.message);
  });
}

const oddBodies: readonly (readonly [string, Uint8Array])[] = [
  [
    'unknown fields of every wire type',
    logRecord(bytes(0x78, 1, 0x79, 1, 2, 3, 4, 5, 6, 7, 8, 0x7a, 1, 0, 0x7d, 1, 2, 3, 4)),
  ],
  ['an unknown group with a group in it', logRecord(bytes(0x7b, 0x73, 0x08, 0x01, 0x74, 0x7c))],
  ['a field number above 2²⁸', logRecord(varint(536_870_911 * 8), bytes(1))],
  ['an enum in more bytes than it needs', logRecord(bytes(0x10, 0x89, 0x80, 0x00))],
  ['empty ids', logRecord(field(9), field(10))],
  ['a tag in more bytes than it needs', logRecord(bytes(0x9a, 0x00, 0x01, 0x61))],
  ['a length in more bytes than it needs', logRecord(bytes(0x1a, 0x81, 0x00, 0x61))],
];

for (const [name, body] of oddBodies) {
  test(`${name}: is accepted`, (t) => {
    t.deepEqual(scanRequest('logs', body), { records: 1 });
    requestTypes.logs.decode(body);
  });
}

test('repeated numbers are accepted packed and unpacked, and a packed field must be complete', (t) => {
  const histogram = (...content: Uint8Array[]) => field(1, field(2, field(2, field(9, field(1, ...content)))));
  const one = Buffer.alloc(8);
  t.is(scanRequest('metrics', histogram(field(6, one, one))).records, 1);
  t.is(scanRequest('metrics', histogram(bytes(0x31), one, bytes(0x31), one)).records, 1);
  t.is(fault('metrics', histogram(field(6, one, bytes(1))))?.reason, 'malformed');
  const buckets = (content: Uint8Array) => field(1, field(2, field(2, field(10, field(1, field(8, content))))));
  t.is(scanRequest('metrics', buckets(field(2, bytes(1, 0x80, 1)))).records, 1);
  t.is(scanRequest('metrics', buckets(bytes(0x10, 5))).records, 1);
  t.is(fault('metrics', buckets(field(2, bytes(1, 0x80))))?.reason, 'malformed');
});

test('an error message names the field', (t) => {
  t.regex(fault('logs', logRecord(field(9, 'short')))?.message ?? '', /^LogRecord\.traceId has 5 bytes/);
});
