/**
 * OpenSLO import and export: documents from other tools, errors with their line, and exports that are imported
 * unchanged.
 */
import '../../../subjects/query-kinds.ts';
import test from 'ava';
import fc from 'fast-check';
import { createAlertRules } from '../../../subjects/slos/alert-rules.ts';
import { SloFields } from '../../../subjects/slos/document.ts';
import { readOpenSlo as readResult } from '../../../subjects/slos/openslo/read.ts';
import { writeOpenSlo } from '../../../subjects/slos/openslo/write.ts';
import { findSloProblems } from '../../../subjects/slos/problems.ts';

const readOpenSlo = (text: string) => {
  const { slos, rejected } = readResult(text);
  const problems = new Map(
    rejected.flatMap((one) => one.problems.map((problem) => [JSON.stringify(problem), problem])),
  );
  return { slos, refused: rejected, problems: [...problems.values()] };
};

const v1 = (
  more: { window?: string; metric?: string; objective?: string; counter?: boolean } = {},
): string => `apiVersion: openslo/v1
kind: SLO
metadata:
  name: search
  displayName: Search answers
  labels: { env: [prod], team: [a, b] }
spec:
  service: web
  indicator:
    metadata: { name: ratio }
    spec:
      ratioMetric:
        counter: ${more.counter ?? true}
        good:
          metricSource: { type: Prometheus, spec: { query: 'sum(${more.metric ?? 'http_requests{code=~"2.."}'})' } }
        total:
          metricSource: { type: Prometheus, spec: { query: 'sum(http_requests)' } }
  timeWindow:
    - ${more.window ?? '{ duration: 4w, isRolling: true }'}
  budgetingMethod: Timeslices
  objectives:
    - { ${more.objective ?? 'target: 0.995'}, timeSliceTarget: 0.95, timeSliceWindow: 5m }
`;

test('a counter is its increase over a slice, and ratios become percentages exactly', (t) => {
  const { slos, problems } = readOpenSlo(v1({ objective: 'target: 0.9995' }));
  t.deepEqual(problems, []);
  t.like(slos[0]?.slo, {
    name: 'Search answers',
    service: 'web',
    targetPct: 99.95,
    windowDays: 28,
    type: 'ratio',
    query: {
      budgeting: 'timeslices',
      slice: '5m',
      sliceTarget: 0.95,
      alerting: { labels: { env: 'prod', team: 'a,b' } },
      sli: {
        good: { kind: 'promql', expression: 'sum(increase(http_requests{code=~"2.."}[5m]))' },
        total: { kind: 'promql', expression: 'sum(increase(http_requests[5m]))' },
      },
    },
  });
  const plain = readOpenSlo(v1({ counter: false })).slos[0]?.slo.query.sli?.total;
  t.deepEqual(plain, { kind: 'promql', expression: 'sum(http_requests)' });
});

test('unsupported parts are rejected with document, line and field', (t) => {
  const refused = (text: string) =>
    readOpenSlo(`# first\n---\n${text}`).problems.map(({ document, line, field, message }) => [
      ...[document, line, field],
      message.split(':')[0],
    ]);
  t.deepEqual(refused(v1()), []);
  t.deepEqual(refused(v1({ window: '{ duration: 1m, isRolling: true }' })), [
    [1, 21, 'spec.timeWindow.0.duration', 'is 1m, which means minutes'],
  ]);
  t.deepEqual(refused(v1({ window: '{ duration: 1M, isRolling: true }' })), [
    [1, 21, 'spec.timeWindow.0.duration', 'cannot be rolling in months, which have no fixed number of days'],
  ]);
  t.deepEqual(refused(v1({ objective: 'target: 1' })), [[1, 24, 'spec.objectives.0', 'as an SLO']]);
  t.deepEqual(refused(v1({ metric: 'rate(http_requests[5m])' })), [
    [
      ...[1, 17, 'spec.indicator.spec.ratioMetric.good.metricSource.spec.query'],
      'does not select a counter but a range vector',
    ],
  ]);
  t.deepEqual(refused(v1({ objective: 'target: 0.9, weight: 2' })), [
    [1, 24, 'spec.objectives.0.weight', 'cannot be imported'],
  ]);
  t.deepEqual(
    refused(v1().replace('openslo/v1', 'openslo/v9')).map(([, line, field]) => [line, field]),
    [[3, 'apiVersion']],
  );
  t.deepEqual(
    refused(v1().replace('Prometheus', 'Datadog')).map(([, line]) => line),
    [17],
  );
});

