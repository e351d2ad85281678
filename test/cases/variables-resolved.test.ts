/** Variables of a dashboard are resolved in order of their dependencies, from stored telemetry. */
import '../../subjects/query-kinds.ts';
import test from 'ava';
import { openPromql } from '../../queries/promql/evaluation/threads.ts';
import type { QueryReader } from '../../queries/promql/query-reader.ts';
import { readTranslation } from '../../queries/promql/settings.ts';
import { parseExpression } from '../../queries/promql/syntax/parse.ts';
import { addQueryFilters } from '../../queries/variables/filters.ts';
import { replaceInPromql } from '../../queries/variables/in-promql.ts';
import { buildOptions } from '../../queries/variables/options.ts';
import { type ResolvedVariables, type ResolveOptions, resolveVariables } from '../../queries/variables/resolve.ts';
import { Variable } from '../../schemas/dashboards/variables.ts';
import { defaultPlans, type Plan } from '../../schemas/resources/plan.ts';
import { parseSettings } from '../../schemas/settings.ts';
import { openTables, receivedAtMs, type Tables } from './sink-tables.ts';

const threads = openPromql({ size: 1 });
let tables: Tables;
const at = `toDateTime64('2026-03-01 10:00:00.000000000', 9, 'UTC')`;
const received = `toDateTime64('2026-03-01 10:00:00.123', 3, 'UTC')`;

test.before(async () => {
  tables = await openTables();
  await tables.columns.execute(
    `INSERT INTO series (tenant_id, project_id, metric, series_id, kind, temporality, monotonic, unit, source, service, resource_id, attributes, attribute_types, first_seen, last_seen)
    SELECT 'variables', 'one', ['up', 'http_requests_total'][number % 2 + 1], number + 1, 'gauge', 1, false, '', 'prometheus', '', 0,
      map('job', ['node', 'web'][intDiv(number, 2) % 2 + 1], 'instance', concat('host-', toString(number), ':9100')), 'ss', ${received}, ${received} FROM numbers(12)`,
  );
  await tables.columns.execute(
    `INSERT INTO samples (tenant_id, project_id, received_at, partition, offset, metric, series_id, timestamp, value)
    SELECT 'variables', 'one', ${received}, 0, 1, ['up', 'http_requests_total'][number % 2 + 1], number + 1, ${at}, number FROM numbers(12)`,
  );
  await tables.columns.execute(
    `INSERT INTO logs (tenant_id, project_id, received_at, partition, offset, ordinal, timestamp, observed_timestamp, service, severity_number, severity_text, body, body_type, attributes, attribute_types)
    SELECT 'variables', 'one', ${received}, 0, 1, number, ${at} - number, ${at}, ['cart', 'shop', 'cart'][number % 3 + 1], 9, '', 'done', 's',
      map('user', concat('u', toString(number % 1500))), 's' FROM numbers(3000)`,
  );
});
test.after.always(() => Promise.all([tables.close(), threads.close()]));

const endMs = Date.UTC(2026, 2, 1, 10);
const statements: string[] = [];
const createReader = (): QueryReader => {
  const columns = tables.columns.forTenant('variables');
  return {
    columns: {
      tenantId: 'variables',
      query: async (sql, ...rest) => {
        statements.push(sql);
        return columns.query(sql, ...rest);
      },
      queryNative: async (sql, ...rest) => {
        statements.push(sql);
        return columns.queryNative(sql, ...rest);
      },
      getStoredUpToMs: (table) => columns.getStoredUpToMs(table),
    },
    plan: defaultPlans['enterprise'] as Plan,
    nowMs: receivedAtMs,
    promql: { threads, translation: readTranslation(parseSettings({})) },
  };
};

const resolved = async (
  variables: readonly Record<string, unknown>[],
  options: Partial<ResolveOptions> = {},
): Promise<ResolvedVariables> =>
  resolveVariables(
    variables.map((variable) => Variable.parse(variable)),
    createReader(),
    { range: { from: BigInt(endMs - 3_600_000) * 1_000_000n, to: BigInt(endMs) * 1_000_000n }, ...options },
  );

const valuesOf = async (variable: Record<string, unknown>, options?: Partial<ResolveOptions>): Promise<string[]> =>
  (await resolved([{ name: 'v', ...variable }], options)).items.flatMap(({ options: own }) =>
    own.map(({ value }) => value),
  );

const job = { kind: 'label-values', name: 'job', label: 'job', match: 'up', several: true, all: {} };
const instance = { kind: 'label-values', name: 'instance', label: 'instance', match: 'up{job=~"$job"}' };

