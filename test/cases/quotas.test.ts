/** Bytes per day and month: over several instances, after a restart, and while the ledger lags behind. */
import test from 'ava';
import { createMemoryCounters } from '../../adapters/counters-memory.ts';
import type { Caller } from '../../receivers/engine/keyring.ts';
import { Quotas } from '../../receivers/engine/quotas.ts';
import type { ReadUsedBytes } from '../../receivers/engine/used-bytes.ts';
import type { Counters } from '../../schemas/ports/counters.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { emptyQuota, getQuotaWindow, getRejectThresholds, Quota } from '../../schemas/resources/quota.ts';
import type { Signal } from '../../schemas/telemetry-signals.ts';

const noon = Date.parse('2026-02-27T12:00:00Z');

const callerOf = (input: object, bytesPerDay: number | null = null): Caller => {
  const all = getRejectThresholds({ bytesPerDay }, Quota.parse(input));
  const of = (signal: Signal) => all.filter(({ scope }) => scope === 'total' || scope === signal);
  const thresholds = { logs: of('logs'), metrics: of('metrics'), traces: of('traces') };
  return { tenantId: 'acme', thresholds } as unknown as Caller;
};
const reject = (rejectBytes: number) => ({ rejectBytes });

const setUp = ({ used: readUsedBytes, counters }: { used?: ReadUsedBytes; counters?: Counters } = {}) => {
  const clock = { at: noon, now: () => clock.at };
  const shared = counters ?? createMemoryCounters({ clock });
  const instance = () => {
    const quotas = new Quotas({ counters: shared, clock, log: silentLog, readUsedBytes });
    return async (caller: Caller, bytes: number, signal: Signal = 'logs'): Promise<string> => {
      const refused = await quotas.spend(caller, signal, bytes);
      return refused === undefined ? 'taken' : `${refused.reason} ${refused.retryAfterSeconds}`;
    };
  };
  return { clock, counters: shared, instance };
};

const halfDay = 12 * 3_600;
const twoDays = 36 * 3_600;

const cases: readonly [title: string, quota: object, plan: number | null, signal: Signal, outcome: string][] = [
  ['no threshold', {}, null, 'logs', 'taken'],
  ['the plan', {}, 999, 'logs', `quota ${halfDay}`],
  ['the day in all', { day: { total: reject(999) } }, null, 'logs', `quota ${halfDay}`],
  ['the day of the signal', { day: { logs: reject(999) } }, null, 'logs', `quota ${halfDay}`],
  ['the day of another signal', { day: { traces: reject(999) } }, null, 'logs', 'taken'],
  ['the month in all', { month: { total: reject(999) } }, null, 'metrics', `quota ${twoDays}`],
  ['the month of the signal', { month: { metrics: reject(999) } }, null, 'metrics', `quota ${twoDays}`],
  ['a quota above the plan', { day: { total: reject(5_000) } }, 999, 'logs', `quota ${halfDay}`],
  ['only a warning', { day: { total: { warnBytes: 1 } } }, null, 'logs', 'taken'],
  ['enough of everything', { day: { total: reject(1_000) }, month: { logs: reject(1_000) } }, 1_000, 'logs', 'taken'],
];
for (const [title, quota, plan, signal, outcome] of cases) {
  test(`a thousand bytes against ${title}: ${outcome}`, async (t) => {
    t.is(await setUp().instance()(callerOf(quota, plan), 1_000, signal), outcome);
  });
}

test('a daily quota resets at midnight UTC, and a monthly quota at the end of the month', async (t) => {
  const { instance, clock } = setUp();
  const consume = instance();
  const caller = callerOf({ day: { total: reject(1_000) }, month: { total: reject(2_500) } });
  t.is(await consume(caller, 1_000), 'taken');
  t.is(await consume(caller, 1), `quota ${halfDay}`);
  clock.at = Date.parse('2026-02-28T00:00:00Z');
  t.is(await consume(caller, 1_000), 'taken');
  t.is(await consume(caller, 501), `quota ${24 * 3_600}`);
  clock.at = Date.parse('2026-02-28T23:59:59Z');
  t.is(await consume(caller, 1), 'quota 1', 'the day is used up');
  clock.at = Date.parse('2026-03-01T00:00:00Z');
  for (const bytes of [1_000, 0]) t.is(await consume(caller, bytes), 'taken');
  t.deepEqual(getQuotaWindow('month', clock.at), { fromMs: clock.at, endMs: Date.parse('2026-04-01T00:00:00Z') });
});

