/**
 * How panels of the page group values into buckets, bars and intervals, which alerts and records they list, and their
 * links.
 */
import test from 'ava';
import {
  groupAlerts,
  parseMatchers,
  selectAlerts,
  toStateFilter,
} from '../../web/areas/dashboards/panels/alerts-shown.ts';
import { computeBarGroups } from '../../web/areas/dashboards/panels/bar-groups.ts';
import {
  type BucketSeries,
  buildStateIntervals,
  computeHistogram,
  heatmapFromBuckets,
  heatmapFromValues,
} from '../../web/areas/dashboards/panels/buckets.ts';
import { resolveLinkTitle, resolveLinkUrl } from '../../web/areas/dashboards/panels/field-links.ts';
import { removeDuplicates } from '../../web/areas/dashboards/panels/log-duplicates.ts';

const bucket = (le: string, values: readonly (number | null)[]): BucketSeries => ({
  name: 'b',
  labels: { le },
  points: values.map((value, at) => [at * 10, value]),
});

test('Prometheus buckets are sorted, and each excludes the buckets below it', (t) => {
  const heat = heatmapFromBuckets([bucket('+Inf', [10, 4]), bucket('0.5', [3, 1]), bucket('10', [7, null])]);
  t.deepEqual(heat, {
    steps: [0, 10],
    rows: [
      { name: '0.5', counts: [3, 1] },
      { name: '10', counts: [4, 0] },
      { name: '+Inf', counts: [3, 4] },
    ],
  });
});

test('series that are not Prometheus buckets are rows, unchanged', (t) => {
  const plain = (name: string, value: number): BucketSeries => ({ name, labels: {}, points: [[0, value]] });
  t.deepEqual(heatmapFromBuckets([plain('slow', 5), plain('fast', 9)]).rows, [
    { name: 'slow', counts: [5] },
    { name: 'fast', counts: [9] },
  ]);
});

test('a heatmap of values counts them per bucket and column, and ignores values that are not numbers', (t) => {
  const points = Array.from({ length: 1_000 }, (_, at): [number, unknown] => [at, at % 10]);
  const { steps, rows } = heatmapFromValues([{ name: 'a', labels: {}, points: [...points, [5, 'NaN'], [6, null]] }]);
  t.is(steps.length, 120);
  t.is(
    rows.flatMap(({ counts }) => counts).reduce((sum, count) => sum + count, 0),
    1_000,
  );
  t.deepEqual(rows.at(-1)?.name, '9');
  t.deepEqual(heatmapFromValues([]), { steps: [], rows: [] });
});

const histograms: readonly (readonly [
  title: string,
  values: readonly unknown[],
  settings: object,
  starts: readonly number[],
  counts: readonly number[],
])[] = [
  ['of a requested size', [0, 1, 2.5, 9.9], { bucketSize: 5 }, [0, 5], [3, 1]],
  ['from an offset', [1, 4, 6], { bucketSize: 5, bucketOffset: 1 }, [1, 6], [2, 1]],
  [
    'of a round size if only their number is requested',
    [0, 10],
    { bucketCount: 5 },
    [0, 2, 4, 6, 8, 10],
    [1, 0, 0, 0, 0, 1],
  ],
  ['one, where all values are the same', [7, 7], { bucketCount: 3 }, [7], [2]],
];
for (const [title, values, settings, starts, counts] of histograms)
  test(`a histogram has buckets ${title}`, (t) => {
    const found = computeHistogram([{ name: 'a', values }], settings);
    t.deepEqual(found?.series, [{ name: 'a', counts: [...counts] }]);
    if (title.startsWith('one')) t.is(found?.starts.length, 1);
    else t.deepEqual(found?.starts, [...starts]);
  });

test('a bucket size that is too small gives no more buckets than can be drawn', (t) => {
  const found = computeHistogram([{ name: 'a', values: [0, 1e9] }], { bucketSize: 0.001 });
  t.true((found?.starts.length ?? 0) <= 201);
  t.is(computeHistogram([{ name: 'a', values: ['x', null] }], {}), undefined);
});

test('consecutive equal states form one interval, and the last lasts for the typical interval between states', (t) => {
  const points: [number, unknown][] = [
    [0, 'up'],
    [10, 'up'],
    [20, 'down'],
    [30, 'up'],
  ];
  t.deepEqual(buildStateIntervals(points, { to: 100, shouldMerge: true }), [
    { from: 0, to: 20, value: 'up' },
    { from: 20, to: 30, value: 'down' },
    { from: 30, to: 40, value: 'up' },
  ]);
  t.is(buildStateIntervals(points, { to: 100, shouldMerge: false }).length, 4);
  t.is(buildStateIntervals(points, { to: 33, shouldMerge: true }).at(-1)?.to, 33);
});

