/** Variables in PromQL, searches, formulas and titles: their values never change the structure of a query. */
import '../../subjects/query-kinds.ts';
import test from 'ava';
import fc from 'fast-check';
import { parseFormula } from '../../queries/formula/parse.ts';
import type { Matcher } from '../../queries/promql/series.ts';
import { compileTest } from '../../queries/promql/syntax/matchers.ts';
import { parseExpression } from '../../queries/promql/syntax/parse.ts';
import { type Expression, getAllParts } from '../../queries/promql/syntax/tree.ts';
import { parseSearch } from '../../queries/search/parse.ts';
import type { Search } from '../../queries/search/tree.ts';
import { formatValue } from '../../queries/variables/formats.ts';
import { replaceInFormula } from '../../queries/variables/in-formula.ts';
import { findVariableProblems, replaceInPromql } from '../../queries/variables/in-promql.ts';
import { replaceInQuery } from '../../queries/variables/in-query.ts';
import { replaceInSearch } from '../../queries/variables/in-search.ts';
import { replaceInAddress, replaceInNames, replaceInTitle } from '../../queries/variables/in-text.ts';
import { buildPlatformVariables } from '../../queries/variables/platform.ts';
import { type Scope, toSingleValue, type VariableValue } from '../../queries/variables/scope.ts';

const list = (...values: string[]): VariableValue => ({ values, isList: true });
const scope: Scope = new Map<string, VariableValue>([
  ...buildPlatformVariables({ fromMs: 1_700_000_000_000, toMs: 1_700_003_600_000, stepMs: 15_000 }),
  ['job', list('node')],
  ['jobs', list('a.b', 'c"d')],
  ['all', { values: ['.+'], isList: true, isDefinedByAuthor: true }],
  ['every', { values: ['x', 'y'], isList: true, includesEveryValue: true }],
  ['text', toSingleValue('a.*"}')],
  ['empty', toSingleValue('')],
  ['none', list()],
  ['k', toSingleValue('5')],
  ['minus', toSingleValue('-5')],
  ['wait', toSingleValue('5m')],
  ['metric', toSingleValue('http_requests_total')],
  ['odd', toSingleValue('http.requests "total"')],
  ['part', toSingleValue('requests')],
  ['unit', toSingleValue('m')],
  ['labels', list('job', 'http.route')],
  ['function', toSingleValue('rate')],
  ['word', toSingleValue('or')],
]);

const promql: readonly (readonly [written: string, read: string])[] = [
  ['up{job="$job"}', 'up{job="node"}'],
  ['up{job=~"$job"}', 'up{job=~"node"}'],
  ['up{job=~"$jobs"}', String.raw`up{job=~"(a\\.b|c\"d)"}`],
  ["up{job=~'$jobs'}", String.raw`up{job=~"(a\\.b|c\"d)"}`],
  ['up{job=~`[[jobs]].*`}', String.raw`up{job=~"(a\\.b|c\"d).*"}`],
  [`up{job=~"\${jobs:pipe}"}`, String.raw`up{job=~"a.b|c\"d"}`],
  ['up{job=~"$all"}', 'up{job=~".+"}'],
  ['up{job=~"$every"}', 'up{job=~".+"}'],
  ['up{job=~"$every/x"}', 'up{job=~"(x|y)/x"}'],
  ['up{job=~"$text"}', String.raw`up{job=~"a.*\"}"}`],
  ['up{job="x$empty"}', 'up{job="x"}'],
  ['up{job=~"$none"}', 'up{job=~""}'],
  ['rate(x[$__rate_interval])', 'rate(x[1m])'],
  [`rate(x[\${wait}])`, 'rate(x[5m])'],
  ['rate(x[[[wait]]])', 'rate(x[5m])'],
  [`rate(x[\${k}m])`, 'rate(x[5m])'],
  ['rate(x[$k$unit])', 'rate(x[5m])'],
  ['max_over_time(up[$wait:$__interval])', 'max_over_time(up[5m:15s])'],
  ['up offset $wait', 'up offset 5m'],
  [`up offset \${minus}m`, 'up offset - 5m'],
  ['topk($k, up)', 'topk(5, up)'],
  ['up > $minus', 'up > ( - 5 )'],
  ['$minus ^ 2', '( - 5 ) ^ 2'],
  ['x / $__interval_ms', 'x / 15000'],
  ['rate($metric[5m])', 'rate(http_requests_total[5m])'],
  [`rate(http_\${part}_total{a="b"}[5m])`, 'rate(http_requests_total{a="b"}[5m])'],
  ['rate($odd[5m])', String.raw`rate({ "http.requests \"total\"" }[5m])`],
  ['rate($odd{a="b"}[5m])', String.raw`rate({ "http.requests \"total\"" ,a="b"}[5m])`],
  ['rate($odd{}[5m])', String.raw`rate({ "http.requests \"total\""}[5m])`],
  ['$function(x[5m])', 'rate(x[5m])'],
  ['sum by ($labels) (up)', 'sum by (job , "http.route") (up)'],
  ['sum by (a, $none) (up)', 'sum by (a, ) (up)'],
  ['sum by ($word) (up)', 'sum by (or) (up)'],
  ['up{$odd="x"}', String.raw`up{"http.requests \"total\""="x"}`],
  ['$word + 1', '{ "or" } + 1'],
  ['up # $job', 'up # $job'],
  ['label_replace(up, "a", "$1", "b", "$jobs")', String.raw`label_replace(up, "a", "$1", "b", "(a\\.b|c\"d)")`],
];

