import test from 'ava';
import fc from 'fast-check';
import { PermanentError } from '../../schemas/errors.ts';
import { writeRequest2Messages, writeRequestMessages } from '../../schemas/prometheus/messages.ts';
import { scanWriteRequest } from '../../schemas/prometheus/scan.ts';
import { splitWriteRequest } from '../../schemas/prometheus/split.ts';
import { declarationsOf, field, messageOf, plain, reachable, varint, writeRequestTypes } from './proto/load.ts';

type Tree = Record<string, unknown>;
interface Series extends Tree {
  samples?: unknown[];
  histograms?: unknown[];
  exemplars?: unknown[];
}
const versions = [1, 2] as const;

const fault = (version: 1 | 2, body: Uint8Array): PermanentError | undefined => {
  try {
    scanWriteRequest(version, body);
    return undefined;
  } catch (error) {
    if (error instanceof PermanentError) return error;
    throw error;
  }
};

const unsorted = (names: string[]): string[] => names.toReversed();

/** A histogram without buckets, because random buckets are inconsistent. */
const withoutBuckets = ({ sum, timestamp, startTimestamp, resetHint }: Tree): Tree =>
  Object.fromEntries(
    Object.entries({ sum, timestamp, startTimestamp, resetHint }).filter(([, value]) => value !== undefined),
  );

const emptied = (series: Series): Series =>
  series.histograms === undefined
    ? series
    : { ...series, histograms: series.histograms.map((one) => withoutBuckets(one as Tree)) };

/** Random requests in which only labels and histograms are made valid. */
const valid: Readonly<Record<1 | 2, fc.Arbitrary<Tree>>> = {
  1: fc
    .tuple(
      messageOf(writeRequestTypes[1], 4),
      fc.uniqueArray(fc.string({ minLength: 1 }), { maxLength: 6 }),
      fc.boolean(),
    )
    .map(([request, names, sorted]) => {
      const all = [...new Set(['__name__', ...names])].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      const labels = (sorted ? all : unsorted(all)).map((name) => ({ name, value: `${name} value` }));
      const timeseries = ((request.timeseries ?? []) as Series[]).map((series) => ({ ...emptied(series), labels }));
      return { ...request, timeseries };
    }),
  2: fc
    .tuple(messageOf(writeRequestTypes[2], 4), fc.uniqueArray(fc.string({ minLength: 1 }), { maxLength: 6 }))
    .map(([request, strings]) => {
      const symbols = [...new Set(['', '__name__', 'metric', ...strings])];
      const labelsRefs = symbols.slice(3).flatMap((_, index) => [index + 3, 2]);
      const timeseries = ((request.timeseries ?? []) as Series[]).map((series) => {
        const { histograms, ...floats } = emptied(series);
        const exemplars = (series.exemplars ?? []).map((exemplar) => ({ ...(exemplar as Tree), labelsRefs }));
        const base = series.samples?.length
          ? floats
          : { ...series, histograms: histograms?.length ? histograms : [{}] };
        return { ...base, exemplars, metadata: { helpRef: 1, unitRef: 0 }, labelsRefs: [1, 2, ...labelsRefs] };
      });
      return { symbols, timeseries };
    }),
};

const encode = (version: 1 | 2, request: Tree): Uint8Array =>
  writeRequestTypes[version].encode(writeRequestTypes[version].fromObject(request)).finish();

const sum = (request: Tree, part: 'samples' | 'histograms' | 'exemplars'): number =>
  (request.timeseries as Series[]).reduce((total, series) => total + (series[part]?.length ?? 0), 0);

/** Splits a body into about four parts, or fewer if a series or the symbols need more space. */
const smallSplit = (version: 1 | 2, body: Uint8Array) => {
  for (let maxBytes = Math.max(64, body.length >> 2); ; maxBytes *= 2) {
    try {
      return { maxBytes, pieces: splitWriteRequest(version, body, maxBytes) };
    } catch (error) {
      if (!(error instanceof PermanentError) || error.reason !== 'record-too-large') throw error;
    }
  }
};

test('a time is stored unchanged or rejected with its position: tables begin in 1900 and end in 2106', (t) => {
  const last = 4_294_967_295_999n;
  const body = (timestamp: bigint): Uint8Array =>
    encode(1, {
      timeseries: [
        { labels: [{ name: '__name__', value: 'up' }], samples: [{ value: 1, timestamp: String(timestamp) }] },
      ],
    });
  for (const time of [0n, 1n, last, -1n, -2_000_000_000_000n])
    t.notThrows(() => scanWriteRequest(1, body(time)), `${time}`);
  for (const time of [last + 1n, 2n ** 63n - 1n, -3_000_000_000_000n, -(2n ** 63n)]) {
    const error = t.throws(() => scanWriteRequest(1, body(time)), {
      message: /^Sample\.timestamp is a time before 1900/,
    });
    t.like(error, { reason: 'bad-time' }, `${time}`);
    t.is(varint(BigInt.asUintN(64, time)).compare(body(time).subarray((error as PermanentError).position)), 0);
  }
});

