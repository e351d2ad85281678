/**
 * Requirements of Prometheus' compliance suite for receivers and of remote-write 1.0 and 2.0. Deviation:
 * success is 202 with a body (the product's contract), where the specification prefers an empty 204.
 */
import test from 'ava';
import {
  contentTypes,
  type Subject,
  snappy,
  startSubject,
  type TimeSeries,
  type Tree,
  write,
  writeRequestOf,
} from './conformance.ts';
import { waitUntilDrained } from './reliability.ts';

const now = Date.now();
const hour = 3_600_000;
const name = (text: string): readonly [string, string] => ['__name__', text];
const sample = (value: number, offset = 0): Tree => ({ value, timestamp: now + offset });

/** Parts of integer histograms, with the number of observations in each. */
const buckets = {
  positive: {
    positiveSpans: [
      { offset: 0, length: 3 },
      { offset: 2, length: 2 },
    ],
    positiveDeltas: [1, 2, 1, 3, 1],
  },
  negative: { negativeSpans: [{ offset: 0, length: 2 }], negativeDeltas: [1, 1] },
  zero: { zeroCountInt: 1 },
  custom: {
    schema: -53,
    customValues: [0.1, 0.5, 1, 2.5, 5, 10],
    positiveSpans: [{ offset: 0, length: 6 }],
    positiveDeltas: [2, 1, 2, 3, -1, -2],
  },
} as const;
const counts = { positive: 23, negative: 3, zero: 1, custom: 30 } as const;

const histogram = (parts: readonly (keyof typeof buckets)[], more: Tree = {}): Tree => ({
  countInt: parts.reduce((sum, part) => sum + counts[part], 0),
  sum: 1.5,
  timestamp: now,
  ...Object.assign({}, ...parts.map((part) => buckets[part])),
  ...more,
});

type Pair = readonly [string, string];
const exemplar = (labels: readonly Pair[], value: number, offset = 0) => ({ labels, value, timestamp: now + offset });

interface Case {
  readonly series: readonly TimeSeries[];
  readonly written: readonly [samples: number, histograms: number, exemplars: number];
  readonly status?: number;
}
const accepted: Record<string, Case> = {};
const refused: Record<string, Case> = {};
const none = [0, 0, 0] as const;

const values: readonly (readonly [string, number])[] = [
  ['1', 1],
  ['NaN', Number.NaN],
  ['infinity', Number.POSITIVE_INFINITY],
  ['negative infinity', Number.NEGATIVE_INFINITY],
  ['a tiny number', 1e-300],
];
const labelSets: Readonly<Record<string, readonly Pair[]>> = {
  'a name alone': [name('up')],
  'several labels': [name('up'), ['instance', 'localhost:9090'], ['job', 'testjob']],
  'line breaks in a value': [name('up'), ['instance', 'localhost:9090'], ['job', 'test\njob\n']],
  'dots in names': [name('resource.cpu.usage'), ['instance.name', 'localhost:9090'], ['job.name', 'testjob']],
  'spaces in names': [name('resource cpu usage'), ['instance name', 'localhost:9090'], ['job name', 'testjob']],
  'names beyond ASCII': [name('温度 🌡'), ['région', 'åäö🚀']],
  'labels that are not sorted': [['zone', 'z'], ['area', 'a'], name('unsorted')],
  'a label without a value': [name('half'), ['empty', ''], ['full', 'x']],
};
for (const [value, number] of values)
  for (const [what, labels] of Object.entries(labelSets))
    accepted[`a sample of ${value} with ${what}`] = {
      series: [{ labels, samples: [sample(number)] }],
      written: [1, 0, 0],
    };

const up = (instance: string): TimeSeries => ({
  labels: [name('up'), ['instance', instance]],
  samples: [sample(1)],
});
const nameless: TimeSeries = {
  labels: [
    ['instance', 'a'],
    ['job', 'x'],
  ],
  samples: [sample(1)],
};

