/** Rule files of Prometheus: what is imported, exported and rejected. */
import '../../subjects/query-kinds.ts';
import test from 'ava';
import { parseYaml } from '../../queries/yaml.ts';
import { alertLabels, evaluate } from '../../subjects/alerts/evaluate.ts';
import { type AlertRule, AlertRuleFields } from '../../subjects/alerts/rule.ts';
import { readRuleFile } from '../../subjects/alerts/rule-file.ts';
import { writeRuleFile } from '../../subjects/alerts/rule-file-writing.ts';
import { type ExistingRule, RuleNames } from '../../subjects/alerts/rule-names.ts';
import { emptyState } from '../../subjects/alerts/state.ts';

const file = `
groups:
- name: shop
  interval: 30s
  labels: {team: shop}
  rules:
  - alert: Down
    expr: up{job="cart"} == 0
    for: 1h30m
    keep_firing_for: 5m
    labels: {severity: page}
    annotations:
      summary: '{{ $labels.instance }} is down ({{ $value }})'
  - record: job:up:sum
    expr: sum by (job) (up)
  - alert: Down
    expr: up == 0
    for: soon
  - alert: Slow
    expr: latency > 1
    colour: red
`;

const saved = (rules: readonly AlertRuleFields[]): AlertRule[] =>
  rules.map((rule, index) => ({ ...rule, id: `rule-${index}`, version: 1 }));

test('rules are read with all their fields, and unreadable parts are reported with their path', (t) => {
  const { rules } = readRuleFile(file);
  t.deepEqual(
    rules.map(({ location: place, rule, problems }) => [place, rule?.name, problems.map(({ path }) => path)]),
    [
      ['shop.0', 'Down', []],
      ['shop.1', undefined, []],
      ['shop.2', undefined, ['for']],
      ['shop.3', undefined, ['colour']],
    ],
  );
  t.like(rules[0]?.rule, {
    interval: '30s',
    for: '90m',
    keepFiringFor: '5m',
    onError: 'keep',
    labels: { team: 'shop', severity: 'page' },
    annotations: { summary: '{{ $labels.instance }} is down ({{ $value }})' },
    condition: {
      query: { kind: 'promql', expression: 'up{job="cart"} == 0' },
      thresholds: [{ severity: 'critical', operator: 'any' }],
    },
  });
});

const recordingFile = `
groups:
- name: shop
  interval: 30s
  query_offset: 10s
  limit: 5
  labels: {team: shop}
  rules:
  - record: job:up:sum
    expr: sum by (job) (up)
    labels: {team: cart}
  - alert: Down
    expr: job:up:sum == 0
  - record: job:up:twice
    expr: job:up:sum * 2
  - record: broken
    expr: sum(
  - record: named
    expr: up
    labels: {__name__: other}
- name: fast
  interval: 1s
  rules:
  - {record: x, expr: y, for: 1m}
`;

test('recording rules are read with their group, in order', (t) => {
  const { rules, recordings } = readRuleFile(recordingFile, 'shop.yml');
  t.deepEqual(
    rules.map(({ location: place, rule, record, problems }) => [
      place,
      rule?.name ?? record,
      problems.map(({ path }) => path),
    ]),
    [
      ['shop.0', 'job:up:sum', []],
      ['shop.1', 'Down', []],
      ['shop.2', 'job:up:twice', []],
      ['shop.3', undefined, ['expr']],
      ['shop.4', undefined, ['__name__']],
      ['fast.0', undefined, ['for']],
    ],
  );
  const group = { name: 'shop', file: 'shop.yml', enabled: true, interval: '30s', delay: '10s', limit: 5 };
  const [one, two] = [
    { record: 'job:up:sum', expression: 'sum by (job) (up)', labels: { team: 'cart' }, place: 0 },
    { record: 'job:up:twice', expression: 'job:up:sum * 2', labels: { team: 'shop' }, place: 2 },
  ];
  t.deepEqual(recordings, [{ ...group, rules: [one, two] }]);
  t.like(rules[1]?.rule, { interval: '30s', delay: '10s', limit: 5, origin: { place: 1 } });
});

test('recording rules are exported with the alerts of their group, and a second import gives the same rules', (t) => {
  const { rules, recordings } = readRuleFile(recordingFile);
  const alerts = saved(rules.flatMap(({ rule }) => rule ?? []));
  const { text, excluded } = writeRuleFile(alerts, recordings);
  t.deepEqual(excluded, []);
  t.deepEqual(readRuleFile(text).recordings, recordings);
  t.deepEqual(
    readRuleFile(text).rules.map(({ rule, record }) => rule?.name ?? record),
    ['job:up:sum', 'Down', 'job:up:twice'],
  );
});

