import test from 'ava';
import { compressSnappy } from '../../schemas/compression.ts';
import { readFirstReceived } from '../../subjects/onboarding/last-received.ts';
import {
  messageOf,
  metricsRequest,
  openTables,
  received,
  receivedAtMs,
  scannerOf,
  type Tables,
  text,
  writeRequest,
} from './sink-tables.ts';

let tables: Tables;
test.before(async () => {
  tables = await openTables();
});
test.after.always(() => tables.close());

const id = (byte: number, length: number): Uint8Array => new Uint8Array(length).fill(byte);
const time = '1772359200000000001';
const start = '1772359100000000000';
const timestamp = '2026-03-01 10:00:00.000000001';
const startTimestamp = '2026-03-01 09:58:20.000000000';

const metricsOf = (metrics: object[], resource: object[] = [text('service.name', 'cart')]): Uint8Array =>
  metricsRequest({
    resourceMetrics: [
      { resource: { attributes: resource }, scopeMetrics: [{ scope: { name: 'meter', version: '3' }, metrics }] },
    ],
  });

/** `process`: a process that remembers earlier series; without it, a new process. */
type Process = { readonly scanner: Awaited<ReturnType<typeof scannerOf>>; readonly serial: number };

const land = async (tenantId: string, bodies: Uint8Array[], process?: Process) =>
  tables.land([messageOf(bodies, { tenantId, signal: 'metrics' })], { sink: 'metrics', ...process });

const landWrite = async (tenantId: string, version: 1 | 2, request: object, process?: Process) =>
  tables.land(
    [
      messageOf([compressSnappy(writeRequest(version, request))], {
        tenantId,
        signal: 'metrics',
        format: `remote-write-${version}`,
        encoding: 'snappy',
      }),
    ],
    { sink: 'metrics', ...process },
  );

const own = '* EXCEPT (tenant_id, project_id, partition, offset, series_id)';

test('gauges, sums and their series can be read back', async (t) => {
  const { rejected, rows } = await land('numbers', [
    metricsOf([
      {
        name: 'temperature',
        unit: 'Cel',
        description: 'how warm',
        gauge: { dataPoints: [{ timeUnixNano: time, asDouble: -0.1, attributes: [text('room', 'a')] }] },
      },
      {
        name: 'requests',
        unit: '1',
        sum: {
          aggregationTemporality: 2,
          isMonotonic: true,
          dataPoints: [
            { timeUnixNano: time, startTimeUnixNano: start, asInt: '-7' },
            { timeUnixNano: time, flags: 1 },
          ],
        },
      },
    ]),
  ]);
  t.deepEqual(rejected, []);
  t.deepEqual(rows, { resources: 1, series: 2, samples: 3, usage: 1 });
  const samples = await tables.read(
    `SELECT ${own}, hex(reinterpretAsString(reverse(reinterpretAsFixedString(value)))) AS bits FROM samples WHERE tenant_id = 'numbers' ORDER BY metric, flags`,
  );
  t.like(samples[0], {
    metric: 'requests',
    value: -7,
    flags: 0,
    timestamp,
    start_timestamp: startTimestamp,
    received_at: received,
  });
  t.like(samples[1], { metric: 'requests', flags: 1, bits: '7FF0000000000002' });
  t.like(samples[2], { metric: 'temperature', value: -0.1, start_timestamp: '1970-01-01 00:00:00.000000000' });
  const series = await tables.read(
    `SELECT * EXCEPT (resource_id, series_id), series_id IN (SELECT series_id FROM samples WHERE tenant_id = 'numbers') AS has_samples,
     resource_id IN (SELECT resource_id FROM resources WHERE tenant_id = 'numbers') AS has_resource FROM series WHERE tenant_id = 'numbers' ORDER BY metric`,
  );
  const both = {
    tenant_id: 'numbers',
    project_id: 'shop',
    source: 'otlp',
    service: 'cart',
    scope_name: 'meter',
    scope_version: '3',
    scope_attributes: '',
    scope_dropped_attributes: 0,
    scope_schema_url: '',
    metadata: '',
    first_seen: '2026-03-01 10:00:00.000',
    last_seen: '2026-03-01 10:00:00.000',
    has_samples: 1,
    has_resource: 1,
  };
  t.deepEqual(series[0], {
    ...both,
    metric: 'requests',
    kind: 'sum',
    temporality: 2,
    monotonic: true,
    unit: '1',
    description: '',
    attributes: {},
    attribute_types: '',
  });
  t.deepEqual(series[1], {
    ...both,
    metric: 'temperature',
    kind: 'gauge',
    temporality: 0,
    monotonic: false,
    unit: 'Cel',
    description: 'how warm',
    attributes: { room: 'a' },
    attribute_types: 's',
  });
});

