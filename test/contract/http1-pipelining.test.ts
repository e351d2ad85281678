/** Pipelined requests on one connection, split at any position. */
import test from 'ava';
import { eventually } from '../waiting.ts';
import { essence, good, headOf, onBus, refused, sending } from './http1-client.ts';

/** The response has more than a status. */
const malformed = `${headOf(40)}${'\xff'.repeat(40)}`;

test('a request gets the same response wherever it is split', async (t) => {
  await using sender = await sending();
  for (const raw of [good, refused, malformed]) {
    sender.bus.messages.length = 0;
    const bytes = sender.bytes(raw);
    const whole = essence(await sender.open().send(bytes).next());
    const landed = onBus(sender);
    for (let cut = 1; cut < bytes.length; cut += 3) {
      sender.bus.messages.length = 0;
      const wire = sender.open().send(bytes.subarray(0, cut));
      await wire.read();
      t.deepEqual(essence(await wire.send(bytes.subarray(cut)).next()), whole, `cut at ${cut}`);
      t.deepEqual(onBus(sender), landed, `cut at ${cut}`);
      wire.socket.destroy();
    }
  }
});

test('a request behind a call that waits for the bus is answered after that call', async (t) => {
  await using sender = await sending();
  const { bus } = sender;
  const { promise, resolve } = Promise.withResolvers<void>();
  bus.held = promise;
  const wire = sender.open().send(sender.bytes(good + refused + malformed + headOf(0)));
  await eventually('the bus is asked', () => bus.publishes > 0);
  await wire
    .send(sender.bytes(refused + good))
    .send(sender.bytes(good))
    .read();
  t.deepEqual(wire.answers, []);
  bus.held = undefined;
  resolve();
  const statuses: unknown[] = [];
  for (let n = 0; n < 7; n++) statuses.push((await wire.next())?.status);
  t.deepEqual(statuses, [200, 415, 400, 200, 415, 200, 200]);
  t.is(bus.members().length, 3);
  t.is(bus.deadLetters().length, 1);
});

for (const [title, raw, status] of [
  ['refused', refused, 415],
  ['good', good, 200],
  ['malformed', malformed, 400],
  ['empty', headOf(0), 200],
] as const)
  test(`2,000 pipelined requests on one connection are each answered: ${title}`, async (t) => {
    await using sender = await sending();
    const count = 2_000;
    const wire = sender.open().send(Buffer.concat(Array.from({ length: count }, () => sender.bytes(raw))));
    for (let n = 0; n < count; n++) {
      const response = await wire.next();
      if (response?.status !== status) t.fail(`${n}: ${response?.status}`);
    }
    t.is(wire.answers.length, count);
    t.is((await wire.send(sender.bytes(good)).next())?.status, 200);
  });
