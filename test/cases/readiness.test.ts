/** Readiness does not change with one slow response. */
import { mock } from 'node:test';
import test from 'ava';
import { createStoresCheck } from '../../runtime/readiness.ts';
import { TimeoutError } from '../../runtime/timeout.ts';
import { UnavailableError } from '../../schemas/errors.ts';

const never = (): Promise<void> => new Promise(() => undefined);

test.serial('a store that responded a moment ago and is slow now counts as available', async (t) => {
  let respond: () => Promise<void> = async () => undefined;
  const check = createStoresCheck({ 'the bus': () => respond() });
  await t.notThrowsAsync(check());
  respond = () => Promise.reject(new UnavailableError('Kafka cannot be reached', { cause: new TimeoutError(2000) }));
  await t.notThrowsAsync(check());
  respond = () => Promise.reject(new UnavailableError('Kafka cannot be reached: connection refused'));
  await t.throwsAsync(check(), { message: 'Kafka cannot be reached: connection refused' });
});

test.serial('a store that never responded is named', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    const check = createStoresCheck({ columns: never, 'the bus': async () => undefined });
    const failing = t.throwsAsync(check(), { message: 'columns does not respond' });
    await Promise.resolve();
    mock.timers.tick(2000);
    await failing;
  } finally {
    mock.timers.reset();
  }
});