const referring = `- apiVersion: openslo/v1
  kind: SLO
  metadata: { name: lag }
  spec:
    service: web
    indicatorRef: lag
    timeWindow:
      - duration: 1M
        calendar: { startTime: 2022-01-31 12:00:00, timeZone: America/New_York }
    budgetingMethod: Occurrences
    objectives:
      - { displayName: Good, op: lte, value: 100, targetPercent: 99 }
      - { op: lt, value: 10, target: 0.5 }
- apiVersion: openslo/v1
  kind: SLI
  metadata: { name: lag }
  spec:
    thresholdMetric:
      metricSource: { metricSourceRef: mine, spec: { query: max(lag) } }
`;
const dataSource = (type: string): string => `---
apiVersion: openslo/v1
kind: DataSource
metadata: { name: mine }
spec: { type: ${type}, connectionDetails: {} }
`;

test('documents can reference each other, and each objective becomes a separate objective', (t) => {
  const { slos, problems } = readOpenSlo(referring + dataSource('Prometheus'));
  t.deepEqual(problems, []);
  t.deepEqual(
    slos.map(({ line, slo: { name, targetPct, type, query } }) => [line, name, targetPct, type, query.sli?.operator]),
    [
      [12, 'lag: Good', 99, 'threshold', 'lte'],
      [13, 'lag: 2', 50, 'threshold', 'lt'],
    ],
  );
  t.deepEqual(slos[0]?.slo.query.calendar, {
    period: 'month',
    timeZone: 'America/New_York',
    startsAt: '2022-01-31T12:00',
  });
  const missing = readOpenSlo(referring);
  t.deepEqual(missing.slos, []);
  t.deepEqual(
    missing.problems.map(({ line, message }) => [line, message]),
    [
      [6, 'names the SLI lag, which cannot be imported'],
      [19, 'names the data source mine, which no document defines'],
    ],
  );
  t.true(readOpenSlo(referring + dataSource('Datadog')).problems.some(({ message }) => message.includes('Datadog')));
});

const sloth = `version: prometheus/v1
service: shop
labels: { owner: a }
slos:
  - name: requests
    objective: 99.9
    sli:
      events:
        error_query: sum(rate(http_count{code=~"5.."}[{{.window}}]))
        total_query: sum(rate(http_count[{{ .window }}]))
    alerting:
      name: Errors
      labels: { team: b }
`;
const pyrra = `apiVersion: pyrra.dev/v1alpha1
kind: ServiceLevelObjective
metadata: { name: reads, namespace: monitoring, labels: { role: rules } }
spec:
  target: "99"
  window: 2w
  indicator:
    latency:
      success: { metric: 'reads_bucket{le="0.1"}' }
      total: { metric: reads_count }
`;

test('Sloth and Pyrra objectives are imported as counts of slices', (t) => {
  const { slos, problems } = readOpenSlo(`${sloth}---\n${pyrra}`);
  t.deepEqual(problems, []);
  t.like(slos[0]?.slo, { name: 'shop: requests', targetPct: 99.9, windowDays: 30, type: 'ratio', service: 'shop' });
  t.deepEqual(slos[0]?.slo.query.sli, {
    bad: { kind: 'promql', expression: 'sum(increase(http_count{code=~"5.."}[5m]))' },
    total: { kind: 'promql', expression: 'sum(increase(http_count[5m]))' },
  });
  t.deepEqual(slos[0]?.slo.query.alerting.labels, { owner: 'a', team: 'b' });
  t.like(slos[1]?.slo, { name: 'reads', targetPct: 99, windowDays: 14 });
  t.deepEqual(slos[1]?.slo.query.sli, {
    good: { kind: 'promql', expression: 'sum(increase(reads_bucket{le="0.1"}[5m]))' },
    total: { kind: 'promql', expression: 'sum(increase(reads_count[5m]))' },
  });
  const refused = readOpenSlo(`${sloth}---\n${pyrra}      grouping: [pod]\n`);
  t.deepEqual(
    refused.problems.map(({ document, line, field }) => [document, line, field]),
    [[2, 25, 'spec.indicator.latency.grouping']],
  );
  t.is(refused.slos.length, 1);
});

