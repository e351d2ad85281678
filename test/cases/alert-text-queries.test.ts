/** Queries in texts of alert rules: each text equals the output of `promtool test rules` (3.15) for the same series. */
import '../../subjects/query-kinds.ts';
import test from 'ava';
import { QueryBatcher } from '../../queries/batch/query-batcher.ts';
import { openPromql } from '../../queries/promql/evaluation/threads.ts';
import type { QueryReader } from '../../queries/promql/query-reader.ts';
import { encodeWriteRequest } from '../../schemas/recorded-samples.ts';
import { defaultPlans } from '../../schemas/resources/plan.ts';
import { evaluate } from '../../subjects/alerts/evaluate.ts';
import { createTemplateQuery } from '../../subjects/alerts/query-text.ts';
import { AlertRuleFields } from '../../subjects/alerts/rule.ts';
import { readRuleFile } from '../../subjects/alerts/rule-file.ts';
import { emptyState } from '../../subjects/alerts/state.ts';
import { renderWithQueries, type TemplateQueryResult } from '../../subjects/alerts/templates/queries.ts';
import { findTemplateProblem, renderTemplate } from '../../subjects/alerts/templates/template.ts';
import { messageOf, openTables, type Tables } from './sink-tables.ts';

const promql = openPromql({ size: 1 });
const atMs = Date.UTC(2026, 2, 1, 10);
let tables: Tables;
test.before(async () => {
  tables = await openTables();
  const series = [
    [{ __name__: 'shards_max', instance: 'a:1', job: 'prometheus-k8s' }, 7.5],
    [{ __name__: 'up', instance: 'a:1', job: 'x' }, 1],
    [{ __name__: 'up', instance: 'b:1', job: 'x' }, 1],
    [{ __name__: 'up', instance: 'c:1', job: 'y' }, 0],
  ] as const;
  const land = (tenantId: string, offset: number, own: readonly (readonly [Record<string, string>, number])[]) => {
    const written = own.map(([labels, value]) => ({ labels, value }));
    const headers = { tenantId, projectId: '', signal: 'metrics', format: 'remote-write-1', offset } as const;
    return tables.land([messageOf([encodeWriteRequest([{ atMs: atMs - 1000, series: written }])], headers)], {
      sink: 'metrics',
    });
  };
  await land('acme', 0, series);
  await land('other', 1, [[{ __name__: 'secret' }, 1]]);
});
test.after.always(() => Promise.all([tables.close(), promql.close()]));

const makeReader = (counted = { statements: 0 }) => {
  const translation = { strategy: 'UnderscoreEscapingWithSuffixes', promoted: [], scopeLabels: true } as const;
  const columns = tables.columns.forTenant('acme');
  const reader: QueryReader = {
    nowMs: atMs,
    plan: defaultPlans['enterprise'] as QueryReader['plan'],
    promql: { threads: promql, translation },
    columns: {
      ...columns,
      queryNative(sql, parameters, limits) {
        counted.statements++;
        return columns.queryNative(sql, parameters, limits);
      },
    },
  };
  return createTemplateQuery(reader, {
    batcher: new QueryBatcher({ batchDelayMs: 20, batchTimeoutMs: 20_000, singleTimeoutMs: 20_000 }),
  });
};
const textOf = (text: string): Promise<string> =>
  renderWithQueries(
    (queried) =>
      renderTemplate(text, { labels: { instance: 'a:1' }, value: 20, threshold: null, nowMs: atMs, queried }),
    makeReader(),
  );

