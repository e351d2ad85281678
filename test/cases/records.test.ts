/** Views over the wire bytes of bus messages: guarantees besides their values. */
import { gzipSync } from 'node:zlib';
import test from 'ava';
import { z } from 'zod';
import { PermanentError } from '../../schemas/errors.ts';
import type { LogRecord } from '../../schemas/records/log-record.ts';
import { iterateItems } from '../../schemas/records/source.ts';
import { dataPoints, logRecords, spans } from '../../schemas/records/sources.ts';
import { validateRequest } from '../../schemas/records/validate.ts';
import { createMessageSource } from '../../schemas/records/values.ts';
import { defineTopic } from '../../schemas/topic.ts';
import { scanBatch } from '../../sinks/engine/batch-scan.ts';
import type { ScanMessage } from '../../sinks/scan/scanner.ts';
import { propertyRuns } from '../budget.ts';
import { field, varint } from './proto/load.ts';
import { seeded } from './random.ts';
import { logsRequest, messageOf, metricsRequest, receivedAtMs, scannerOf, text, tracesRequest } from './sink-tables.ts';

const from = { topic: 'otlp.logs', partition: 3 };
const busRecord = (message: ScanMessage) => ({ ...message, key: 'acme', value: Buffer.from(message.value) });
const decoded = <Answer>(message: ScanMessage, extract: (log: LogRecord) => Answer): Answer[] =>
  Array.from(iterateItems(logRecords, busRecord(message), from), extract);

const logsOf = (logRecord: readonly object[], resource: object[] = []): Uint8Array =>
  logsRequest({ resourceLogs: [{ resource: { attributes: resource }, scopeLogs: [{ logRecords: logRecord }] }] });
const recordWithBody = (stringValue: string): object => ({ body: { stringValue } });

test('records of a message are numbered across its members, and include their position', (t) => {
  const bodies = [logsOf([recordWithBody('0'), recordWithBody('1')]), logsOf([recordWithBody('2')])].map((body) =>
    gzipSync(body),
  );
  const message = messageOf(bodies, { encoding: 'gzip', offset: 41 });
  t.deepEqual(
    decoded(message, ({ body, location }) => [body, location]),
    ['0', '1', '2'].map((body, ordinal) => [body, { topic: 'otlp.logs', partition: 3, offset: 41, ordinal }]),
  );
  t.deepEqual(decoded(message, ({ tenantId, projectId, receivedAtMs }) => [tenantId, projectId, receivedAtMs])[0], [
    'acme',
    'shop',
    receivedAtMs,
  ]);
});

test('body bytes are shown only for text bodies', (t) => {
  const bodies = [{ stringValue: 'né 1' }, { stringValue: '' }, { intValue: '7' }, { bytesValue: Buffer.from('text') }];
  const logs = logsOf([...bodies.map((body) => ({ body })), {}, recordWithBody('last')]);
  const seen: string[] = [];
  const responses = decoded(messageOf([logs]), (log) =>
    log.inspectBody((bytes, start, end) => {
      seen.push(Buffer.from(bytes.subarray(start, end)).toString());
      return seen.length > 1;
    }),
  );
  t.deepEqual(seen, ['né 1', '', 'last']);
  t.deepEqual(responses, [false, true, false, false, false, true]);
});

test('a message is decoded once for all readers, and its records can be read in any order', (t) => {
  const bodies = [logsOf([recordWithBody('0'), recordWithBody('1')]), logsOf([recordWithBody('2')])].map((body) =>
    gzipSync(body),
  );
  const message = busRecord(messageOf(bodies, { encoding: 'gzip' }));
  const opened = logRecords.decode(message, from);
  t.is(logRecords.decode(message, from), opened);
  t.is(opened.count, 3);
  t.deepEqual(
    [2, 0, 1, 2, 1].map((ordinal) => opened.getItem(ordinal).body),
    ['2', '0', '1', '2', '1'],
  );
  t.throws(() => opened.getItem(3), { instanceOf: RangeError });
  const broken = { ...message, value: message.value.subarray(1) };
  const faults = [1, 2].map(() => t.throws(() => logRecords.decode(broken, from)));
  t.is(faults[0], faults[1], 'and what is wrong with it is found once');
});

