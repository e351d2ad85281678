/** Usage rows depend only on the counted messages, not on the order or number of deliveries. */
import test from 'ava';
import { compressSnappy } from '../../schemas/compression.ts';
import { buildUnprocessable, type DeadLetterHeaders, encodeDeadLetter } from '../../schemas/dead-letter.ts';
import type { TelemetryHeaders } from '../../schemas/telemetry-message.ts';
import { topics, type UsageReport } from '../../schemas/topics.ts';

import {
  logsRequest,
  messageOf,
  metricsRequest,
  openTables,
  receivedAtMs,
  type Tables,
  type TestMessage,
  text,
  tracesRequest,
  writeRequest,
} from './sink-tables.ts';

let tables: Tables;
test.before(async () => {
  tables = await openTables();
});
test.after.always(() => tables.close());

const hourMs = 3_600_000;
const thisHour = '2026-03-01 10:00:00';
const nextHour = '2026-03-01 11:00:00';

/** Reads usage rows by `hour signal outcome/reason service`: accepted requests, records, bytes; landed records, bytes. */
const readUsage = async (tenantId: string): Promise<Record<string, number[]>> => {
  const rows = await tables.read<{ key: string; sums: string[] }>(
    `SELECT concat(toString(hour), ' ', signal, ' ', outcome, if(reason = '', '', '/'), reason, ' ', service) AS key,
     arrayMap(n -> toString(n), [sum(requests), sum(records), sum(bytes), sum(landed_records), sum(landed_bytes)]) AS sums
     FROM usage FINAL WHERE tenant_id = '${tenantId}' GROUP BY key ORDER BY key`,
  );
  return Object.fromEntries(rows.map(({ key, sums }) => [key.trim(), sums.map(Number)]));
};

const resource = (service: string | undefined) => ({
  attributes: service === undefined ? [] : [text('service.name', service)],
});
/** Creates a body with the given number of log records per service. */
const createLogsBody = (counts: readonly (readonly [service: string | undefined, records: number])[]): Uint8Array =>
  logsRequest({
    resourceLogs: counts.map(([service, records]) => ({
      resource: resource(service),
      scopeLogs: [{ logRecords: Array.from({ length: records }, () => ({ body: { stringValue: 'x' } })) }],
    })),
  });

const createMember = (body: Uint8Array, records: number, atMs = receivedAtMs) => ({
  length: body.length,
  size: body.length,
  records,
  receivedAtMs: atMs,
  source: '',
  traceparent: '',
});

test('members of one message count in the hour of their arrival, and landed records by service', async (t) => {
  const first = createLogsBody([
    ['cart', 2],
    ['shop', 3],
  ]);
  const second = createLogsBody([[undefined, 1]]);
  const third = createLogsBody([['cart', 4]]);
  const message = messageOf([first, second, third], {
    tenantId: 'hours',
    members: [createMember(first, 5), createMember(second, 1, receivedAtMs + hourMs), createMember(third, 4)],
  });
  await tables.land([message]);
  const cart = createLogsBody([['cart', 2]]).length + third.length;
  t.deepEqual(await readUsage('hours'), {
    [`${thisHour} logs accepted cart`]: [2, 9, first.length + third.length, 6, cart],
    [`${thisHour} logs accepted shop`]: [0, 0, 0, 3, first.length + third.length - cart],
    [`${nextHour} logs accepted`]: [1, 1, second.length, 1, second.length],
  });
});

const label = (name: string, value: string): object => ({ name, value });
const series = (job: string, samples: number): object => ({
  labels: [label('__name__', 'up'), label('instance', 'i'), ...(job === '' ? [] : [label('job', job)])],
  samples: Array.from({ length: samples }, (_, index) => ({ value: 1, timestamp: String(index + 1) })),
});