for (const version of versions) {
  const type = writeRequestTypes[version];

  test(`${version}.0: our schema has exactly the fields and types of the published schema`, (t) => {
    const ours: Record<string, Tree> = version === 1 ? writeRequestMessages : writeRequest2Messages;
    const published = [...reachable(type)].map((message) => [message.name, declarationsOf(message)]);
    t.deepEqual(JSON.parse(JSON.stringify(ours)), Object.fromEntries(published));
  });

  test(`${version}.0: any valid request is accepted and counted`, (t) => {
    fc.assert(
      fc.property(valid[version], (request) => {
        t.deepEqual(scanWriteRequest(version, encode(version, request)), {
          samples: sum(request, 'samples'),
          histograms: sum(request, 'histograms'),
          exemplars: sum(request, 'exemplars'),
        });
      }),
      { numRuns: 300, endOnFailure: true },
    );
  });

  test(`${version}.0: parts of a split request are valid, below the size limit, and together contain the same series`, (t) => {
    let cut = 0;
    fc.assert(
      fc.property(valid[version], (request) => {
        const body = encode(version, request);
        const { maxBytes, pieces } = smallSplit(version, body);
        if (pieces.length > 1) cut++;
        for (const { bytes, records } of pieces) {
          t.true(bytes.length <= maxBytes);
          const { samples, histograms } = scanWriteRequest(version, bytes);
          t.is(samples + histograms, records);
        }
        const series = (bytes: Uint8Array) => (plain(type, bytes)['timeseries'] as Series[] | undefined) ?? [];
        t.deepEqual(
          pieces.flatMap(({ bytes }) => series(bytes)),
          series(body),
        );
      }),
      { numRuns: 200, endOnFailure: true },
    );
    t.true(cut > 20, `only ${cut} of the requests were cut`);
  });

  test(`${version}.0: an accepted body with randomly changed bytes can be decoded by protobufjs, and all others are rejected`, (t) => {
    const change = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(valid[version], change, (request, changes) => {
        const bytes = Uint8Array.from(encode(version, request));
        if (bytes.length === 0) return;
        for (const [position, value] of changes) bytes[position % bytes.length] = value;
        if (fault(version, bytes) === undefined) type.decode(bytes);
      }),
      { numRuns: 1500, endOnFailure: true },
    );
    t.pass();
  });
}

test('1.0: a request truncated at any byte is rejected, unless the cut is between two series', (t) => {
  const series = field(
    1,
    field(1, field(1, '__name__'), field(2, 'up')),
    field(2, Buffer.from([9, 0, 0, 0, 0, 0, 0, 0, 0, 16, 1])),
  );
  const body = Buffer.concat([series, series]);
  for (let length = 1; length < body.length; length++) {
    t.is(
      fault(1, body.subarray(0, length))?.reason,
      length === series.length ? undefined : 'malformed',
      `cut to ${length}`,
    );
  }
});

const label = (name: string, value = 'x'): Buffer => field(1, field(1, name), field(2, value));
const sample = field(2);
const series1 = (...parts: Buffer[]): Buffer => field(1, ...parts, sample);

const faults1: readonly (readonly [string, Buffer, string, RegExp])[] = [
  ['a series without labels', series1(), 'bad-labels', /no label __name__/],
  ['a series without __name__', series1(label('job')), 'bad-labels', /no label __name__/],
  ['a label without a name', series1(label('__name__'), field(1, field(2, 'x'))), 'bad-labels', /has no name/],
  ['a series whose __name__ is empty', series1(label('__name__', '')), 'bad-labels', /no label __name__/],
  ['a label twice in a row', series1(label('__name__'), label('a'), label('a')), 'bad-labels', /label a twice/],
  ['a label twice, apart', series1(label('b'), label('__name__'), label('b')), 'bad-labels', /label b twice/],
  [
    'a label that is not UTF-8',
    series1(label('__name__'), field(1, field(1, Buffer.from([0xff])))),
    'bad-utf8',
    /Label\.name/,
  ],
  ['a 2.0 body', Buffer.concat([field(4), field(5)]), 'malformed', /2\.0 request sent as 1\.0/],
];

