/**
 * The two back ends of the search language find the same records: SQL over stored records, and the predicate over bus
 * messages.
 */
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { QueryError } from '../../queries/errors.ts';
import { buildExistenceCheck, readLogs } from '../../queries/logs/pages.ts';
import { buildSearchCondition, type SearchCondition } from '../../queries/search/condition.ts';
import { parseSearch } from '../../queries/search/parse.ts';
import { buildPredicate } from '../../queries/search/predicate.ts';
import type { Search } from '../../queries/search/tree.ts';
import type { SearchSignal } from '../../queries/signals/index.ts';
import type { RecordView } from '../../schemas/records/record.ts';
import { iterateItems, type Source } from '../../schemas/records/source.ts';
import { logRecords, spans } from '../../schemas/records/sources.ts';
import type { ScanMessage } from '../../sinks/scan/scanner.ts';
import { propertyRuns } from '../budget.ts';
import { everyForm, everyValue, requests, searches } from './search-records.ts';
import { logsRequest, messageOf, openTables, type Tables, tracesRequest } from './sink-tables.ts';

let tables: Tables;
test.before(async () => {
  tables = await openTables();
});
test.after.always(() => tables.close());

const sources: Readonly<Record<SearchSignal, Source<RecordView>>> = { logs: logRecords, traces: spans };
const tableOf = { logs: 'logs', traces: 'spans' } as const;
const encode = { logs: logsRequest, traces: tracesRequest } as const;

const byPredicate = (message: ScanMessage, search: Search, signal: SearchSignal): number[] => {
  const isFound = buildPredicate(search, signal) as (record: RecordView) => boolean;
  const { value, ...rest } = message;
  const found: number[] = [];
  for (const record of iterateItems(
    sources[signal],
    { ...rest, key: '', value: Buffer.from(value) },
    { topic: 'any', partition: 0 },
  ))
    if (isFound(record)) found.push(record.ordinal);
  return found;
};

/** Conditions per statement, because the engine limits the size of statements. */
const maxConditions = 150;

/** The ordinals of the records that each condition finds; the parameters of each condition have its number. */
const bySql = async (
  tenant: string,
  signal: SearchSignal,
  conditions: readonly SearchCondition[],
): Promise<number[][]> => {
  const found: number[][] = [];
  for (let start = 0; start < conditions.length; start += maxConditions)
    found.push(...(await byStatement(tenant, signal, conditions.slice(start, start + maxConditions))));
  return found;
};

const byStatement = async (
  tenant: string,
  signal: SearchSignal,
  conditions: readonly SearchCondition[],
): Promise<number[][]> => {
  const all: Record<string, string> = {};
  const columns = conditions.map(({ sql, parameters }, index) => {
    for (const [name, value] of Object.entries(parameters)) all[`c${index}_${name}`] = value;
    return `toUInt8(${sql.replace(/\{(search\d+):/g, `{c${index}_$1:`)})`;
  });
  const rows = await tables.columns
    .forTenant(tenant)
    .query<{ ordinal: number; found: number[] }>(
      `SELECT ordinal, [${columns.join(', ')}] AS found FROM ${tableOf[signal]} WHERE tenant_id = {tenant:String} ORDER BY ordinal`,
      all,
    );
  return conditions.map((_condition, index) =>
    rows.filter(({ found }) => found[index] === 1).map(({ ordinal }) => ordinal),
  );
};

const parsed = (text: string, signal: SearchSignal): Search | undefined => {
  try {
    return parseSearch(text, signal);
  } catch (error) {
    if (error instanceof QueryError) return undefined;
    throw error;
  }
};

let runs = 0;
const land = async (signal: SearchSignal, request: object): Promise<{ tenant: string; message: ScanMessage }> => {
  const tenant = `search-${signal}-${++runs}`;
  const message = messageOf([encode[signal](request)], { tenantId: tenant, signal });
  const { rejected } = await tables.land([message], { sink: signal });
  if (rejected.length > 0) throw new Error(`a sink refuses it: ${rejected[0]?.message}`);
  return { tenant, message };
};

/** Compares both back ends; returns how many searches had matches, and how many were valid. */
const compare = async (
  t: ExecutionContext,
  signal: SearchSignal,
  request: object,
  texts: readonly string[],
): Promise<readonly [number, number]> => {
  const { tenant, message } = await land(signal, request);
  const understood = texts.flatMap((text) => {
    const search = parsed(text, signal);
    return search === undefined ? [] : [{ text, search }];
  });
  const expected = understood.map(({ search }) => byPredicate(message, search, signal));
  const found = await bySql(
    tenant,
    signal,
    understood.map(({ search }) => buildSearchCondition(search, signal)),
  );
  for (const [index, { text }] of understood.entries()) t.deepEqual(found[index], expected[index], text);
  return [expected.filter(({ length }) => length > 0).length, understood.length];
};

test('an existence check for log records of a search agrees with their list', async (t) => {
  const { tenant } = await land('logs', everyValue.logs);
  const columns = tables.columns.forTenant(tenant);
  const range = { from: 0n, to: 2n ** 62n };
  const counts = { true: 0, false: 0 };
  for (const text of [
    ...everyForm.logs,
    'nowhere',
    '"no where"',
    'nothing:here',
    'NOT nowhere',
    'nowhere OR nothing:here',
  ]) {
    const search = parsed(text, 'logs');
    if (search === undefined) continue;
    const own = buildSearchCondition(search, 'logs');
    const hasSome = await buildExistenceCheck(columns, own)?.(range);
    if (hasSome === undefined) continue;
    counts[`${hasSome}`]++;
    const found = await readLogs(columns, own.sql, own.parameters, 1);
    t.is(found.length > 0, hasSome, text);
  }
  t.true(counts.true > 2 && counts.false > 2, 'some have records, and some have none');
});

for (const signal of ['logs', 'traces'] as const) {
  test(`SQL and the predicate give the same result for every value form and every value of ${signal}`, async (t) => {
    const found = await compare(t, signal, everyValue[signal], everyForm[signal]);
    t.true(found[1] > 100);
    t.true(found[0] > found[1] / 2);
  });

  test(`SQL and the predicate find the same ${signal} for random searches of random records`, async (t) => {
    const total = [0, 0];
    const runs = propertyRuns(12);
    await fc.assert(
      fc.asyncProperty(
        requests[signal],
        fc.array(searches(signal), { minLength: 40, maxLength: 40 }),
        async (request, texts) => {
          const [found, understood] = await compare(t, signal, request, texts);
          total[0] = (total[0] ?? 0) + found;
          total[1] = (total[1] ?? 0) + understood;
        },
      ),
      { numRuns: runs, endOnFailure: true },
    );
    const [found = 0, understood = 0] = total;
    t.true(understood > runs * 20, 'most searches are understood');
    t.true(found > understood / 4, 'many searches find something');
  });
}