test('spans, points of every kind, and samples by job label are counted', async (t) => {
  const spans = tracesRequest({
    resourceSpans: [{ resource: resource('cart'), scopeSpans: [{ spans: [{ name: 'a' }, { name: 'b' }] }] }],
  });
  await tables.land(
    [messageOf([spans], { tenantId: 'signals', signal: 'traces', members: [createMember(spans, 2)] })],
    {
      sink: 'traces',
    },
  );
  const points = metricsRequest({
    resourceMetrics: [
      {
        resource: resource('cart'),
        scopeMetrics: [
          {
            metrics: [
              { name: 'g', gauge: { dataPoints: [{ asInt: '1' }, { asInt: '2' }] } },
              { name: 'h', histogram: { dataPoints: [{ count: '0' }] } },
              { name: 'e', exponentialHistogram: { dataPoints: [{ count: '0' }] } },
              { name: 's', summary: { dataPoints: [{ count: '0' }] } },
            ],
          },
        ],
      },
    ],
  });
  const uncompressed = writeRequest(1, {
    timeseries: [series('api', 2), series('db', 1), series('', 1), series('api', 1)],
  });
  const compressed = compressSnappy(uncompressed);
  const compressedMember = { length: compressed.length, size: uncompressed.length, records: 5 };
  await tables.land(
    [
      messageOf([points], { tenantId: 'signals', signal: 'metrics', members: [createMember(points, 5)] }),
      messageOf([compressed], {
        tenantId: 'signals',
        signal: 'metrics',
        format: 'remote-write-1',
        encoding: 'snappy',
        offset: 1,
        members: [{ ...createMember(compressed, 5), ...compressedMember }],
      }),
    ],
    { sink: 'metrics' },
  );
  const sizes = [series('api', 2), series('db', 1), series('', 1), series('api', 1)].map(
    (timeSeries) => writeRequest(1, { timeseries: [timeSeries] }).length,
  );
  const [apiTwoSamples = 0, db = 0, withoutJob = 0, apiOneSample = 0] = sizes;
  t.deepEqual(await readUsage('signals'), {
    [`${thisHour} traces accepted cart`]: [1, 2, spans.length, 2, spans.length],
    [`${thisHour} metrics accepted cart`]: [1, 5, points.length, 5, points.length],
    [`${thisHour} metrics accepted api`]: [1, 5, uncompressed.length, 3, apiTwoSamples + apiOneSample],
    [`${thisHour} metrics accepted db`]: [0, 0, 0, 1, db],
    [`${thisHour} metrics accepted`]: [0, 0, 0, 1, withoutJob],
  });
});

const malformedBody = Uint8Array.of(0x0a, 99, 1);
const createDeadLetter = (
  { headers, value, offset }: TestMessage,
  { group = 'sinks.logs', deadLetterOffset = 0 }: { group?: string; deadLetterOffset?: number } = {},
): TestMessage => {
  const [deadLetterMessage] = buildUnprocessable({
    group,
    topic: topics.logs.name,
    partition: 0,
    reason: 'malformed',
    message: 'm',
    receivedAtMs: 1,
    record: { offset, timestampMs: 1, key: 'k', value: Buffer.from(value), headers },
  });
  return { offset: deadLetterOffset, headers: deadLetterMessage?.headers ?? {}, value };
};
const deadLetters = { sink: 'dead-letters' } as const;

test('a message that no sink can land counts as accepted and once as dead-lettered, even if dead-lettered repeatedly', async (t) => {
  const malformedMessage = messageOf([malformedBody], {
    tenantId: 'poison',
    offset: 7,
    members: [createMember(malformedBody, 6)],
  });
  await tables.land([malformedMessage]);
  t.deepEqual(await readUsage('poison'), {}, 'the sink does not count it; its dead letter does');
  await tables.land(
    [
      createDeadLetter(malformedMessage, { deadLetterOffset: 1 }),
      createDeadLetter(malformedMessage, { deadLetterOffset: 2 }),
    ],
    deadLetters,
  );
  await tables.land(
    [
      createDeadLetter(malformedMessage, { deadLetterOffset: 2 }),
      createDeadLetter(malformedMessage, { group: 'log-patterns', deadLetterOffset: 3 }),
    ],
    deadLetters,
  );
  await tables.land(
    [createDeadLetter(malformedMessage, { group: 'processors.logs', deadLetterOffset: 4 })],
    deadLetters,
  );
  t.deepEqual(await readUsage('poison'), {
    [`${thisHour} logs accepted`]: [1, 6, 3, 0, 0],
    [`${thisHour} logs dead-lettered/malformed`]: [1, 6, 3, 0, 0],
  });
});

test('a dead letter of a sink under its former name counts for the sink', async (t) => {
  const poison = messageOf([malformedBody], {
    tenantId: 'former',
    offset: 17,
    members: [createMember(malformedBody, 6)],
  });
  await tables.land([createDeadLetter(poison, { group: 'logs', deadLetterOffset: 11 })], deadLetters);
  t.deepEqual(await readUsage('former'), {
    [`${thisHour} logs accepted`]: [1, 6, 3, 0, 0],
    [`${thisHour} logs dead-lettered/malformed`]: [1, 6, 3, 0, 0],
  });
});