const histogramCases: Readonly<Record<string, Tree>> = {
  'of both signs and zero': histogram(['positive', 'negative', 'zero']),
  'with custom buckets': histogram(['custom']),
  'of positive buckets and zero': histogram(['positive', 'zero']),
  'of negative buckets': histogram(['negative']),
  'of zero alone': histogram(['zero']),
  'without buckets': histogram([]),
  'of floats': {
    countFloat: 3.75,
    sum: 2.5,
    zeroCountFloat: 0.5,
    zeroThreshold: 1e-9,
    schema: 2,
    positiveSpans: [{ offset: -2, length: 2 }],
    positiveCounts: [1.25, 2],
    timestamp: now,
  },
  'of a gauge': histogram(['positive', 'zero'], { resetHint: 3 }),
  'of the coarsest schema': histogram(['positive'], { schema: -4 }),
  'with a start': histogram(['positive'], { startTimestamp: now - hour }),
};
for (const [what, one] of Object.entries(histogramCases))
  accepted[`a native histogram ${what}`] = {
    series: [{ labels: [name('latency')], histograms: [one] }],
    written: [0, 1, 0],
  };

const exemplarLabels: Readonly<Record<string, readonly Pair[]>> = {
  'of a trace': [['trace_id', '0af7651916cd43dd8448eb211c80319c']],
  'of a trace and a span': [
    ['span_id', 'b7ad6b7169203331'],
    ['trace_id', '0af7651916cd43dd8448eb211c80319c'],
  ],
  'whose trace id is of another form': [['trace_id', 'trace-with-dashes_and_underscores.123']],
  'without a trace': [['user_id', 'user123']],
  'with other labels': [
    ['endpoint', '/login'],
    ['trace_id', 'abc'],
    ['user', 'admin'],
  ],
  'without labels': [],
  'with labels beyond ASCII': [['trace_id', 'unicode_trace_测试']],
};
for (const [what, labels] of Object.entries(exemplarLabels)) {
  accepted[`an exemplar ${what} beside a sample`] = {
    series: [{ labels: [name('requests_total')], samples: [sample(1)], exemplars: [exemplar(labels, 1)] }],
    written: [1, 0, 1],
  };
}
for (const [value, number] of [...values, ['minus', -123.456] as const])
  accepted[`an exemplar of ${value}`] = {
    series: [{ labels: [name('odd')], samples: [sample(number)], exemplars: [exemplar([['trace_id', 'x']], number)] }],
    written: [1, 0, 1],
  };

const types = ['unspecified', 'counter', 'gauge', 'histogram', 'gauge histogram', 'summary', 'info', 'state set'];
for (const [type, what] of types.entries())
  accepted[`metadata of the type ${what}`] = {
    series: [
      {
        labels: [name('described')],
        samples: [sample(1)],
        metadata: { type, help: `a help\nwith "quotes", ${what}, äöü`, unit: 'bytes/sec' },
      },
    ],
    written: [1, 0, 0],
  };

