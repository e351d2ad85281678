/**
 * Limits of PromQL expressions: excessive expressions are rejected as in Prometheus, before they use much time or
 * overflow the stack.
 */
import test from 'ava';
import { buildOtlpCondition } from '../../queries/promql/fetch/matcher-conditions.ts';
import { evaluate, parse } from '../../queries/promql/index.ts';
import type { Series } from '../../queries/promql/series.ts';
import { compileTest } from '../../queries/promql/syntax/matchers.ts';
import { parseExpression, parseSelector } from '../../queries/promql/syntax/parse.ts';
import { prettyPrint } from '../../queries/promql/syntax/print.ts';

const instant = { startMs: 0, endMs: 0, stepMs: 0 };
const times = Float64Array.of(0);
const one = (): Iterable<Series> => [{ labels: { __name__: 'a', b: 'c' }, times, values: times }];
const evaluated = (text: string) => evaluate(parse(text), instant, one);
const refusalOf = (text: string, read: (text: string) => unknown = evaluated): string => {
  try {
    read(text);
    return '';
  } catch (error) {
    return error instanceof RangeError ? 'the stack overflowed' : (error as Error).message;
  }
};
const list = (count: number, item: (at: number) => string, between: string): string =>
  Array.from({ length: count }, (_, at) => item(at)).join(between);
const nested = (count: number, before: string, inner: string, behind: string): string =>
  before.repeat(count) + inner + behind.repeat(count);

const tooDeep = /parse error: expression is nested more than 500 levels deep$/;
const tooMany = /parse error: expression has more than 5000 parts$/;
const tooCostly = /parse error: error parsing regexp: expression too large$/;
const conditions = (count: number) => `{${list(count, (at) => `a${at}="b"`, ',')}}`;

const refused: readonly (readonly [what: string, text: string, refusal: RegExp])[] = [
  [
    'digits that end as no number',
    `${'0'.repeat(5000)}x`,
    /parse error: number or duration has more than 64 characters$/,
  ],
  ['digits behind a point', `1.${'0'.repeat(64)}`, /number or duration has more than 64 characters$/],
  ['digits of an exponent', `1e+${'0'.repeat(64)}1`, /number or duration has more than 64 characters$/],
  ['a duration with many units', `a[${'1h'.repeat(40)}]`, /number or duration has more than 64 characters$/],
  [
    'an expression of more than 100,000 characters',
    `1${' '.repeat(100_000)}`,
    /^1:1: parse error: expression has more than 100000 characters$/,
  ],
  ['conditions in a selector', conditions(300), /parse error: more than 256 label matchers in a selector$/],
  ['labels in a grouping', `sum by (${list(300, (at) => `a${at}`, ',')}) (a)`, /more than 256 labels in a grouping$/],
  [
    'labels in vector matching',
    `a + on (${list(300, (at) => `a${at}`, ',')}) a`,
    /more than 256 labels in a grouping$/,
  ],
  ['arguments of a function', `label_join(a, "b", "c"${', "d"'.repeat(300)})`, /more than 256 arguments in a call$/],
  ['terms of a sum', list(20_000, () => '1', '+'), tooMany],
  ['terms of `or`', list(3_000, (at) => `a${at}`, ' or '), tooMany],
  ['a chain of 1,000 terms', list(1_000, () => 'a', ' + '), tooDeep],
  ['powers of powers', list(1_000, () => '1', ' ^ '), tooDeep],
  ['nested calls', nested(2_000, 'label_join(', 'a', ', "b", "c", "d")'), tooDeep],
  ['nested parentheses', nested(20_000, '(', '1', ')'), tooDeep],
  ['signs', `${'-'.repeat(20_000)}1`, tooDeep],
  ['subqueries behind each other', `a${'[5m:1m]'.repeat(1_000)}`, tooDeep],
  ['terms of a duration', `a offset (${'1s + '.repeat(2_000)}1s)`, tooDeep],
  ['powers of a duration', `a offset (${'1s ^ '.repeat(2_000)}1s)`, tooDeep],
  ['nested durations', `sum_over_time(a[${nested(2_000, 'min_of(1s, ', '1s', ')')}])`, tooDeep],
  ['a regular expression of classes', `a{b=~"${'\\\\pL'.repeat(1_000)}"}`, tooCostly],
  [
    'a regular expression of ranges without regard to case',
    `a{b=~"(?i)${'[\\\\x{80}-\\\\x{10fff0}]'.repeat(100)}"}`,
    tooCostly,
  ],
  ['a regular expression that repeats', `a{b=~"${'(a{900})'.repeat(100)}"}`, tooCostly],
  ['a regular expression that repeats a long part', `a{b=~"(${'(a|b)'.repeat(500)}){100}"}`, tooCostly],
  ['many regular expressions', `a{${list(200, (at) => `b${at}=~"\\\\pL\\\\pN"`, ',')}}`, tooCostly],
  ['regular expressions of functions', nested(100, 'label_replace(', 'a', ', "b", "c", "b", "a{900}")'), tooCostly],
];
for (const [what, text, refusal] of refused)
  test(`an expression above the limits is rejected: ${what}`, (t) => {
    t.regex(refusalOf(text), refusal);
  });