test('one view is moved over all records, and a copy is unchanged when the memory is reused', (t) => {
  const record = busRecord(
    messageOf([
      logsOf(
        [
          { ...recordWithBody('first'), attributes: [text('k', 'v')], severityText: 'INFO' },
          { ...recordWithBody('second'), attributes: [text('k', 'w')] },
        ],
        [text('service.name', 'cart'), text('host.name', 'h')],
      ),
    ]),
  );
  const views = new Set<LogRecord>();
  const copies: LogRecord[] = [];
  for (const log of iterateItems(logRecords, record, from)) {
    views.add(log);
    copies.push(log.copy());
  }
  t.is(views.size, 1);
  record.value.fill(0xff);
  t.deepEqual(
    copies.map((log) => [
      log.body,
      log.getAttribute('k'),
      log.service,
      log.getResourceAttribute('host.name'),
      log.ordinal,
    ]),
    [
      ['first', 'v', 'cart', 'h', 0],
      ['second', 'w', 'cart', 'h', 1],
    ],
  );
  t.is(copies[0]?.resourceView, copies[1]?.resourceView, 'copies of records of one resource share it');
  t.is(copies[0]?.copy().body, 'first');
});

test('the first of several attributes with one key counts, and for resource attributes the first in sort order', (t) => {
  const twice = [text('k', 'b'), text('k', 'a')];
  const message = messageOf([
    logsOf([{ attributes: twice }], [...twice, text('service.name', 'z'), text('service.name', 'y')]),
  ]);
  const [found] = decoded(message, (log) => [log.getAttribute('k'), log.getResourceAttribute('k'), log.service]);
  t.deepEqual(found, ['b', 'a', 'y']);
});

/** Unusual encodings of an attribute, and their meaning. */
const edgeCases: readonly (readonly [string, Uint8Array])[] = [
  ['the value first', Buffer.concat([field(2, field(1, 'v')), field(1, 'key')])],
  [
    'two values, of which the first counts',
    Buffer.concat([field(1, 'key'), field(2, field(1, 'v')), field(2, field(1, 'w'))]),
  ],
  ['two keys, of which the last counts', Buffer.concat([field(1, 'no'), field(1, 'key'), field(2, field(1, 'v'))])],
  [
    'two alternatives, of which the last counts',
    Buffer.concat([field(1, 'key'), field(2, Buffer.of(0x18, 5), field(1, 'v'))]),
  ],
  [
    'unknown fields',
    Buffer.concat([Buffer.of(0x50, 7), field(1, 'key'), field(9, 'x'), field(2, field(1, 'v'), field(12, ''))]),
  ],
  ['a length of two bytes', Buffer.concat([Buffer.of(0x0a, 0x83, 0), Buffer.from('key'), field(2, field(1, 'v'))])],
];

test('attributes are found in any field order, and between other fields', async (t) => {
  const scanner = await scannerOf('logs');
  for (const [name, pair] of edgeCases) {
    const record = Buffer.concat([field(6, field(1, 'other')), Buffer.of(0x10, 9), field(6, pair), field(3, 'INFO')]);
    const message = messageOf([field(1, field(1, field(1, pair)), field(2, field(2, record)))]);
    t.deepEqual(scanBatch(scanner, [message], 0, 1, (bytes) => new Uint8Array(bytes)).rejected, [], name);
    t.deepEqual(
      decoded(message, (log) => [
        log.getAttribute('key'),
        log.getAttributeType('key'),
        log.getResourceAttribute('key'),
        log.getAttribute('other'),
        log.getAttribute('no'),
        log.severityText,
      ]),
      [['v', 's', 'v', '', undefined, 'INFO']],
      name,
    );
  }
});