test.serial('values come from labels, names, fields and series', async (t) => {
  t.deepEqual(await valuesOf({ kind: 'label-values', label: 'job' }), ['node', 'web']);
  t.deepEqual(await valuesOf({ kind: 'label-names' }), ['__name__', 'instance', 'job']);
  t.deepEqual(await valuesOf({ kind: 'metric-names', names: '^http' }), ['http_requests_total']);
  t.deepEqual(await valuesOf({ kind: 'field-values', signal: 'logs', field: 'service' }), ['cart', 'shop']);
  t.deepEqual(await valuesOf({ kind: 'field-values', signal: 'logs', field: 'service', search: 'user:u1' }), ['shop']);
  t.deepEqual(await valuesOf({ kind: 'promql', expression: 'sum by (job) (up)' }), [
    `{job="node"} 12 ${endMs}`,
    `{job="web"} 18 ${endMs}`,
  ]);
  t.deepEqual(await valuesOf({ kind: 'promql', expression: 'sum by (job) (up)', pattern: '"(.*)"' }), ['node', 'web']);
});

test.serial(
  'a variable that uses another variable is limited to the values that match the selection of that variable',
  async (t) => {
    const { items, scope } = await resolved([instance, job], { selectedValues: { job: ['web'] } });
    t.deepEqual(
      items.map(({ name, options }) => [name, options.map(({ value }) => value)]),
      [
        ['job', ['node', 'web']],
        ['instance', ['host-2:9100', 'host-6:9100', 'host-10:9100'].toSorted()],
      ],
    );
    t.is(replaceInPromql('up{job=~"$job",instance="$instance"}', scope), 'up{job=~"web",instance="host-10:9100"}');
  },
);

test.serial(
  'only the requested variables are queried; their dependencies are not queried if they have a selected value',
  async (t) => {
    statements.length = 0;
    const { items } = await resolved([job, instance, { kind: 'metric-names', name: 'metric' }], {
      requestedNames: ['instance'],
      selectedValues: { job: 'web' },
    });
    t.deepEqual(
      items.map(({ name, options }) => [name, options.length]),
      [
        ['job', 0],
        ['instance', 3],
      ],
    );
    const statementsBefore = statements.length;
    statements.length = 0;
    await resolved([job, instance], { selectedValues: { job: 'web' } });
    t.true(statements.length > statementsBefore);
  },
);

test.serial('variables in a cycle fail with its path and have no options, and the others are resolved', async (t) => {
  const cycle = [
    { kind: 'label-values', name: 'a', label: 'x', match: 'up{x="$c"}' },
    { kind: 'promql', name: 'b', expression: 'up{y="[[a]]"}' },
    { kind: 'field-values', name: 'c', signal: 'logs', field: 'z', search: 'b:$b' },
    { kind: 'label-values', name: 'self', label: 'instance', match: 'up{instance=~"$self"}' },
  ];
  const user = { kind: 'label-values', name: 'user', label: 'instance', match: 'up{instance="$self"}' };
  const { items } = await resolved([...cycle, user, job], { selectedValues: { self: 'host-2:9100' } });
  t.deepEqual(
    items.map(({ name, error, options, selected }) => [name, error?.message, options.length, selected]),
    [
      ['a', 'uses itself: a → c → b → a', 0, []],
      ['b', 'uses itself: b → a → c → b', 0, []],
      ['c', 'uses itself: c → b → a → c', 0, []],
      ['self', 'uses itself: self → self', 0, ['host-2:9100']],
      ['user', undefined, 1, ['host-2:9100']],
      ['job', undefined, 2, ['$__all']],
    ],
  );
});

test.serial('a variable has at most 1,000 values, and reports that there are more', async (t) => {
  const { items } = await resolved([{ kind: 'field-values', name: 'user', signal: 'logs', field: 'user' }]);
  t.is(items[0]?.options.length, 1000);
  t.deepEqual(items[0]?.partial, [{ code: 'rows', message: 'the 1000 most frequent of 1500 values' }]);
});

test.serial(
  'a variable whose query fails reports the reason, and the other variables are still resolved',
  async (t) => {
    const { items, scope } = await resolved([{ ...instance, match: 'up{' }, job], {
      selectedValues: { instance: 'x' },
    });
    t.like(items[0], { name: 'instance', selected: ['x'], error: { code: 'VALIDATION_FAILED' } });
    t.regex(items[0]?.error?.message ?? '', /parse error/);
    t.is(items[1]?.options.length, 2);
    t.deepEqual(scope.get('instance')?.values, ['x']);
    const patterns = await resolved([
      { ...job, pattern: '(' },
      { kind: 'metric-names', name: 'metric', names: '[' },
    ]);
    t.deepEqual(
      patterns.items.map(({ error }) => error?.path),
      ['pattern', 'names'],
    );
  },
);

test.serial(
  'conditions default to those of the dashboard until others are selected, and an empty string selects none',
  async (t) => {
    const own = { label: 'job', operator: '=', values: ['node'] };
    const variable = { kind: 'filters', name: 'f', filters: [own] };
    t.deepEqual((await resolved([variable])).filters, [own] as never);
    t.deepEqual((await resolved([variable], { selectedValues: { f: [''] } })).filters, []);
    t.deepEqual((await resolved([variable], { selectedValues: { f: ['zone!=a'] } })).filters, [
      { label: 'zone', operator: '!=', values: ['a'] },
    ]);
  },
);