const alerts = [
  { ruleName: 'Slow', severity: 'warning', since: '2026-01-01T00:00:00Z', labels: { team: 'core', zone: 'a' } },
  { ruleName: 'Broken', severity: 'critical', since: '2026-01-02T00:00:00Z', labels: { team: 'web', zone: 'a' } },
  { ruleName: 'Full', severity: null, since: null, labels: { team: 'core' } },
].map((alert, index) => ({ ...alert, ruleId: `${index}` })) as never;

for (const [shown, names] of [
  [{}, ['Broken', 'Slow', 'Full']],
  [{ order: 'name' }, ['Broken', 'Full', 'Slow']],
  [{ order: 'name-descending' }, ['Slow', 'Full', 'Broken']],
  [{ order: 'oldest' }, ['Full', 'Slow', 'Broken']],
  [{ severities: ['warning', 'critical'] }, ['Broken', 'Slow']],
  [{ search: 'SLO' }, ['Slow']],
  [{ rules: ['2'] }, ['Full']],
  [{ labels: '{team="core", zone!="a"}' }, ['Full']],
  [{ labels: 'team=~"c.*"' }, ['Slow', 'Full']],
  [{ labels: '{team!~"c.*|x",}' }, ['Broken']],
  [{ labels: '{team=core}' }, undefined],
] as const)
  test(`a panel of ${JSON.stringify(shown)} lists ${names ?? 'nothing, and reports that it cannot be read'}`, (t) => {
    t.deepEqual(
      selectAlerts(alerts, shown as never)?.map(({ ruleName }) => ruleName),
      names as never,
    );
  });

test('alerts are requested by API states, and grouped by their labels', (t) => {
  t.is(toStateFilter({}), 'firing');
  t.is(toStateFilter({ states: ['firing', 'no-data', 'error', 'resolved'] }), 'firing,unknown,inactive');
  t.deepEqual(
    groupAlerts(alerts, ['team']).map(([name, own]) => [name, own.length]),
    [
      ['team=core', 2],
      ['team=web', 1],
    ],
  );
  t.deepEqual(parseMatchers('{a="\\"b"}'), [{ name: 'a', operator: '=', value: '"b' }]);
});

for (const [stacking, maxValue, shares] of [
  [
    'none',
    8,
    [
      [0.25, 0],
      [1, 0.5],
    ],
  ],
  [
    'normal',
    12,
    [
      [2 / 12, 0],
      [8 / 12, 4 / 12],
    ],
  ],
  [
    'percent',
    100,
    [
      [1, 0],
      [8 / 12, 4 / 12],
    ],
  ],
] as const)
  test(`bars that are stacked as ${stacking} reach up to ${maxValue}`, (t) => {
    const columns = [
      [2, 8],
      [-1, '4'],
    ];
    t.deepEqual(computeBarGroups(columns, { rowCount: 2, stacking }), { maxValue, shares } as never);
  });

test('consecutive log records that are equal are shown once, and equal ones further apart remain', (t) => {
  const bodies = ['took 5 ms', 'took 5 ms', 'took 12 ms', 'done: a', 'done: b', 'took 5 ms'];
  const records = bodies.map((body) => ({ body, level: 'info' }));
  const shown = (mode: unknown) => removeDuplicates(records, mode).map(({ body }) => body);
  t.deepEqual(shown('none'), bodies);
  t.deepEqual(shown('exact'), ['took 5 ms', 'took 12 ms', 'done: a', 'done: b', 'took 5 ms']);
  t.deepEqual(shown('numbers'), ['took 5 ms', 'done: a', 'done: b', 'took 5 ms']);
  t.deepEqual(shown('signature'), ['took 5 ms', 'done: a', 'took 5 ms']);
  t.is(removeDuplicates([...records.slice(0, 1), { body: 'took 5 ms', level: 'error' }], 'exact').length, 2);
});

test('a link of a field has the encoded values of its row, and keeps placeholders without a value', (t) => {
  const values = { text: '5 s', raw: '5', seriesName: 'a/b', fields: { pod: 'x&y', 'k8s.pod': 'p 1' } };
  for (const [url, resolved] of [
    [`/logs?search=\${__data.fields.pod}`, '/logs?search=x%26y'],
    [`/logs?search=\${__data.fields["k8s.pod"]}`, '/logs?search=p%201'],
    [`/logs?search=\${__data.fields.k8s.pod}`, '/logs?search=p%201'],
    [`/d/\${__value.raw}/\${__value.text:percentencode}`, '/d/5/5%20s'],
    [`/d/\${__series.name}`, '/d/a%2Fb'],
    [`/d/\${__data.fields.constructor}/\${__org.name}`, `/d/\${__data.fields.constructor}/\${__org.name}`],
  ] as const)
    t.is(resolveLinkUrl(url, values), resolved);
  t.is(resolveLinkTitle(`Logs of \${__data.fields.pod}`, values), 'Logs of x&y');
});
