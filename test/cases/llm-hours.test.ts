/**
 * Totals of many calls equal those of the individual calls, whenever hours are summed and whatever is written later.
 */
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { noTokens } from '../../schemas/llm-calls.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import type { LlmPriceFields } from '../../schemas/resources/llm-price.ts';
import { updateHourSums } from '../../sinks/llm-hours.ts';
import { readCosts } from '../../subjects/llm/costs.ts';
import { findCallSource } from '../../subjects/llm/hours.ts';
import { readLlmModels } from '../../subjects/llm/models.ts';
import { toPriceRows } from '../../subjects/llm/own-prices.ts';
import { createLlmScope, type LlmScopeQuery } from '../../subjects/llm/scope.ts';
import { readLlmTotals } from '../../subjects/llm/totals.ts';
import { eraseProjectTelemetry } from '../../subjects/onboarding/erase-project.ts';
import { propertyRuns } from '../budget.ts';
import { openTables, type Tables } from './sink-tables.ts';

const hourMs = 3_600_000;
const startMs = Date.UTC(2026, 2, 1);
const hours = 6;
const endMs = startMs + hours * hourMs;
const nowMs = endMs + hourMs;
/** A time after all writes. */
const later = (): number => Date.now() + hourMs;
const toNs = (ms: number): bigint => BigInt(ms) * 1_000_000n;

let tables: Tables;
let offset = 0;
test.before(async () => {
  tables = await openTables();
});
test.after.always(() => tables?.close());

const defineValueSink = async (sink: string, values: readonly object[], tenant: string): Promise<void> => {
  offset += 1;
  const message = { offset, value: Buffer.from(JSON.stringify(values)), headers: { tenant } };
  const { rejected } = await tables.land([message], { sink });
  if (rejected.length > 0) throw new Error(rejected[0]?.message);
};

interface Call {
  readonly id: number;
  readonly atMs: number;
  readonly trace?: number;
  readonly isContainer?: boolean;
  readonly model?: string;
  readonly input?: number;
  readonly cost?: string;
  readonly isFailed?: boolean;
}

const toHex = (number: number, digits: number): string => number.toString(16).padStart(digits, '0');
const toPosition = ({ id, atMs, trace = id }: Call, tenantId: string) => ({
  tenantId,
  time: new Date(atMs).toISOString(),
  timeMs: atMs,
  traceId: toHex(trace, 32),
  spanId: toHex(id, 16),
});

const toRecord = (call: Call, tenantId: string) => ({
  ...toPosition(call, tenantId),
  call: {
    projectId: call.id % 2 === 0 ? 'shop' : 'blog',
    kind: call.isContainer === true ? 'container' : 'call',
    service: `service-${call.id % 3}`,
    environment: '',
    operation: 'chat',
    provider: 'openai',
    model: call.model ?? 'gpt-4o',
    requestModel: '',
    responseId: '',
    conversationId: '',
    agent: '',
    prompt: '',
    promptVersion: '',
    userId: `user-${call.id}`,
    durationNs: 1_000_000 * (1 + (call.id % 1_000)),
    timeToFirstTokenNs: 0,
    isStreamed: false,
    isFailed: call.isFailed === true,
    errorType: call.isFailed === true ? 'timeout' : '',
    finishReasons: [],
    tokens: { ...noTokens, input: call.input ?? 10, output: 3 },
    usageProblem: '',
    interpretation: '',
    cost: call.cost ?? '0.000000000000000001',
    currency: 'USD',
    priceProblem: '',
    reportedCost: call.id % 4 === 0 ? '0.1' : '',
    convention: 'opentelemetry',
    scopeName: '',
    scopeVersion: '',
    attributes: {},
  },
});

const landCalls = (calls: readonly Call[], tenantId: string): Promise<void> =>
  defineValueSink(
    'llm-calls',
    calls.map((call) => toRecord(call, tenantId)),
    tenantId,
  );

const landVerdict = (call: Call, verdict: object, tenantId: string): Promise<void> =>
  defineValueSink('llm-calls', [{ ...toPosition(call, tenantId), ...verdict }], tenantId);