test.serial('All is every value, or the custom value that the author defined', async (t) => {
  const query = 'up{job=~"$job"}';
  const textWith = async (variable: Record<string, unknown>, chosen = '$__all'): Promise<string> =>
    replaceInPromql(query, (await resolved([{ ...job, ...variable }], { selectedValues: { job: chosen } })).scope);
  t.is(await textWith({}), 'up{job=~"(node|web)"}');
  t.is(await textWith({ match: undefined }), 'up{job=~".+"}');
  t.is(await textWith({ all: { value: 'n.*' } }), 'up{job=~"n.*"}');
  t.is(await textWith({ all: undefined }), 'up{job=~"node"}');
  t.is(await textWith({ allowsOther: false }, 'nowhere'), 'up{job=~"(node|web)"}');
});

test('list, interval, text, constant and filter variables need no telemetry', async (t) => {
  const { items, scope, filters } = await resolved(
    [
      { kind: 'list', name: 'k', options: [{ value: '5', title: 'five' }, { value: '10' }] },
      { kind: 'interval', name: 'step', options: ['1m', '1h'], auto: { steps: 30 } },
      { kind: 'text', name: 'text', selected: 'x' },
      { kind: 'constant', name: 'constant', value: 'y' },
      { kind: 'filters', name: 'only', filters: [{ label: 'job', operator: '=', values: ['node', 'web'] }] },
    ],
    { selectedValues: { k: '10' } },
  );
  t.deepEqual(
    items.map(({ selected }) => selected),
    [['10'], ['auto'], ['x'], ['y'], []],
  );
  t.deepEqual(
    ['k', 'step', 'text', 'constant'].map((name) => scope.get(name)?.values),
    [['10'], ['2m'], ['x'], ['y']],
  );
  t.deepEqual(filters, [{ label: 'job', operator: '=', values: ['node', 'web'] }]);
});

test('a variable can be named like a property of every object, and a value selected twice counts once', async (t) => {
  const names = ['constructor', 'toString', 'hasOwnProperty', 'valueOf'];
  const options = [{ value: 'a' }, { value: 'b' }];
  const variables = names.map((name) => ({ kind: 'list', name, several: true, options }) as const);
  const { items } = await resolved(variables, { selectedValues: { valueOf: ['b', 'a', 'b'] } });
  t.deepEqual(
    items.map(({ selected }) => selected),
    [['a'], ['a'], ['a'], ['b', 'a']],
  );
});

test('filters are added to every PromQL selector and to every search', (t) => {
  const filters = [
    { label: 'job', operator: '=' as const, values: ['a.b', 'c'] },
    { label: 'http.route', operator: '!=' as const, values: ['"}'] },
  ];
  const { expression } = addQueryFilters(
    { kind: 'promql', expression: 'sum(rate(x[5m])) / up{} or {a="b"} # {' },
    filters,
  ) as { expression: string };
  const added = String.raw`"job"=~"(a\\.b|c)","http.route"!="\"}"`;
  t.is(expression, `sum(rate(x{${added}}[5m])) / up{${added}} or {${added},a="b"} # {`);
  t.notThrows(() => parseExpression(expression));
  t.like(addQueryFilters({ kind: 'rows', signal: 'logs', search: 'a OR b', order: 'newest', limit: 1 }, filters), {
    search: String.raw`(a OR b) job:(a.b OR c) NOT http.route:\"\}`,
  });
  t.throws(() =>
    addQueryFilters({ kind: 'rows', signal: 'logs', search: 'a) OR (b', order: 'newest', limit: 1 }, filters),
  );
});

test('a pattern extracts values and titles, and the sort order is applied', (t) => {
  const options = (texts: string[], more: Record<string, unknown>) => {
    const variable = Variable.parse({ kind: 'label-names', name: 'v', ...more });
    return buildOptions(texts, variable as Parameters<typeof buildOptions>[1]).options.map(({ value, title }) =>
      value === title ? value : `${value}:${title}`,
    );
  };
  t.deepEqual(options(['a-1', 'b', 'c-2'], { pattern: '-\\d' }), ['a-1', 'c-2']);
  t.deepEqual(options(['a-1', 'b', 'c-1'], { pattern: '-(\\d)' }), ['1']);
  t.deepEqual(options(['a-1', 'c-2'], { pattern: '(?P<text>.)-(?P<value>\\d)' }), ['1:a', '2:c']);
  t.deepEqual(options(['b10', 'B9', 'a1'], { order: { by: 'text' } }), ['B9', 'a1', 'b10']);
  t.deepEqual(options(['b10', 'B9', 'a1'], { order: { by: 'natural' } }), ['a1', 'B9', 'b10']);
  t.deepEqual(options(['b10', 'B9', 'a1'], { order: { by: 'number', direction: 'descending' } }), ['b10', 'B9', 'a1']);
  t.deepEqual(options(['b'], { fixed: { options: [{ value: 'a' }], place: 'after' } }), ['b', 'a']);
});
