/** One request queries a whole dashboard: each result equals that of its query alone, and panels fail independently. */
import test from 'ava';
import { openPromql } from '../../queries/promql/evaluation/threads.ts';
import type { QueryReader } from '../../queries/promql/query-reader.ts';
import { readTranslation } from '../../queries/promql/settings.ts';
import type { QueryRequest } from '../../queries/query.ts';
import type { Result } from '../../queries/result.ts';
import { run } from '../../queries/run.ts';
import { parseTime } from '../../queries/time.ts';
import { defaultPlans, type Plan } from '../../schemas/resources/plan.ts';
import { parseSettings } from '../../schemas/settings.ts';
import { type Answer, type Harness, startHarness, withRetries } from './api-harness.ts';

let harness: Harness;
const threads = openPromql({ size: 1 });
const endMs = Math.floor(Date.now() / 60_000) * 60_000 - 60_000;
const range = { from: String(endMs - 600_000), to: String(endMs) };

const insert = async (tenant: string): Promise<void> => {
  const at = `fromUnixTimestamp64Milli(toInt64(${endMs}), 'UTC')`;
  await harness.columns.execute(
    `INSERT INTO series (tenant_id, project_id, metric, series_id, kind, temporality, monotonic, unit, source, service, resource_id, attributes, attribute_types, first_seen, last_seen)
    SELECT '${tenant}', 'p1', concat('m', toString(number % 5)), number + 1, ['gauge', 'counter'][number % 2 + 1], 2, 1, '', 'prometheus', '', 7,
      map('job', concat('${tenant}-', toString(intDiv(number, 5) % 4)), 'zone', if(number % 3 = 0, 'x', 'y')), 'ss', ${at}, ${at} FROM numbers(40)`,
  );
  await harness.columns.execute(
    `INSERT INTO samples (tenant_id, project_id, received_at, partition, offset, metric, series_id, timestamp, value)
    SELECT '${tenant}', 'p1', ${at}, 0, 1, concat('m', toString(number % 40 % 5)), number % 40 + 1, ${at} - 15 * intDiv(number, 40), 1000 - intDiv(number, 40) + number % 7 FROM numbers(4000)`,
  );
  await harness.columns.execute(
    `INSERT INTO logs (tenant_id, project_id, received_at, partition, offset, ordinal, timestamp, observed_timestamp, service, severity_number, severity_text, body, body_type, attributes, attribute_types)
    SELECT '${tenant}', 'p1', ${at}, 0, 1, number, ${at} - number, ${at}, concat('${tenant}-', toString(number % 4)), number % 24, '', if(number % 4 = 0, 'payment failed', 'done'), 's', map('took', toString(number % 97)), 'i' FROM numbers(500)`,
  );
};

test.before(async () => {
  harness = withRetries(await startHarness());
  await insert('a');
  await insert('other');
});
test.after.always(async () => {
  await threads.close();
  await harness?.close();
});

type Fields = Record<string, unknown>;
type As = NonNullable<Parameters<Harness['request']>[2]>['as'];

const make = async (fields: Fields): Promise<string> => {
  const response = await harness.request('POST', '/api/dashboards', { as: 'editor', body: { name: 'one', ...fields } });
  if (response.status !== 200) throw new Error(JSON.stringify(response.body));
  return response.body.id;
};
const query = (id: string, body: Fields = {}, as: As = 'viewer'): Promise<Answer> =>
  harness.request('POST', `/api/dashboards/${id}/query`, { as, body: { ...range, ...body } });
const panel = (id: string, queries: Fields[], more: Fields = {}): Fields => ({
  id,
  title: id,
  visual: { kind: 'time-series' },
  queries,
  ...more,
});
const promql = (expression: string): Fields => ({ kind: 'promql', expression });
const one = (expression: string, more: Fields = {}): Fields => ({ name: 'A', query: promql(expression), ...more });
const logs = (input: Fields): Fields => ({
  kind: 'aggregate',
  signal: 'logs',
  measures: [{ function: 'count' }],
  ...input,
});

const reader = (): QueryReader => ({
  columns: harness.columns.forTenant('a'),
  plan: defaultPlans['enterprise'] as Plan,
  nowMs: Date.now(),
  promql: { threads, translation: readTranslation(parseSettings({})) },
});
/** The result of a query alone, over the range and step of the given result. */
const alone = async (queryDocument: Fields, { from, to, stepMs }: Result): Promise<Result> =>
  run(queryDocument as QueryRequest, reader(), {
    range: { from: parseTime(from, 0) as bigint, to: parseTime(to, 0) as bigint },
    ...(stepMs === null ? {} : { stepMs }),
  });
const withoutCost = ({ cost: _, ...result }: Result): Omit<Result, 'cost'> => result;