const slothOf = (sli: string, alerting = '{}'): string =>
  `version: prometheus/v1
service: shop
slos: [{ name: a, objective: 99, sli: ${sli}, alerting: ${alerting} }]
`;
const pyrraOf = (indicator: string): string =>
  `apiVersion: pyrra.dev/v1alpha1
kind: ServiceLevelObjective
metadata: { name: a }
spec: { target: "99", window: 2w, indicator: ${indicator} }
`;
const indicators: readonly (readonly [title: string, text: string, sli: Readonly<Record<string, string>>])[] = [
  [
    'a precomputed ratio of errors',
    slothOf(`{ raw: { error_ratio_query: 'sum(rate(bad[{{.window}}])) / sum(rate(all[{{.window}}]))' } }`),
    { bad: 'sum(increase(bad[5m]))', total: 'sum(increase(all[5m]))' },
  ],
  [
    'the complement of a ratio',
    slothOf(
      `{ raw: { error_ratio_query: '1 - (sum(sum_over_time(up[{{.window}}])) / sum(count_over_time(up[{{.window}}])))' } }`,
    ),
    { good: 'sum(sum_over_time(up[5m]))', total: 'sum(count_over_time(up[5m]))' },
  ],
  [
    'a gauge of success',
    pyrraOf(`{ bool_gauge: { metric: 'probe_success{job="a"}' } }`),
    {
      good: 'sum(sum_over_time(probe_success{job="a"}[5m]))',
      total: 'sum(count_over_time(probe_success{job="a"}[5m]))',
    },
  ],
  [
    'a native histogram',
    pyrraOf(`{ latencyNative: { latency: 200ms, total: { metric: 'took{code!~"5.."}' } } }`),
    {
      good: 'histogram_fraction(0, 0.2, sum(increase(took{code!~"5.."}[5m]))) * histogram_count(sum(increase(took{code!~"5.."}[5m])))',
      total: 'histogram_count(sum(increase(took{code!~"5.."}[5m])))',
    },
  ],
];
for (const [title, text, expected] of indicators)
  test(`${title} is imported as counts of slices`, (t) => {
    const { slos, problems } = readOpenSlo(text);
    t.deepEqual(problems, []);
    const sli = slos[0]?.slo.query.sli ?? {};
    t.deepEqual(
      Object.fromEntries(
        Object.entries(sli).map(([name, query]) => [name, (query as { expression?: string }).expression]),
      ),
      expected,
    );
  });

const notCountable = [
  '1 - avg(avg_over_time(up[{{.window}}]))',
  'sum by (pod) (rate(bad[{{.window}}])) / sum by (pod) (rate(all[{{.window}}]))',
  'sum(rate(bad[1h])) / sum(rate(all[1h]))',
  'max(rate(bad[{{.window}}])) / sum(rate(all[{{.window}}]))',
  'x',
];
for (const query of notCountable)
  test(`the ratio ${query} has no counts that add up, and is refused with an example`, (t) => {
    const { slos, problems } = readOpenSlo(slothOf(`{ raw: { error_ratio_query: '${query}' } }`));
    t.deepEqual(slos, []);
    t.regex(problems.map(({ message }) => message).join(), /must be a ratio of two sums of increases, such as/);
  });

const severities: readonly (readonly [alerting: string, rules: readonly string[] | undefined])[] = [
  ['{ ticket_alert: { disable: true } }', ['page 14.4 1h 5m', 'page 6 6h 30m']],
  ['{ page_alert: { disable: true } }', ['ticket 3 1d 2h', 'ticket 1 3d 6h']],
  ['{}', undefined],
];
for (const [alerting, expected] of severities)
  test(`alerts of Sloth with ${alerting} are those of the enabled severities`, (t) => {
    const { slos, problems } = readOpenSlo(slothOf(`{ events: { error_query: b, total_query: t } }`, alerting));
    t.deepEqual(problems, []);
    const { enabled, rules } = slos[0]?.slo.query.alerting ?? {};
    t.true(enabled);
    t.deepEqual(
      rules?.map(({ severity, rate, long, short }) => `${severity} ${rate} ${long} ${short}`),
      expected,
    );
  });

