/** Formulas: their syntax, how results are joined, and the unit of the result. */
import '../../subjects/query-kinds.ts';
import test from 'ava';
import { QueryError } from '../../queries/errors.ts';
import { runFormula } from '../../queries/formula/formula.ts';
import { FormulaQuery } from '../../queries/query.ts';
import { buildSeriesResult, buildTableResult, type ResultData } from '../../queries/query-result.ts';

type Rows = readonly (readonly [labels: Readonly<Record<string, string>>, value: number | string | null])[];

const table = (rows: Rows, unit = ''): ResultData => {
  const labels = Object.keys(rows[0]?.[0] ?? {});
  return buildTableResult(
    [...labels.map((name) => ({ name, type: 'text' as const, unit: '' })), { name: 'figure', type: 'number', unit }],
    rows.map(([of, value]) => [...labels.map((name) => of[name]), value]),
  );
};

const formulaOf = (expression: string, names: readonly string[]): FormulaQuery =>
  FormulaQuery.parse({
    kind: 'formula',
    expression,
    queries: Object.fromEntries(
      names.map((name) => [
        name,
        { kind: 'aggregate', signal: 'logs', search: name, measures: [{ function: 'count' }] },
      ]),
    ),
  });

const evaluate = (expression: string, responses: Readonly<Record<string, ResultData>>): Promise<ResultData> =>
  runFormula(formulaOf(expression, Object.keys(responses)), async (part) => {
    const name = part.kind === 'aggregate' ? (part.search ?? '') : '';
    return responses[name] as ResultData;
  });

const plain = { a: table([[{}, 10]]), b: table([[{}, 4]]), none: table([[{}, 0]]), unknown: table([[{}, null]]) };

const values: readonly (readonly [string, number | null])[] = [
  ['a + b', 14],
  ['a - b - 1', 5],
  ['a - (b - 1)', 7],
  ['2 + a * b', 42],
  ['a / 10 * 0.1 + 0.2', 0.3],
  ['(2 + a) * b', 48],
  ['a / b', 2.5],
  ['a % b', 2],
  ['-a ^ 2', -100],
  ['(-a) ^ 2', 100],
  ['2 ^ 3 ^ 2 + a * 0', 512],
  ['a ^ -1', 0.1],
  ['--a', 10],
  ['1e3 * a + .5', 10_000.5],
  ['a * b / b * 2', 20],
  ['a / none', null],
  ['a % none', null],
  ['none / none', null],
  ['a + unknown', null],
  ['a ^ 1000', null],
];
for (const [expression, value] of values)
  test(`${expression} is ${value}`, async (t) => {
    const { rows, columns } = await evaluate(expression, plain);
    t.deepEqual(rows, [[value]]);
    t.deepEqual(
      columns.map(({ name }) => name),
      ['value'],
    );
  });

const refused: readonly (readonly [string, string])[] = [
  ['a +', 'column 4: expected a number, the name of a query or an opening parenthesis'],
  ['(a', 'column 1: expected a closing parenthesis for this one'],
  ['a b', 'column 3: expected an operator, or the end'],
  ['a $ b', 'column 3: expected a number, the name of a query, an operator or a parenthesis'],
  ['1 + 2', 'must name at least one query'],
  ['a + c', 'names c, which is not one of the queries: a, b, none, unknown'],
  ['a + constructor', 'names constructor, which is not one of the queries: a, b, none, unknown'],
  ['1e999 * a', 'column 1: expected a number that a double can hold'],
  [`${'-'.repeat(60)}a`, 'column 51: expected at most 50 levels'],
];
for (const [expression, message] of refused)
  test(`${expression.slice(0, 20)} is rejected: ${message}`, async (t) => {
    const failure = await t.throwsAsync(evaluate(expression, plain), { instanceOf: QueryError, message });
    t.is((failure as QueryError).path, 'expression');
  });

