/** Work on ClickHouse servers that do not respond to probes. */
import { mock } from 'node:test';
import test from 'ava';
import { ClickhouseServer } from '../../adapters/columns-clickhouse/server.ts';
import { onlyServerGraceMs } from '../../adapters/columns-clickhouse/unavailability.ts';
import { UnavailableError } from '../../schemas/errors.ts';

/** A server whose availability the test sets. */
const createServer = () => {
  const listeners = new Set<() => void>();
  let isUnavailable = false;
  const watch = {
    isUnavailable: () => isUnavailable,
    subscribe: (listener: () => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: () => undefined,
  };
  const setUnavailable = (value: boolean): void => {
    isUnavailable = value;
    for (const listener of [...listeners]) listener();
  };
  return { server: new ClickhouseServer('http://127.0.0.1:9/oiq', watch), setUnavailable, listeners };
};

for (const isOnlyServer of [false, true])
  test(`Work does not start on a server that hangs${isOnlyServer ? ', also if no other server has the rows' : ''}`, async (t) => {
    const { server, setUnavailable } = createServer();
    setUnavailable(true);
    let starts = 0;
    const work = async (): Promise<void> => void starts++;
    await t.throwsAsync(server.rejectIfHanging(work, { isOnlyServer }), { instanceOf: UnavailableError });
    t.is(starts, 0);
    setUnavailable(false);
    await server.rejectIfHanging(work, { isOnlyServer });
    t.is(starts, 1);
  });

test('Running work is rejected when its server hangs and others have the rows', async (t) => {
  const { server, setUnavailable, listeners } = createServer();
  const running = server.rejectIfHanging(() => new Promise<never>(() => undefined), { isOnlyServer: false });
  setUnavailable(true);
  await t.throwsAsync(running, { message: 'the ClickHouse server 127.0.0.1:9 does not answer' });
  t.is(listeners.size, 0);
});

test.serial(
  'Running work of the only server survives a late answer to a probe, and is rejected after a longer silence',
  async (t) => {
    mock.timers.enable({ apis: ['setTimeout'] });
    t.teardown(() => mock.timers.reset());
    const { server, setUnavailable } = createServer();
    let isRejected = false;
    const running = server.rejectIfHanging(() => new Promise<never>(() => undefined), { isOnlyServer: true });
    running.catch(() => {
      isRejected = true;
    });
    for (let turn = 0; turn < 3; turn++) {
      setUnavailable(true);
      mock.timers.tick(onlyServerGraceMs - 1);
      setUnavailable(false);
      mock.timers.tick(onlyServerGraceMs);
    }
    await Promise.resolve();
    t.false(isRejected);
    setUnavailable(true);
    mock.timers.tick(onlyServerGraceMs);
    await t.throwsAsync(running, { instanceOf: UnavailableError });
  },
);
