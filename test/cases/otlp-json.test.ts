import test from 'ava';
import fc from 'fast-check';
import protobuf from 'protobufjs';
import { PermanentError } from '../../schemas/errors.ts';
import { convertJsonRequest } from '../../schemas/otlp/json.ts';
import { scanRequest } from '../../schemas/otlp/scan.ts';
import { signals } from '../../schemas/telemetry-signals.ts';
import { propertyRuns } from '../budget.ts';
import { messageOf, plain, requestTypes } from './proto/load.ts';

const large = new Set(['fixed64', 'sfixed64', 'int64', 'uint64', 'sint64']);
const ids = new Set(['traceId', 'spanId', 'parentSpanId']);

/** JSON has no NaN and no infinities, and `JSON.stringify` writes -0 as 0. */
const doubleText = (value: number): number | string => {
  if (Object.is(value, -0)) return '-0';
  return Number.isFinite(value) ? value : String(value);
};

/** A message in OTLP/JSON; 64-bit integers are strings or numbers, as senders use both. */
const toJson = (type: protobuf.Type, message: Record<string, unknown>, bare: boolean): unknown => {
  const value = (field: protobuf.Field, item: unknown): unknown => {
    if (field.resolvedType instanceof protobuf.Type) {
      return toJson(field.resolvedType, item as Record<string, unknown>, bare);
    }
    if (ids.has(field.name)) return Buffer.from(item as Uint8Array).toString('hex');
    if (field.type === 'bytes') return Buffer.from(item as Uint8Array).toString(bare ? 'base64url' : 'base64');
    if (field.type === 'double') return doubleText(item as number);
    return large.has(field.type) && !bare ? String(item) : item;
  };
  return Object.fromEntries(
    Object.entries(message).map(([name, item]) => {
      const field = type.fields[name] as protobuf.Field;
      return [name, Array.isArray(item) && field.repeated ? item.map((one) => value(field, one)) : value(field, item)];
    }),
  );
};

const fault = (text: string | Buffer): PermanentError | undefined => {
  try {
    convertJsonRequest('logs', Buffer.from(text as string));
    return undefined;
  } catch (error) {
    if (error instanceof PermanentError) return error;
    throw error;
  }
};

const request = (record: string): string => `{"resourceLogs":[{"scopeLogs":[{"logRecords":[${record}]}]}]}`;
const path = 'resourceLogs[0].scopeLogs[0].logRecords[0]';

/** The only log record of a request, decoded. */
const recordOf = (record: string): Record<string, unknown> => {
  const bytes = convertJsonRequest('logs', Buffer.from(request(record)));
  scanRequest('logs', bytes);
  const decoded = JSON.parse(JSON.stringify(plain(requestTypes.logs, bytes)));
  return decoded.resourceLogs[0].scopeLogs[0].logRecords[0];
};

for (const signal of signals) {
  test(`any ${signal} request in JSON is converted to the same bytes as protobufjs encodes`, (t) => {
    const type = requestTypes[signal];
    fc.assert(
      fc.property(messageOf(type, 7), fc.boolean(), fc.boolean(), (message, bare, spaced) => {
        const text = JSON.stringify(toJson(type, message, bare), null, spaced ? '\t' : undefined);
        const bytes = convertJsonRequest(signal, Buffer.from(text));
        scanRequest(signal, bytes);
        t.deepEqual(plain(type, bytes), plain(type, type.encode(type.fromObject(message)).finish()));
      }),
      { numRuns: propertyRuns(300), endOnFailure: true },
    );
  });
}

test('randomly changed text is parsed like JSON.parse does, or rejected with a position', (t) => {
  const type = requestTypes.logs;
  const change = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(messageOf(type, 6), change, (message, changes) => {
      const bytes = Buffer.from(JSON.stringify(toJson(type, message, false)));
      for (const [position, value] of changes) bytes[position % bytes.length] = value;
      const error = fault(bytes);
      if (error === undefined) JSON.parse(bytes.toString());
      else t.is(typeof error.position, 'number', error.message);
    }),
    { numRuns: propertyRuns(1500), endOnFailure: true },
  );
  t.pass();
});

