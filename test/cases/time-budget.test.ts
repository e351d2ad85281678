/**
 * Requests end when their client disconnects or their time is over, and a request that reads continuously yields to
 * others.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { z } from 'zod';
import { createMemoryCounters } from '../../adapters/counters-memory.ts';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { defineGroup, type Group } from '../../api/groups/define-group.ts';
import { type ContentResponse, defineOperation } from '../../api/kernel/operation.ts';
import type { Ports } from '../../api/kernel/ports.ts';
import { createApiServer } from '../../api/kernel/server.ts';
import type { Columns, QueryLimits } from '../../schemas/ports/columns.ts';
import { defineCollection } from '../../schemas/ports/documents.ts';
import { silentMetrics } from '../../schemas/ports/metrics.ts';
import { parseSettings } from '../../schemas/settings.ts';
import { eventually } from '../waiting.ts';

const testCollection = defineCollection<{ name: string }>({ name: 'things' });
const common = { role: 'none', summary: 'Of this test', response: z.strictObject({}) } as const;
const brief = 1_500;

interface Seen {
  readonly startedNames: string[];
  readonly limits: QueryLimits[];
  readonly ended: string[];
  readonly failures: unknown[];
  readonly statuses: string[];
}

/** Queries the store until the store, or the signal, rejects. */
const readOn = async (ports: Ports, { startedNames, ended }: Seen, name: string): Promise<Record<string, never>> => {
  startedNames.push(name);
  try {
    for (;;) await ports.documents.forTenant('a').collection(testCollection).list();
  } catch (error) {
    ended.push(`${name}: ${(error as Error).name}`);
    throw error;
  }
};

const groupOf = (seen: Seen): Group =>
  defineGroup({
    name: 'tests',
    summary: 'Of this test.',
    operations: [
      defineOperation({
        ...common,
        method: 'GET',
        path: '/api/slow',
        operationId: 'slow',
        budgetMs: brief,
        handler: (_, ports) => readOn(ports, seen, 'slow'),
      }),
      defineOperation({
        ...common,
        method: 'POST',
        path: '/api/slow',
        operationId: 'write',
        budgetMs: brief,
        auditExemption: 'a test',
        body: z.strictObject({ writes: z.boolean() }),
        handler: async ({ body }, { documents }) => {
          const { writes } = body as { writes: boolean };
          if (writes) await documents.forTenant('a').collection(testCollection).insert({ name: 'begun' });
          return new Promise<Record<string, never>>(() => {});
        },
      }),
      defineOperation({
        ...common,
        method: 'POST',
        path: '/api/late',
        operationId: 'late',
        budgetMs: brief,
        auditExemption: 'a test',
        body: z.strictObject({ way: z.enum(['change', 'insert', 'transaction', 'mail']) }),
        handler: async ({ body, change, signal }, ports) => {
          const { way } = body as { way: string };
          const stored = ports.documents.forTenant('a').collection(testCollection);
          // Work outside of the ports, such as in a thread, which ends only after the time limit.
          if (!signal.aborted) await once(signal, 'abort');
          try {
            if (way === 'change')
              await change(async (scope) => {
                await scope.forTenant('a').collection(testCollection).insert({ name: way });
                scope.markUnchanged();
              });
            else if (way === 'insert') await stored.insert({ name: way });
            else if (way === 'transaction')
              await ports.documents.transaction(async (scope) => {
                await scope.forTenant('a').collection(testCollection).insert({ name: way });
              });
            else await ports.mailer.send({ to: 'a@example.com', subject: way, text: way, html: way });
            seen.ended.push(`${way}: done`);
          } catch (error) {
            seen.ended.push(`${way}: ${(error as Error).name}`);
            throw error;
          }
          return {};
        },
      }),
      defineOperation({
        ...common,
        method: 'GET',
        path: '/api/patient',
        operationId: 'patient',
        handler: (_, ports) => readOn(ports, seen, 'patient'),
      }),
      defineOperation({
        ...common,
        method: 'GET',
        path: '/api/quick',
        operationId: 'quick',
        handler: () => ({}),
      }),
      defineOperation({
        ...common,
        method: 'GET',
        path: '/api/query',
        operationId: 'query',
        handler: async ({ signal }, { columns }) => {
          await columns.forTenant('a').query('SELECT 1');
          await once(signal, 'abort');
          return {};
        },
      }),
      defineOperation({
        ...common,
        method: 'GET',
        path: '/api/everybody',
        operationId: 'everybody',
        handler: async (_, { documents }) => {
          for await (const _ of documents.findInAllTenants(testCollection));
          return {};
        },
      }),
      defineOperation({
        ...common,
        method: 'GET',
        path: '/api/stream',
        operationId: 'stream',
        budgetMs: brief,
        contentType: ['text/plain', 'text/csv'],
        response: z.custom<ContentResponse>(),
        handler: (_, ports): ContentResponse => ({
          contentType: 'text/plain',
          content: Readable.from(piecesOf(ports, seen.ended)),
        }),
      }),
    ],
  });

/** Takes longer than the budget, with a read before each chunk. */
async function* piecesOf({ documents }: Ports, ended: string[]): AsyncGenerator<string> {
  try {
    for (let piece = 0; piece < 10; piece++) {
      await sleep(brief / 5);
      await documents.forTenant('a').collection(testCollection).list();
      yield `${piece}\n`;
    }
  } finally {
    ended.push('stream');
  }
}