for (const [text, expected] of [
  ['{{ printf `shards_max{instance="%s",job="prometheus-k8s"}` $labels.instance | query | first | value }}.', '7.5.'],
  ['{{ range query "sum by (job) (up)" | sortByLabel "job" }}{{ .Labels.job }}={{ .Value }};{{ end }}', 'x=2;y=0;'],
  [
    '{{ with query "shards_max" }}{{ . | first | label "job" }}/{{ . | first | value | humanize }}{{ end }}',
    'prometheus-k8s/7.5',
  ],
  ['{{ with query "absent_one" }}some{{ else }}none{{ end }} {{ len (query "absent_one") }}', 'none 0'],
  [
    '{{ query "scalar(shards_max{job=\\"prometheus-k8s\\"})" | first | value }}|{{ query "time()" | first | value | humanizeTimestamp }}',
    '7.5|2026-03-01 10:00:00 +0000 UTC',
  ],
  ['{{ query "label_replace(vector(1), \\"__value__\\", \\"text\\", \\"\\", \\"\\")" | first | strvalue }}', 'text'],
  [
    '{{ range query "up == 1" | sortByLabel "instance" }}{{ .Labels.instance }}:{{ with printf "shards_max{instance=%q}" .Labels.instance | query }}{{ . | first | value }}{{ else }}-{{ end }} {{ end }}',
    'a:1:7.5 b:1:- ',
  ],
  [
    '{{ (index (query "up" | sortByLabel "instance") 1).Labels.instance }} {{ (index (query "up" | sortByLabel "instance") 0).Labels }}',
    'b:1 map[__name__:up instance:a:1 job:x]',
  ],
  ['[{{ query "up" | sortByLabel "instance" | first | label "nothing" }}]', '[]'],
  // Prometheus also reports the position in the template; the rest is the same.
  ['{{ query "absent_one" | first | value }}', '<error expanding template: first() called on vector with no elements>'],
  ['{{ query "secret" | first | value }}', '<error expanding template: first() called on vector with no elements>'],
] as const)
  test(`${text} gives ${expected}`, async (t) => {
    t.is(await textOf(text), expected);
  });

test('a query that cannot run is reported in the text', async (t) => {
  t.regex(await textOf('{{ query "sum(" }}'), /^<error expanding template: error calling query: .*unclosed left paren/);
  t.regex(await textOf('{{ first "x" }}'), /^<error expanding template: x is not a vector of a query>$/);
  t.regex(await textOf('{{ (query "up" | first).Nothing }}'), /the field \.Nothing does not exist>$/);
});

test('a text runs at most five queries, all texts of an evaluation fifty; equal queries run once', async (t) => {
  const requestedExpressions: string[] = [];
  const runQuery = async (expression: string): Promise<TemplateQueryResult> => {
    requestedExpressions.push(expression);
    return { samples: [{ labels: {}, value: 1 }] };
  };
  const each = (of: string) => `{{ query "${of}" | first | value }}`;
  const create = (texts: readonly string[]): Promise<readonly string[]> =>
    renderWithQueries(
      (queried) =>
        texts.map((text) => renderTemplate(text, { labels: {}, value: 1, threshold: null, nowMs: 0, queried })),
      runQuery,
    );
  t.deepEqual(await create(['abcde', 'abcdef'].map((names) => [...names].map(each).join(''))), [
    '11111',
    '<error expanding template: it runs more than 5 queries>',
  ]);
  t.deepEqual(requestedExpressions.splice(0), [...'abcde']);
  const many = await create(Array.from({ length: 60 }, (_, at) => each(`m${at}`)));
  t.is(many.filter((text) => text === '1').length, 50);
  t.regex(many.at(-1) ?? '', /more than 50 queries/);
  t.is(requestedExpressions.length, 50);
});

test('queries in texts of many alerts that start at once are batched', async (t) => {
  const { rules } = readRuleFile(
    `groups: [{name: g, rules: [{alert: A, expr: up == 1, annotations: {d: '{{ printf "up{instance=%q}" $labels.instance | query | first | label "job" }}'}}]}]`,
  );
  const rule = { ...AlertRuleFields.parse(rules[0]?.rule), id: 'rule', version: 1 };
  const groups = ['a:1', 'b:1', 'c:1'].map((instance) => ({ labels: { instance }, points: [1] }));
  const counted = { statements: 0 };
  const { transitions } = await renderWithQueries(
    (queryResults) =>
      evaluate({
        tenantId: 'acme',
        rule,
        prior: emptyState(),
        result: { kind: 'groups', unit: '', groups },
        nowMs: atMs,
        queryResults,
      }),
    makeReader(counted),
  );
  t.deepEqual(
    transitions.map(({ annotations }) => annotations['d']),
    ['x', 'x', 'y'],
  );
  t.true(counted.statements <= 2, `${counted.statements} statements that read samples`);
});

test('labels run no queries, because they identify an alert', (t) => {
  t.is(findTemplateProblem('{{ query "up" }}', false), 'query is available only in annotations');
  t.is(findTemplateProblem('{{ query "up" }}'), undefined);
});