const faults: readonly (readonly [what: string, text: string | Buffer, reason: string, message: RegExp])[] = [
  ['an empty body', '', 'malformed', /^expected an object/],
  ['an array', '[]', 'malformed', /^expected an object/],
  ['text after the end', '{} {}', 'malformed', /after the end/],
  ['a missing brace', '{"resourceLogs":[]', 'malformed', /expected , or }/],
  ['a trailing comma in an object', '{"resourceLogs":[],}', 'malformed', /name in double quotes/],
  ['a trailing comma in an array', '{"resourceLogs":[{},]}', 'malformed', /^resourceLogs\[1\]: expected an object/],
  ['a name twice', '{"resourceLogs":[],"resourceLogs":[]}', 'malformed', /resourceLogs occurs twice/],
  ['an object where an array belongs', '{"resourceLogs":{}}', 'malformed', /^resourceLogs: expected an array/],
  ['null in an array', '{"resourceLogs":[null]}', 'malformed', /^resourceLogs\[0\]: expected an object/],
  ['bytes that are not UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 'bad-utf8', /not UTF-8/],
  ['a byte order mark', '\ufeff{}', 'malformed', /expected an object/],
  ['the name of an enum', request('{"severityNumber":"INFO"}'), 'malformed', /severityNumber: .*no enum names/],
  ['a negative severity', request('{"severityNumber":-1}'), 'malformed', /severityNumber: .*not between 0 and 255/],
  ['an enum above 255', request('{"severityNumber":256}'), 'malformed', /severityNumber: .*not between 0 and 255/],
  ['1e400 as a double', request('{"body":{"doubleValue":1e400}}'), 'malformed', /body\.doubleValue: .*too large/],
  ['"-1e400" as a double', request('{"body":{"doubleValue":"-1e400"}}'), 'malformed', /doubleValue: .*too large/],
  ['a fraction as an integer', request('{"timeUnixNano":1.5}'), 'malformed', /timeUnixNano: expected an integer/],
  ['words as an integer', request('{"timeUnixNano":"now"}'), 'malformed', /timeUnixNano: expected an integer/],
  ['a negative time', request('{"timeUnixNano":-1}'), 'malformed', /timeUnixNano: the time is before 1970/],
  [
    '2⁶⁴ as a time',
    request('{"timeUnixNano":"18446744073709551616"}'),
    'bad-time',
    /timeUnixNano: the time is after 2106/,
  ],
  ['2⁶⁴ - 1 as a time', request('{"timeUnixNano":"18446744073709551615"}'), 'bad-time', /is after 2106-02-07T06:28:15/],
  [
    '2⁶³ as an intValue',
    request('{"body":{"intValue":"9223372036854775808"}}'),
    'malformed',
    /body\.intValue: .*not between/,
  ],
  ['2³² as flags', request('{"flags":4294967296}'), 'malformed', /flags: .*not between/],
  ['a number with a leading zero', request('{"flags":01}'), 'malformed', /expected , or }/],
  ['an unfinished number', request('{"flags":1e}'), 'malformed', /number is not complete/],
  ['a trace id of 31 digits', request(`{"traceId":"${'a'.repeat(31)}"}`), 'bad-id', /traceId: expected an id of 32/],
  ['a trace id that is not hexadecimal', request(`{"traceId":"${'g'.repeat(32)}"}`), 'bad-id', /traceId/],
  ['bytes that are not base64', request('{"body":{"bytesValue":"a*"}}'), 'malformed', /bytesValue: .*expected base64/],
  ['a number as a string', request('{"severityText":5}'), 'malformed', /severityText: expected a string/],
  ['a string as a boolean', request('{"body":{"boolValue":"true"}}'), 'malformed', /expected true or false/],
  ['a raw control character', request('{"severityText":"a\nb"}'), 'malformed', /control character/],
  ['an unknown escape', request('{"severityText":"\\x41"}'), 'malformed', /unknown escape/],
  ['half an escape', request('{"severityText":"\\u00"}'), 'malformed', /four hexadecimal/],
  [
    'a string that does not end',
    '{"resourceLogs":[{"schemaUrl":"abc',
    'malformed',
    /^resourceLogs\[0\]\.schemaUrl: .*not end/,
  ],
];

for (const [what, text, reason, message] of faults) {
  test(`${what} is rejected, and the message includes the position`, (t) => {
    const error = fault(text);
    t.is(error?.reason, reason);
    t.regex(error?.message ?? '', message);
  });
}

test('an error in the second of two records includes its path and position', (t) => {
  const text = request('{"attributes":[{"key":"a,b}\\"]"}]},{"body":{"kvlistValue":{"values":[{},{"key":7}]}}}');
  const error = fault(text);
  t.is(error?.message, 'resourceLogs[0].scopeLogs[0].logRecords[1].body.kvlistValue.values[1].key: expected a string');
  t.is(error?.position, text.indexOf('7}'));
});