const started = async (t: { teardown(work: () => unknown): void }) => {
  const seen: Seen = { startedNames: [], limits: [], ended: [], failures: [], statuses: [] };
  const directory = mkdtempSync(join(tmpdir(), 'oiq-time-budget-'));
  const documents = await openSqliteDocuments({ path: join(directory, 'documents.sqlite') });
  const clock = { now: () => Date.now() };
  const columns = {
    forTenant: () => ({
      query: async (_sql: string, _parameters: unknown, limits: QueryLimits) => void seen.limits.push(limits),
    }),
  } as unknown as Columns;
  const counters = createMemoryCounters({ clock });
  const logFailure = (...line: unknown[]): void => void seen.failures.push(line);
  const log = { warn: logFailure, error: logFailure };
  const mailer = { send: async () => undefined };
  const group = groupOf(seen);
  const server = createApiServer({
    operations: group.operations,
    groups: [group],
    ports: { documents, columns, counters, clock, log, mailer, settings: parseSettings({}) } as unknown as Ports,
    metrics: {
      ...silentMetrics,
      add: (_name, _value, labels) => void seen.statuses.push(String((labels as { status?: string }).status)),
    },
  });
  const http = createServer(server.callback);
  await new Promise<void>((listening) => http.listen(0, '127.0.0.1', listening));
  t.teardown(async () => {
    http.closeAllConnections();
    http.close();
    await documents.close();
    await counters.close();
    rmSync(directory, { recursive: true });
  });
  return { seen, documents, url: `http://127.0.0.1:${(http.address() as AddressInfo).port}` };
};

const until = (condition: () => boolean): Promise<void> => eventually(String(condition), condition);

test('a request that keeps reading is refused when its time is over, and other requests get responses meanwhile', async (t) => {
  const { seen, url } = await started(t);
  const slow = fetch(`${url}/api/slow`);
  const patient = get(`${url}/api/patient`).on('error', () => {});
  await until(() => seen.startedNames.length > 1);
  for (let each = 0; each < 5; each++) t.is((await fetch(`${url}/api/quick`)).status, 200);
  t.false(seen.ended.includes('patient: ApiError'), 'one that reads on is still running');
  patient.destroy();
  const response = await slow;
  const body = (await response.json()) as { error: string; message: string };
  t.deepEqual([response.status, body.error], [503, 'UNAVAILABLE']);
  t.is(body.message, 'this took longer than 1.5 seconds: request less data, or try again later');
  await until(() => seen.ended.length > 1);
  t.deepEqual(seen.ended.sort(), ['patient: ClientLeftError', 'slow: ApiError']);
});

for (const [writes, expected] of [
  [true, /check whether it took effect before you try again/],
  [false, /and nothing was changed: send less at once, or try again later/],
] as const)
  test(`the error for a change that exceeds its time states whether it may have taken effect, which is ${writes}`, async (t) => {
    const { url } = await started(t);
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${url}/api/slow`, { method: 'POST', headers, body: JSON.stringify({ writes }) });
    t.is(response.status, 503);
    t.regex(((await response.json()) as { message: string }).message, expected);
  });

for (const way of ['change', 'insert', 'transaction', 'mail'])
  test(`nothing takes effect after a response that nothing was changed, not even by ${way}`, async (t) => {
    const { seen, documents, url } = await started(t);
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${url}/api/late`, { method: 'POST', headers, body: JSON.stringify({ way }) });
    t.regex(((await response.json()) as { message: string }).message, /and nothing was changed/);
    await until(() => seen.ended.length > 0);
    t.deepEqual(seen.ended, [`${way}: ApiError`]);
    t.deepEqual((await documents.forTenant('a').collection(testCollection).list()).items, []);
  });

test('the work for a request is cancelled when its client disconnects, and is counted as 499 and not as a failure', async (t) => {
  const { seen, url } = await started(t);
  const request = get(`${url}/api/patient`).on('error', () => {});
  await until(() => seen.startedNames.length > 0);
  t.deepEqual(seen.ended, []);
  request.destroy();
  await until(() => seen.ended.length > 0 && seen.statuses.length > 0);
  t.deepEqual(seen.ended, ['patient: ClientLeftError']);
  t.deepEqual(seen.statuses, ['499']);
  t.deepEqual(seen.failures, []);
});

test('telemetry queries receive the abort signal', async (t) => {
  const { seen, url } = await started(t);
  const request = get(`${url}/api/query`).on('error', () => {});
  await until(() => seen.limits.length > 0);
  t.false(seen.limits[0]?.signal?.aborted);
  request.destroy();
  await until(() => seen.limits[0]?.signal?.aborted === true);
  t.pass();
});

test('no handler can access the documents of all organizations', async (t) => {
  const { seen, url } = await started(t);
  t.is((await fetch(`${url}/api/everybody`)).status, 500);
  t.regex(JSON.stringify(seen.failures), /only use the documents and rows of one organization/);
});

test('a stream can last longer than the time limit of a response, and ends when its client disconnects', async (t) => {
  const { seen, url } = await started(t);
  t.is(await (await fetch(`${url}/api/stream`)).text(), '0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n');
  t.deepEqual(seen.ended.splice(0), ['stream']);
  const left = get(`${url}/api/stream`, (response) => response.once('data', () => left.destroy())).on(
    'error',
    () => {},
  );
  await until(() => seen.ended.length > 0);
  t.deepEqual(seen.ended, ['stream']);
});
