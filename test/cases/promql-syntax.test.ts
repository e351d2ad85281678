/** Which PromQL is accepted, how it is formatted, and the error messages of Prometheus. */

import { readdirSync, readFileSync } from 'node:fs';
import { parser } from '@prometheus-io/lezer-promql';
import test from 'ava';
import { toTreeJson } from '../../queries/promql/syntax/json.ts';
import { parseExpression, parseSelector } from '../../queries/promql/syntax/parse.ts';
import { prettyPrint, printExpression } from '../../queries/promql/syntax/print.ts';
import { everySyntax } from '../../queries/promql/syntax/reader.ts';
import { commandsOf } from './promql-language/commands.ts';

const errorOf = (text: string, options = everySyntax): string => {
  try {
    parseExpression(text, options);
    return '';
  } catch (error) {
    return (error as Error).message;
  }
};

test('an invalid expression is rejected with the message and position of Prometheus', (t) => {
  const cases: readonly (readonly [string, string])[] = [
    ['', 'unknown position: parse error: no expression found in input'],
    ['# nothing', '1:1: parse error: no expression found in input'],
    ['foo bar', '1:5: parse error: unexpected identifier "bar"'],
    ['(1', '1:3: parse error: unclosed left parenthesis'],
    ['(1))', "1:5: parse error: unexpected right parenthesis ')'"],
    ['1 +', '1:4: parse error: unexpected end of input'],
    ['*1', '1:1: parse error: unexpected <op:*>'],
    ['sum(a', '1:6: parse error: unclosed left parenthesis'],
    ['sum by a (b)', '1:8: parse error: unexpected identifier "a" in grouping opts, expected "("'],
    ['sum() by (a)', '1:1: parse error: no arguments for aggregate expression provided'],
    ['topk(a)', '1:1: parse error: wrong number of arguments for aggregate expression provided, expected 2, got 1'],
    ['foo{a=~"("}', '1:5: parse error: error parsing regexp: missing closing ): `(`'],
    ['foo{a}', '1:6: parse error: unexpected "}" in label matching, expected label matching operator'],
    ['foo{a="b" c}', '1:11: parse error: unexpected identifier "c" in label matching, expected "," or "}"'],
    ['{a=""}', '1:1: parse error: vector selector must contain at least one non-empty matcher'],
    ['foo{__name__="b"}', '1:1: parse error: metric name must not be set twice: "foo" or "b"'],
    ['foo[5m', '1:7: parse error: unclosed left bracket'],
    ['foo[5mm]', '1:5: parse error: bad number or duration syntax: "5mm"'],
    ['foo[0s]', '1:5: parse error: duration must be greater than 0'],
    ['rate(foo)', '1:6: parse error: expected type range vector in call to function "rate", got instant vector'],
    ['nothing(a)', '1:1: parse error: unknown function with name "nothing"'],
    ['1 == 1', '1:3: parse error: comparisons between scalars must use BOOL modifier'],
    ['a + bool b', '1:3: parse error: bool modifier can only be used on comparison operators'],
    ['1 and 1', '1:1: parse error: set operator "and" not allowed in binary scalar expression'],
    ['a and on(b) group_left() c', '1:1: parse error: no grouping allowed for "and" operation'],
    ['a offset 1m offset 2m', '1:1: parse error: offset may not be set multiple times'],
    [
      '1 offset 1m',
      '1:1: parse error: offset modifier must be preceded by an instant vector selector or range vector selector or a subquery',
    ],
    ['a\n  + é', "2:5: parse error: unexpected character: 'é'"],
    [
      '-"a"',
      '1:1: parse error: unary expression only allowed on expressions of type scalar or instant vector, got "string"',
    ],
  ];
  for (const [text, message] of cases) t.is(errorOf(text), message, text);
});

test('experimental features must be enabled', (t) => {
  const stable = {
    experimentalFunctions: false,
    durationExpressions: false,
    extendedRangeSelectors: false,
    fillModifiers: false,
  };
  t.is(errorOf('info(a)', stable), '1:1: parse error: function "info" is not enabled');
  t.regex(errorOf('limitk(1, a)', stable), /limitk\(\) is experimental and must be enabled/);
  t.is(errorOf('a[5m+1m]', stable), '1:3: parse error: experimental duration expression is not enabled');
  t.is(errorOf('a[5m] anchored', stable), '1:1: parse error: anchored modifier is experimental and not enabled');
  t.is(errorOf('a + fill(0) b', stable), '1:1: parse error: binop fill modifiers are experimental and not enabled');
});

test('expressions are formatted as by promtool', (t) => {
  const cases: readonly (readonly [string, string])[] = [
    ['sum  by(job,b)(rate(a{z="1",b!~\'x\'}[300s]))', 'sum by (job, b) (rate(a{b!~"x",z="1"}[5m]))'],
    ['-1^2', '-1 ^ 2'],
    ['a offset -90s @ 1.5', 'a @ 1.500 offset -1m30s'],
    ['a[1h:]', 'a[1h:]'],
    ['{"é.a", b="c"}', '{__name__="é.a",b="c"}'],
    ['a == bool on(x) group_left(y) b', 'a == bool on (x) group_left (y) b'],
    ['a + fill_left(1) b', 'a + fill_left (1) b'],
    ['1e9', '1000000000'],
    ['a offset (1h/2)', 'a offset (1h / 2)'],
  ];
  for (const [text, expected] of cases) {
    t.is(prettyPrint(parseExpression(text)), expected);
    t.is(printExpression(parseExpression(expected)), expected, 'what is printed reads as the same');
  }
  const long = `sum(${'a'.repeat(60)}) / sum(${'b'.repeat(60)})`;
  t.is(prettyPrint(parseExpression(long)), `  sum(${'a'.repeat(60)})\n/\n  sum(${'b'.repeat(60)})`);
});

test('the syntax tree equals that of Prometheus', (t) => {
  t.deepEqual(toTreeJson(parseExpression('sum(a[5m:] offset 1m) > 2'.replace('[5m:] offset 1m', ' offset 1m'))), {
    type: 'binaryExpr',
    op: '>',
    lhs: {
      type: 'aggregation',
      op: 'sum',
      expr: {
        type: 'vectorSelector',
        name: 'a',
        matchers: [{ name: '__name__', value: 'a', type: '=' }],
        anchored: false,
        smoothed: false,
        offset: 60_000,
        offsetExpr: null,
        timestamp: null,
        startOrEnd: null,
      },
      param: null,
      grouping: [],
      without: false,
    },
    rhs: { type: 'numberLiteral', val: '2' },
    matching: null,
    bool: false,
  });
});

test('a selector is parsed as conditions', (t) => {
  t.deepEqual(parseSelector('up{job=~"a|b"}'), [
    { name: 'job', op: '=~', value: 'a|b' },
    { name: '__name__', op: '=', value: 'up' },
  ]);
});

test('expressions accepted by the Prometheus editor grammar are accepted', (t) => {
  const folder = new URL('promql/', import.meta.url);
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.test')))
    for (const command of commandsOf(readFileSync(new URL(file, folder), 'utf8'))) {
      if (command.kind !== 'eval' || command.expectations.some(({ of }) => of === 'fail')) continue;
      let accepted = true;
      parser.parse(command.expression).iterate({
        enter: ({ type }) => {
          if (type.isError) accepted = false;
        },
      });
      if (accepted) t.is(errorOf(command.expression), '', command.expression);
    }
});