test('attributes have their original type, and text as it lands', (t) => {
  const values: readonly (readonly [object, string, string])[] = [
    [{ stringValue: '5' }, 's', '5'],
    [{ intValue: '-9223372036854775808' }, 'i', '-9223372036854775808'],
    [{ doubleValue: 0.1 }, 'd', '0.1'],
    [{ doubleValue: Number.NaN }, 'd', 'NaN'],
    [{ boolValue: false }, 'b', 'false'],
    [{ bytesValue: Uint8Array.of(0, 255) }, 'y', 'AP8='],
    [{ arrayValue: { values: [{ intValue: '1' }, {}] } }, 'j', '[1,null]'],
    [{}, 'n', ''],
  ];
  for (const [value, type, expected] of values) {
    const message = messageOf([logsOf([{ attributes: [text('other', 'x'), { key: 'k', value }] }])]);
    t.deepEqual(
      decoded(message, (log) => [log.getAttributeType('k'), log.getAttribute('k'), log.getAttributeType('kk')]),
      [[type, expected, undefined]],
    );
  }
});

/** Bodies that only some versions of admission accept. */
const doubtful: readonly (readonly [string, Uint8Array, boolean])[] = [
  ['a severity above 255', field(1, field(2, field(2, Buffer.of(0x10, 0xac, 0x02)))), true],
  ['a time beyond the last', field(1, field(2, field(2, Buffer.of(0x09, ...new Uint8Array(8).fill(0xff))))), true],
  ['a known field with another wire type', field(1, field(2, field(2, Buffer.of(0x28, 1, 0x10, 9)))), true],
  ['an unknown field', field(1, field(2, field(2, Buffer.of(0x10, 9), field(31, 'x')))), true],
  ['an id of 15 bytes', field(1, field(2, field(2, field(9, 'x'.repeat(15))))), false],
  ['an attribute that passes its end', field(1, field(2, field(2, field(6, Buffer.of(0x0a, 9, 1))))), false],
  ['a truncated value', field(1, field(2, field(2, field(5, Buffer.of(0x21, 1, 2))))), false],
  [
    'a fault in a later resource',
    Buffer.concat([logsOf([recordWithBody('good')]), field(1, Buffer.of(0x0a, 0x7f))]),
    false,
  ],
  ['a truncated tag', Buffer.concat([logsOf([recordWithBody('good')]), Buffer.of(0x8a)]), false],
];

test('a message is delivered completely or not at all, exactly when the sink lands it', async (t) => {
  const scanner = await scannerOf('logs');
  for (const [name, body, lands] of doubtful) {
    const message = messageOf([logsOf([recordWithBody('before')]), body]);
    const { rejected } = scanBatch(scanner, [message], 0, 1, (bytes) => new Uint8Array(bytes));
    t.is(rejected.length === 0, lands, `${name}: the sink`);
    const input: string[] = [];
    const read = (): void => {
      for (const log of iterateItems(logRecords, busRecord(message), from)) input.push(log.body);
    };
    if (lands) {
      t.notThrows(read, name);
      t.is(input.length, 2, name);
    } else {
      t.throws(read, { instanceOf: PermanentError }, name);
      t.deepEqual(input, [], name);
    }
  }
});

/** Valid and invalid encodings of values: after the first field follows another one, or unreadable bytes. */
const oddValues: readonly Buffer[] = [
  ...['', 'v', 'x'.repeat(127), 'x'.repeat(128), 'x'.repeat(300)].map((text) => field(1, text)),
  ...[[], [0x0a], [0x18, 1], [0x18, 0xf7, 0x03], [0x18, ...Array<number>(8).fill(255), 1], [0x10, 1]].map((bytes) =>
    Buffer.from(bytes),
  ),
  ...[
    [0x18, ...Array<number>(9).fill(255), 1],
    [0x18, ...Array<number>(9).fill(255), 2],
  ].map((bytes) => Buffer.from(bytes)),
  Buffer.of(0x21, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f),
  field(5, field(1, field(1, 'one'))),
  field(7, 'bytes'),
].flatMap((value) => [value, Buffer.concat([value, Buffer.of(0x18, 7)]), Buffer.concat([value, Buffer.of(0x21)])]);