test('a monthly quota accumulates over its days', async (t) => {
  const { instance, clock } = setUp();
  const consume = instance();
  const caller = callerOf({ month: { total: reject(1_000) } });
  t.is(await consume(caller, 600), 'taken');
  clock.at = Date.parse('2026-02-28T06:00:00Z');
  t.is(await consume(caller, 600), `quota ${18 * 3_600}`);
  t.is(await consume(caller, 400), 'taken');
  clock.at = Date.parse('2026-03-01T00:00:00Z');
  t.is(await consume(caller, 1_000), 'taken');
});

test('a rejection by one threshold does not consume the others', async (t) => {
  const consume = setUp().instance();
  const caller = callerOf({ day: { total: reject(3_000), logs: reject(1_000) } });
  for (let index = 0; index < 10; index++) t.is(await consume(caller, 2_000), `quota ${halfDay}`);
  t.is(await consume(caller, 3_000, 'traces'), 'taken');
  t.is(await consume(caller, 1, 'traces'), `quota ${halfDay}`);
});

test('a raised or lowered threshold takes effect with the next request', async (t) => {
  const consume = setUp().instance();
  t.is(await consume(callerOf({ day: { total: reject(1_000) } }), 1_000), 'taken');
  t.is(await consume(callerOf({ day: { total: reject(1_000) } }), 1_000), `quota ${halfDay}`);
  t.is(await consume(callerOf({ day: { total: reject(2_000) } }), 1_000), 'taken');
  t.is(await consume(callerOf({ day: { total: reject(500) } }), 1), `quota ${halfDay}`);
});

test('instances together consume at most the threshold, and at least the threshold minus their leases', async (t) => {
  const { instance } = setUp();
  const instances = [instance(), instance(), instance()];
  const caller = callerOf({ month: { total: reject(100_000) } });
  let consumed = 0;
  for (let index = 0; index < 3_000; index++) {
    if ((await instances[index % 3]?.(caller, 100)) === 'taken') consumed += 100;
  }
  t.true(consumed <= 100_000, `${consumed}`);
  t.true(consumed >= 100_000 - 3 * 1_100, `${consumed}`);
});

test('after a restart usage is read from the ledger, once for all instances', async (t) => {
  const queries: string[] = [];
  const { instance } = setUp({
    async used(tenantId, scope, fromMs) {
      queries.push(`${tenantId} ${scope} ${new Date(fromMs).toISOString()}`);
      return 900;
    },
  });
  const [first, second] = [instance(), instance()];
  const caller = callerOf({ month: { logs: reject(1_000) } });
  t.is(await first(caller, 50), 'taken');
  t.is(await second(caller, 30), 'taken');
  t.is(await second(caller, 30), `quota ${twoDays}`);
  t.deepEqual(queries, ['acme logs 2026-02-01T00:00:00.000Z']);
});

test('usage that the ledger receives later counts within a minute', async (t) => {
  let landed = 0;
  const { instance, clock } = setUp({ used: async () => landed });
  const consume = instance();
  const caller = callerOf({ day: { total: reject(10_000) } });
  t.is(await consume(caller, 1_000), 'taken');
  landed = 9_000;
  t.is(await consume(caller, 1_000), 'taken');
  clock.at += 61_000;
  t.is(await consume(caller, 100), 'taken', 'the request that finds the ledger out of date does not wait for it');
  for (let tries = 0; tries < 20; tries++) await consume(caller, 100);
  t.regex(await consume(caller, 1_000), /^quota/);
});

test('only ledger usage that is missing from the counters is added to them', async (t) => {
  let landed = 0;
  const { instance, clock } = setUp({ used: async () => landed });
  const consume = instance();
  const caller = callerOf({ day: { total: reject(10_000) } });
  for (let consumed = 0; consumed < 1_000; consumed += 100) t.is(await consume(caller, 100), 'taken');
  landed = 4_000;
  clock.at += 61_000;
  for (let consumed = 4_000; consumed < 9_800; consumed += 100)
    t.is(await consume(caller, 100), 'taken', `${consumed} were taken`);
  for (let tries = 0; tries < 5; tries++) await consume(caller, 100);
  t.regex(await consume(caller, 100), /^quota/);
});

test('bytes are accepted even if the ledger does not respond', async (t) => {
  const failing = setUp({ used: () => Promise.reject(new Error('no table')) });
  t.is(await failing.instance()(callerOf({ day: { total: reject(1_000) } }), 1_000), 'taken');
});

test('without a quota no threshold applies', (t) => {
  t.deepEqual(getRejectThresholds({ bytesPerDay: null }, emptyQuota), []);
  t.deepEqual(getRejectThresholds({ bytesPerDay: 7 }, emptyQuota), [
    { window: 'day', scope: 'total', bytes: 7, isPlan: true },
  ]);
});