let version = 0;
const landPrice = async (tenantId: string, model: string, periods: readonly LlmPriceFields[]): Promise<void> => {
  version += 1;
  const rates = toPriceRows(model, { model, periods: [...periods] });
  await defineValueSink('llm-prices', [{ tenantId, priceId: model, version, rates }], tenantId);
};

const priceFrom = (ms: number, input: string, currency = 'USD'): LlmPriceFields => ({
  provider: '',
  validFrom: new Date(ms).toISOString(),
  currency: currency as 'USD',
  perMillion: { input, output: '1' },
  tiers: [{ inputTokensAbove: 500, perMillion: { input: '7', output: '9' } }],
});

const sum = (): Promise<number> => updateHourSums(tables.columns, later());

const createReader = (tenantId: string) => ({
  columns: tables.columns.forTenant(tenantId),
  nowMs,
  plan: { name: 'all', entitlements: ['traces', 'llm'], retentionDays: { logs: 30, metrics: 30, traces: 30 } },
});

type Range = readonly [fromMs: number, toMs: number];

/** Reads everything, from sums or call by call; with `maxPartChanges`, few calls at a time. */
const readAll = async (
  tenantId: string,
  [fromMs, toMs]: Range,
  isSummed: boolean,
  { maxPartChanges, ...query }: LlmScopeQuery & { readonly maxPartChanges?: number } = {},
) => {
  const reader = createReader(tenantId);
  const scope = {
    ...createLlmScope({ scope: 'account', ...query }, { from: toNs(fromMs), to: toNs(toMs) }),
    minSummedChanges: isSummed ? 0 : Number.POSITIVE_INFINITY,
    ...(maxPartChanges !== undefined && { maxPartChanges }),
  };
  const options = { prices: 'call', storedPrices: [] } as const;
  const { latency, ...totals } = await readLlmTotals(reader, scope, options);
  const byModel = await readCosts(reader, scope, { ...options, groupBy: ['model', 'projectId'], stepMs: hourMs });
  const models = await readLlmModels(reader, scope, []);
  return { latency, read: { totals, byModel, models } };
};

const isFromSums = async (tenantId: string, [fromMs, toMs]: Range): Promise<boolean> => {
  const scope = createLlmScope({ scope: 'account' }, { from: toNs(fromMs), to: toNs(toMs) });
  return (await findCallSource(createReader(tenantId), { ...scope, minSummedChanges: 0 })).isSummed;
};

const all: Range = [startMs, endMs + 10 * hourMs];
const ranges: readonly Range[] = [
  all,
  [startMs + 1_234_567, endMs - 2_345_678],
  [startMs + hourMs, startMs + 3 * hourMs - 1],
  [startMs + 100, startMs + 2_000_000],
];
const queries: readonly LlmScopeQuery[] = [
  {},
  { scope: undefined, projectId: 'shop' },
  { search: 'model:gpt-4o OR NOT priced:true' },
  { search: 'status:error' },
  { search: 'userId:user-7' },
];

const comparesEqual = async (t: ExecutionContext, tenantId: string, range = all, query: LlmScopeQuery = {}) => {
  const [summed, single] = [await readAll(tenantId, range, true, query), await readAll(tenantId, range, false, query)];
  t.deepEqual(summed.read, single.read, JSON.stringify({ range, query }));
  const divided = await readAll(tenantId, range, true, { ...query, maxPartChanges: 70 });
  t.deepEqual(divided.read, single.read, JSON.stringify({ range, query, maxPartChanges: 70 }));
  t.is(summed.latency === null, single.latency === null);
  // Buckets have a width of 9 %. With few calls, the exact quantile is between two of them.
  if (single.read.totals.requests > 100)
    for (const quantile of ['p50', 'p95', 'p99'] as const) {
      const [left, right] = [summed.latency?.[quantile] ?? 0, single.latency?.[quantile] ?? 0];
      t.true(Math.abs(left - right) <= right * 0.1);
    }
};

