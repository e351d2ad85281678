/** Failures of many parts at once are one line. */
import test from 'ava';
import { throttleFailures } from '../../runtime/log-throttle.ts';
import { eventually } from '../waiting.ts';

test('240 concurrent failures are logged once, with their number and the last error', async (t) => {
  const lines: { readonly error: unknown; readonly parts: number }[] = [];
  const failed = throttleFailures((error, parts) => lines.push({ error, parts }));
  for (let part = 0; part < 240; part++)
    for (const attempt of ['first', 'second']) failed(String(part), `${attempt} of ${part}`);
  await eventually('it is told', () => lines.length > 0);
  t.deepEqual(lines, [{ error: 'second of 239', parts: 240 }]);
  failed('7', 'again');
  await eventually('it is told again', () => lines.length > 1);
  t.deepEqual(lines[1], { error: 'again', parts: 1 });
});