const fifty = <Value>(make: (index: number) => Value): Value[] => Array.from({ length: 50 }, (_, index) => make(index));
Object.assign(accepted, {
  'several series': { series: ['a', 'b', 'c', 'd'].map(up), written: [4, 0, 0] },
  'several samples of one series, oldest last': {
    series: [{ labels: [name('up')], samples: [sample(3), sample(2, -60_000), sample(1, -hour)] }],
    written: [3, 0, 0],
  },
  'one series in two parts': { series: [up('a'), { ...up('a'), samples: [sample(2, 1)] }], written: [2, 0, 0] },
  'the same sample twice': { series: [up('a'), up('a')], written: [2, 0, 0] },
  'samples of long ago and of tomorrow': {
    series: [{ labels: [name('wide')], samples: [sample(1, -24 * 30 * hour), sample(2, 24 * hour)] }],
    written: [2, 0, 0],
  },
  'a sample with a start': {
    series: [{ labels: [name('started_total')], samples: [{ ...sample(250), startTimestamp: now - 2 * hour }] }],
    written: [1, 0, 0],
  },
  'exemplars of other times than the sample': {
    series: [
      {
        labels: [name('timed')],
        samples: [sample(1)],
        exemplars: [exemplar([['trace_id', 'old']], 1, -hour), exemplar([['trace_id', 'new']], 2)],
      },
    ],
    written: [1, 0, 2],
  },
  'a histogram with exemplar and metadata': {
    series: [
      {
        labels: [name('size_bytes'), ['service', 'upload']],
        histograms: [histogram(['positive', 'negative', 'zero'])],
        exemplars: [exemplar([['trace_id', 'large']], 10_485_760)],
        metadata: { type: 3, help: 'size', unit: 'bytes' },
      },
    ],
    written: [0, 1, 1],
  },
  'samples beside histograms in another series': {
    series: [up('a'), { labels: [name('latency')], histograms: [histogram(['zero'])] }],
    written: [1, 1, 0],
  },
  'fifty series with exemplars and metadata': {
    series: fifty((index) => ({
      labels: [name(`counter_${index}`), ['series', `s${index}`]],
      samples: [sample(index)],
      exemplars: [exemplar([['trace_id', `t${index}`]], index)],
      metadata: { type: 1, help: `number ${index}`, unit: 'count' },
    })),
    written: [50, 0, 50],
  },
  'fifty histograms': {
    series: fifty((index) => ({
      labels: [name(`histogram_${index}`)],
      histograms: [histogram(index % 2 === 0 ? ['positive', 'negative'] : ['custom'])],
    })),
    written: [0, 50, 0],
  },
  'metadata alone': {
    series: [{ labels: [name('orphan')], metadata: { type: 1, help: 'nobody’s', unit: '' } }],
    written: none,
  },
  'exemplars alone': {
    series: [{ labels: [name('orphan')], exemplars: [exemplar([['trace_id', 'orphan']], 42)] }],
    written: [0, 0, 1],
  },
  'no series': { series: [], written: none },
} satisfies Record<string, Case>);

Object.assign(refused, {
  'a series without a name': { series: [nameless], written: none },
  'a series without labels': { series: [{ labels: [], samples: [sample(1)] }], written: none },
  'a series whose name is empty': { series: [{ labels: [name('')], samples: [sample(1)] }], written: none },
  'one series of four without a name': { series: [nameless, up('b'), up('c'), up('d')], written: [3, 0, 0] },
  'an exemplar in a series without a name': {
    series: [{ ...nameless, exemplars: [exemplar([['trace_id', 'x']], 1)] }],
    written: none,
  },
  'metadata of a series whose name is empty': {
    series: [{ labels: [name('')], samples: [sample(1)], metadata: { type: 2, help: 'h', unit: 'u' } }],
    written: none,
  },
  'a label twice': {
    series: [{ labels: [name('up'), ['a', '1'], ['a', '2']], samples: [sample(1)] }],
    written: none,
  },
  'a label without a name': { series: [{ labels: [name('up'), ['', 'x']], samples: [sample(1)] }], written: none },
  'a histogram whose count is wrong': {
    series: [{ labels: [name('h')], histograms: [histogram(['positive'], { countInt: 99 })] }],
    written: none,
  },
} satisfies Record<string, Case>);

let subject: Subject;
const responses = new Map<string, { status: number; body: string; written: (string | null)[] }>();

interface Landed {
  readonly metric: string;
  readonly labels: Record<string, string>;
  readonly ms: string;
  readonly start: string;
  readonly value: string;
}
interface LandedSeries {
  readonly metric: string;
  readonly kind: string;
  readonly unit: string;
  readonly description: string;
}
let landed: { samples: Landed[]; histograms: Landed[]; exemplars: Landed[]; series: LandedSeries[] };

const writtenOf = ({ headers }: Response): (string | null)[] =>
  ['samples', 'histograms', 'exemplars'].map((part) => headers.get(`x-prometheus-remote-write-${part}-written`));

const recordAnswer = async (key: string, response: Response): Promise<void> => {
  responses.set(key, { status: response.status, body: await response.text(), written: writtenOf(response) });
};