test('in PromQL a variable is a string, a number, a duration, a name, a part of one of these or a list of them', (t) => {
  for (const [written, read] of promql) {
    t.is(replaceInPromql(written, scope), read, written);
    t.notThrows(() => parseExpression(read), read);
  }
});

test('a variable whose value is invalid in its position is refused with its name', (t) => {
  for (const [written, message] of [
    ['rate(x[$text])', 'variable text must be a duration there, such as 5m: "a.*\\"}"'],
    ['up offset $job', 'variable job must be a duration there, such as 5m: "node"'],
    ['topk($empty, up)', 'variable empty is empty where a name or a number is expected'],
    ['topk($jobs, up)', 'variable jobs has several values where one is expected'],
    ['up{$text}', 'variable text cannot replace conditions, only their names and values'],
    ['$text(up)', 'variable text must be the name of a function there: "a.*\\"}"'],
    ['sum by ($empty) (up)', 'variable empty is empty where the name of a label is expected'],
  ] as const)
    t.is(t.throws(() => replaceInPromql(written, scope))?.message, message, written);
});

const search: readonly (readonly [written: string, read: string])[] = [
  ['service:$job', 'service:node'],
  ['service:$jobs', String.raw`service:(a.b OR c\"d)`],
  ['service:"$jobs"', String.raw`service:("a.b" OR "c\"d")`],
  ['-service:$jobs error', String.raw`-service:(a.b OR c\"d) error`],
  ['service:$every', 'service:*'],
  ['service:cart-$job*', 'service:cart-node*'],
  ['service:$text', String.raw`service:a.\*\"\}`],
  ['$empty error', '* error'],
  ['service:$empty', 'service:""'],
  ['took:>$minus', 'took:>-5'],
  ['took:[$k TO $minus}', 'took:[5 TO -5}'],
  ['$odd', String.raw`"http.requests \"total\""`],
  ['$part:x', 'requests:x'],
  ['$odd:x', String.raw`"http.requests \"total\"":x`],
  ['service:$word', 'service:or'],
  ['body:/^$text$/', String.raw`body:/^a\.\*"\}$/`],
  ['service:(a OR $jobs)', String.raw`service:(a OR (a.b OR c\"d))`],
];