test('64-bit integers preserve every digit, as numbers and as strings', (t) => {
  for (const digits of [
    '0',
    '9007199254740993',
    '1544712660300000001',
    '9223372036854775807',
    '-9223372036854775808',
  ]) {
    for (const text of [digits, `"${digits}"`]) {
      const bytes = convertJsonRequest('logs', Buffer.from(request(`{"body":{"intValue":${text}}}`)));
      let value = 0n;
      const varint = bytes.subarray(bytes.lastIndexOf(0x18) + 1);
      for (const [index, byte] of varint.entries()) value |= BigInt(byte & 127) << BigInt(7 * index);
      t.is(BigInt.asIntN(64, value), BigInt(digits));
    }
  }
  for (const digits of ['1544712660300000001', '4294967295999999999', '1e18', '2.0']) {
    for (const text of [digits, `"${digits}"`]) {
      const bytes = convertJsonRequest('logs', Buffer.from(request(`{"timeUnixNano":${text}}`)));
      t.is(
        bytes.readBigUInt64LE(bytes.length - 8),
        digits.length < 5 ? BigInt(Number(digits)) : BigInt(digits),
        digits,
      );
    }
  }
});

test('ids are hexadecimal in either case, an empty id means no id, and null equals absent', (t) => {
  const upper = recordOf('{"traceId":"5B8EFFF798038103D269B633813FC60C","spanId":"EEE19B7EC3C1B174"}');
  t.deepEqual(upper, recordOf('{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174"}'));
  t.is(Buffer.from(upper.traceId as string, 'base64').toString('hex'), '5b8efff798038103d269b633813fc60c');
  t.deepEqual(recordOf('{"traceId":"","spanId":null,"body":null,"attributes":null}'), {});
});

test('doubles can be NaN, infinite or numeric strings', (t) => {
  const body = (value: string): number => {
    const bytes = convertJsonRequest('logs', Buffer.from(request(`{"body":{"doubleValue":${value}}}`)));
    return bytes.readDoubleLE(bytes.length - 8);
  };
  t.is(body('"NaN"'), Number.NaN);
  t.is(body('"Infinity"'), Number.POSITIVE_INFINITY);
  t.is(body('"-Infinity"'), Number.NEGATIVE_INFINITY);
  t.is(body('"-1.5e3"'), -1500);
  t.is(body('0.1'), 0.1);
  t.is(body('-0'), -0);
});

test('unknown field names are skipped, whatever their values', (t) => {
  const junk = '{"a":[1,-2.5e+3,"\\"}",{"b":null,"c":[true,false,[],{}]}]}';
  for (const name of ['unknown', '__proto__', 'constructor', 'toString', 'time_unix_nano', '\\u0000']) {
    t.deepEqual(recordOf(`{"${name}":${junk},"severityText":"x","${name}2":1}`), { severityText: 'x' }, name);
  }
});

test('escapes are decoded in values and names, and an unpaired surrogate becomes U+FFFD', (t) => {
  t.deepEqual(recordOf('{"severity\\u0054ext":"\\u0061\\n\\"\\/é\\ud83d\\ude00"}'), { severityText: 'a\n"/é😀' });
  t.deepEqual(recordOf('{"severityText":"\\ud800x"}'), { severityText: '\ufffdx' });
});

test('values nest up to a depth of 32, and no text overflows the stack', (t) => {
  const body = (depth: number): string =>
    request(`{"body":${'{"arrayValue":{"values":['.repeat(depth)}{"stringValue":"x"}${']}}'.repeat(depth)}}`);
  t.is(scanRequest('logs', convertJsonRequest('logs', Buffer.from(body(32)))).records, 1);
  t.is(fault(body(33))?.reason, 'too-deep');
  t.true(fault(body(33))?.message.startsWith(`${path}.body.arrayValue.values[0]`));
  t.is(fault(body(10_000))?.reason, 'too-deep');
  t.is(fault(`${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`)?.reason, 'too-deep');
  t.is(fault(`{"a":${'['.repeat(1_000_000)}`)?.reason, 'too-deep');
});

test('empty or null repeated numbers write nothing', (t) => {
  const point = (counts: string) =>
    convertJsonRequest(
      'metrics',
      Buffer.from(
        `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"histogram":{"dataPoints":[{"bucketCounts":${counts}}]}}]}]}]}`,
      ),
    );
  t.deepEqual(point('[]'), point('null'));
  t.is(point('["1",2,"18446744073709551615"]').length, point('[]').length + 2 + 24);
});