test('groups are joined by equal labels in any order, and a group missing on one side has no value', async (t) => {
  const errors = table([
    [{ service: 'cart', host: 'x' }, 1],
    [{ service: 'shop', host: 'x' }, 5],
  ]);
  const requests = table([
    [{ host: 'x', service: 'shop' }, 10],
    [{ host: 'x', service: 'cart' }, 4],
    [{ host: 'y', service: 'web' }, 7],
  ]);
  const { rows, columns } = await evaluate('100 * e / r', { e: errors, r: requests });
  t.deepEqual(
    columns.map(({ name }) => name),
    ['service', 'host', 'value'],
  );
  t.deepEqual(rows, [
    ['cart', 'x', 25],
    ['shop', 'x', 50],
    ['web', 'y', null],
  ]);
});

test('a side without labels is joined with every group of the other side', async (t) => {
  const of = table([
    [{ service: 'cart' }, 1],
    [{ service: 'shop' }, 3],
  ]);
  const all = table([[{}, 4]]);
  t.deepEqual((await evaluate('of / all', { of, all })).rows, [
    ['cart', 0.25],
    ['shop', 0.75],
  ]);
  t.deepEqual((await evaluate('all - of', { of, all })).rows, [
    ['cart', 3],
    ['shop', 1],
  ]);
});

test('series are calculated step by step', async (t) => {
  const series = (labels: Record<string, string>, points: [number, number | null][]) => ({
    name: 'm',
    labels,
    unit: '',
    points,
  });
  const one = buildSeriesResult(
    [
      series({ k: 'v' }, [
        [0, 1],
        [60, 2],
        [120, null],
      ]),
    ],
    [120],
    [{ code: 'groups', message: 'cut' }],
  );
  const other = buildSeriesResult(
    [
      series({}, [
        [0, 2],
        [60, 0],
        [120, 5],
      ]),
    ],
    [0, 120],
  );
  const { series: found, partialSteps, partial } = await evaluate('one / other', { one, other });
  t.deepEqual(found, [
    {
      name: 'one / other',
      labels: { k: 'v' },
      unit: '',
      points: [
        [0, 0.5],
        [60, null],
        [120, null],
      ],
    },
  ]);
  t.deepEqual(partialSteps, [0, 120]);
  t.deepEqual(partial, [{ code: 'groups', message: 'one: cut' }]);
});

const units: readonly (readonly [string, string])[] = [
  ['n', 'ns'],
  ['n + n', 'ns'],
  ['n + r', ''],
  ['2 * n', 'ns'],
  ['n / 2', 'ns'],
  ['n / n', '1'],
  ['100 * n / n', '%'],
  ['100 * (n / n)', '%'],
  ['n / n * 100', '%'],
  ['n * n', ''],
  ['n / r', ''],
  ['-n', 'ns'],
  ['n ^ 2', ''],
  ['n + 1', 'ns'],
];
for (const [expression, unit] of units)
  test(`the unit of ${expression} is ${unit === '' ? 'not known' : unit}`, async (t) => {
    const { columns } = await evaluate(expression, { n: table([[{}, 1]], 'ns'), r: table([[{}, 1]], '{record}') });
    t.is(columns.at(-1)?.unit, unit);
  });

test('rows and several measures cannot be used in a calculation', async (t) => {
  const several = FormulaQuery.parse({
    kind: 'formula',
    expression: 'a',
    queries: { a: { kind: 'aggregate', signal: 'logs', measures: [{ function: 'count' }, { function: 'rate' }] } },
  });
  const rows = FormulaQuery.parse({ ...several, queries: { a: { kind: 'rows', signal: 'logs' } } });
  const never = () => Promise.reject(new Error('asked'));
  await t.throwsAsync(runFormula(several, never), {
    message: 'must have one measure: a formula reads one value of a query',
  });
  await t.throwsAsync(runFormula(rows, never), { message: 'must return aggregates, not rows' });
});
