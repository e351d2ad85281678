/** Many simultaneous failures give one line, and repeated failures one line per minute. */
import { mock } from 'node:test';
import test from 'ava';
import { throttleFailures } from '../../runtime/log-throttle.ts';

interface Line {
  readonly error: unknown;
  readonly parts: number;
}

const throttled = () => {
  const lines: Line[] = [];
  return { lines, fail: throttleFailures((error, parts) => lines.push({ error, parts })) };
};

test.before(() => mock.timers.enable({ apis: ['setTimeout'] }));
test.after.always(() => mock.timers.reset());

test.serial('240 concurrent failures are logged once, with their number and the last error', (t) => {
  const { lines, fail } = throttled();
  for (let part = 0; part < 240; part++)
    for (const attempt of ['first', 'second']) fail(String(part), `${attempt} of ${part}`);
  mock.timers.tick(500);
  t.deepEqual(lines, [{ error: 'second of 239', parts: 240 }]);
});

for (const everyMs of [100, 1000, 5000, 30_000])
  test.serial(`a failure every ${everyMs} ms is one line a minute`, (t) => {
    const { lines, fail } = throttled();
    for (let ms = 0; ms < 600_000; ms += everyMs) {
      fail('one', ms);
      mock.timers.tick(everyMs);
    }
    t.true(lines.length >= 10 && lines.length <= 11, `${lines.length} lines`);
  });

test.serial('the first failure after a minute without one is logged at once', (t) => {
  const { lines, fail } = throttled();
  fail('one', 'first');
  mock.timers.tick(500);
  mock.timers.tick(60_000);
  fail('one', 'second');
  mock.timers.tick(500);
  t.deepEqual(lines, [
    { error: 'first', parts: 1 },
    { error: 'second', parts: 1 },
  ]);
});
