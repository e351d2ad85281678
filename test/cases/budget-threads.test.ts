/** Threads with a memory budget: work that exceeds it is rejected, and other work continues. */
import test from 'ava';
import type { CallReply, CallRequest } from '../../queries/call-messages.ts';
import { BudgetThreads } from '../../queries/limits/budget-threads.ts';

const module = new URL('budget-threads-work.ts', import.meta.url);

test('work that needs more memory than its thread has is rejected as too large, and the next work runs', async (t) => {
  const threads = new BudgetThreads<CallReply>({
    name: 'reading',
    module: new URL('../../queries/call-worker.ts', import.meta.url),
    memoryMb: 32,
    workDescription: 'long texts',
  });
  const refusals = { createTimeoutError: () => new Error('too long'), createMemoryError: () => new Error('too large') };
  const listOf = (length: number): Promise<CallReply> =>
    threads.run({ tenantId: 'a', budgetMs: 600_000 }, refusals, (call) =>
      call((id): CallRequest => ({ id, module: module.href, name: 'lengthOfList', args: [length] })),
    );
  await t.throwsAsync(listOf(50_000_000), { message: 'too large' });
  t.like(await listOf(10), { result: 10 });
});