test('histograms of both kinds can be read back', async (t) => {
  await land('histograms', [
    metricsOf([
      {
        name: 'explicit',
        histogram: {
          aggregationTemporality: 1,
          dataPoints: [
            {
              timeUnixNano: time,
              count: '18446744073709551615',
              sum: 2.5,
              min: 0.5,
              bucketCounts: ['1', '9007199254740993', '0'],
              explicitBounds: [0.1, 10],
            },
          ],
        },
      },
      {
        name: 'exponential',
        exponentialHistogram: {
          aggregationTemporality: 2,
          dataPoints: [
            {
              timeUnixNano: time,
              count: '6',
              max: 3,
              scale: -2,
              zeroCount: '1',
              zeroThreshold: 0.25,
              positive: { offset: -3, bucketCounts: ['1', '300'] },
              negative: { offset: 4, bucketCounts: ['4294967296'] },
            },
          ],
        },
      },
    ]),
  ]);
  const rows = await tables.read(`SELECT ${own} FROM histograms WHERE tenant_id = 'histograms' ORDER BY metric`);
  const both = { received_at: received, timestamp, start_timestamp: '1970-01-01 00:00:00.000000000', flags: 0 };
  const none = {
    scale: 0,
    zero_count: '0',
    zero_threshold: 0,
    positive_offset: 0,
    positive_counts: [],
    negative_offset: 0,
    negative_counts: [],
    reset_hint: 0,
    exact_counts: [],
    positive_spans: [],
    negative_spans: [],
  };
  t.deepEqual(rows[1], {
    ...both,
    metric: 'exponential',
    count: '6',
    sum: null,
    min: null,
    max: 3,
    bounds: [],
    counts: [],
    scale: -2,
    zero_count: '1',
    zero_threshold: 0.25,
    positive_offset: -3,
    positive_counts: ['1', '300'],
    negative_offset: 4,
    negative_counts: ['4294967296'],
    reset_hint: 0,
    exact_counts: [],
    positive_spans: [],
    negative_spans: [],
  });
  t.deepEqual(rows[0], {
    ...both,
    ...none,
    metric: 'explicit',
    count: '18446744073709551615',
    sum: 2.5,
    min: 0.5,
    max: null,
    bounds: [0.1, 10],
    counts: ['1', '9007199254740993', '0'],
  });
});

test('summaries and exemplars can be read back', async (t) => {
  await land('others', [
    metricsOf([
      {
        name: 'summary',
        summary: {
          dataPoints: [
            {
              timeUnixNano: time,
              count: '3',
              sum: 4.5,
              quantileValues: [{ quantile: 0.5, value: 1 }, { quantile: 0.99 }],
            },
          ],
        },
      },
      {
        name: 'counter',
        sum: {
          dataPoints: [
            {
              timeUnixNano: time,
              asDouble: 1,
              exemplars: [
                {
                  timeUnixNano: start,
                  asInt: '9',
                  traceId: id(0xaa, 16),
                  spanId: id(0xbb, 8),
                  filteredAttributes: [text('user', 'u')],
                },
                { timeUnixNano: start, asDouble: 0.5 },
              ],
            },
          ],
        },
      },
    ]),
  ]);
  const [summary] = await tables.read(
    `SELECT count, sum, quantiles, quantile_values FROM summaries WHERE tenant_id = 'others'`,
  );
  t.deepEqual(summary, { count: '3', sum: 4.5, quantiles: [0.5, 0.99], quantile_values: [1, 0] });
  const exemplars = await tables.read(
    `SELECT metric, toString(timestamp) AS at, value, hex(trace_id) AS trace, hex(span_id) AS span, attributes, attribute_types,
     series_id IN (SELECT series_id FROM samples WHERE tenant_id = 'others') AS has_series FROM exemplars WHERE tenant_id = 'others' ORDER BY value`,
  );
  const both = { metric: 'counter', at: startTimestamp, has_series: 1 };
  t.deepEqual(exemplars, [
    { ...both, value: 0.5, trace: '00'.repeat(16), span: '00'.repeat(8), attributes: {}, attribute_types: '' },
    {
      ...both,
      value: 9,
      trace: 'AA'.repeat(16),
      span: 'BB'.repeat(8),
      attributes: { user: 'u' },
      attribute_types: 's',
    },
  ]);
});