test('a variable that does not exist, or in place of an operator, is a problem; other dollar signs are text', (t) => {
  const names = new Set(['job', 'word', 'metric']);
  const isUnknown = (name: string): string => `variable ${name} does not exist`;
  const isOperator = 'variable word cannot replace an operator, only names, values, numbers and durations';
  const cases: readonly (readonly [expression: string, problem?: string])[] = [
    ['count(up{a="$v50"}) or vector(3)', isUnknown('v50')],
    [`rate(x[\${gone}]) + rate(y[\${gone}])`, isUnknown('gone')],
    ['up{job="$job", a="[[old]]"}', isUnknown('old')],
    ['up{x="1"} $word on (entity) down', isOperator],
    ['sum(a) $word sum(b)', isOperator],
    ['rate(a[5m]) $word b', isOperator],
    ['a $word 2', isOperator],
    ['2 $word a', isOperator],
    ['a / on (job) $metric{}'],
    ['sum by (job) ($metric)'],
    ['a and on (job) group_left ($job) $metric'],
    ['up{job=~"foo$"} or up{job=~"(a|b)$|c"}'],
    [`label_replace(up, "a", "$1-\${2}", "job", "(.)-(.)")`],
    ['label_replace(up, "a", "$first", "job", "(?P<first>.*)")'],
    ['up # $nothing'],
  ];
  for (const [expression, problem] of cases) {
    const [found] = findVariableProblems(expression, names);
    t.is(found && `variable ${found.name} ${found.problem}`, problem, expression);
    if (problem !== undefined) t.is(t.throws(() => replaceInPromql(expression, scope)).message, problem, expression);
  }
});

test('in a search a variable is text, a name, a value or one of several values', (t) => {
  for (const [written, read] of search) {
    t.is(replaceInSearch(written, scope), read, written);
    t.notThrows(() => parseSearch(read, 'logs'), read);
  }
  t.is(
    t.throws(() => replaceInSearch('took:>$jobs', scope))?.message,
    'variable jobs has several values where one is compared',
  );
});

test('in a formula a variable is a number or the name of a query', (t) => {
  t.is(replaceInFormula('$minus ^ 2 * $part', scope), '(-5) ^ 2 * requests');
  t.is(t.throws(() => replaceInFormula('1 + $text', scope))?.message, 'variable text must be a number in a formula');
});

test('formats render values as documented by Grafana', (t) => {
  const servers = list('test1', 'test2');
  for (const [format, text] of [
    ['csv', 'test1,test2'],
    ['distributed', 'test1,servers=test2'],
    ['doublequote', '"test1","test2"'],
    ['glob', '{test1,test2}'],
    ['json', '["test1","test2"]'],
    ['lucene', '("test1" OR "test2")'],
    ['pipe', 'test1|test2'],
    ['raw', 'test1,test2'],
    ['singlequote', "'test1','test2'"],
    ['sqlstring', "'test1','test2'"],
    ['text', 'test1 + test2'],
    ['queryparam', 'var-servers=test1&var-servers=test2'],
    ['nothing', '{test1,test2}'],
  ] as const)
    t.is(formatValue(servers, 'servers', format), text, format);
  t.is(formatValue(list('foo()bar BAZ', 'test2'), 'servers', 'percentencode'), 'foo%28%29bar%20BAZ%2Ctest2');
  t.is(formatValue(list('test1.', 'test2'), 'servers', 'regex'), String.raw`(test1\.|test2)`);
});

test('the range and step variables have the same names and forms as in Grafana', (t) => {
  const titleOf = (text: string): string => replaceInTitle(text, scope);
  t.is(titleOf('$__range $__range_s $__range_ms'), '3600s 3600 3600000');
  t.is(titleOf(`$__from \${__to:date}`), '1700000000000 2023-11-14T23:13:20.000Z');
  t.is(titleOf(`\${__from:date:YYYY-MM-DD HH:mm} \${__from:date:seconds}`), '2023-11-14 22:13 1700000000');
  t.is(titleOf('$__interval $__rate_interval'), '15s 1m');
  t.is(titleOf(`$unknown \${__field.labels.x}`), `$unknown \${__field.labels.x}`);
});

test('a value in a URL cannot change other parts of the URL', (t) => {
  t.is(replaceInAddress('/d/x?var-text=$text&$__url', scope), '/d/x?var-text=a.%2A%22%7D&$__url');
  t.is(replaceInAddress(`/d/x?\${jobs:queryparam}`, scope), '/d/x?var-jobs=a.b&var-jobs=c%22d');
});

test('a variable in a list of names expands to each of its values', (t) => {
  t.deepEqual(replaceInNames(['$labels', 'x_$part'], scope), ['job', 'http.route', 'x_requests']);
});