test.serial('sums of hours equal their calls to the last digit, also after verdicts and prices', async (t) => {
  const calls = Array.from(
    { length: 400 },
    (_, index): Call => ({
      id: index + 1,
      atMs: startMs + Math.floor((index * 7_919 * 1_000) % (hours * hourMs)),
      model: ['gpt-4o', 'gpt-4o-mini', 'house-model'][index % 3] ?? '',
      input: (index * 37) % 1_000,
      isFailed: index % 11 === 0,
      cost: `0.00000000000000${1_000 + index}`,
    }),
  );
  await landCalls(calls, 'a');
  // Another organization has calls of the same spans.
  await landCalls(calls.slice(0, 50), 'b');
  t.false(await isFromSums('a', all));
  t.is(await sum(), 2 * hours);
  t.true(await isFromSums('a', all));
  t.is(await sum(), 0, 'unchanged hours are not summed again');

  const [first, second, third] = calls as [Call, Call, Call];
  await landVerdict(first, { nested: 1 }, 'a');
  await landVerdict(second, { duplicate: 3 }, 'a');
  await landCalls(
    [
      { id: 1_001, atMs: startMs + 5 * hourMs + 1 },
      { id: 1_002, atMs: endMs + 5 },
    ],
    'a',
  );
  await comparesEqual(t, 'a');
  t.true((await sum()) >= 2);
  await comparesEqual(t, 'a');
  // A repeated row is written again, but changes nothing.
  await landCalls([third], 'a');
  await comparesEqual(t, 'a');
  await sum();

  await landPrice('a', 'gpt-4o', [priceFrom(startMs + 2.5 * hourMs, '3')]);
  await comparesEqual(t, 'a');
  t.is(await sum(), 5, 'a price changes the hours in which it applies');
  t.is(await sum(), 0);
  await comparesEqual(t, 'a');
  await landPrice('a', 'gpt-4o', [
    priceFrom(startMs + 2.5 * hourMs, '3'),
    priceFrom(startMs + 4 * hourMs, '5.5', 'EUR'),
  ]);
  await comparesEqual(t, 'a');
  t.is(await sum(), 3, 'hours before the next price are unchanged');
  for (const range of ranges) await comparesEqual(t, 'a', range);
  for (const query of queries) await comparesEqual(t, 'a', all, query);
  await comparesEqual(t, 'b');
});

test.serial('agents with tokens of their own are counted by traces without calls, also across hours', async (t) => {
  const atMs = startMs + hourMs - 1_000;
  const container = (id: number, trace: number, ms: number): Call => ({ id, trace, atMs: ms, isContainer: true });
  await landCalls(
    [
      container(1, 0x1_0001, atMs),
      // Its call is in the next hour, and the call of the second one much later.
      { id: 2, trace: 0x1_0001, atMs: atMs + 5_000 },
      container(3, 0x1_0002, atMs),
      container(5, 0x1_0003, atMs),
      container(7, 0x1_0003, atMs + 3 * hourMs),
      container(9, 0x1_0004, atMs + 5 * hourMs),
    ],
    'c',
  );
  const count = async (): Promise<number> => {
    await comparesEqual(t, 'c');
    return (await readAll('c', all, true)).read.totals.tracesWithUncountedTokens;
  };
  t.is(await count(), 3);
  await sum();
  t.is(await count(), 3);
  await landCalls([{ id: 11, trace: 0x1_0002, atMs: atMs + 4 * hourMs }], 'c');
  t.is(await count(), 2);
  await sum();
  t.is(await count(), 2);
});