const distinct: readonly (readonly [string, Uint8Array])[] = [
  [
    'itself',
    metricsOf([
      { name: 'm', unit: 's', gauge: { dataPoints: [{ asInt: '1', attributes: [text('a', '1'), text('b', '2')] }] } },
    ]),
  ],
  [
    'labels in another order',
    metricsOf([
      { name: 'm', unit: 's', gauge: { dataPoints: [{ asInt: '1', attributes: [text('b', '2'), text('a', '1')] }] } },
    ]),
  ],
  [
    'another unit',
    metricsOf([
      { name: 'm', unit: 'ms', gauge: { dataPoints: [{ asInt: '1', attributes: [text('a', '1'), text('b', '2')] }] } },
    ]),
  ],
  [
    'another kind',
    metricsOf([
      { name: 'm', unit: 's', sum: { dataPoints: [{ asInt: '1', attributes: [text('a', '1'), text('b', '2')] }] } },
    ]),
  ],
  [
    'another resource',
    metricsOf(
      [{ name: 'm', unit: 's', gauge: { dataPoints: [{ asInt: '1', attributes: [text('a', '1'), text('b', '2')] }] } }],
      [text('service.name', 'x')],
    ),
  ],
  [
    'another label',
    metricsOf([
      { name: 'm', unit: 's', gauge: { dataPoints: [{ asInt: '1', attributes: [text('a', '1'), text('b', '3')] }] } },
    ]),
  ],
];

test('a series is identified by metric, kind, unit, resource and labels, in any order', async (t) => {
  await land(
    'identity',
    distinct.map(([, body]) => body),
  );
  const rows = await tables.read<{ id: string }>(
    `SELECT toString(series_id) AS id FROM samples WHERE tenant_id = 'identity'`,
  );
  t.is(rows.length, distinct.length);
  t.is(new Set(rows.map(({ id: series }) => series)).size, distinct.length - 1);
  const series = await tables.read(`SELECT series_id FROM series FINAL WHERE tenant_id = 'identity'`);
  t.is(series.length, distinct.length - 1);
});

const label = (name: string, value: string): object => ({ name, value });

