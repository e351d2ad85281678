import test from 'ava';
import fc from 'fast-check';
import { PermanentError } from '../../schemas/errors.ts';
import { scanRequest } from '../../schemas/otlp/scan.ts';
import { splitRequest } from '../../schemas/otlp/split.ts';
import { type Signal, signals } from '../../schemas/telemetry-signals.ts';
import { field, messageOf, plain, requestTypes } from './proto/load.ts';

type Tree = Record<string, unknown>;
const listOf = (tree: Tree, name: string): Tree[] => (tree[name] as Tree[] | undefined) ?? [];

const names: Readonly<Record<Signal, readonly [string, string, string]>> = {
  logs: ['resourceLogs', 'scopeLogs', 'logRecords'],
  metrics: ['resourceMetrics', 'scopeMetrics', 'metrics'],
  traces: ['resourceSpans', 'scopeSpans', 'spans'],
};

const without = (tree: Tree, name: string): Tree =>
  Object.fromEntries(Object.entries(tree).filter(([key]) => key !== name));

/** The points of a metric, each with all fields of the metric. */
const points = (metric: Tree): unknown[] => {
  const kind = ['gauge', 'sum', 'histogram', 'exponentialHistogram', 'summary'].find((name) => name in metric);
  if (kind === undefined) return [];
  const { dataPoints, ...rest } = metric[kind] as { dataPoints?: unknown[] };
  return (dataPoints ?? []).map((point) => ({ ...metric, [kind]: { ...rest, point } }));
};

/** All records with their resource and scope, which is everything that a request contains. */
const flatten = (signal: Signal, body: Uint8Array): unknown[] => {
  const [resources, scopes, records] = names[signal];
  return listOf(plain(requestTypes[signal], body), resources).flatMap((resource) =>
    listOf(resource, scopes).flatMap((scope) =>
      listOf(scope, records)
        .flatMap((record) => (signal === 'metrics' ? points(record) : [record]))
        .map((record) => ({ resource: without(resource, scopes), scope: without(scope, records), record })),
    ),
  );
};

/** Splits a body into the smallest possible parts. */
const smallestSplit = (signal: Signal, body: Uint8Array) => {
  for (let maxBytes = 64; ; maxBytes = Math.ceil(maxBytes * 1.3)) {
    try {
      return { maxBytes, pieces: splitRequest(signal, body, maxBytes) };
    } catch (error) {
      if (!(error instanceof PermanentError) || error.reason !== 'record-too-large') throw error;
    }
  }
};

for (const signal of signals) {
  test(`parts of a split ${signal} request are valid, below the size limit, and together preserve every record`, (t) => {
    const type = requestTypes[signal];
    let cut = 0;
    fc.assert(
      fc.property(messageOf(type, 7), (message) => {
        const body = type.encode(type.fromObject(message)).finish();
        const { maxBytes, pieces } = smallestSplit(signal, body);
        if (pieces.length > 1) cut++;
        for (const { bytes, records } of pieces) {
          t.true(bytes.length <= maxBytes);
          t.is(scanRequest(signal, bytes).records, records);
        }
        t.deepEqual(
          pieces.flatMap(({ bytes }) => flatten(signal, bytes)),
          flatten(signal, body),
        );
      }),
      { numRuns: 200, endOnFailure: true },
    );
    t.true(cut > 20, `only ${cut} of the requests were cut`);
  });
}

const record = (size: number): Buffer => field(2, field(3, 'x'.repeat(size)));

test('a request within the limit is one part, byte for byte', (t) => {
  const body = field(1, field(2, record(100), record(100)));
  t.deepEqual(splitRequest('logs', body, body.length), [{ bytes: body, records: 2 }]);
});

test('resource and scope fields after, between or in parts around the records are in every part, including unknown fields', (t) => {
  const resource = (key: string) => field(1, field(1, field(1, key)));
  const body = field(
    1,
    field(2, record(50), field(1, field(1, 'scope')), record(50), field(31, 'unknown')),
    resource('early'),
    field(2, record(50)),
    resource('late'),
    field(30, 'unknown too'),
  );
  const pieces = splitRequest('logs', body, 150);
  t.is(pieces.length, 3);
  for (const { bytes } of pieces) {
    const text = bytes.toString('latin1');
    for (const head of ['early', 'late', 'unknown too']) t.true(text.includes(head), head);
  }
  t.deepEqual(
    pieces.map(({ bytes }) => bytes.toString('latin1').includes('scope')),
    [true, true, false],
  );
  t.deepEqual(
    pieces.flatMap(({ bytes }) => flatten('logs', bytes)),
    flatten('logs', body),
  );
});

test('the points of one metric are split into parts that repeat its name and temporality', (t) => {
  const point = field(1, field(7, field(1, 'x'.repeat(60))));
  const temporality = Buffer.from([0x10, 0x02]);
  const body = field(1, field(2, field(2, field(1, 'requests'), field(7, point, point, temporality, point))));
  const pieces = splitRequest('metrics', body, 120);
  t.deepEqual(
    pieces.map(({ records }) => records),
    [1, 1, 1],
  );
  t.deepEqual(
    pieces.flatMap(({ bytes }) => flatten('metrics', bytes)),
    flatten('metrics', body),
  );
});

test('a single record above the limit is rejected, with its position', (t) => {
  const body = field(1, field(2, record(10), record(500)));
  const error = t.throws(() => splitRequest('logs', body, 400), { instanceOf: PermanentError });
  t.is((error as PermanentError).reason, 'record-too-large');
  t.is((error as PermanentError).position, body.length - record(500).length);
});

test('a resource above the limit is rejected', (t) => {
  const body = field(1, field(1, field(1, field(1, 'k'.repeat(500)))), field(2, record(10), record(10)));
  t.throws(() => splitRequest('logs', body, 400), { instanceOf: PermanentError, message: /larger than 400 bytes/ });
});

test('a large resource does not multiply the request size a hundredfold', (t) => {
  const body = field(
    1,
    field(1, field(1, field(1, 'k'.repeat(900)))),
    field(2, ...Array.from({ length: 500 }, () => record(50))),
  );
  t.throws(() => splitRequest('logs', body, 1000), { instanceOf: PermanentError, message: /repeat/ });
});

test('a body of millions of empty records is split without one object per record', (t) => {
  const records = Buffer.alloc(4_000_000, Buffer.from([0x12, 0x00]));
  const before = process.memoryUsage().heapUsed;
  const pieces = splitRequest('logs', field(1, field(2, records)), 1_000_000);
  t.is(
    pieces.reduce((sum, piece) => sum + piece.records, 0),
    2_000_000,
  );
  t.true(process.memoryUsage().heapUsed - before < 20_000_000);
});