test('a result with more groups than the limit of a rule fails the evaluation and ends no alert', (t) => {
  const [rule] = saved(readRuleFile(recordingFile).rules.flatMap((one) => one.rule ?? [])) as [AlertRule];
  const groups = Array.from({ length: 6 }, (_, index) => ({ labels: { job: String(index) }, points: [1] }));
  const input = { tenantId: 'a', rule, nowMs: 60_000 };
  const first = evaluate({
    ...input,
    prior: emptyState(),
    result: { kind: 'groups', unit: '', groups: groups.slice(0, 5) },
  });
  t.is(first.error, undefined);
  const second = evaluate({ ...input, prior: first.state, result: { kind: 'groups', unit: '', groups } });
  t.is(second.error, 'exceeded limit of 5 with 6 alerts');
  t.deepEqual(
    second.groups.map(({ state }) => state),
    Array(5).fill('firing'),
  );
});

test('imported rules are exported unchanged, and a second import gives the same rules', (t) => {
  const rules = readRuleFile(file).rules.flatMap(({ rule }) => (rule === undefined ? [] : [rule]));
  const { text, excluded } = writeRuleFile(saved(rules));
  t.deepEqual(excluded, []);
  t.deepEqual(
    readRuleFile(text).rules.map(({ rule }) => rule),
    rules,
  );
});

test('a threshold becomes part of the expression, and rules without a Prometheus equivalent are reported', (t) => {
  const rule = (name: string, condition: object): AlertRuleFields =>
    AlertRuleFields.parse({ name, condition: { kind: 'threshold', ...condition } });
  const promql = { kind: 'promql', expression: 'up' };
  const { text, excluded } = writeRuleFile(
    saved([
      rule('above', { query: promql, thresholds: [{ severity: 'error', operator: 'above', value: 2 }] }),
      rule('outside', { query: promql, thresholds: [{ severity: 'error', operator: 'outside', value: 1, upper: 3 }] }),
      rule('counted', {
        query: { kind: 'aggregate', signal: 'logs', measures: [{ function: 'count' }] },
        thresholds: [{ severity: 'error', operator: 'above', value: 2 }],
      }),
    ]),
  );
  t.deepEqual(excluded, ['counted']);
  t.deepEqual(
    readRuleFile(text).rules.map(({ rule: read }) => JSON.parse(JSON.stringify(read)).condition.query.expression),
    ['(up) > 2', '(up) < 1 or (up) > 3'],
  );
});

const manifest = (name: string, group: string): string => `apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {name: ${name}, namespace: monitoring}
spec:
  groups:
  - name: ${group}
    rules:
    - {alert: Down, expr: up == 0}
    - {record: 'job:up:sum', expr: sum by (job) (up)}
`;
const otherResource = 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: shop}\nspec: {replicas: 1}\n';

for (const [text, problem] of [
  ['groups: [', /./],
  ['rules: []', /has no list of groups/],
  ['- a', /has no list of groups/],
  [otherResource, /has no list of groups: a rule file has `groups`, a PrometheusRule `spec.groups`/],
] as const)
  test(`${JSON.stringify(text)} is rejected as a whole`, (t) => {
    t.regex(readRuleFile(text).problem ?? '', problem);
  });

const isolatedFaults: readonly (readonly [title: string, text: string, outcomes: readonly string[]])[] = [
  [
    'a second group of the same name',
    'groups: [{name: a, rules: [{alert: One, expr: up}]}, {name: a, rules: [{alert: Two, expr: up}, {record: r, expr: up}]}, {name: b, rules: [{alert: Three, expr: up}]}]',
    [
      'a.0: read',
      'a.0: another group is named a: group names must be unique in a file',
      'a.1: another group is named a: group names must be unique in a file',
      'b.0: read',
    ],
  ],
  [
    'a document that is not YAML',
    `${manifest('a', 'b')}---\ngroups: [`,
    [
      'b.0: read',
      'b.1: read',
      'document 2, line 11: Flow sequence in block collection must be sufficiently indented and end with a ] at line 1, column 10',
    ],
  ],
];
for (const [title, text, outcomes] of isolatedFaults)
  test(`${title} is rejected alone`, (t) => {
    const { rules, problem } = readRuleFile(text);
    t.is(problem, undefined);
    t.deepEqual(
      rules.map(
        ({ location: place, rule, record, problems }) =>
          `${place}: ${(rule ?? record) === undefined ? problems.map(({ message }) => message).join('; ') : 'read'}`,
      ),
      outcomes,
    );
  });

test('rules of PrometheusRule manifests are read, alone, in several documents or in a list', (t) => {
  const readPlaces = (text: string): string[] => {
    const { rules, recordings, problem } = readRuleFile(text, 'bundle.yaml');
    t.is(problem, undefined);
    t.is(recordings.length, rules.filter(({ record }) => record !== undefined).length);
    return rules.map(({ file, location: place, rule, record }) => `${file} ${place} ${rule?.name ?? record}`);
  };
  const node = ['monitoring/node general.0 Down', 'monitoring/node general.1 job:up:sum'];
  const shop = ['monitoring/shop general.0 Down', 'monitoring/shop general.1 job:up:sum'];
  t.deepEqual(readPlaces(manifest('node', 'general')), node);
  const documents = [manifest('node', 'general'), otherResource, '# nothing\n', manifest('shop', 'general')];
  t.deepEqual(readPlaces(documents.map((text) => `---\n${text}`).join('')), [...node, ...shop]);
  const items = [manifest('node', 'general'), otherResource, manifest('shop', 'general')].map((text) =>
    parseYaml(text).value(),
  );
  t.deepEqual(readPlaces(JSON.stringify({ apiVersion: 'v1', kind: 'List', items })), [...node, ...shop]);
  t.deepEqual(readPlaces('groups: [{name: a, rules: [{alert: Down, expr: up == 0}]}]'), ['bundle.yaml a.0 Down']);
});