test('an objective that cannot be imported is refused with its name, and the others of its document are imported', (t) => {
  const second = `  - name: raw
    objective: 99
    sli: { raw: { error_ratio_query: x } }
    alerting: {}
  - name: third
    objective: 98
    sli: { events: { error_query: 'sum(rate(b[{{.window}}]))', total_query: 'sum(rate(t[{{.window}}]))' } }
    alerting: {}
`;
  const read = readOpenSlo(sloth + second);
  t.deepEqual(
    read.slos.map(({ slo, importedFrom, line }) => [slo.name, importedFrom, line]),
    [
      ['shop: requests', { format: 'sloth', name: 'shop/requests' }, 5],
      ['shop: third', { format: 'sloth', name: 'shop/third' }, 18],
    ],
  );
  t.deepEqual(
    read.refused.map(({ name, line, problems }) => [name, line, problems.map(({ field }) => field)]),
    [['shop: raw', 14, ['slos.1.sli.raw']]],
  );
  const objectives = v1().replace(
    / {4}- \{ target.+\n/,
    `    - { displayName: Low, target: 0.9, timeSliceTarget: 0.9, timeSliceWindow: 5m }
    - { displayName: Odd, target: 2, timeSliceTarget: 0.9, timeSliceWindow: 5m }
`,
  );
  const parts = readOpenSlo(objectives);
  t.deepEqual(
    parts.slos.map(({ slo, importedFrom }) => [slo.name, importedFrom.name]),
    [['Search answers: Low', 'search/Low']],
  );
  t.deepEqual(
    parts.refused.map(({ name, line }) => [name, line]),
    [['Search answers: Odd', 23]],
  );
  t.deepEqual(
    readOpenSlo(`${pyrra.slice(0, pyrra.indexOf('    latency'))}    other: {}\n`).refused.map(({ name, problems }) => [
      name,
      problems.length,
    ]),
    [['reads', 1]],
  );
});

test('Pyrra labels for alerts lose their prefix', (t) => {
  const labelled = pyrra.replace('role: rules', 'role: rules, pyrra.dev/team: shop');
  t.deepEqual(readOpenSlo(labelled).slos[0]?.slo.query.alerting.labels, { role: 'rules', team: 'shop' });
});

test('a counter in PromQL has a slice of five minutes, as an increase needs two scrapes', (t) => {
  const occurrences = (counter: boolean): string =>
    v1({ counter }).replace('Timeslices', 'Occurrences').replace(', timeSliceTarget: 0.95, timeSliceWindow: 5m', '');
  t.is(readOpenSlo(occurrences(true)).slos[0]?.slo.query.slice, '5m');
  t.is(readOpenSlo(occurrences(false)).slos[0]?.slo.query.slice, '1m');
});

test('labels of Sloth pages and tickets become labels of alerts with that severity, and survive another import', (t) => {
  const alerts = `      page_alert: { labels: { severity: pageteam, routing_key: a } }
      ticket_alert: { labels: { severity: slack } }
`;
  const [read] = readOpenSlo(sloth + alerts).slos;
  t.deepEqual(read?.slo.query.alerting.severityLabels, {
    page: { severity: 'pageteam', routing_key: 'a' },
    ticket: { severity: 'slack' },
  });
  const rules = createAlertRules('id', read?.slo as SloFields).map(([, { labels }]) => labels);
  t.deepEqual(
    rules.map(({ burn, severity, routing_key: key, team }) => [burn, severity, key, team]),
    [
      ['page', 'pageteam', 'a', 'b'],
      ['page', 'pageteam', 'a', 'b'],
      ['ticket', 'slack', undefined, 'b'],
      ['ticket', 'slack', undefined, 'b'],
    ],
  );
  const out = writeOpenSlo(read?.slo as SloFields, 'v1');
  t.deepEqual('text' in out && readOpenSlo(out.text).slos[0]?.slo, read?.slo);
  t.deepEqual(
    readOpenSlo(`${sloth}      page_alert: { annotations: { a: b } }\n`).problems.map(({ line, field }) => [
      line,
      field,
    ]),
    [[14, 'slos.0.alerting.page_alert.annotations']],
  );
});

test('OpenSLO as written by Sloth leaves the window open, which becomes a slice of two scrapes', (t) => {
  const { slos, problems } = readOpenSlo(`apiVersion: openslo/v1alpha
kind: SLO
metadata: { name: requests }
spec:
  service: shop
  objectives:
    - target: 0.999
      ratioMetrics:
        good: { source: prometheus, queryType: promql, query: 'sum(rate(count{code!~"5.."}[{{.window}}]))' }
        total: { source: prometheus, queryType: query, query: 'sum(rate(count[{{ .window }}]))' }
  timeWindows: [{ count: 30, unit: Day }]
`);
  t.deepEqual(problems, []);
  t.like(slos[0]?.slo, { targetPct: 99.9, windowDays: 30, query: { slice: '5m', budgeting: 'occurrences' } });
  t.deepEqual(slos[0]?.slo.query.sli, {
    good: { kind: 'promql', expression: 'sum(increase(count{code!~"5.."}[5m]))' },
    total: { kind: 'promql', expression: 'sum(increase(count[5m]))' },
  });
});

test('a data source in another file can be named together with its type', (t) => {
  const source = (metricSource: string): string =>
    v1().replaceAll(
      /metricSource: \{ type: Prometheus, spec: \{ query: (.+) \} \}$/gm,
      `metricSource: ${metricSource}`,
    );
  const problemFields = (text: string) => readOpenSlo(text).problems.map(({ field }) => field.split('.').at(-1));
  t.deepEqual(problemFields(source('{ metricSourceRef: mine, type: prometheus, spec: { promql: $1 } }')), []);
  t.deepEqual(
    new Set(problemFields(source('{ metricSourceRef: mine, spec: { query: $1 } }'))),
    new Set(['metricSourceRef']),
  );
  t.deepEqual(
    new Set(problemFields(source('{ metricSourceRef: mine, type: Datadog, spec: { query: $1 } }'))),
    new Set(['type']),
  );
});

const text = fc.string({ minLength: 1, maxLength: 20 }).filter((each) => each.trim() === each);
const query = fc.oneof(
  fc.constantFrom('a', 'sum(increase(b_total{c="d\\n"}[5m]))').map((expression) => ({ kind: 'promql', expression })),
  text.map((search) => ({ kind: 'aggregate', signal: 'logs', search, measures: [{ function: 'count' }] })),
);
const sli = fc.oneof(
  fc.record({ good: query, total: query }),
  fc.record({ bad: query, total: query }),
  fc.record({
    value: query,
    operator: fc.constantFrom('lt', 'lte', 'gt', 'gte'),
    threshold: fc.double({ noNaN: true, noDefaultInfinity: true }).map((each) => each + 0),
  }),
);
const calendar = fc.record({
  period: fc.constantFrom('day', 'week', 'month', 'quarter', 'year'),
  timeZone: fc.constantFrom('UTC', 'Europe/Berlin'),
  startsAt: fc.constantFrom('2026-01-01T00:00', '2024-02-29T23:59'),
});
const objective = fc
  .record({
    name: text,
    description: fc.oneof(fc.constant(''), text),
    service: text,
    enabled: fc.boolean(),
    targetPct: fc.integer({ min: 1, max: 999_999 }).map((parts) => parts / 10_000),
    windowDays: fc.integer({ min: 1, max: 366 }),
    query: fc.record(
      {
        sli,
        calendar,
        minimumEvents: fc.integer({ min: 1, max: 9 }),
        excludeMaintenance: fc.boolean(),
        budgeting: fc.constantFrom('occurrences', 'ratio-timeslices', 'timeslices'),
        slice: fc.constantFrom('1m', '5m', '60m', '1h'),
        sliceTarget: fc.constantFrom(0.5, 1),
        alerting: fc.record(
          {
            enabled: fc.boolean(),
            rules: fc.constant([{ severity: 'page', rate: 14.4, long: '1h', short: '5m' }]),
            labels: fc.dictionary(fc.constantFrom('team', 'env'), text),
            annotations: fc.dictionary(fc.constantFrom('runbook'), text),
            severityLabels: fc.record({ page: fc.constant({ team: 'a' }) }, { requiredKeys: [] }),
          },
          { requiredKeys: [] },
        ),
      },
      { requiredKeys: [] },
    ),
  })
  .map((fields) => {
    const { sliceTarget, ...others } = fields.query;
    const isSliced = others.budgeting === 'timeslices';
    return SloFields.parse({
      ...fields,
      ...(others.sli !== undefined && { type: 'value' in others.sli ? 'threshold' : 'ratio' }),
      query: { ...others, ...(isSliced && { sliceTarget: sliceTarget ?? 1 }) },
    });
  })
  .filter((slo) => findSloProblems(slo).length === 0);

/** The settings that v1alpha supports. */
const plain = (slo: SloFields): SloFields => {
  const { sli, calendar, sliceTarget, budgeting } = slo.query;
  return SloFields.parse({
    ...slo,
    enabled: true,
    windowDays: calendar === undefined ? slo.windowDays : 30,
    query: {
      ...(sli !== undefined && { sli }),
      ...(calendar !== undefined && { calendar: { ...calendar, period: 'month' } }),
      ...(budgeting === 'timeslices' && { budgeting, sliceTarget }),
    },
  });
};

for (const version of ['v1alpha', 'v1', 'v2alpha'] as const)
  test(`an export of ${version} is imported again unchanged`, (t) => {
    let written = 0;
    fc.assert(
      fc.property(version === 'v1alpha' ? objective.map(plain) : objective, (slo) => {
        const out = writeOpenSlo(slo, version);
        if ('problems' in out) {
          t.is(version, 'v1alpha');
          return;
        }
        written += 1;
        const { slos, problems } = readOpenSlo(out.text);
        t.deepEqual(problems, [], out.text);
        t.deepEqual(
          slos.map((each) => each.slo),
          [slo],
          out.text,
        );
      }),
      { numRuns: 200 },
    );
    t.log(`${written} written`);
    t.true(written > 50);
  });