for (const [what, body, reason, message] of faults1) {
  test(`1.0: ${what} is rejected`, (t) => {
    const error = fault(1, body);
    t.is(error?.reason, reason);
    t.regex(error?.message ?? '', message);
    t.is(typeof error?.position, 'number');
  });
}

test('1.0: a series with ten thousand labels is accepted, one with more labels is rejected', (t) => {
  const labels = Array.from({ length: 10_000 }, (_, index) => label(`l${index}`));
  t.is(fault(1, series1(label('__name__'), ...labels.slice(1))), undefined);
  t.regex(fault(1, series1(label('__name__'), ...labels))?.message ?? '', /more than 10000 labels/);
});

test('1.0: unsorted labels, many labels and requests with only metadata are accepted', (t) => {
  t.is(scanWriteRequest(1, series1(label('b'), label('a'), label('__name__'))).samples, 1);
  const many = Array.from({ length: 5000 }, (_, index) => label(`label${(index * 7919) % 5000}`));
  t.is(scanWriteRequest(1, series1(label('__name__'), ...many)).samples, 1);
  t.deepEqual(scanWriteRequest(1, field(3, field(2, 'up'))), { samples: 0, histograms: 0, exemplars: 0 });
  t.deepEqual(scanWriteRequest(1, Buffer.alloc(0)), { samples: 0, histograms: 0, exemplars: 0 });
});

const symbols = Buffer.concat(['', '__name__', 'up', 'job', 'job'].map((symbol) => field(4, symbol)));
const refs = (...numbers: number[]): Buffer => field(1, ...numbers.map(varint));
const series2 = (...parts: Buffer[]): Buffer => Buffer.concat([symbols, field(5, ...parts)]);

const faults2: readonly (readonly [string, Buffer, string, RegExp])[] = [
  ['an empty body', Buffer.alloc(0), 'bad-symbols', /begin with the empty string/],
  ['symbols that do not start with the empty string', field(4, 'a'), 'bad-symbols', /begin with the empty string/],
  ['a label reference out of range', series2(refs(1, 5), sample), 'bad-symbols', /5 is outside the 5 symbols/],
  ['a reference of 64 bits', series2(refs(1, 2 ** 52), sample), 'bad-symbols', /outside/],
  ['a help reference out of range', series2(refs(1, 2), sample, field(5, Buffer.from([0x18, 9]))), 'bad-symbols', /9/],
  ['an exemplar’s reference out of range', series2(refs(1, 2), sample, field(4, refs(3, 7))), 'bad-symbols', /7/],
  ['a name without a value', series2(refs(1, 2, 3), sample), 'bad-labels', /name but no value/],
  ['an exemplar’s name without a value', series2(refs(1, 2), sample, field(4, refs(3))), 'bad-labels', /no value/],
  ['a series without __name__', series2(refs(3, 2), sample), 'bad-labels', /no label __name__/],
  ['a series whose __name__ is empty', series2(refs(1, 0), sample), 'bad-labels', /no label __name__/],
  ['a label without a name', series2(refs(1, 2, 0, 2), sample), 'bad-labels', /has no name/],
  ['a label twice through two equal symbols', series2(refs(1, 2, 3, 2, 4, 2), sample), 'bad-labels', /job twice/],
  ['both samples and histograms', series2(refs(1, 2), sample, field(3)), 'bad-series', /both/],
  ['neither samples nor anything else', series2(refs(1, 2)), 'bad-series', /no sample/],
  ['a 1.0 body', series1(label('__name__')), 'bad-symbols', /empty string/],
  ['a 1.0 body with symbols', Buffer.concat([symbols, series1(label('__name__'))]), 'malformed', /1 to 3 are reserved/],
];

for (const [what, body, reason, message] of faults2) {
  test(`2.0: ${what} is rejected`, (t) => {
    const error = fault(2, body);
    t.is(error?.reason, reason, error?.message);
    t.regex(error?.message ?? '', message);
    t.is(typeof error?.position, 'number');
  });
}

test('2.0: symbols can follow the series, references can be packed or not, and a series can have only exemplars', (t) => {
  const one = (ref: number) => Buffer.from([0x08, ref]);
  t.is(scanWriteRequest(2, Buffer.concat([field(5, refs(1, 2), sample), symbols])).samples, 1);
  t.is(scanWriteRequest(2, series2(one(1), sample, one(2), refs(3, 2))).samples, 1);
  t.is(scanWriteRequest(2, series2(field(4, refs()), refs(1, 2))).exemplars, 1);
  t.is(scanWriteRequest(2, symbols).samples, 0);
});

test('2.0: a series can contain only metadata', (t) => {
  t.deepEqual(scanWriteRequest(2, series2(field(5), refs(1, 2))), { samples: 0, histograms: 0, exemplars: 0 });
});

