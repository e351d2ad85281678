/** Queries that wait for a slot: which queries run if there are more than the engine can process. */
import '../../subjects/query-kinds.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { QueryBatcher } from '../../queries/batch/query-batcher.ts';
import { FairQueue } from '../../queries/limits/fair-queue.ts';
import type { QueryRequest } from '../../queries/query.ts';
import type { QueryContext } from '../../queries/query-result.ts';
import { parseQuery } from '../../queries/run.ts';
import type { TenantReader } from '../../queries/tenant-reader.ts';
import { TimeoutError } from '../../runtime/timeout.ts';
import { UnavailableError } from '../../schemas/errors.ts';
import type { TenantColumns } from '../../schemas/ports/columns.ts';
import { defaultPlans, type Plan } from '../../schemas/resources/plan.ts';
import { queryRule } from '../../subjects/alerts/run-query.ts';
import { eventually, stretched } from '../waiting.ts';
import { ruleOf } from './alert-evaluation.ts';

const dueMs = Date.UTC(2026, 2, 1, 10);
const contextAt = (nowMs: number): QueryContext => ({
  range: { from: BigInt(nowMs - 60_000) * 1_000_000n, to: BigInt(nowMs) * 1_000_000n - 1n },
  stepsFrom: 'range',
});
const counting = (service: string) =>
  parseQuery({
    kind: 'aggregate',
    signal: 'logs',
    measures: [{ function: 'count' }],
    groupBy: [],
    search: `service:${service}`,
    limit: 10,
  } as unknown as QueryRequest);

interface Statement {
  readonly sql: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal | undefined;
  readonly answer: PromiseWithResolvers<readonly object[]>;
}

/** Columns whose statements finish when the test resolves them, with one slot for statements. */
const opened = ({ sharedMs: batchTimeoutMs = 600_000, aloneMs: singleTimeoutMs = 600_000 } = {}) => {
  const statements: Statement[] = [];
  const columns = {
    tenantId: 'tenant',
    async query(sql: string, parameters: Statement['parameters'], limits?: { readonly signal?: AbortSignal }) {
      const { signal } = limits ?? {};
      const response = Promise.withResolvers<readonly object[]>();
      statements.push({ sql, parameters, signal, answer: response });
      signal?.addEventListener('abort', () => response.reject(signal.reason));
      return response.promise;
    },
  } as unknown as TenantColumns;
  const reader = { columns, plan: defaultPlans['enterprise'] as Plan, nowMs: dueMs } as TenantReader;
  const queue = new FairQueue({ slots: 1, maxSlotsPerTenant: 1, maxWaitingPerTenant: Number.POSITIVE_INFINITY });
  const responses = new QueryBatcher({
    batchDelayMs: 0,
    batchTimeoutMs,
    singleTimeoutMs,
    async runInSlot(work, signal) {
      const end = await queue.acquire('tenant', signal);
      return work().finally(end);
    },
  });
  const runQuery = (service: string, nowMs = dueMs, signal?: AbortSignal, requester = '') =>
    responses.run(counting(service), reader, contextAt(nowMs), { signal, dueMs: nowMs, requester });
  /** Occupies the only slot until the test releases it. */
  const occupied = () => {
    const held = Promise.withResolvers<void>();
    void responses.runInSlot(() => held.promise);
    return held.resolve;
  };
  return { statements, runQuery, occupied, reader, answers: responses };
};

/** Returns the number of queries in a statement. */
const questionsIn = ({ sql }: Statement): number => (sql.match(/ AS n\d+/g) ?? []).length;
const rowOf = (statement: Statement): object =>
  Object.fromEntries(
    Array.from({ length: questionsIn(statement) }, (_, at) => [
      [`n${at}`, 1],
      [`m${at}_0`, 1],
    ]).flat(),
  );
const respond = (statement: Statement | undefined): void => statement?.answer.resolve([rowOf(statement)]);

