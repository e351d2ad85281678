/** Scores and forecasts of points in the request, and of stored telemetry. */
import test from 'ava';
import { scoreSeries } from '../../subjects/anomalies/scores/scorer.ts';
import { day, seriesOf, stepMs } from '../bench/anomaly-series.ts';
import { type Answer, type Harness, startHarness } from './api-harness.ts';

let harness: Harness;
const hourMs = 3_600_000;
const endMs = Math.floor(Date.now() / stepMs) * stepMs;
const steps = 3 * day;

/** Three days of logs of two services with ten records per step; one has 400 in the last hour. */
const insert = async (tenant: string): Promise<void> => {
  const at = `fromUnixTimestamp64Milli(toInt64(${endMs}), 'UTC')`;
  const rows = (first: number, count: number, time: string, service: string): Promise<void> =>
    harness.columns.execute(
      `INSERT INTO logs (tenant_id, project_id, received_at, partition, offset, ordinal, timestamp, observed_timestamp, service, severity_number, severity_text, body, body_type, attributes, attribute_types)
      SELECT '${tenant}', 'p1', ${at}, 0, ${first}, number, ${time}, ${at}, ${service}, 9, '', 'done', 's', map(), '' FROM numbers(${count})`,
    );
  await rows(
    1,
    steps * 10,
    `${at} - toIntervalMillisecond(${stepMs / 10} * (number + 1))`,
    `'${tenant}-' || toString(number % 2)`,
  );
  await rows(2, 400, `${at} - toIntervalMillisecond(${hourMs} - toInt64(number))`, `'${tenant}-0'`);
};

test.before(async () => {
  harness = await startHarness({ now: () => endMs });
  await insert('a');
  await insert('b');
});
test.after.always(() => harness?.close());

const analyze = (
  path: 'detect' | 'forecast',
  body: object,
  as: 'viewer' | `token ${string}` = 'viewer',
): Promise<Answer> => harness.request('POST', `/api/ai/${path}`, { as, body });
const create = (
  length: number,
  value: (index: number) => number | null,
  spacingMs = hourMs,
): [number, number | null][] => Array.from({ length }, (_, index) => [index * spacingMs, value(index)]);
const counts = { kind: 'aggregate', signal: 'logs', measures: [{ function: 'count' }], groupBy: ['service'] };

test('points are scored bit by bit like in the scorer, and anomalies are reported as episodes', async (t) => {
  const { values } = seriesOf('cpu', 3, 7 * day);
  const points = Array.from(values, (value, i): [number, number] => [i * stepMs, i === 1800 ? 5 : value]);
  const { status, body } = await analyze('detect', {
    series: [{ labels: { host: 'one' }, points }],
    falseAlarmsPerWeek: 0.5,
  });
  t.is(status, 200, JSON.stringify(body));
  const { scored } = scoreSeries(points, { falseAlarmsPerWeek: 0.5 });
  const [series] = body.series;
  t.deepEqual(
    series.points,
    scored.map((one) => [one.timeMs, one.score, one.expected, one.low, one.high, one.isAnomalous]),
  );
  t.deepEqual(series.labels, { host: 'one' });
  t.false(series.isLearning);
  const last = series.anomalies.find(({ from }: { from: number }) => from === 1800 * stepMs);
  t.is(last?.sign, 'up');
  t.true(last?.score > 0.99);
  t.true(last?.to > last?.from);
});

test('the false alarm rate applies to all series together', async (t) => {
  const points = create(300, (i) => (i * 7919) % 13);
  const high = async (count: number): Promise<number> => {
    const series = Array.from({ length: count }, () => ({ points }));
    return (await analyze('detect', { series })).body.series[0].points.at(-1)[4];
  };
  t.true((await high(10)) > (await high(1)));
});

test('each group of a query is a series, and a simultaneous change in one service is found in that service alone', async (t) => {
  const detection = { query: counts, from: String(endMs - 3 * day * stepMs), to: String(endMs), step: '5m' };
  const { status, body } = await analyze('detect', detection);
  t.is(status, 200, JSON.stringify(body));
  const found = body.series.map(
    ({ labels, anomalies }: { labels: { service: string }; anomalies: { from: number }[] }) => [
      labels.service,
      anomalies.map(({ from }) => from),
    ],
  );
  t.deepEqual(found.toSorted(), [
    ['a-0', [endMs - hourMs]],
    ['a-1', []],
  ]);
  t.deepEqual(body.partial, []);
});

test('a forecast of a query continues its seasonality, within prediction intervals', async (t) => {
  const forecastRequest = {
    query: { ...counts, groupBy: [] },
    from: String(endMs - 2 * day * stepMs),
    to: String(endMs - 2 * hourMs),
    step: '1h',
  };
  const { status, body } = await analyze('forecast', { ...forecastRequest, horizon: '6h', levels: [0.9] });
  t.is(status, 200, JSON.stringify(body));
  const [series] = body.series;
  t.is(series.points.length, 6);
  t.is(series.points[1][0] - series.points[0][0], hourMs);
  for (const [, value, [[low, high]]] of series.points) {
    t.true(Math.abs(value - 120) < 12, String(value));
    t.true(low <= value && value <= high);
  }
});

