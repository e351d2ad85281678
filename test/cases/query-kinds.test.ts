/** Properties of every kind of query. A new kind needs an example here to compile. */
import '../../subjects/query-kinds.ts';
import test from 'ava';
import { withMaxGroups } from '../../queries/all-groups.ts';
import { QueryBatcher } from '../../queries/batch/query-batcher.ts';
import { explain } from '../../queries/explain.ts';
import { listSignals } from '../../queries/freshness.ts';
import { getMinStepMs } from '../../queries/min-step.ts';
import { openPromql } from '../../queries/promql/evaluation/threads.ts';
import type { QueryReader } from '../../queries/promql/query-reader.ts';
import { parseSavedQuery, Query, type QueryRequest, queryVersion } from '../../queries/query.ts';
import { changeParts, getQueryKind, listPartQueries } from '../../queries/query-kind.ts';
import { parseQuery, run, runWithoutCost } from '../../queries/run.ts';
import { signalDefinitions } from '../../queries/signals/index.ts';
import { listStaticErrors } from '../../queries/validity.ts';
import { addQueryFilters } from '../../queries/variables/filters.ts';
import { replaceInQuery } from '../../queries/variables/in-query.ts';
import { toSingleValue } from '../../queries/variables/scope.ts';
import { defaultPlans, type Plan } from '../../schemas/resources/plan.ts';
import { describeQuery } from '../../subjects/questions/sentence.ts';
import { openTables, receivedAtMs, type Tables } from './sink-tables.ts';

let tables: Tables;
test.before(async () => {
  tables = await openTables();
});
test.after.always(() => tables.close());
const threads = openPromql({ size: 1 });
test.after.always(() => threads.close());

const reader = (): QueryReader => ({
  columns: tables.columns.forTenant('acme'),
  plan: defaultPlans['enterprise'] as Plan,
  promql: { threads, translation: { strategy: 'UnderscoreEscapingWithSuffixes', promoted: [], scopeLabels: true } },
  nowMs: receivedAtMs,
});
const range = { from: BigInt(receivedAtMs - 3_600_000) * 1_000_000n, to: BigInt(receivedAtMs) * 1_000_000n };

const counts: QueryRequest & { readonly kind: 'aggregate' } = {
  kind: 'aggregate',
  signal: 'logs',
  search: 'service:$name',
  measures: [{ function: 'count', search: 'user:$name' }],
  groupBy: ['$name'],
};

/** Queries with a variable in each text that supports variables. */
const examples: { readonly [Kind in Query['kind']]: readonly (QueryRequest & { readonly kind: Kind })[] } = {
  rows: [{ kind: 'rows', signal: 'traces', search: 'service:$name', fields: ['timestamp', '$name'] }],
  aggregate: [counts],
  metric: [{ kind: 'metric', metric: 'requests.$name', search: 'job:$name', overTime: 'increase', groupBy: ['$name'] }],
  promql: [{ kind: 'promql', expression: 'sum(up{job="$name"})' }],
  formula: [
    {
      kind: 'formula',
      expression: '2 * all / all',
      queries: { all: { ...counts, groupBy: [] } },
    },
  ],
  slo: [{ kind: 'slo', sloId: '$name', figure: 'burn-rate', windows: ['1h', '5m'] }],
  check: [{ kind: 'check', checkId: '$name' }],
  anomaly: [
    { kind: 'anomaly', detectorId: '$name' },
    { kind: 'anomaly', step: '1m', query: counts },
  ],
  forecast: [{ kind: 'forecast', step: '1h', horizon: '4d', until: { above: 0.95 }, query: counts }],
};

const valueAt = (query: Query, path: string): unknown =>
  path.split('.').reduce<unknown>((value, name) => (value as Readonly<Record<string, unknown>>)[name], query);

const scope = new Map([['name', toSingleValue('shop')]]);
const withValues = (example: QueryRequest): Query => parseQuery(replaceInQuery(parseQuery(example), scope));

test('a formula accepts the queries of some kinds as parts', (t) => {
  const isAccepted = ([part]: readonly QueryRequest[]): boolean =>
    Query.safeParse({ kind: 'formula', expression: 'a', queries: { a: part } }).success;
  const kinds = Object.entries(examples).flatMap(([kind, [...all]]) => (isAccepted(all) ? [kind] : []));
  t.deepEqual(kinds, ['rows', 'aggregate', 'metric', 'promql', 'slo', 'check']);
});

for (const [kind, all] of Object.entries(examples))
  for (const [index, example] of all.entries()) {
    const title = all.length === 1 ? kind : `${kind} ${index + 1}`;

    test(`${title}: a saved query is read back the same`, (t) => {
      const query = parseQuery(example);
      t.deepEqual(parseSavedQuery(JSON.parse(JSON.stringify(query)), queryVersion), query);
    });

    test(`${title}: its signals exist, and those of its parts are among them`, (t) => {
      const query = parseQuery(example);
      const read = listSignals(query);
      t.true(read.every((signal) => Object.hasOwn(signalDefinitions, signal)));
      t.true(listPartQueries(query).every(([, part]) => listSignals(part).every((signal) => read.includes(signal))));
      t.true(getMinStepMs(query) >= 1);
    });

    test(`${title}: its parts are at their paths, and unchanged parts leave it the same`, (t) => {
      const query = parseQuery(example);
      for (const [path, part] of listPartQueries(query)) t.is(valueAt(query, path), part);
      t.deepEqual(
        changeParts(query, (part) => part),
        query,
      );
    });

    test(`${title}: its variables are replaced, and the result is valid`, (t) => {
      const query = withValues(example);
      t.notRegex(JSON.stringify(query), /\$/);
      t.regex(JSON.stringify(query), /shop/);
      t.deepEqual(listStaticErrors(query), []);
    });

    test(`${title}: filters and a maximum number of groups leave it valid`, (t) => {
      const filtered = addQueryFilters(withValues(example), [{ label: 'region', operator: '=', values: ['eu'] }]);
      const { addFilters } = getQueryKind(filtered);
      t.is(/region/.test(JSON.stringify(filtered)), addFilters !== undefined || listPartQueries(filtered).length > 0);
      t.deepEqual(listStaticErrors(parseQuery(withMaxGroups(filtered, 7))), []);
    });

    test(`${title}: a sentence describes it`, (t) => {
      const sentence = describeQuery({ query: withValues(example), range, stepMs: undefined, timeZone: 'UTC' });
      t.regex(sentence, /^\S.*shop.*\.$/);
      t.notRegex(sentence, /undefined|null/);
    });

    test(`${title}: the query returns the same table alone and in a batch, and is explained`, async (t) => {
      const query = withValues(example);
      const { form } = await run(query, reader(), { range });
      t.is(form, 'table');
      const alone = await runWithoutCost(query, reader(), { range });
      const responses = new QueryBatcher({ batchDelayMs: 1, batchTimeoutMs: 30_000, singleTimeoutMs: 30_000 });
      const batched = await Promise.all([query, query].map((each) => responses.run(each, reader(), { range })));
      t.deepEqual(batched, [alone, alone]);
      t.truthy(await explain(query, reader(), { range }));
    });
  }