const many: readonly Fields[] = [
  ...['m0', 'sum by (job) (rate(m1[2m]))', 'm2 > 1000', 'avg_over_time(m4{zone="x"}[3m]) or m2'].map(promql),
  ...['quantile(0.9, m2 offset 1m)', 'vector(1)', 'nobody', '{__name__=~"m[02]"}', 'm0 - m0 offset 5m'].map(promql),
  ...['max_over_time(rate(m1[2m])[4m:30s])', 'sort_desc(m2)', 'count_values("v", m0)', 'time()'].map(promql),
  ...[[], ['service']].flatMap((groupBy) => [
    logs({ groupBy }),
    logs({ groupBy, search: 'payment', measures: [{ function: 'percentile', field: 'took', percentile: 95 }] }),
    logs({ groupBy, search: 'nothing' }),
  ]),
  ...['last', 'avg', 'max', 'count'].map((overTime) => ({
    kind: 'metric',
    metric: 'm0',
    overTime,
    across: 'max',
    groupBy: ['job'],
  })),
  { kind: 'metric', metric: 'missing', overTime: 'last' },
  { kind: 'rows', signal: 'logs', search: 'payment', fields: ['timestamp', 'body', 'service'], limit: 7 },
];

for (const responses of ['series', 'table'])
  test(`each result equals the result of its query alone, as ${responses}`, async (t) => {
    const id = await make({
      panels: many.map((each, at) => panel(`p${at}`, [{ name: 'A', query: each, answers: responses }])),
    });
    const { status, body } = await query(id, { maxPoints: 50 });
    t.is(status, 200, JSON.stringify(body));
    t.is(body.items.length, many.length);
    for (const [at, item] of body.items.entries()) {
      t.is(item.panelId, `p${at}`);
      t.is(item.error, null, JSON.stringify(many[at]));
      t.deepEqual(
        withoutCost(item.results.A),
        withoutCost(await alone(many[at] as Fields, item.results.A)),
        JSON.stringify(many[at]),
      );
      for (const { points } of item.results.A.series) t.true(points.length <= 50);
    }
    t.true(body.cost.rowsRead > 0);
  });

test('equal queries run once, and compatible queries run together', async (t) => {
  const panels = (count: number): Fields[] =>
    Array.from({ length: count }, (_, at) => panel(`p${at}`, [one(at % 2 === 0 ? 'm0' : `sum(m${at % 5})`)]));
  const few = (await query(await make({ panels: panels(2) }))).body;
  const much = (await query(await make({ panels: panels(40) }))).body;
  t.true(much.cost.rowsRead < 4 * few.cost.rowsRead, `${few.cost.rowsRead} ${much.cost.rowsRead}`);
});

test('a panel that fails does not affect others, and names the failed part', async (t) => {
  const id = await make({
    panels: [
      panel('good', [one('m0')]),
      panel('bad', [one('sum(m0'), { name: 'B', query: promql('m2') }]),
      panel('gone', [{ name: 'A', query: promql('m0') }], { formulas: [{ name: 'F', expression: '$nothing *' }] }),
    ],
  });
  const { status, body } = await query(id);
  t.is(status, 200);
  const [good, bad, invalid] = body.items;
  t.is(good.error, null);
  t.true(good.results.A.series.length > 0);
  t.is(bad.error.code, 'VALIDATION_FAILED');
  t.is(bad.error.path, 'queries.A');
  t.deepEqual(Object.keys(bad.results), ['B']);
  t.is(invalid.error.path, 'formulas.F');
  t.deepEqual(Object.keys(invalid.results), ['A']);
});

test('formulas, hidden queries, comparisons and transformations return results', async (t) => {
  const id = await make({
    panels: [
      panel('share', [one('sum(m0)', { hidden: true }), { name: 'B', query: promql('sum(m2)') }], {
        formulas: [{ name: 'F', expression: '100 * A / B' }],
        time: { compareWith: '5m', shift: '1m', range: '2m' },
      }),
      panel('reduced', [one('m0')], { transformations: [{ kind: 'reduce', reducers: ['max'] }] }),
      panel('two', [one('sum(m0)'), { name: 'B', query: promql('sum(m2)'), minStep: '1m' }]),
    ],
  });
  const { status, body } = await query(id);
  t.is(status, 200, JSON.stringify(body));
  const [share, reduced, two] = body.items;
  t.deepEqual([share.error, reduced.error, two.error], [null, null, null]);
  t.deepEqual(Object.keys(share.results).sort(), ['B', 'F']);
  t.deepEqual(Object.keys(share.earlier).sort(), ['B', 'F']);
  const ms = (text: string): number => Number((parseTime(text, 0) as bigint) / 1_000_000n);
  t.deepEqual([ms(share.results.B.from), ms(share.results.B.to)], [endMs - 180_000, endMs - 60_000]);
  t.is(ms(share.earlier.B.from), endMs - 480_000);
  t.true(share.results.F.series[0].points.length > 0);
  t.true(reduced.table.rows.length > 0);
  t.is(two.results.B.stepMs, 60_000);
  t.true(two.results.A.stepMs < 60_000);
});