/** An attribute whose value appears to have a one-byte length, but has a two-byte length that exceeds its end. */
const cutPair = Buffer.concat([field(1, 'k'), Buffer.of(0x12, 0x80, 0x0a, 0x7e), Buffer.alloc(126, 'x')]);

/** A record with every field; tests change some of its bytes. */
const fullRecord = (value: () => Buffer): Buffer =>
  Buffer.concat([
    Buffer.of(0x09, 1, 2, 3, 4, 5, 6, 7, 8, 0x10, 17),
    field(3, 'ERROR'),
    field(5, value()),
    field(6, field(1, 'k'), field(2, field(1, 'v'))),
    field(6, field(1, 'any'), field(2, value())),
    field(6, field(1, 'n'.repeat(130)), field(2, field(1, 'v'))),
    Buffer.of(0x38, 3, 0x45, 1, 0, 0, 0),
    field(9, 'sixteen bytes id'),
    field(10, '8 bytes.'),
    Buffer.of(0x59, 8, 7, 6, 5, 4, 3, 2, 1),
    field(12, 'event'),
  ]);
const oneRecord = (...bytes: Uint8Array[]): Uint8Array => field(1, field(2, field(2, ...bytes)));
const everything = (log: LogRecord): unknown[] => [
  ...[log.timeNs, log.timeMs, log.observedTimeNs, log.severityNumber, log.severityText, log.body, log.bodyType],
  ...[log.attributes, log.droppedAttributes, log.flags, log.traceId, log.spanId, log.eventName],
];

test('changed record bytes are rejected exactly when the sink rejects them, and otherwise read like records with rare fields', (t) => {
  const random = seeded(11);
  const interestingBytes = [
    0, 1, 2, 8, 16, 127, 128, 129, 255, 0x09, 0x0a, 0x12, 0x18, 0x21, 0x2a, 0x32, 0x45, 0x4a, 0x62,
  ];
  const refused = (body: Uint8Array): boolean => {
    try {
      validateRequest('logs', body);
      return false;
    } catch {
      return true;
    }
  };
  const counts = { refused: 0, read: 0 };
  for (let round = 0; round < propertyRuns(20_000); round++) {
    const full = fullRecord(() => oddValues[random(oddValues.length)] as Buffer);
    const cut = full.subarray(0, random(8) === 0 ? 1 + random(full.length) : undefined);
    const bytes = random(16) === 0 ? Buffer.concat([cut, field(6, cutPair)]) : cut;
    for (let changes = random(3); changes > 0; changes--)
      bytes[random(bytes.length)] =
        random(2) === 0 ? random(256) : (interestingBytes[random(interestingBytes.length)] as number);
    const body = oneRecord(bytes);
    const hex = bytes.toString('hex');
    if (refused(body)) {
      counts.refused++;
      t.throws(() => logRecords.decode(busRecord(messageOf([body])), from), { instanceOf: PermanentError }, hex);
      continue;
    }
    counts.read++;
    const [read] = decoded(messageOf([body]), everything);
    const [rare] = decoded(messageOf([oneRecord(bytes, field(31, ''))]), everything);
    t.deepEqual(read, rare, hex);
  }
  t.true(counts.refused > 1_000 && counts.read > 1_000, JSON.stringify(counts));
});

test('a message with more records than the cache can hold is read repeatedly', (t) => {
  const bodies = Array.from({ length: 10_000 }, (_, at) => recordWithBody(String(at)));
  const opened = logRecords.decode(busRecord(messageOf([logsOf(bodies)])), from);
  for (const ordinal of [0, 9_999, 4_096, 1, 8_192, 4_097, 0]) t.is(opened.getItem(ordinal).body, String(ordinal));
});