test('a replayed dead letter is not accepted again, and lands or fails like the others', async (t) => {
  const body = createLogsBody([['cart', 2]]);
  const replay = messageOf([body], {
    tenantId: 'replay',
    offset: 8,
    onlyGroup: 'logs',
    members: [createMember(body, 2)],
  });
  const malformedReplay = messageOf([malformedBody], {
    tenantId: 'replay',
    offset: 9,
    onlyGroup: 'logs',
    members: [createMember(malformedBody, 3)],
  });
  await tables.land([replay]);
  await tables.land([createDeadLetter(malformedReplay)], deadLetters);
  t.deepEqual(await readUsage('replay'), {
    [`${thisHour} logs replayed cart`]: [1, 2, body.length, 2, body.length],
    [`${thisHour} logs replayed`]: [1, 3, 3, 0, 0],
    [`${thisHour} logs dead-lettered/malformed`]: [1, 3, 3, 0, 0],
  });
});

test('a message without readable headers counts as one request of its size', async (t) => {
  await tables.land(
    [createDeadLetter({ offset: 3, headers: { tenant: 'headless' }, value: malformedBody })],
    deadLetters,
  );
  t.deepEqual(await readUsage('headless'), {
    '1970-01-01 00:00:00  accepted': [1, 0, 3, 0, 0],
    '1970-01-01 00:00:00  dead-lettered/malformed': [1, 0, 3, 0, 0],
  });
});

const refusedDeadLetter: DeadLetterHeaders = {
  id: 'r1',
  tenantId: 'refused',
  projectId: 'shop',
  keyId: 'key',
  signal: 'logs',
  origin: 'otlp-http',
  kind: 'refused',
  reason: 'bad-utf8',
  message: 'm',
  position: 3,
  receivedAtMs,
  source: '192.0.2.1',
  contentType: '',
  contentEncoding: '',
  topic: '',
  partition: 0,
  offset: 0,
  originalHeaders: {},
  chunk: 0,
  chunks: 2,
  size: 1_000_000,
  cut: false,
};

test('a rejected body counts once with its size, regardless of its number of chunks', async (t) => {
  const messages = [0, 1].map((chunk) => ({
    offset: chunk,
    value: Buffer.alloc(0),
    headers: encodeDeadLetter({ ...refusedDeadLetter, chunk }),
  }));
  await tables.land(messages, deadLetters);
  t.deepEqual(await readUsage('refused'), { [`${thisHour} logs refused/bad-utf8`]: [1, 0, 1_000_000, 0, 0] });
});

test('a receiver report counts once', async (t) => {
  const row = { tenantId: 'report', projectId: 'shop', keyId: 'key', hour: receivedAtMs / hourMs };
  const report: UsageReport = {
    id: 'report-1',
    rows: [
      { ...row, hour: Math.floor(row.hour), signal: 'logs', reason: 'quota', requests: 2, records: 20, bytes: 200 },
      { ...row, hour: Math.floor(row.hour), signal: 'logs', reason: 'rate', requests: 5, records: 0, bytes: 0 },
    ],
  };
  const message = (id: string, offset: number): TestMessage => ({
    offset,
    headers: {},
    value: Buffer.from(JSON.stringify({ ...report, id })),
  });
  await tables.land([message('report-1', 1), message('report-1', 2), message('report-2', 3)], { sink: 'usage' });
  t.deepEqual(await readUsage('report'), {
    [`${thisHour} logs rejected/quota`]: [4, 40, 400, 0, 0],
    [`${thisHour} logs rejected/rate`]: [10, 0, 0, 0, 0],
  });
});

test('arrival order and repetition change nothing', async (t) => {
  const message = (tenantId: string, offset: number): TestMessage => {
    const body = createLogsBody([[`s${offset % 3}`, (offset % 5) + 1]]);
    const members: TelemetryHeaders['members'] = [
      createMember(body, (offset % 5) + 1, receivedAtMs + (offset % 2) * hourMs),
    ];
    return messageOf([body], { tenantId, offset, members });
  };
  const offsets = Array.from({ length: 60 }, (_, index) => index);
  await tables.land(offsets.map((offset) => message('straight', offset)));
  const shuffled = offsets.map((index) => (index * 37 + 11) % 60);
  for (const start of [0, 20, 40, 10])
    await tables.land(shuffled.slice(start, start + 30).map((offset) => message('shuffled', offset)));
  t.deepEqual(await readUsage('shuffled'), await readUsage('straight'));
  t.is(Object.keys(await readUsage('straight')).length, 6);
});