/** Each case has its own metrics, so that its rows can be distinguished. */
const prefixed = (at: number, series: readonly TimeSeries[]): TimeSeries[] =>
  series.map((one) => ({
    ...one,
    labels: one.labels.map(([key, value]) =>
      key === '__name__' && value !== '' ? [key, `case ${at}: ${value}`] : [key, value],
    ),
  }));
const names = Object.keys(accepted);

const probes: Readonly<Record<string, () => Promise<Response>>> = (() => {
  const good = (version: 1 | 2) => writeRequestOf(version, [up('probe')]);
  const probe =
    (version: 1 | 2, headers: Readonly<Record<string, string | undefined>>, change = (body: Buffer) => body) =>
    () =>
      write(subject, version, change(snappy(good(version))), headers);
  const damaged = (byte: number) => (body: Buffer) => Buffer.concat([Buffer.from([byte]), body.subarray(1)]);
  return {
    '415 JSON': probe(2, { 'content-type': 'application/json' }, damaged(0x30)),
    '415 an image': probe(2, { 'content-type': 'image/png' }, damaged(0x30)),
    '415 an unknown message': probe(2, {
      'content-type': 'application/x-protobuf;proto=io.prometheus.write.v3.Request',
    }),
    '415 gzip': probe(2, { 'content-encoding': 'gzip' }, damaged(0x30)),
    '415 deflate': probe(2, { 'content-encoding': 'deflate' }, damaged(0x30)),
    '415 no encoding': probe(2, { 'content-encoding': undefined }),
    '400 a damaged body of 2.0': probe(2, {}, damaged(0x30)),
    '400 a damaged body of 1.0': probe(1, {}, damaged(0xff)),
    '400 a body that is not compressed': () => write(subject, 2, good(2)),
    '400 an empty body, which is no compressed stream': () => write(subject, 2, new Uint8Array(0)),
    '400 framed snappy': probe(2, {}, (body) => Buffer.concat([Buffer.from('ff060000734e61507059', 'hex'), body])),
    '400 a body of 1.0 sent as 2.0': probe(1, { 'content-type': contentTypes[2] }),
    '400 a body of 2.0 sent as 1.0': probe(2, { 'content-type': contentTypes[1] }),
    '401 no key': probe(2, { 'x-license-key': undefined }),
    '202 1.0 without the message’s name': probe(1, {}),
    '202 1.0 by the message’s name': probe(1, {
      'content-type': 'application/x-protobuf;proto=prometheus.WriteRequest',
    }),
    '202 1.0 without a content type': probe(1, { 'content-type': undefined }),
    '202 1.0 that says it is version 2.0.0': probe(1, { 'x-prometheus-remote-write-version': '2.0.0' }),
    '202 2.0 that says it is version 0.1.0': probe(2, { 'x-prometheus-remote-write-version': '0.1.0' }),
    '202 2.0 without a version': probe(2, { 'x-prometheus-remote-write-version': undefined }),
    '202 2.0 with spaces and quotes in the content type': probe(2, {
      'content-type': 'application/x-protobuf; proto="io.prometheus.write.v2.Request"',
    }),
    '202 an empty message of 2.0': () => write(subject, 2, snappy(new Uint8Array(0))),
    '202 an empty message of 1.0': () => write(subject, 1, snappy(new Uint8Array(0))),
  };
})();

