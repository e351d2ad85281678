/** Contract of all counters. The test file of each adapter runs this suite with its own counters. */
import test, { type ExecutionContext } from 'ava';
import type { Counters } from '../../schemas/ports/counters.ts';
import { stretched } from '../waiting.ts';

/** `pass` advances the time of the counters: with a fake clock, or by waiting. */
export interface CountersUnderTest {
  readonly counters: Counters;
  pass(ms: number): Promise<void>;
  /** Whether some calls were counted locally because responses took too long; absent if all calls are always shared. */
  wasAlone?(): boolean;
}

/** Maximum number of attempts: a machine that delays all of them cannot run the test. */
const maxAttempts = 10;

/** Runs a test of shared counters. If they were not shared all the while, the run is not conclusive and is repeated. */
export const whileShared = async (
  t: ExecutionContext,
  body: (t: ExecutionContext) => Promise<void>,
  wasAlone: () => boolean,
): Promise<void> => {
  for (let attempt = 1; ; attempt++) {
    const tried = await t.try(body);
    if (tried.passed || attempt === maxAttempts || !wasAlone()) return tried.commit();
    tried.discard();
  }
};

let keys = 0;
export const freshKey = (): string => {
  keys += 1;
  return `key-${process.pid}-${keys}`;
};

export const countersContract = (name: string, make: () => Promise<CountersUnderTest>): void => {
  /** Each test has its own counters, because it moves the fake clock. */
  const promises = (promise: string, body: (t: ExecutionContext, under: CountersUnderTest) => Promise<void>): void =>
    test(`${name}: ${promise}`, async (t) => {
      let wasAlone = false;
      const attempt = async (tried: ExecutionContext): Promise<void> => {
        const under = await make();
        try {
          await body(tried, under);
        } finally {
          wasAlone = under.wasAlone?.() ?? false;
          await under.counters.close();
        }
      };
      await whileShared(t, attempt, () => wasAlone);
    });

  promises(
    'a bucket begins full, grants what it has, and fills at its rate up to its burst',
    async (t, { counters, pass }) => {
      const key = freshKey();
      const bucket = { rate: 2, burst: 10 };
      const began = performance.now();
      t.deepEqual(await counters.consume(key, bucket, 4), { granted: 4, retryAfterMs: 0 });
      const rest = await counters.consume(key, bucket, 100);
      // On a busy machine, time passes between two calls, and the bucket fills meanwhile.
      const passed = ((performance.now() - began) * bucket.rate) / 1000;
      t.true(rest.granted >= 6 && rest.granted <= 6 + passed, `${rest.granted}`);
      t.true(
        rest.retryAfterMs <= 500 && rest.retryAfterMs >= (passed < 1 ? 499 - passed * 500 : 0),
        `${rest.retryAfterMs}`,
      );
      let granted = 4 + rest.granted;
      let none = await counters.consume(key, bucket, 1);
      for (; none.granted > 0; none = await counters.consume(key, bucket, 1)) {
        granted += none.granted;
        const maxGranted = bucket.burst + ((performance.now() - began) * bucket.rate) / 1000;
        t.true(granted <= maxGranted, `${granted}`);
      }
      const emptied = performance.now();
      await pass(none.retryAfterMs + 20);
      t.is((await counters.consume(key, bucket, 1)).granted, 1);
      await pass(1100);
      const filled = await counters.consume(key, bucket, 100);
      const longer = Math.max(0, performance.now() - emptied - none.retryAfterMs - 20 - 1100);
      const maxGranted = 4 + (longer * bucket.rate) / 1000;
      t.true(filled.granted >= 2 && filled.granted <= maxGranted, `${filled.granted}`);
    },
  );

  promises('what was not there at the time it is to be retried is there then', async (t, { counters, pass }) => {
    for (const rate of [0.9, 3, 7, 33.3]) {
      const key = freshKey();
      const { granted, retryAfterMs } = await counters.consume(key, { rate, burst: 3 }, 4);
      t.is(granted, 3);
      await pass(retryAfterMs + 1);
      t.true((await counters.consume(key, { rate, burst: 3 }, 1)).granted === 1, `rate ${rate}`);
    }
  });

  promises('simultaneous takers get no more than the burst together', async (t, { counters }) => {
    const key = freshKey();
    const grants = await Promise.all(
      Array.from({ length: 200 }, () => counters.consume(key, { rate: 0.01, burst: 50 }, 1)),
    );
    t.is(
      grants.reduce((sum, { granted }) => sum + granted, 0),
      50,
    );
  });

  promises(
    'a full bucket holds no more than its burst however long it waits, and a smaller burst holds at once',
    async (t, { counters, pass }) => {
      const key = freshKey();
      await counters.consume(key, { rate: 1000, burst: 5 }, 1);
      await pass(200);
      t.is((await counters.consume(key, { rate: 1000, burst: 5 }, 100)).granted, 5);
      const shrunk = freshKey();
      await counters.consume(shrunk, { rate: 0.1, burst: 100 }, 1);
      t.is((await counters.consume(shrunk, { rate: 0.1, burst: 5 }, 100)).granted, 5);
    },
  );

  promises('a bucket that never fills grants its burst once', async (t, { counters }) => {
    const key = freshKey();
    t.is((await counters.consume(key, { rate: 0, burst: 2 }, 5)).granted, 2);
    const { granted, retryAfterMs } = await counters.consume(key, { rate: 0, burst: 2 }, 1);
    t.is(granted, 0);
    t.true(retryAfterMs > 0 && Number.isFinite(retryAfterMs));
    t.deepEqual((await counters.consume(freshKey(), { rate: 0, burst: 0 }, 1)).granted, 0);
  });

  promises('a window grants up to its limit, whole or what fits, and begins anew', async (t, { counters, pass }) => {
    const key = freshKey();
    const windowMs = stretched(2_000);
    // Starts a window, so that no window ends between two of the calls below.
    await pass((await counters.spend(freshKey(), 1, windowMs, 0)).resetMs + 20);
    const first = await counters.spend(key, 10, windowMs, 7);
    t.deepEqual([first.granted, first.used], [7, 7]);
    t.true(first.resetMs > 0 && first.resetMs <= windowMs);
    const second = await counters.spend(key, 10, windowMs, 7);
    t.deepEqual([second.granted, second.used], [3, 10]);
    const third = await counters.spend(key, 10, windowMs, 1);
    t.deepEqual([third.granted, third.used], [0, 10]);
    const back = await counters.spend(key, 10, windowMs, -2);
    t.deepEqual([back.granted, back.used], [-2, 8]);
    const lower = await counters.spend(key, 5, windowMs, 1);
    t.deepEqual([lower.granted, lower.used], [0, 8]);
    const tooMuch = await counters.spend(key, 10, windowMs, -100);
    t.deepEqual([tooMuch.granted, tooMuch.used], [-8, 0]);
    await counters.spend(key, 10, windowMs, 10);
    await pass(lower.resetMs + 20);
    const next = await counters.spend(key, 10, windowMs, 4);
    t.deepEqual([next.granted, next.used], [4, 4]);
  });

  promises('simultaneous spenders do not pass the limit, and large counts are exact', async (t, { counters }) => {
    const key = freshKey();
    const day = 86_400_000;
    const limit = 100 * 1024 ** 3 + 1;
    const spent = await Promise.all(
      Array.from({ length: 100 }, () => counters.spend(key, limit, day, 2 * 1024 ** 3 + 3)),
    );
    t.is(
      spent.reduce((sum, { granted }) => sum + granted, 0),
      limit,
    );
    t.is(Math.max(...spent.map(({ used }) => used)), limit);
    t.is((await counters.spend(key, limit, day, 1)).used, limit);
  });

  promises('buckets, windows and cached values of the same key do not touch each other', async (t, { counters }) => {
    const key = freshKey();
    await counters.setCached(key, 'text', 10_000);
    t.is((await counters.consume(key, { rate: 1, burst: 3 }, 3)).granted, 3);
    t.is((await counters.spend(key, 5, 60_000, 5)).granted, 5);
    t.is(await counters.getCached(key), 'text');
  });

  promises('a cached value is there until its time is over', async (t, { counters, pass }) => {
    const key = freshKey();
    t.is(await counters.getCached(key), undefined);
    const value = `é\u{1F600}\0 ${'x'.repeat(100_000)}`;
    const forMs = stretched(2_000);
    await counters.setCached(key, value, forMs);
    t.is(await counters.getCached(key), value);
    await counters.setCached(key, '', forMs);
    t.is(await counters.getCached(key), '');
    await pass(forMs + 50);
    t.is(await counters.getCached(key), undefined);
  });

  promises('counts are shared while nothing is wrong', async (t, { counters }) => {
    t.false(counters.isDegraded());
  });
};