const twice = (group: string, expression: string): string => `
groups:
- name: ${group}
  rules:
  - {alert: Full, expr: '${expression} > 80', labels: {severity: warning}}
  - {alert: Full, expr: '${expression} > 90', labels: {severity: critical}}
`;

/**
 * Imports files in sequence, as the API does; returns the names of the rules, and which existing rules they replace.
 */
const imports = (...files: readonly (readonly [text: string, fileName: string])[]) => {
  const known: ExistingRule[] = [];
  return files.map(([text, fileName]) => {
    const names = new RuleNames(known);
    return readRuleFile(text, fileName).rules.flatMap(({ rule: read }) => {
      if (read === undefined) return [];
      const assigned = names.assign(read);
      if (assigned === undefined) return [];
      const { rule, replaces } = assigned;
      if (replaces === undefined) known.push({ ...rule, id: `rule-${known.length}` });
      return [{ rule, replaces: replaces?.id }];
    });
  });
};

test('rules with equal names get unique names, and the label from the file', (t) => {
  const [first = []] = imports([twice('disk', 'usage'), '']);
  t.deepEqual(
    first.map(({ rule }) => rule.name),
    ['Full', 'Full (disk)'],
  );
  const alert = { labels: {}, severity: 'warning', value: 1, atMs: 0 } as const;
  t.deepEqual(
    first.map(({ rule }) => alertLabels(rule, alert)),
    [
      { alertname: 'Full', severity: 'warning' },
      { alertname: 'Full', severity: 'critical' },
    ],
  );
  const { text } = writeRuleFile(saved(first.map(({ rule }) => rule)));
  const names = (): string[] => [...text.matchAll(/alert: (.*)/g)].map(([, name = '']) => name);
  t.deepEqual(names(), ['Full', 'Full']);
  t.regex(text, /name: disk/);
});

test('a repeated import of a file replaces only the rules of that file', (t) => {
  const disk = twice('disk', 'usage');
  const [first, again, other, otherFile] = imports(
    ...([
      [disk, ''],
      [disk, ''],
      [twice('memory', 'usage'), ''],
      [disk, 'windows.yml'],
    ] as const),
  );
  const shown = (rules: typeof first) => rules?.map(({ rule, replaces }) => [rule.name, replaces]);
  t.deepEqual(shown(first), [
    ['Full', undefined],
    ['Full (disk)', undefined],
  ]);
  t.deepEqual(shown(again), [
    ['Full', 'rule-0'],
    ['Full (disk)', 'rule-1'],
  ]);
  t.deepEqual(shown(other), [
    ['Full (memory)', undefined],
    ['Full (memory 2)', undefined],
  ]);
  t.deepEqual(shown(otherFile), [
    ['Full (disk 2)', undefined],
    ['Full (disk 3)', undefined],
  ]);
});

test('an imported rule replaces a rule of the same name that belongs to no file only if it is taken over', (t) => {
  const own = { id: 'own', name: 'Full', origin: undefined };
  const [one] = readRuleFile(twice('disk', 'usage')).rules;
  const assign = (takeOver: boolean) => one?.rule && new RuleNames([own], { takeOver }).assign(one.rule);
  t.is(assign(false), undefined);
  t.is(assign(true)?.replaces?.id, 'own');
});

test('exported rules are imported as the same rules', (t) => {
  const [first = []] = imports([twice('disk', 'usage'), '']);
  const { text } = writeRuleFile(saved(first.map(({ rule }) => rule)));
  const [, again = []] = imports([twice('disk', 'usage'), ''], [text, '']);
  t.deepEqual(
    again.map(({ replaces }) => replaces),
    ['rule-0', 'rule-1'],
  );
});

test('a group with an interval below the minimum gets a problem for each of its rules', (t) => {
  const text = (interval: string): string =>
    `groups: [{name: g, interval: ${interval}, rules: [{alert: A, expr: up}, {record: 'a:b', expr: up}]}]`;
  const outcomes = (interval: string) => {
    const { rules, recordings } = readRuleFile(text(interval));
    return [...rules.map(({ problems }) => problems), ...[rules[0]?.rule?.interval, recordings[0]?.interval]];
  };
  for (const often of ['5s', '9s', '1s500ms', '500ms']) {
    const expectedProblems = [
      { path: 'interval', message: `is ${often}: rules are evaluated at most every 10s, including these` },
    ];
    t.deepEqual(outcomes(often), [expectedProblems, expectedProblems, '10s', '10s']);
  }
  t.deepEqual(outcomes('10s'), [[], [], '10s', '10s']);
  t.deepEqual(outcomes('10s500ms'), [[], [], '10500ms', '10500ms']);
  t.deepEqual(outcomes('0s'), [[], [], '1m', '1m'], 'none is the usual one, as in Prometheus');
});