test.before(async () => {
  subject = await startSubject();
  for (const [at, what] of names.entries()) {
    const series = prefixed(at, accepted[what]?.series ?? []);
    await recordAnswer(`2.0 ${what}`, await write(subject, 2, snappy(writeRequestOf(2, series))));
  }
  for (const [what, { series }] of Object.entries(refused)) {
    await recordAnswer(`2.0 ${what}`, await write(subject, 2, snappy(writeRequestOf(2, series))));
    await recordAnswer(`1.0 ${what}`, await write(subject, 1, snappy(writeRequestOf(1, series))));
  }
  for (const [what, send] of Object.entries(probes)) await recordAnswer(what, await send());
  await waitUntilDrained(subject.oiq.http);
  await subject.stop();
  landed = {
    samples: await subject.rows(pointsOf('samples', 'toString(value)')),
    histograms: await subject.rows(
      pointsOf(
        'histograms',
        "concat(toString(count), ' ', toString(scale), ' ', toString(positive_offset), toString(positive_counts), toString(negative_offset), toString(negative_counts), toString(bounds), toString(counts))",
      ),
    ),
    exemplars: await subject.rows(
      `SELECT metric, attributes AS labels, toString(toUnixTimestamp64Milli(timestamp)) AS ms, lower(hex(trace_id)) AS start, toString(value) AS value
      FROM exemplars WHERE metric LIKE 'case %'`,
    ),
    series: await subject.rows(
      "SELECT DISTINCT metric, kind, unit, description FROM series WHERE metric LIKE 'case %'",
    ),
  };
});
test.after.always(() => subject?.close());

/** Selects points with the labels of their series. */
const pointsOf = (table: string, value: string): string =>
  `SELECT p.metric AS metric, s.attributes AS labels, toString(toUnixTimestamp64Milli(p.timestamp)) AS ms,
    toString(toUnixTimestamp64Milli(p.start_timestamp)) AS start, ${value} AS value
  FROM ${table} AS p INNER JOIN (SELECT DISTINCT series_id, attributes FROM series) AS s ON p.series_id = s.series_id
  WHERE p.metric LIKE 'case %'`;

const countsOf = (written: readonly number[]): string[] => written.map(String);

for (const [what, { written, status = 202 }] of Object.entries(accepted)) {
  test(`2.0: ${what} is accepted and counted`, (t) => {
    const response = responses.get(`2.0 ${what}`);
    t.is(response?.status, status, response?.body);
    t.deepEqual(response?.written, countsOf(written));
    t.deepEqual(JSON.parse(response?.body ?? ''), { status: 'accepted' });
  });
}

for (const [what, { written }] of Object.entries(refused)) {
  test(`${what} is rejected with 400, a readable message and the counts of what was stored`, (t) => {
    const second = responses.get(`2.0 ${what}`);
    t.is(second?.status, 400, second?.body);
    t.deepEqual(second?.written, countsOf(written));
    const first = responses.get(`1.0 ${what}`);
    t.is(first?.status, 400, first?.body);
    // Responses for version 1.0 do not have these headers.
    t.deepEqual(first?.written, [null, null, null]);
    for (const body of [first?.body, second?.body]) {
      const { status, error } = JSON.parse(body ?? '{}') as { status?: string; error?: string };
      t.is(status, 'error');
      t.regex(error ?? '', /^[a-z].{10,}/);
    }
  });
}

for (const key of Object.keys(probes)) {
  test(`remote-write: ${key.slice(4)} returns ${key.slice(0, 3)}`, (t) => {
    const response = responses.get(key);
    t.is(String(response?.status), key.slice(0, 3), response?.body);
    const isSecond = response?.written.every((count) => count !== null);
    if (key.startsWith('202 2.0')) t.deepEqual(response?.written, ['1', '0', '0']);
    else if (key === '202 an empty message of 2.0') t.deepEqual(response?.written, ['0', '0', '0']);
    else if (key.startsWith('202')) t.false(isSecond);
    else for (const count of response?.written ?? []) t.true(count === null || count === '0');
  });
}

/** The rows of a case in a defined order. */
const ofCase = (rows: readonly Landed[], what: string): string[] =>
  rows
    .filter(({ metric }) => metric.startsWith(`case ${names.indexOf(what)}: `))
    .map(({ metric, labels, ms, value }) => keyOf(metric.replace(/^case \d+: /, ''), labels, ms, value))
    .sort();
const keyOf = (metric: string, labels: Readonly<Record<string, string>>, ms: unknown, value: unknown): string =>
  JSON.stringify([metric, Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)), String(ms), value]);

/** Formats a double like the engine. */
const textOf = (value: unknown): string => {
  if (Number.isNaN(value)) return 'nan';
  if (value === Number.POSITIVE_INFINITY) return 'inf';
  return value === Number.NEGATIVE_INFINITY ? '-inf' : String(value);
};