test('remote-write 1.0 lands samples, staleness markers, exemplars and metadata', async (t) => {
  const { rejected } = await landWrite('first', 1, {
    timeseries: [
      {
        labels: [label('__name__', 'http_requests_total'), label('job', 'api'), label('instance', 'a:1')],
        samples: [
          { value: 4.5, timestamp: '1772359200123' },
          { value: 5, timestamp: '-1' },
        ],
        exemplars: [
          { labels: [label('trace_id', 'ab'.repeat(16)), label('user', 'u')], value: 0.25, timestamp: '1772359200123' },
        ],
      },
    ],
    metadata: [{ type: 1, metricFamilyName: 'http_requests', help: 'requests served', unit: 'req' }],
  });
  t.deepEqual(rejected, []);
  const samples = await tables.read(
    `SELECT metric, toString(timestamp) AS at, value, flags FROM samples WHERE tenant_id = 'first' ORDER BY timestamp`,
  );
  t.deepEqual(samples, [
    { metric: 'http_requests_total', at: '1969-12-31 23:59:59.999000000', value: 5, flags: 0 },
    { metric: 'http_requests_total', at: '2026-03-01 10:00:00.123000000', value: 4.5, flags: 0 },
  ]);
  const [series] = await tables.read(
    `SELECT * EXCEPT (series_id, first_seen, last_seen, tenant_id, project_id) FROM series WHERE tenant_id = 'first'`,
  );
  t.deepEqual(series, {
    metric: 'http_requests_total',
    kind: 'counter',
    temporality: 2,
    monotonic: true,
    unit: 'req',
    description: 'requests served',
    source: 'prometheus',
    service: 'api',
    resource_id: '0',
    scope_name: '',
    scope_version: '',
    scope_attributes: '',
    scope_dropped_attributes: 0,
    scope_schema_url: '',
    metadata: '',
    attributes: { instance: 'a:1', job: 'api' },
    attribute_types: 'ss',
  });
  const [exemplar] = await tables.read(
    `SELECT lower(hex(trace_id)) AS trace, value, attributes FROM exemplars WHERE tenant_id = 'first'`,
  );
  t.deepEqual(exemplar, { trace: 'ab'.repeat(16), value: 0.25, attributes: { trace_id: 'ab'.repeat(16), user: 'u' } });
});

test('remote-write 2.0 series have the same ids as 1.0 series', async (t) => {
  await landWrite('versions', 1, {
    timeseries: [
      {
        labels: [label('__name__', 'up'), label('job', 'a'), label('z', '1')],
        samples: [{ value: 1, timestamp: '1' }],
      },
    ],
  });
  // Rows with the same id merge, so the second series belongs to another organization.
  const { rejected } = await landWrite('later versions', 2, {
    symbols: ['', 'z', '1', '__name__', 'up', 'job', 'a', 'is it up', 'bool', 'unused'],
    timeseries: [
      {
        labelsRefs: [3, 4, 1, 2, 5, 6],
        samples: [{ value: 2, timestamp: '2' }],
        metadata: { type: 2, helpRef: 7, unitRef: 8 },
      },
    ],
  });
  t.deepEqual(rejected, []);
  const rows = await tables.read<{ id: string }>(
    `SELECT DISTINCT series_id AS id FROM samples WHERE tenant_id IN ('versions', 'later versions')`,
  );
  t.is(rows.length, 1);
  const described = await tables.read(`SELECT kind, unit, description FROM series WHERE tenant_id = 'later versions'`);
  t.deepEqual(described, [{ kind: 'gauge', unit: 'bool', description: 'is it up' }]);
});

