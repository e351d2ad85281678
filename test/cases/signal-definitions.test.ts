/** Every kind of query on each defined signal. A signal that lacks a column or a field expression fails here. */
import '../../subjects/query-kinds.ts';
import { QueryError } from '../../queries/errors.ts';
import type { QueryRequest } from '../../queries/query.ts';
import { run } from '../../queries/run.ts';
import { buildSearchCondition } from '../../queries/search/condition.ts';
import { parseSearch } from '../../queries/search/parse.ts';
import { getSignalRecords, querySignals, type ReadSignal, signalDefinitions } from '../../queries/signals/index.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { checkValidity } from '../../queries/validity.ts';
import { defaultPlans, type Plan } from '../../schemas/resources/plan.ts';
import { test } from '../limit-concurrency.ts';
import { openTables, receivedAtMs, type Tables } from './sink-tables.ts';

let tables: Tables;
test.before(async () => {
  tables = await openTables();
});
test.after.always(() => tables.close());

const enterprise = defaultPlans['enterprise'] as Plan;
const createReaderWith = (plan: Plan): TenantReader => ({
  columns: tables.columns.forTenant('acme'),
  plan,
  nowMs: receivedAtMs,
});
const range = { from: BigInt(receivedAtMs - 3_600_000) * 1_000_000n, to: BigInt(receivedAtMs) * 1_000_000n };
const runQuery = (query: object, { plan = enterprise, stepMs }: { plan?: Plan; stepMs?: number } = {}) =>
  run(query as QueryRequest, createReaderWith(plan), { range, stepMs });

const isTime = (signal: ReadSignal, name: string): boolean =>
  signalDefinitions[signal].fields.some((field) => field.name === name && field.type === 'time');
const fieldNames = (signal: ReadSignal): string[] => signalDefinitions[signal].fields.map(({ name }) => name);

for (const signal of querySignals) {
  test(`${signal}: rows return complete records, or all fields`, async (t) => {
    const { columns } = await runQuery({ kind: 'rows', signal });
    t.deepEqual(
      columns.map(({ name }) => name),
      getSignalRecords(signal).whole?.columns.map(({ name }) => name) ?? fieldNames(signal),
    );
  });

  test(`${signal}: every field is a column, a group and an aggregate, and is searchable`, async (t) => {
    const names = fieldNames(signal);
    await t.notThrowsAsync(
      runQuery({ kind: 'rows', signal, fields: [...names, 'attribute.k', 'resource.k', 'scope.k'] }),
    );
    for (const name of names) {
      await t.notThrowsAsync(runQuery({ kind: 'rows', signal, search: `NOT ${name}:*`, order: 'oldest' }), name);
      const measures = [{ function: 'count' }, { function: 'distinct', field: name }];
      await t.notThrowsAsync(
        runQuery({ kind: 'aggregate', signal, measures, groupBy: isTime(signal, name) ? [] : [name] }),
        name,
      );
    }
  });

  test(`${signal}: words, phrases, patterns, expressions and attributes are searchable, as a table and as series`, async (t) => {
    for (const search of ['one two', '"one two"', 'on*', '/^one$/', 'k:1', 'resource.k:v', 'events.k:v', 'k:>5']) {
      const query = { kind: 'aggregate', signal, search, measures: [{ function: 'count' }] };
      await t.notThrowsAsync(runQuery(query), search);
      await t.notThrowsAsync(runQuery(query, { stepMs: 60_000 }), search);
    }
  });

  test(`${signal}: attribute names are checked against landed attributes, if these are counted`, async (t) => {
    const query = { kind: 'rows', signal, search: 'attribute.nobody.has.it:1', order: 'newest', limit: 1 } as const;
    const [validity] = await checkValidity([query], createReaderWith(enterprise));
    t.is(validity?.isValid, signalDefinitions[signal].countedBy === undefined ? true : null);
  });

  test(`${signal}: a plan without the entitlement reads nothing`, async (t) => {
    const { entitlement } = signalDefinitions[signal];
    const plan = { ...enterprise, entitlements: enterprise.entitlements.filter((each) => each !== entitlement) };
    const refused = await t.throwsAsync(runQuery({ kind: 'rows', signal }, { plan }), { instanceOf: QueryError });
    t.true(refused?.message.includes(entitlement), refused?.message);
  });
}

for (const signal of Object.keys(signalDefinitions) as ReadSignal[]) {
  test(`${signal}: nothing is read beyond the retention of the plan`, (t) => {
    const days = { logs: 3, metrics: 5, traces: 7 };
    t.true(Object.values(days).includes(signalDefinitions[signal].retentionDays(days)));
  });

  test(`${signal}: the table for its landing time has the required columns`, async (t) => {
    const { table, time } = signalDefinitions[signal].newest;
    await t.notThrowsAsync(
      tables.columns
        .forTenant('acme')
        .query(`SELECT max(received_at) AS newest FROM ${table} WHERE tenant_id = {tenant:String} AND ${time} > 0`),
    );
  });

  test(`${signal}: a search becomes a parameterized condition without its text`, (t) => {
    const { sql, parameters } = buildSearchCondition(parseSearch('k:"it\'s"', signal), signal);
    t.false(sql.includes("it's"));
    t.true(Object.values(parameters).every((value) => value === "it's"));
  });
}
