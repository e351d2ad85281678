/** Threads that run detection rules: their order, and what counts as their time. */
import { setTimeout as delay } from 'node:timers/promises';
import test from 'ava';
import { RuleThreads } from '../../subjects/detections/rule-threads.ts';
import { stretched } from '../waiting.ts';

const nothing = { rules: [], fields: [], placeholders: [] };

test('the time of a run counts once it has a thread, but not while another run of its organization executes', async (t) => {
  const threads = new RuleThreads();
  const budgetMs = stretched(2_000);
  const first = Promise.withResolvers<void>();
  const running = threads.run(nothing, { tenantId: 'acme', nowMs: 0, budgetMs: 600_000 }, () => first.promise);
  const waiting = threads.run(nothing, { tenantId: 'acme', nowMs: 0, budgetMs }, (rules) => rules.findMatches([]));
  await delay(budgetMs + 200);
  first.resolve();
  await running;
  t.deepEqual(await waiting, []);
});

test('a waiting run is cancelled with its caller', async (t) => {
  const threads = new RuleThreads();
  const first = Promise.withResolvers<void>();
  const running = threads.run(nothing, { tenantId: 'acme', nowMs: 0, budgetMs: 600_000 }, () => first.promise);
  const left = new Error('the client left');
  const client = new AbortController();
  const waiting = threads.run(nothing, { tenantId: 'acme', nowMs: 0, budgetMs: 600_000, signal: client.signal }, () =>
    Promise.resolve('ran'),
  );
  client.abort(left);
  t.is(await t.throwsAsync(waiting), left);
  first.resolve();
  await running;
});