test.serial('a project is deleted from calls and from sums of hours, and the sums are computed again', async (t) => {
  // Calls of both projects in the first two hours, of one in the third, and only an agent of it in the fourth.
  const calls = Array.from({ length: 12 }, (_, id): Call => ({ id, atMs: startMs + Math.floor(id / 6) * hourMs + id }));
  const ofShop = { id: 20, atMs: startMs + 2 * hourMs };
  const agentOfShop = { id: 22, atMs: startMs + 3 * hourMs, isContainer: true };
  for (const tenantId of ['e', 'f']) await landCalls([...calls, ofShop, agentOfShop], tenantId);
  await sum();
  const countOf = async (tenantId: string, isSummed: boolean) => {
    const { totals, byModel } = (await readAll(tenantId, all, isSummed)).read;
    const projects = byModel.groups.map(({ group }) => group.projectId).sort();
    return { requests: totals.requests, agents: totals.tracesWithUncountedTokens, projects };
  };
  const before = { requests: 13, agents: 1, projects: ['blog', 'shop'] };
  t.deepEqual(await countOf('e', true), before);

  await eraseProjectTelemetry({ columns: tables.columns, log: silentLog }, { tenantId: 'e', projectId: 'shop' });
  const after = { requests: 6, agents: 0, projects: ['blog'] };
  for (const isSummed of [false, true]) t.deepEqual(await countOf('e', isSummed), after);
  const sumsWithShop =
    "SELECT count() AS hours FROM llm_hours WHERE tenant_id = 'e' AND toString(tuple(*)) LIKE '%shop%'";
  t.like(await tables.read(sumsWithShop), [{ hours: '0' }]);
  t.is(await sum(), 4, 'sums with the project were deleted as a whole');
  t.is(await sum(), 0);
  t.true(await isFromSums('e', all));
  t.deepEqual(await countOf('e', true), after);
  await comparesEqual(t, 'e');
  t.deepEqual(await countOf('f', true), before, 'another organization has a project of the same name');
});

test.serial('sums that are written after the deletion of a project, from calls before it, are not used', async (t) => {
  const calls = Array.from({ length: 12 }, (_, id): Call => ({ id, atMs: startMs + (id % 2) * hourMs + id }));
  await landCalls(calls, 'g');
  await sum();
  // The job read the calls before the deletion, and writes their sums after it.
  const { columns } = tables;
  await columns.execute('CREATE TABLE late_llm_hours AS llm_hours');
  t.teardown(() => columns.execute('DROP TABLE late_llm_hours'));
  await columns.execute("INSERT INTO late_llm_hours SELECT * FROM llm_hours WHERE tenant_id = 'g'");
  await eraseProjectTelemetry({ columns, log: silentLog }, { tenantId: 'g', projectId: 'shop' });
  // The same rows were inserted before.
  await columns.execute('INSERT INTO llm_hours SETTINGS insert_deduplicate = 0 SELECT * FROM late_llm_hours');

  const countRequests = async (): Promise<number> => (await readAll('g', all, true)).read.totals.requests;
  t.is(await countRequests(), 6);
  t.is(await sum(), 2);
  t.true(await isFromSums('g', all));
  t.is(await countRequests(), 6);
});

test.serial('in any order of calls, verdicts, prices and sums, totals are those of the calls', async (t) => {
  let run = 0;
  const step = fc.oneof(
    fc.record({ call: fc.nat(40), hour: fc.nat(hours - 1), input: fc.nat(1_000) }),
    fc.record({ nested: fc.nat(40), verdict: fc.nat(5) }),
    fc.record({ priceHour: fc.nat(hours), rate: fc.nat(50) }),
    fc.constant({ sums: true }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 9 }), async (steps) => {
      run += 1;
      const tenantId = `random-${run}`;
      const placeOf = (id: number, hour = id % hours): Call => ({ id, atMs: startMs + hour * hourMs + id });
      for (const each of steps)
        if ('call' in each) await landCalls([{ ...placeOf(each.call, each.hour), input: each.input }], tenantId);
        else if ('nested' in each) await landVerdict(placeOf(each.nested), { nested: each.verdict }, tenantId);
        else if ('priceHour' in each)
          await landPrice(tenantId, 'gpt-4o', [priceFrom(startMs + (each.priceHour - 0.5) * hourMs, `${each.rate}.5`)]);
        else await sum();
      const [summed, single] = [await readAll(tenantId, all, true), await readAll(tenantId, all, false)];
      t.deepEqual(summed.read, single.read);
      t.deepEqual((await readAll(tenantId, all, true, { maxPartChanges: 2 })).read, single.read);
    }),
    { numRuns: propertyRuns(16) },
  );
});