const spans = (...lengths: readonly (readonly [offset: number, length: number])[]) =>
  lengths.map(([offset, length]) => ({ offset, length }));

/** Native histograms, each with its irregularity, and the expected error; `undefined` if they are valid. */
const histograms: readonly (readonly [what: string, histogram: Tree, fault: RegExp | undefined])[] = [
  ['without buckets', {}, undefined],
  ['with only a zero bucket', { countInt: 3, zeroCountInt: 3, zeroThreshold: 0.001 }, undefined],
  [
    'of both signs with a gap',
    {
      countInt: 8,
      zeroCountInt: 1,
      schema: 3,
      positiveSpans: spans([-4, 2], [3, 1]),
      positiveDeltas: [1, 1, -1],
      negativeSpans: spans([0, 1]),
      negativeDeltas: [3],
    },
    undefined,
  ],
  [
    'with more observations than in its buckets, because some are NaN',
    { countInt: 9, sum: Number.NaN, positiveSpans: spans([0, 1]), positiveDeltas: [4] },
    undefined,
  ],
  [
    'of floats that do not add up',
    { countFloat: 9.5, positiveSpans: spans([0, 2]), positiveCounts: [1.25, 0.5], zeroCountFloat: 0.1 },
    undefined,
  ],
  [
    'with custom bounds',
    {
      countInt: 6,
      schema: -53,
      customValues: [0.1, 1, 10],
      positiveSpans: spans([0, 4]),
      positiveDeltas: [1, 0, 1, 0],
    },
    undefined,
  ],
  [
    'with a count that is too high',
    { countInt: 9, positiveSpans: spans([0, 1]), positiveDeltas: [4] },
    /add up to 4.*9/,
  ],
  [
    'with a count that is too low',
    { countInt: 1, positiveSpans: spans([0, 1]), positiveDeltas: [4] },
    /add up to 4.*1/,
  ],
  ['with fewer buckets than spans', { countInt: 4, positiveSpans: spans([0, 2]), positiveDeltas: [4] }, /describe 2/],
  ['with buckets and no spans', { countInt: 4, negativeDeltas: [4] }, /describe 0 buckets, but there are 1/],
  [
    'with integer buckets and a float count',
    { countFloat: 4, positiveSpans: spans([0, 1]), positiveDeltas: [4] },
    /describe 1 buckets, but there are 0/,
  ],
  ['with a bucket below 0', { countInt: 0, positiveSpans: spans([0, 2]), positiveDeltas: [1, -2] }, /below 0/],
  ['with a float bucket below 0', { countFloat: 0, positiveSpans: spans([0, 1]), positiveCounts: [-1] }, /below 0/],
  ['with a float count below 0', { countFloat: -1 }, /below 0/],
  [
    'with overlapping spans',
    { countInt: 2, positiveSpans: spans([0, 1], [-1, 1]), positiveDeltas: [1, 0] },
    /begins before the previous one ends/,
  ],
  [
    'with spans that reach very far',
    { countInt: 2, positiveSpans: spans([0, 1], [100_000, 1]), positiveDeltas: [1, 0] },
    /cover too many buckets/,
  ],
  ['with a schema that does not exist', { schema: 53 }, /schema 53/],
  ['with a reserved schema', { schema: -20 }, /schema -20/],
  ['with bounds and another schema', { customValues: [1] }, /without their schema/],
  ['with custom bounds that fall', { schema: -53, customValues: [2, 1] }, /not ascending/],
  ['with a custom bound of infinity', { schema: -53, customValues: [1, Number.POSITIVE_INFINITY] }, /infinity/],
  [
    'with more buckets than custom bounds make',
    { countInt: 3, schema: -53, customValues: [1], positiveSpans: spans([0, 3]), positiveDeltas: [1, 0, 0] },
    /beyond/,
  ],
  ['with custom bounds and a zero bucket', { countInt: 1, zeroCountInt: 1, schema: -53 }, /zero bucket/],
];

for (const [what, histogram, expected] of histograms) {
  test(`a native histogram ${what} ${expected === undefined ? 'passes' : 'is refused'} in both versions`, (t) => {
    const first = encode(1, { timeseries: [{ labels: [{ name: '__name__', value: 'h' }], histograms: [histogram] }] });
    const second = encode(2, {
      symbols: ['', '__name__', 'h'],
      timeseries: [{ labelsRefs: [1, 2], histograms: [histogram] }],
    });
    for (const error of [fault(1, first), fault(2, second)]) {
      t.is(error?.reason, expected && 'bad-histogram', error?.message);
      if (expected !== undefined) t.regex(error?.message ?? '', expected);
    }
  });
}