test('a forecast states when a limit is crossed, or why not', async (t) => {
  const line = { points: create(200, (hour) => 10 + hour + ((hour * 7919) % 5)) };
  const above = await analyze('forecast', { series: [line], horizon: 100, until: { above: 260 } });
  const [{ until }] = above.body.series;
  const expected = 248 * hourMs;
  t.true(Math.abs(Date.parse(until.at) - expected) <= 6 * hourMs, JSON.stringify(until));
  t.true(Date.parse(until.low) <= Date.parse(until.at));
  t.true(until.probability > 0.9);
  const below = await analyze('forecast', { series: [line], horizon: 10, until: { below: -5 } });
  t.is(below.body.series[0].until.at, null);
  t.regex(below.body.series[0].until.reason, /not likely to be below -5 within 10 steps/);
});

test('too few values allow no forecast, and the response has the reason', async (t) => {
  const { status, body } = await analyze('forecast', { series: [{ points: create(1, () => 1) }], until: { above: 5 } });
  t.is(status, 200);
  t.deepEqual(body.series[0].points, []);
  t.regex(body.series[0].reason, /too few/);
  t.is(body.series[0].until.reason, body.series[0].reason);
});

test('forecasts of all kinds of points are finite', async (t) => {
  const cases: Record<string, [number, number | null][]> = {
    huge: create(200, (i) => 1e300 * (1 + (i % 24))),
    constant: create(200, () => 3),
    'with holes': create(200, (i) => (i % 3 === 0 ? null : i % 24)),
    'a gap of a month': [
      ...create(100, (i) => i % 24),
      ...create(100, (i) => i % 24).map(([ms, value]): [number, number | null] => [ms + 800 * hourMs, value]),
    ],
    'nothing at all': create(50, () => null),
  };
  for (const [name, points] of Object.entries(cases)) {
    const { status, body } = await analyze('forecast', { series: [{ points }], horizon: 24 });
    t.is(status, 200, `${name}: ${JSON.stringify(body)}`);
    const finite = body.series[0].points.every(([, value, intervals]: [number, number, number[][]]) =>
      [value, ...intervals.flat()].every(Number.isFinite),
    );
    t.true(finite, name);
    t.is((await analyze('detect', { series: [{ points }] })).status, 200, name);
  }
});

const good = {
  points: [
    [0, 1],
    [1, 2],
  ],
};
const bad: readonly [title: string, body: object, path: string][] = [
  [
    'points out of order',
    {
      series: [
        good,
        {
          points: [
            [5, 1],
            [4, 2],
          ],
        },
      ],
    },
    'series.1.points.1.0',
  ],
  [
    'a point twice',
    {
      series: [
        {
          points: [
            [5, 1],
            [5, 2],
          ],
        },
      ],
    },
    'series.0.points.1.0',
  ],
  ['a value that is a text', { series: [{ points: [[5, 'NaN']] }] }, 'series.0.points.0.1'],
  ['a time that is no whole number', { series: [{ points: [[5.5, 1]] }] }, 'series.0.points.0.0'],
  ['no points', { series: [{ points: [] }] }, 'series.0.points'],
  ['neither series nor a query', {}, 'series'],
  ['both', { series: [good], query: counts }, 'series'],
  ['too many points', { series: [{ points: create(30_000, () => 1) }, { points: create(30_000, () => 1) }] }, 'series'],
  ['a table', { query: { kind: 'rows', signal: 'logs' } }, 'step'],
  ['an unknown signal', { query: { ...counts, signal: 'smells' } }, 'query.signal'],
  ['a range that ends before it begins', { query: counts, from: 'now', to: 'now-1h' }, 'from'],
];
for (const [title, body, path] of bad)
  test(`${title} is refused with its path`, async (t) => {
    for (const operation of ['detect', 'forecast'] as const) {
      const answer = await analyze(operation, body);
      t.is(answer.status, 400, JSON.stringify(answer.body));
      t.is(answer.body.details[0].path, path, JSON.stringify(answer.body));
    }
  });

test('50,000 points are scored, and one more is refused', async (t) => {
  const points = create(50_000, (i) => i % 100, 60_000);
  const { status, body } = await analyze('detect', { series: [{ points }] });
  t.is(status, 200, JSON.stringify(body).slice(0, 200));
  t.is(body.series[0].points.length, 50_000);
  t.is((await analyze('detect', { series: [{ points: create(50_001, () => 1) }] })).status, 400);
});

test('a horizon of too many steps is refused with its path', async (t) => {
  const answer = await analyze('forecast', { series: [{ points: create(50, () => 1) }], horizon: '90d' });
  t.is(answer.status, 400);
  t.is(answer.body.details[0].path, 'horizon');
});

test('a plan without the entitlement, and one without the signal, get errors that name what is missing', async (t) => {
  const token = `token ${await harness.signIn('viewer@b.example')}` as const;
  for (const operation of ['detect', 'forecast'] as const) {
    const answer = await analyze(operation, { series: [good] }, token);
    t.is(answer.status, 403);
    t.is(answer.body.error, 'UPGRADE_REQUIRED');
  }
});