test('severities above 255 and times beyond the last instant equal the landed values', (t) => {
  const body = field(
    1,
    field(2, field(2, Buffer.of(0x10, ...varint(300)), Buffer.of(0x09, ...new Uint8Array(8).fill(0xff)))),
  );
  t.deepEqual(
    decoded(messageOf([body]), ({ severityNumber, timeNs, timeMs }) => [severityNumber, timeNs, timeMs]),
    [[255, 4_294_967_295_999_999_999n, 4_294_967_295_999]],
  );
});

test('headers that do not match the value are rejected', (t) => {
  const message = messageOf([logsOf([recordWithBody('x')])]);
  const longer = { ...busRecord(message), value: Buffer.concat([message.value, Buffer.of(0)]) };
  const shorter = { ...busRecord(message), value: Buffer.from(message.value.subarray(1)) };
  for (const record of [longer, shorter, { ...busRecord(message), headers: {} }])
    t.throws(() => [...iterateItems(logRecords, record, from)], { instanceOf: PermanentError });
});

test('milliseconds equal those of the nanoseconds, exactly', (t) => {
  for (const timeUnixNano of [
    '1',
    '999999',
    '1000000',
    '1772359200123999999',
    '1772359200124000000',
    '4294967295999999999',
  ]) {
    const [times] = decoded(messageOf([logsOf([{ timeUnixNano }])]), ({ timeNs, timeMs }) => [timeNs, timeMs]);
    t.deepEqual(times, [BigInt(timeUnixNano), Number(BigInt(timeUnixNano) / 1_000_000n)]);
  }
});

test('a span without a start, or with an end before its start, has no duration', (t) => {
  const request = tracesRequest({
    resourceSpans: [
      {
        scopeSpans: [
          {
            spans: [
              { startTimeUnixNano: '1000000', endTimeUnixNano: '4500000' },
              { startTimeUnixNano: '5', endTimeUnixNano: '4' },
              { endTimeUnixNano: '4' },
              { startTimeUnixNano: '4294967295', endTimeUnixNano: '4294967297' },
            ],
          },
        ],
      },
    ],
  });
  const message = busRecord(messageOf([request], { signal: 'traces' }));
  t.deepEqual(
    Array.from(iterateItems(spans, message, from), ({ durationNs, durationMs }) => [durationNs, durationMs]),
    [
      [3_500_000n, 3.5],
      [0n, 0],
      [0n, 0],
      [2n, 0.000_002],
    ],
  );
});

test('a data point with the no-recorded-value flag has no value', (t) => {
  const points = [{ asInt: '9007199254740993' }, { asDouble: 2, flags: 1 }, { asDouble: -0.5 }];
  const request = metricsRequest({
    resourceMetrics: [{ scopeMetrics: [{ metrics: [{ name: 'm', gauge: { dataPoints: points } }] }] }],
  });
  const message = busRecord(messageOf([request], { signal: 'metrics' }));
  t.deepEqual(
    Array.from(iterateItems(dataPoints, message, from), ({ value, integer, isStale }) => [value, integer, isStale]),
    [
      [9_007_199_254_740_992, 9_007_199_254_740_993n, false],
      [Number.NaN, undefined, true],
      [-0.5, undefined, false],
    ],
  );
});

test('values of derived topics are validated by the schema of their topic', (t) => {
  const topic = defineTopic({
    name: 'counts',
    summary: 'Counts',
    key: 'service',
    value: z.strictObject({ service: z.string(), count: z.int() }),
  });
  const source = createMessageSource(topic);
  const message = (value: string) => ({ offset: 0, timestampMs: 0, key: '', headers: {}, value: Buffer.from(value) });
  t.deepEqual(source.topics, [topic]);
  t.deepEqual(
    [...iterateItems(source, message('{"service":"cart","count":3}'), from)],
    [{ service: 'cart', count: 3 }],
  );
  const faults = { '{': /is not JSON/, '{"service":"cart","count":"3"}': /topic counts: count: / };
  for (const [value, expected] of Object.entries(faults))
    t.throws(() => [...iterateItems(source, message(value), from)], { instanceOf: PermanentError, message: expected });
});
