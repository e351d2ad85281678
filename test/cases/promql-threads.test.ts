/** Threads that evaluate PromQL: an aborted thread is not reused, and no other query is lost. */
import { setTimeout as delay } from 'node:timers/promises';
import test from 'ava';
import { openPromql } from '../../queries/promql/evaluation/threads.ts';
import type { Scope } from '../../queries/promql/fetch/scope.ts';

/** The expressions in this file read no data. */
const scope = { columns: { tenantId: 'one' } } as unknown as Scope;
const question = {
  expression: '1 + 1',
  window: { startMs: 0, endMs: 0, stepMs: 0, lookbackMs: 1 },
  scope,
  retainedFromMs: 0,
};

test('a query aborted during its response leaves a live thread for the next query', async (t) => {
  const threads = openPromql({ size: 1 });
  await threads.evaluate(question);
  let aborted = 0;
  for (let round = 0; round < 60; round++) {
    const abort = new AbortController();
    const evaluation = threads.evaluate({ ...question, signal: abort.signal });
    // From before the start until after the response.
    if (round % 3 === 0) abort.abort(new Error('enough'));
    else if (round % 3 === 1) setImmediate(() => abort.abort(new Error('enough')));
    else delay(round / 30).then(() => abort.abort(new Error('enough')));
    await evaluation.catch((error: Error) => {
      aborted++;
      t.is(error.message, 'enough');
    });
    await t.notThrowsAsync(threads.evaluate(question), `after round ${round}`);
  }
  t.true(aborted > 0);
  await threads.close();
});