test('the minimum step of a query determines rate intervals, and that of a panel or a factor does not, as in Grafana', async (t) => {
  const stepExpression = 'vector($__interval_ms) * 1e7 + vector($__rate_interval_ms)';
  const id = await make({
    variables: [{ kind: 'interval', name: 'step', options: ['2m'] }],
    panels: [
      panel('plain', [one(stepExpression)]),
      panel('of-panel', [one(stepExpression)], { minStep: '1m' }),
      panel('of-query', [one(stepExpression, { minStep: '1m' })]),
      panel('of-both', [one(stepExpression, { minStep: '$step' })], { minStep: '5m' }),
      panel('of-rates', [one(stepExpression, { minStep: '$__rate_interval' })]),
      panel('of-steps', [one(stepExpression, { minStep: '$__interval' })]),
      panel('of-factor', [one(stepExpression, { minStep: '1m', stepFactor: 2 })]),
      panel('of-rates-and-factor', [one(stepExpression, { minStep: '$__rate_interval', stepFactor: 2 })]),
      panel('wrong', [one(stepExpression)], { minStep: '$nothing' }),
    ],
  });
  const { items } = (await query(id, { step: '30s' })).body;
  const seconds = items.slice(0, -1).map(({ panelId, stepMs, results }: Answer['body']) => {
    const value = results.A.series[0].points[0][1];
    return [panelId, stepMs / 1000, results.A.stepMs / 1000, Math.floor(value / 1e10), (value % 1e7) / 1000];
  });
  t.deepEqual(seconds, [
    ['plain', 30, 30, 30, 60],
    ['of-panel', 60, 60, 60, 75],
    ['of-query', 30, 60, 60, 240],
    ['of-both', 300, 300, 300, 480],
    ['of-rates', 30, 60, 60, 60],
    ['of-steps', 30, 30, 30, 120],
    ['of-factor', 30, 120, 120, 240],
    ['of-rates-and-factor', 30, 60, 60, 60],
  ]);
  t.like(items.at(-1).error, { code: 'VALIDATION_FAILED', message: '$nothing is not a step such as 30s' });
});

test('a panel is repeated for each value of a variable, at most a hundred times', async (t) => {
  const variables = [
    { kind: 'label-values', name: 'job', label: 'job', match: 'm0', several: true, all: {}, order: { by: 'text' } },
    { kind: 'list', name: 'many', options: Array.from({ length: 150 }, (_, at) => ({ value: `v${at}` })), all: {} },
    { kind: 'label-values', name: 'unused', label: 'zone' },
  ];
  const id = await make({
    variables,
    sections: [{ id: 's', repeat: { variable: 'job' } }],
    panels: [
      panel('each', [one('sum(m0{job=~"$job"})')], { title: 'Of $job', repeat: { variable: 'job' } }),
      panel('all', [one('count(m0{job=~"$job"})')]),
      { id: 'wide', title: '$many', visual: { kind: 'text' }, repeat: { variable: 'many' } },
      { id: 'within', visual: { kind: 'text' }, place: { section: 's' }, repeat: { variable: 'many', max: 2 } },
    ],
  });
  const { body } = await query(id);
  const of = (name: string) => body.items.filter((item: { panelId: string }) => item.panelId === name);
  t.deepEqual(
    of('each').map((item: { title: string; repeat: object }) => [item.title, item.repeat]),
    ['a-0', 'a-1', 'a-2', 'a-3'].map((job) => [`Of ${job}`, { job }]),
  );
  for (const { results, repeat } of of('each'))
    t.deepEqual(withoutCost(results.A), withoutCost(await alone(promql(`sum(m0{job=~"${repeat.job}"})`), results.A)));
  const all = of('all')[0].results.A;
  t.deepEqual(all.series[0].points, (await alone(promql('count(m0)'), all)).series[0]?.points);
  t.is(of('wide').length, 100);
  t.true(of('wide')[0].partial[0].message.includes('100'));
  t.is(of('within').length, 8);
  const only = (await query(id, { panels: ['all'], variables: { job: 'a-1' } })).body;
  t.deepEqual(
    only.items.map((item: { panelId: string }) => item.panelId),
    ['all'],
  );
  const chosen = only.items[0].results.A;
  t.deepEqual(chosen.series[0].points, (await alone(promql('count(m0{job="a-1"})'), chosen)).series[0]?.points);
  t.deepEqual(
    only.variables.map(({ name }: { name: string }) => name),
    ['job'],
  );
  t.is((await query(id, { panels: ['missing'] })).status, 400);
});

