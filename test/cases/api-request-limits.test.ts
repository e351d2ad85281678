/** The limit of a single operation, and how often leases of tokens access the shared counters. */
import test from 'ava';
import { createMemoryCounters } from '../../adapters/counters-memory.ts';
import type { Operation } from '../../api/kernel/operation.ts';
import { createRequestLimits } from '../../api/kernel/request-limits.ts';
import type { Counters } from '../../schemas/ports/counters.ts';

const settings = { API_REQUESTS_PER_SECOND: 100, API_ANONYMOUS_REQUESTS_PER_SECOND: 10 };
const operation = (limit?: Operation['limit']) => ({ operationId: 'one', limit }) as Operation;

const create = () => {
  const clock = { nowMs: 1_800_000_000_000, now: () => clock.nowMs };
  const counters = createMemoryCounters({ clock });
  let callCount = 0;
  const counting: Counters = {
    ...counters,
    consume(...parameters) {
      callCount++;
      return counters.consume(...parameters);
    },
  };
  return { limits: createRequestLimits(counting, clock, settings), callCount: () => callCount, clock };
};

/** Returns how many of many simultaneous requests are admitted. */
const passed = async (attempt: () => Promise<void> | undefined, max = 1000): Promise<number> => {
  for (let count = 0; count < max; count++)
    try {
      await attempt();
    } catch {
      return count;
    }
  return max;
};

test('an operation can have its own limit, which does not change the default limit', async (t) => {
  const { limits } = create();
  const own = operation({ rate: 1, burst: 3 });
  t.is(await passed(() => limits.countAnonymous('203.0.113.1', own)), 3);
  t.is(await passed(() => limits.countAnonymous('203.0.113.1', operation())), 50);
  t.is(await passed(() => limits.countAnonymous('203.0.113.2', own)), 3);
});

test('a busy caller reads the shared counters rarely, and an idle caller takes only what it uses', async (t) => {
  const { limits, callCount } = create();
  t.is(await passed(() => limits.countUnauthenticated('203.0.113.1')), 50);
  const busy = create();
  t.is(await passed(() => busy.limits.countAnonymous('203.0.113.1', operation({ rate: 1000, burst: 1000 }))), 1000);
  t.true(busy.callCount() < 30, String(busy.callCount()));
  t.true(callCount() <= 51);
  const idle = create();
  let through = 0;
  for (let second = 0; second < 60; second++) {
    for (let request = 0; request < 9; request++) {
      idle.clock.nowMs += 110;
      await idle.limits.countAnonymous('203.0.113.1', operation());
      through++;
    }
  }
  t.is(through, 540);
});

test('an address above its limit of rejected requests gets no lookups until it is below the limit again', async (t) => {
  const { limits, clock } = create();
  limits.beforeLookup('203.0.113.1');
  await passed(() => limits.countUnauthenticated('203.0.113.1'));
  t.throws(() => limits.beforeLookup('203.0.113.1'), { message: /too many requests/ });
  t.notThrows(() => limits.beforeLookup('203.0.113.2'));
  clock.nowMs += 1_000;
  t.notThrows(() => limits.beforeLookup('203.0.113.1'));
});