test('variables are replaced in every part of a query', (t) => {
  t.deepEqual(
    replaceInQuery(
      {
        kind: 'formula',
        expression: 'a / $k',
        queries: {
          a: {
            kind: 'aggregate',
            signal: 'logs',
            search: 'service:$job',
            measures: [{ function: 'sum', field: '$part', search: '$part:1' }],
            groupBy: ['$labels'],
            limit: 100,
          },
        },
      },
      scope,
    ),
    {
      kind: 'formula',
      expression: 'a / 5',
      queries: {
        a: {
          kind: 'aggregate',
          signal: 'logs',
          search: 'service:node',
          measures: [{ function: 'sum', search: 'requests:1', field: 'requests' }],
          groupBy: ['job', 'http.route'],
          limit: 100,
        },
      },
    },
  );
});

/** Values that try to change the structure of a query. */
const hostile = fc.oneof(
  fc.string({ unit: fc.constantFrom(...'"\'`\\{}[](),|=~!<>+-*/^@#:$. \n\t\0aev15mo'), maxLength: 16 }),
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.constantFrom(
    '"} or vector(1) #',
    'x"}[5m]) or secret{a="',
    'or',
    'AND',
    'NOT x',
    '* OR service:secret',
    '") OR (',
    '5m:1s',
    '5m] offset 1h',
    '1) + (2',
    'inf',
    '$job',
    `\${job}`,
    '\ud800',
    '',
  ),
);
const hostileValue = fc.record({
  values: fc.array(hostile, { minLength: 1, maxLength: 3 }),
  isList: fc.boolean(),
  isDefinedByAuthor: fc.boolean(),
});

const read = <T>(text: () => T): T | undefined => {
  try {
    return text();
  } catch {
    return undefined;
  }
};

/**
 * The structure of an expression. Numbers and metrics without conditions are leaves, because a variable can be either.
 */
const shapeOf = (node: Expression): unknown => {
  if (node.kind === 'parentheses' || node.kind === 'unary') return shapeOf(node.innerExpression);
  if (node.kind === 'number') return 'leaf';
  const operators =
    node.kind === 'selector' ? node.matchers.filter(({ name }) => name !== '__name__').map(({ op }) => op) : [];
  if (node.kind === 'selector' && operators.length === 0) return 'leaf';
  const operator = node.kind === 'binary' || node.kind === 'aggregation' ? node.operator : '';
  const parts = getAllParts(node).filter((part): part is Expression => part.kind !== 'duration');
  return [node.kind, operator, operators, parts.map(shapeOf)];
};

test('no value changes the structure of a PromQL expression', (t) => {
  let filledCount = 0;
  const templates = [
    'sum by ($v) (rate(up{a=~"$v",b!="$v"}[$__rate_interval])) / on($v, job) group_left(x_$v) y',
    'topk(3, $v{a!~"x$v.*"})',
    "up{job='$v'} > $v or rate(x_$" + '{v}_total{x=`$v`}[1h:$__interval] offset 5m)',
    'label_replace(up{$v="a"}, "a", "$v", "b", "$v(.*)")',
    'up # $v\n + $v',
    'x ^ $v * -$v',
    'quantile_over_time($v, up[5m]) unless up offset $v',
    `x[\${v}m:\${v}s] @ $v`,
  ];
  const plain = new Map(
    templates.map((template) => [
      template,
      [toSingleValue('v'), toSingleValue('1')].flatMap(
        (v) => read(() => replaceInPromql(template, new Map([...scope, ['v', v]]))) ?? [],
      )[0],
    ]),
  );
  fc.assert(
    fc.property(fc.constantFrom(...templates), hostileValue, (template, v) => {
      const filled = read(() => replaceInPromql(template, new Map([...scope, ['v', v]])));
      const expression = filled === undefined ? undefined : read(() => parseExpression(filled));
      if (expression === undefined) return;
      filledCount++;
      t.deepEqual(shapeOf(expression), shapeOf(parseExpression(plain.get(template) as string)), filled);
    }),
    { numRuns: 1500 },
  );
  t.true(filledCount > 200, String(filledCount));
});