test('a selector alone has the limits of an expression', (t) => {
  t.regex(refusalOf(conditions(300), parseSelector), /more than 256 label matchers in a selector$/);
  t.regex(refusalOf(`a{b="${'c'.repeat(100_000)}"}`, parseSelector), /more than 100000 characters$/);
});

const deepest: readonly (readonly [what: string, text: string])[] = [
  ['terms of `or`', list(490, (at) => `a${at}`, ' or ')],
  ['terms of a sum', list(490, () => 'a', ' + ')],
  ['scalars', list(490, () => 'time()', ' + ')],
  ['parentheses', nested(490, '(', 'a', ')')],
  ['signs', `${'-'.repeat(490)}a`],
  ['aggregations', nested(490, 'sum(', 'a', ')')],
  ['calls', nested(490, 'label_join(', 'a', ', "b", "c", "d")')],
  ['ranges of subqueries', nested(240, 'sum_over_time(', 'a', '[5m:1m])')],
  ['durations', `a offset ${nested(490, '(', '1s', ')')}`],
];
for (const [what, text] of deepest)
  test(`an expression at the depth limit is evaluated and printed: ${what}`, (t) => {
    t.is(refusalOf(text), '');
    t.notThrows(() => prettyPrint(parseExpression(text)));
  });

test('a list of alternatives, as written by dashboard variables, can be long', (t) => {
  const value = list(3_000, (at) => `10\\\\.0\\\\.${at}\\\\.1:9100`, '|');
  t.is(refusalOf(`a{instance=~"${value}"}`), '');
});

test('a job is searched by its service, unless it has more slashes than job names can have', (t) => {
  const translation = { strategy: 'UnderscoreEscapingWithSuffixes', promoted: [], scopeLabels: false } as const;
  const conditionOf = (value: string) => buildOtlpCondition([{ name: 'job', op: '=', value }], translation, []);
  t.deepEqual(conditionOf('a/b/c').parameters, { otlp0: 'a/b/c', otlp0k: ['a/b/c', 'b/c', 'c'] });
  t.deepEqual(conditionOf('/'.repeat(2_000)), { sql: '', parameters: {} });
});

test('a regular expression that is a list of alternatives matches exactly these texts', (t) => {
  const cases: readonly (readonly [source: string, text: string, matches: boolean])[] = [
    ['a\\.b|c', 'a.b', true],
    ['a\\.b|c', 'c', true],
    ['a\\.b|c', 'aXb', false],
    ['a\\.b|c', 'a.b|c', false],
    ['a\\|b', 'a|b', true],
    ['a\\|b', 'a', false],
    ['a\\\\|b', 'a\\', true],
    ['a|', '', true],
    ['', '', true],
    ['', 'a', false],
    ['é|😀', '😀', true],
    ['a\nb', 'a\nb', true],
    ['a\\d', 'a1', true],
    ['a\\d', 'ad', false],
  ];
  for (const [value, text, matches] of cases) {
    t.is(compileTest({ name: 'a', op: '=~', value })(text), matches, `${value} over ${text}`);
    t.is(compileTest({ name: 'a', op: '!~', value })(text), !matches, `${value} over ${text}`);
  }
});

test('a long text within many nested parts is printed once for all of them', (t) => {
  const inner = `a{b="${'x'.repeat(200)}"}`;
  t.is(prettyPrint(parseExpression(nested(2, 'sum(', inner, ')'))), `sum(\n  sum(\n    ${inner}\n  )\n)`);
});