/** The labels that identify a series: all except its name, and none with an empty value. */
const identityOf = (labels: readonly Pair[]): Record<string, string> =>
  Object.fromEntries(labels.filter(([key, value]) => key !== '__name__' && value !== ''));
const metricOf = (labels: readonly Pair[]): string => new Map(labels).get('__name__') ?? '';

test('every accepted sample is in the tables with its value, time and labels, and nothing else is', (t) => {
  for (const [what, { series }] of Object.entries(accepted)) {
    const expected = series.flatMap(({ labels, samples = [] }) =>
      samples.map(({ value, timestamp }) => keyOf(metricOf(labels), identityOf(labels), timestamp, textOf(value))),
    );
    t.deepEqual(ofCase(landed.samples, what), expected.sort(), what);
  }
});

test('every accepted exemplar is in the tables with its value, time and labels', (t) => {
  for (const [what, { series }] of Object.entries(accepted)) {
    const expected = series.flatMap(({ labels, exemplars = [] }) =>
      exemplars.map(({ labels: own, value, timestamp }) =>
        keyOf(metricOf(labels), Object.fromEntries(own), timestamp, textOf(value)),
      ),
    );
    t.deepEqual(ofCase(landed.exemplars, what), expected.sort(), what);
  }
  const traced = landed.exemplars.filter(({ start }) => start === '0af7651916cd43dd8448eb211c80319c');
  t.is(traced.length, 2);
});

const bucketsAsRead: Readonly<Record<string, string>> = {
  'of both signs and zero': '27 0 -1[1,3,4,0,0,7,8]-1[1,2][][]',
  'with custom buckets': '30 0 0[]0[][0.1,0.5,1,2.5,5,10][2,3,5,8,7,5,0]',
  'of positive buckets and zero': '24 0 -1[1,3,4,0,0,7,8]-1[][][]',
  'of negative buckets': '3 0 -1[]-1[1,2][][]',
  'of zero alone': '1 0 -1[]-1[][][]',
  'without buckets': '0 0 -1[]-1[][][]',
  // Counts of float histograms are rounded.
  'of floats': '4 2 -3[1,2]-1[][][]',
  'of a gauge': '24 0 -1[1,3,4,0,0,7,8]-1[][][]',
  'of the coarsest schema': '23 -4 -1[1,3,4,0,0,7,8]-1[][][]',
  'with a start': '23 0 -1[1,3,4,0,0,7,8]-1[][][]',
};

for (const [what, expected] of Object.entries(bucketsAsRead)) {
  test(`a native histogram ${what} is in the tables with its buckets`, (t) => {
    const key = `a native histogram ${what}`;
    t.deepEqual(ofCase(landed.histograms, key), [keyOf('latency', {}, now, expected)]);
  });
}

test('start timestamps are stored, and a missing one is stored as the epoch', (t) => {
  const startOf = (rows: readonly Landed[], what: string) =>
    rows.find(({ metric }) => metric.startsWith(`case ${names.indexOf(what)}: `))?.start;
  t.is(startOf(landed.samples, 'a sample with a start'), String(now - 2 * hour));
  t.is(startOf(landed.histograms, 'a native histogram with a start'), String(now - hour));
  t.is(startOf(landed.samples, 'several series'), '0');
});

test('metadata is stored with its type, help and unit', (t) => {
  const kinds = ['unknown', 'counter', 'gauge', 'histogram', 'gauge_histogram', 'summary', 'info', 'state_set'];
  for (const [type, what] of types.entries()) {
    const metric = `case ${names.indexOf(`metadata of the type ${what}`)}: described`;
    const description = `a help\nwith "quotes", ${what}, äöü`;
    t.deepEqual(
      landed.series.filter((one) => one.metric === metric),
      [{ metric, kind: kinds[type] ?? '', unit: 'bytes/sec', description }],
    );
  }
});

test('no refused sample is in the tables', (t) => {
  t.false([...landed.samples, ...landed.histograms].some(({ labels }) => labels['job'] === 'x'));
});