test('a value in a PromQL string is exactly that string, whatever it contains', (t) => {
  fc.assert(
    fc.property(hostile, fc.constantFrom('"', "'", '`'), (value, quote) => {
      const expression = parseExpression(
        replaceInPromql(
          `up{a=${quote}x$v${quote},b!=${quote}$` + `{v}.${quote}}`,
          new Map([['v', toSingleValue(value)]]),
        ),
      );
      t.deepEqual(expression.kind === 'selector' && expression.matchers.slice(0, 2), [
        { name: 'a', op: '=', value: `x${value.toWellFormed()}` },
        { name: 'b', op: '!=', value: `${value.toWellFormed()}.` },
      ]);
    }),
    { numRuns: 1000 },
  );
});

test('each value of a list is matched literally in regular expressions, whatever it contains', (t) => {
  fc.assert(
    fc.property(fc.array(hostile, { minLength: 1, maxLength: 3 }), (values) => {
      const expression = parseExpression(replaceInPromql('up{a=~"$v"}', new Map([['v', { values, isList: true }]])));
      const [matcher] = expression.kind === 'selector' ? expression.matchers : [];
      const matches = compileTest(matcher as Matcher);
      for (const value of values) t.true(matches(value.toWellFormed()), value);
      t.false(matches(`${values.join('')}x1`));
    }),
    { numRuns: 1000 },
  );
});

/** The structure of a search without its words: adjacent words are one condition, and punctuation is none. */
const searchShape = (search: Search): unknown => {
  switch (search.is) {
    case 'and':
    case 'or': {
      const parts = search.parts.map(searchShape).filter((part) => part !== undefined);
      return parts.length < 2 ? parts[0] : [search.is, parts];
    }
    case 'not':
      return ['not', searchShape(search.part)];
    case 'value':
      return 'key' in search.reference ? search.reference.key : search.reference.field.name;
    case 'number':
      return search.field.name;
    default:
      return undefined;
  }
};

test('no value changes the structure of a search', (t) => {
  let filledCount = 0;
  const templates = [
    'service:$v',
    '-service:$v (a OR user:"x $v") NOT host:$v-1',
    '$v user:a OR $v host:$v*',
    'user:($v OR b) "$v" took:>$v',
    'user:[$v TO z] $v',
    'user:/^a$v/ host:/x/$v',
    '"$v" host:x$v',
  ];
  const one = new Map([['v', toSingleValue('v')]]);
  fc.assert(
    fc.property(fc.constantFrom(...templates), hostile, (template, value) => {
      const filled = read(() => replaceInSearch(template, new Map([['v', toSingleValue(value)]])));
      if (filled === undefined) return;
      filledCount++;
      t.deepEqual(
        searchShape(parseSearch(filled, 'logs')),
        searchShape(parseSearch(replaceInSearch(template, one), 'logs')),
        filled,
      );
    }),
    // After a comparison operator, an equals sign would become part of it.
    {
      numRuns: 1500,
      examples: [
        ['user:($v OR b) "$v" took:>$v', '='],
        ['user:($v OR b) "$v" took:>$v', '\t'],
        ['"$v" host:x$v', '\x1b[0m'],
        ['took:>$v', '=5'],
      ],
    },
  );
  t.true(filledCount > 500, String(filledCount));
});

test('a value in a search is exactly that text, whatever it contains', (t) => {
  fc.assert(
    fc.property(hostile, (value) => {
      const search = parseSearch(replaceInSearch('user:$v host:"$v"', new Map([['v', toSingleValue(value)]])), 'logs');
      const text = value.toWellFormed().replaceAll('\0', '\ufffd');
      const texts =
        search.is === 'and'
          ? search.parts.map((part) => part.is === 'value' && part.test.is === 'equal' && part.test.text)
          : [];
      t.deepEqual(texts, [text, text]);
    }),
    { numRuns: 1000 },
  );
});

test('a value in a formula is a number or a name, and is refused otherwise', (t) => {
  fc.assert(
    fc.property(hostile, (value) => {
      const filled = read(() => replaceInFormula('1 + a * $v', new Map([['v', toSingleValue(value)]])));
      if (filled === undefined) return;
      const formula = parseFormula(filled);
      t.is(formula.is === 'operation' && formula.right.is === 'operation' && formula.right.operator, '*', filled);
    }),
    { numRuns: 1000 },
  );
});