test('native histograms become exponential histograms, with span gaps filled, and fractions and hints preserved', async (t) => {
  await landWrite('native', 1, {
    timeseries: [
      {
        labels: [label('__name__', 'integers')],
        histograms: [
          {
            countInt: '12',
            sum: 18.4,
            schema: 1,
            zeroThreshold: 0.001,
            zeroCountInt: '2',
            timestamp: '1772359200000',
            resetHint: 3,
            positiveSpans: [
              { offset: 0, length: 2 },
              { offset: 1, length: 2 },
            ],
            positiveDeltas: ['1', '1', '-1', '0'],
            negativeSpans: [{ offset: 3, length: 1 }],
            negativeDeltas: ['5'],
          },
        ],
      },
      {
        labels: [label('__name__', 'floats')],
        histograms: [
          {
            countFloat: 3.6,
            schema: 0,
            positiveSpans: [{ offset: -2, length: 2 }],
            positiveCounts: [1.4, 2.2],
            timestamp: '1772359200000',
          },
        ],
      },
      {
        labels: [label('__name__', 'custom')],
        histograms: [
          {
            countFloat: 3.5,
            schema: -53,
            customValues: [1, 2, 3],
            positiveSpans: [{ offset: 1, length: 2 }],
            positiveCounts: [1.5, 2],
            resetHint: 1,
            timestamp: '1772359200000',
          },
        ],
      },
    ],
  });
  const rows = await tables.read(
    `SELECT metric, count, scale, zero_count, positive_offset, positive_counts, negative_offset, negative_counts, bounds, counts, reset_hint, exact_counts, positive_spans, negative_spans FROM histograms WHERE tenant_id = 'native' ORDER BY metric DESC`,
  );
  t.deepEqual(rows, [
    {
      metric: 'integers',
      count: '12',
      scale: 1,
      zero_count: '2',
      positive_offset: -1,
      positive_counts: ['1', '2', '0', '1', '1'],
      negative_offset: 2,
      negative_counts: ['5'],
      bounds: [],
      counts: [],
      reset_hint: 3,
      exact_counts: [],
      positive_spans: [0, 2, 1, 2],
      negative_spans: [3, 1],
    },
    {
      metric: 'floats',
      count: '4',
      scale: 0,
      zero_count: '0',
      positive_offset: -3,
      positive_counts: ['1', '2'],
      negative_offset: -1,
      negative_counts: [],
      bounds: [],
      counts: [],
      reset_hint: 0,
      exact_counts: [3.6, 0, 1.4, 2.2],
      positive_spans: [-2, 2],
      negative_spans: [],
    },
    {
      metric: 'custom',
      count: '4',
      scale: 0,
      zero_count: '0',
      positive_offset: 0,
      positive_counts: [],
      negative_offset: 0,
      negative_counts: [],
      bounds: [1, 2, 3],
      counts: ['0', '2', '2', '0'],
      reset_hint: 1,
      exact_counts: [3.5, 0, 0, 1.5, 2],
      positive_spans: [1, 2],
      negative_spans: [],
    },
  ]);
});

test('a series with numbers and histograms has an id for each, in any order', async (t) => {
  const labels = [label('__name__', 'both')];
  const histogram = { countInt: '1', schema: 0, zeroCountInt: '1', timestamp: '1772359260000' };
  await landWrite('mixed', 1, { timeseries: [{ labels, samples: [{ value: 1, timestamp: '1772359200000' }] }] });
  await landWrite('mixed', 1, { timeseries: [{ labels, histograms: [histogram] }] });
  const read = (table: string) =>
    tables.read<{ id: string }>(`SELECT DISTINCT toString(series_id) AS id FROM ${table} WHERE tenant_id = 'mixed'`);
  const [[number], [histogramOf]] = [await read('samples'), await read('histograms')];
  t.not(number?.id, histogramOf?.id);
  t.deepEqual(
    await tables.read(`SELECT kind, toString(series_id) AS id FROM series WHERE tenant_id = 'mixed' ORDER BY kind`),
    [
      { kind: 'exponential_histogram', id: histogramOf?.id },
      { kind: 'unknown', id: number?.id },
    ],
  );
});

test('payloads of NaN values are preserved bit for bit', async (t) => {
  const request = Buffer.from(
    writeRequest(1, { timeseries: [{ labels: [label('__name__', 'nan')], samples: [{ value: 1, timestamp: '1' }] }] }),
  );
  const at = request.indexOf(Buffer.from('000000000000f03f', 'hex'));
  Buffer.from('0200000000123456f87f'.slice(0, 16), 'hex').copy(request, at);
  request.writeUInt16LE(0x7ff8, at + 6);
  const expected = request.subarray(at, at + 8).toString('hex');
  await tables.land([messageOf([request], { tenantId: 'bits', format: 'remote-write-1' })], { sink: 'metrics' });
  const rows = await tables.read(
    `SELECT lower(hex(reinterpretAsFixedString(value))) AS bits FROM samples WHERE tenant_id = 'bits'`,
  );
  t.deepEqual(rows, [{ bits: expected }]);
});