test('A query that is cancelled while it waits is not run', async (t) => {
  const { statements, runQuery, occupied } = opened();
  const free = occupied();
  const input = new AbortController();
  const first = runQuery('given-up', dueMs, input.signal);
  const second = runQuery('wanted', dueMs - 60_000);
  await sleep(5);
  input.abort(new Error('its time is over'));
  await t.throwsAsync(first, { message: 'its time is over' });
  free();
  await eventually('a statement', () => statements.length === 1);
  t.regex(JSON.stringify(statements[0]?.parameters), /wanted/);
  respond(statements[0]);
  await second;
  t.is(statements.length, 1);
});

test('A statement is cancelled when no caller waits for any of its results, and otherwise continues', async (t) => {
  const { statements, runQuery } = opened();
  const [one, other] = [new AbortController(), new AbortController()];
  const pending = Promise.allSettled([runQuery('one', dueMs, one.signal), runQuery('other', dueMs, other.signal)]);
  await eventually('a statement', () => statements.length === 1);
  one.abort(new Error('given up'));
  await sleep(5);
  t.false(statements[0]?.signal?.aborted);
  other.abort(new Error('given up'));
  await eventually('the end of the statement', () => statements[0]?.signal?.aborted === true);
  for (const each of await pending) t.is(each.status, 'rejected');
});

test('The newest due time runs first, and queries that waited meanwhile run in one statement', async (t) => {
  const { statements, runQuery, occupied } = opened();
  const free = occupied();
  const pending: Promise<unknown>[] = [];
  for (const [service, minute] of [
    ['a', 0],
    ['b', 1],
    ['c', 0],
    ['d', 1],
    ['e', -1],
  ] as const) {
    pending.push(runQuery(service, dueMs + 60_000 * (minute - 2)));
    // Each batch is collected separately.
    await sleep(5);
  }
  free();
  for (const [index, services] of [['b', 'd'], ['a', 'c'], ['e']].entries()) {
    await eventually(`statement ${index + 1}`, () => statements.length === index + 1);
    const values = Object.values(statements[index]?.parameters ?? {});
    t.deepEqual(
      values.filter((value) => /^[a-e]$/.test(String(value))),
      services,
    );
    respond(statements[index]);
  }
  await Promise.all(pending);
});

test('Among equally new queries, those that were cancelled last time run first', async (t) => {
  const { statements, runQuery, occupied } = opened();
  const services = Array.from({ length: 64 }, (_, at) => `s${at}`);
  const round = async (nowMs: number, input: AbortSignal) => {
    const before = statements.length;
    const free = occupied();
    const pending = services.map((service) => runQuery(service, nowMs, input).catch(() => undefined));
    await sleep(5);
    free();
    await eventually('the first of two statements', () => statements.length === before + 1);
    return { pending, first: JSON.stringify(statements.at(-1)?.parameters) };
  };
  const inputValue = new AbortController();
  const { first, pending } = await round(dueMs - 60_000, inputValue.signal);
  t.true(first.includes('"s0"') && !first.includes('"s63"'));
  respond(statements.at(-1));
  await Promise.all(pending.slice(0, 32));
  inputValue.abort(new Error('given up'));
  await Promise.all(pending);
  const next = await round(dueMs, new AbortController().signal);
  t.true(next.first.includes('"s63"') && !next.first.includes('"s0"'));
});

test('A starved query runs before newer queries, even if many others run it for other ranges', async (t) => {
  const { statements, runQuery, occupied } = opened();
  const free = occupied();
  const input = new AbortController();
  const left = runQuery('same', dueMs - 60_000, input.signal, 'starved');
  await sleep(5);
  input.abort(new Error('given up'));
  await t.throwsAsync(left, { message: 'given up' });
  const other = runQuery('same', dueMs - 40_000, undefined, 'other');
  free();
  await eventually('the statement of the other', () => statements.length === 1);
  respond(statements[0]);
  await other;
  const freeAgain = occupied();
  const pending = [runQuery('same', dueMs, undefined, 'starved')];
  await sleep(5);
  // The times are so far apart that each query is a separate statement.
  pending.push(
    runQuery('same', dueMs + 128_000, undefined, 'other'),
    runQuery('new', dueMs + 256_000, undefined, 'new'),
  );
  await sleep(5);
  freeAgain();
  const ends = [dueMs, dueMs + 256_000, dueMs + 128_000];
  for (const [index, endMs] of ends.entries()) {
    await eventually(`statement ${index + 2}`, () => statements.length === index + 2);
    t.true(
      JSON.stringify(statements[index + 1]?.parameters).includes(String(endMs - 60_000)),
      `statement ${index + 2}`,
    );
    respond(statements[index + 1]);
  }
  await Promise.all(pending);
  t.is(statements.length, 4);
});