const hostile = [
  '"} or m1{job=~"',
  'a-1"',
  '\\',
  '.*',
  'x|.*',
  '$job',
  "'",
  '`',
  '\n',
  '])) or vector(1',
  'a OR *',
  ')',
  'service:a-1',
];
test('a value never changes the structure of a query, whatever it contains', async (t) => {
  const id = await make({
    variables: [
      { kind: 'text', name: 'v' },
      { kind: 'list', name: 'l', options: [], several: true },
    ],
    panels: [
      panel('exact', [one('count(m0{job="$v"}) or vector(0)')]),
      panel('listed', [one('count(m0{job=~"$l"}) or vector(0)')]),
      panel('search', [{ name: 'A', query: logs({ search: 'service:$v' }), answers: 'table' }]),
    ],
  });
  for (const value of hostile) {
    const { status, body } = await query(id, { variables: { v: value, l: [value, 'none'] } });
    t.is(status, 200, value);
    const [exact, listed, search] = body.items;
    for (const item of [exact, listed])
      if (item.error === null)
        t.true(
          item.results.A.series.every(({ points }: { points: [number, number][] }) =>
            points.every(([, at]) => at === 0),
          ),
          value,
        );
    if (search.error === null) t.is(search.results.A.rows[0][0], 0, value);
  }
});

test('lines arrive as panels complete, and equal the single response', async (t) => {
  const id = await make({ panels: many.map((each, at) => panel(`p${at}`, [{ name: 'A', query: each }])) });
  const response = await harness.request('POST', `/api/dashboards/${id}/query`, {
    as: 'viewer',
    body: range,
    headers: { accept: 'application/x-ndjson' },
  });
  t.true(response.headers.get('content-type')?.startsWith('application/x-ndjson'));
  const lines = String(response.body)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  t.true('variables' in lines[0]);
  t.true('cost' in lines.at(-1));
  const items = lines.slice(1, -1);
  const plain = (await query(id)).body.items;
  const bare = (item: { panelId: string; results: { A: Result } }) => [item.panelId, withoutCost(item.results.A)];
  t.deepEqual(items.map(bare).sort(), plain.map(bare).sort());
  const refused = await harness.request('POST', `/api/dashboards/${id}/query`, {
    as: 'viewer',
    body: { from: 'now', to: 'now-1h' },
    headers: { accept: 'application/x-ndjson' },
  });
  t.is(refused.status, 400);
});

test('annotations come from events, records and PromQL', async (t) => {
  const id = await make({
    annotations: [
      { name: 'changes', source: { kind: 'events', kinds: ['config'] } },
      {
        name: 'failures',
        source: { kind: 'records', signal: 'logs', search: 'payment', title: '{{service}}!', tags: ['service'] },
      },
      { name: 'high', source: { kind: 'promql', expression: 'm0{zone="x"} > bool 0', title: '{{job}}' } },
      { name: 'off', enabled: false, source: { kind: 'events' } },
      { name: 'wrong', source: { kind: 'promql', expression: 'sum(' } },
    ],
  });
  const { body } = await query(id, { to: 'now' });
  const [changes, failures, high, wrong] = body.annotations.toSorted((l: { name: string }, r: { name: string }) =>
    l.name < r.name ? -1 : 1,
  );
  t.true(changes.marks.some(({ title }: { title: string }) => title.startsWith('dashboard.create')));
  t.is(failures.marks.length, 125);
  t.regex(failures.marks[0].title, /^a-\d!$/);
  t.true(high.marks.length > 0);
  t.not(high.marks[0].until, null);
  t.is(wrong.error.code, 'VALIDATION_FAILED');
});

test('a draft is queried instead of the stored dashboard, variables in a cycle fail alone, and another organization’s dashboard is not found', async (t) => {
  const id = await make({});
  const { body } = await query(id, { draft: { name: 'draft', panels: [panel('new', [one('vector(3)')])] } });
  t.is(body.items[0].results.A.series[0].points[0][1], 3);
  const stranger = await harness.signIn('viewer@b.example');
  t.is((await query(id, {}, `token ${stranger}`)).status, 404);
  const circle = { kind: 'label-values', label: 'job' };
  const draft = {
    name: 'circle',
    variables: [
      { ...circle, name: 'x', match: 'm0{job="$y"}' },
      { ...circle, name: 'y', match: 'm0{job="$x"}' },
    ],
  };
  const { status, body: resolved } = await query(id, { draft });
  t.is(status, 200);
  t.deepEqual(
    resolved.variables.map(({ error }: { error: { message: string } }) => error.message),
    ['uses itself: x → y → x', 'uses itself: y → x → y'],
  );
});