test('a histogram of excessive width is rejected and the others land', async (t) => {
  const { rejected } = await tables.land(
    [
      messageOf(
        [
          writeRequest(1, {
            timeseries: [
              {
                labels: [label('__name__', 'wide')],
                histograms: [
                  {
                    schema: 0,
                    positiveSpans: [
                      { offset: 0, length: 1 },
                      { offset: 2_000_000_000, length: 1 },
                    ],
                    positiveDeltas: ['1', '1'],
                  },
                ],
              },
            ],
          }),
        ],
        { tenantId: 'wide', format: 'remote-write-1' },
      ),
      messageOf(
        [
          writeRequest(1, {
            timeseries: [{ labels: [label('__name__', 'fine')], samples: [{ value: 1, timestamp: '1' }] }],
          }),
        ],
        { tenantId: 'wide', format: 'remote-write-1', offset: 1 },
      ),
    ],
    { sink: 'metrics' },
  );
  t.deepEqual(
    rejected.map(({ index, reason }) => [index, reason]),
    [[0, 'too-many-buckets']],
  );
  t.deepEqual(await tables.read(`SELECT metric FROM series WHERE tenant_id = 'wide'`), [{ metric: 'fine' }]);
});

/** Nanoseconds of a time in this hour of the day on which messages are received. */
const inHour = (hour: number, minute = 0): string => String(BigInt(Date.UTC(2026, 2, 1, hour, minute)) * 1_000_000n);

test('a series has a row for each hour of its points, however late they arrive', async (t) => {
  const scanner = await scannerOf('metrics');
  let serial = 0;
  const sent = async (...times: string[]): Promise<number> => {
    const dataPoints = times.map((timeUnixNano) => ({ timeUnixNano, asDouble: 1 }));
    const { rows } = await land('late', [metricsOf([{ name: 'queued', gauge: { dataPoints } }])], {
      scanner,
      serial: ++serial,
    });
    return rows['series'] ?? 0;
  };
  t.is(await sent(inHour(9, 50), inHour(9, 51)), 1, 'an hour of points');
  t.is(await sent(inHour(1), inHour(2), inHour(2, 1)), 2, 'hours before it');
  t.is(await sent(inHour(9, 59), inHour(1, 1), inHour(2, 2)), 0, 'each has its row');
  t.is(await sent(inHour(3)), 1);
  t.is(await sent(inHour(10), inHour(3, 1), inHour(9, 1)), 1, 'those that come late beside new ones');
  t.is(await sent(inHour(12)), 0, 'a clock that runs ahead counts for the hour of reception');
  t.deepEqual(
    await tables.read(
      "SELECT toString(min(series.first_seen)) AS first, toString(max(series.last_seen)) AS last FROM series WHERE tenant_id = 'late'",
    ),
    [{ first: '2026-03-01 01:00:00.000', last: '2026-03-01 10:00:00.000' }],
  );
  t.is(await readFirstReceived(tables.columns.forTenant('late'), 'metrics'), new Date(receivedAtMs).toISOString());
});

test('late remote-write samples give a row for each of their hours', async (t) => {
  const scanner = await scannerOf('metrics');
  let serial = 0;
  const sent = async (...times: string[]): Promise<number> => {
    const samples = times.map((each) => ({ value: 1, timestamp: String(BigInt(each) / 1_000_000n) }));
    const labels = [{ name: '__name__', value: 'queued_total' }];
    const { rows } = await landWrite(
      'late-write',
      1,
      { timeseries: [{ labels, samples }] },
      { scanner, serial: ++serial },
    );
    return rows['series'] ?? 0;
  };
  t.is(
    await sent(inHour(3), inHour(1), inHour(2)),
    1,
    'a row for all samples, so that labels are not written once for each',
  );
  t.is(await sent(inHour(2, 30)), 0);
  t.is(await sent(inHour(2, 30), inHour(3, 30), inHour(4)), 1);
  t.is(await sent(inHour(9)), 1);
  t.is(await sent(inHour(4, 30), inHour(9, 30)), 1, 'hours between are not known');
  t.is(await sent(inHour(6)), 0);
  t.deepEqual(
    await tables.read(
      "SELECT toString(min(series.first_seen)) AS first, toString(max(series.last_seen)) AS last FROM series WHERE tenant_id = 'late-write'",
    ),
    [{ first: '2026-03-01 01:00:00.000', last: '2026-03-01 09:30:00.000' }],
  );
});