test('If every statement takes too long, queries are still batched', async (t) => {
  const { statements, runQuery } = opened({ sharedMs: 20, aloneMs: 20 });
  // Timers of statements do not keep a process alive.
  const alive = setInterval(() => undefined, 1000);
  t.teardown(() => clearInterval(alive));
  for (let minute = 0; minute < 5; minute++) {
    const pending = Array.from({ length: 32 }, (_, at) => runQuery(`s${at}`, dueMs + minute));
    for (const each of await Promise.allSettled(pending)) t.is(each.status, 'rejected');
  }
  // One by one, there would be 160 statements or more.
  t.true(statements.length < 60, `${statements.length} statements`);
  t.true(questionsIn(statements.at(-1) as Statement) > 1);
});

test('A single slow query is found by bisection, runs alone from then on, and delays no other query', async (t) => {
  const sharedMs = stretched(500);
  const { statements, runQuery } = opened({ sharedMs, aloneMs: 20 * sharedMs });
  let seen = 0;
  const answering = setInterval(() => {
    for (const statement of statements.slice(seen)) {
      seen++;
      const isSlow = JSON.stringify(statement.parameters).includes('"slow"');
      if (!isSlow) respond(statement);
      else if (!/ AS n1\b/.test(statement.sql)) setTimeout(() => respond(statement), 3 * sharedMs);
    }
  }, 1);
  t.teardown(() => clearInterval(answering));
  for (let at = 0; at < 10; at++) await runQuery(`warm-${at}`);
  const round = (nowMs: number) =>
    Promise.allSettled([...Array.from({ length: 31 }, (_, at) => runQuery(`s${at}`, nowMs)), runQuery('slow', nowMs)]);
  const others = (await round(dueMs)).slice(0, 31);
  t.true(others.every(({ status }) => status === 'fulfilled'));
  const before = statements.length;
  t.true(before - 10 < 31, `${before - 10} statements instead of one for each`);
  await round(dueMs + 1);
  t.is(statements.length - before, 2, 'one for the others, and one for the slow one');
});

test('An unavailable engine gets one statement, not one per query', async (t) => {
  const { statements, runQuery } = opened();
  const pending = Array.from({ length: 32 }, (_, at) => runQuery(`s${at}`));
  await eventually('a statement', () => statements.length === 1);
  statements[0]?.answer.reject(new UnavailableError('ClickHouse cannot be reached'));
  for (const each of pending) await t.throwsAsync(each, { message: 'ClickHouse cannot be reached' });
  t.is(statements.length, 1);
});

test('A rule whose query gets no slot in time is not evaluated and reports no result', async (t) => {
  const { reader, answers: batcher, occupied } = opened();
  occupied();
  const alive = setInterval(() => undefined, 1000);
  t.teardown(() => clearInterval(alive));
  const rule = ruleOf({ onError: 'unknown' });
  await t.throwsAsync(queryRule(rule, reader, { nowMs: dueMs, batcher, timeoutMs: 20 }), { instanceOf: TimeoutError });
  const stopped = AbortSignal.abort(new Error('the slot is closed'));
  await t.throwsAsync(queryRule(rule, reader, { nowMs: dueMs, batcher, signal: stopped, timeoutMs: 20 }), {
    message: 'the slot is closed',
  });
});
