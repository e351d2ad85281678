import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import test from 'ava';
import { createMemoryCounters } from '../../adapters/counters-memory.ts';
import { countersContract } from './counters.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const fake = () => {
  let now = 1_700_000_000_123;
  return {
    clock: { now: () => now },
    pass: async (ms: number) => {
      now += ms;
    },
  };
};

countersContract('memory', async () => {
  const { clock, pass } = fake();
  return { counters: createMemoryCounters({ clock }), pass };
});

test.serial(
  'memory: a million keys use bounded memory, and keys in use are kept while other keys are evicted',
  async (t) => {
    const counters = createMemoryCounters({ clock: fake().clock });
    const bucket = { rate: 0.001, burst: 3 };
    await counters.consume('in use', bucket, 3);
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    for (let n = 0; n < 1_000_000; n += 1) {
      await counters.consume(`key ${n}`, bucket, 1);
      if (n % 50_000 === 0) t.is((await counters.consume('in use', bucket, 1)).granted, 0);
    }
    collectGarbage();
    const grown = (process.memoryUsage().heapUsed - before) / 1024 / 1024;
    t.true(grown < 40, `${grown} MB`);
    t.is((await counters.consume('in use', bucket, 1)).granted, 0);
  },
);

test('memory: all cached values together use bounded memory', async (t) => {
  const counters = createMemoryCounters();
  for (let n = 0; n < 200; n += 1) await counters.setCached(`${n}`, `${n}${'x'.repeat(1024 * 1024)}`, 60_000);
  t.is(await counters.getCached('0'), undefined);
  t.truthy(await counters.getCached('199'));
  await counters.setCached('too large', 'x'.repeat(65 * 1024 * 1024), 60_000);
  t.is(await counters.getCached('too large'), undefined);
});

test('memory: a clock that moves backwards grants no additional calls', async (t) => {
  const { clock, pass } = fake();
  const counters = createMemoryCounters({ clock });
  await counters.consume('k', { rate: 1, burst: 5 }, 5);
  await pass(-60_000);
  t.is((await counters.consume('k', { rate: 1, burst: 5 }, 5)).granted, 0);
});
