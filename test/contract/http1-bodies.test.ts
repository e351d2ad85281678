/** Bodies over HTTP/1.1: of every size, refused during upload, truncated, and larger than the available memory. */
import { randomBytes } from 'node:crypto';
import test from 'ava';
import { eventually } from '../waiting.ts';
import { good, headOf, refused, sending, type Wire } from './http1-client.ts';
import { request } from './receivers-bodies.ts';

const mebibyte = 1024 * 1024;

for (const size of [1, 64 * 1024 - 1, 64 * 1024, 64 * 1024 + 1, 300 * 1024])
  test.serial(`a body of ${size} bytes arrives as it was sent, and the next request is read after it`, async (t) => {
    await using sender = await sending();
    // Malformed, so that the dead letter contains each byte.
    const bytes = randomBytes(size).fill(0xff, 0, 1);
    for (const pieces of [1, 3]) {
      const whole = Buffer.concat([sender.bytes(headOf(size)), bytes, sender.bytes(good)]);
      const wire = sender.open();
      const step = Math.ceil(whole.length / pieces);
      for (let at = 0; at < whole.length; at += step) {
        wire.send(whole.subarray(at, at + step));
        if (at > 0) await wire.read();
      }
      t.is((await wire.next())?.status, 400);
      t.is((await wire.next())?.status, 200);
      t.true(sender.bus.deadLetters().pop()?.body.equals(bytes));
    }
    t.is(sender.bus.members().length, 2);
  });

test.serial('a request without a body is a request without records', async (t) => {
  await using sender = await sending();
  const wire = sender.open().send(sender.bytes(headOf(0) + good));
  t.is((await wire.next())?.status, 200);
  t.is((await wire.next())?.status, 200);
  t.is(sender.bus.members().length, 1);
});

test.serial('49 MiB of records land, in one write or in many, followed by a valid request', async (t) => {
  await using sender = await sending();
  sender.bus.storesMessages = false;
  const one = request('logs', 2_000, 'y'.repeat(400));
  const body = Buffer.concat(Array.from({ length: Math.floor((49 * mebibyte) / one.length) }, () => one));
  const wire = sender.open();
  wire.send(Buffer.concat([sender.bytes(headOf(body.length)), body, sender.bytes(good)]));
  t.is((await wire.next())?.status, 200);
  t.is((await wire.next())?.status, 200);
  wire.send(sender.bytes(headOf(body.length)));
  for (let at = 0; at < body.length; at += 100_000) wire.send(body.subarray(at, at + 100_000));
  t.is((await wire.next())?.status, 200);
  t.is((await wire.send(sender.bytes(good)).next())?.status, 200);
});

test.serial(
  'a refusal is sent while the body still arrives, the rest is skipped, and the next request is served',
  async (t) => {
    await using sender = await sending();
    const size = 8 * mebibyte;
    // The skipped bytes look like requests.
    const part = Buffer.alloc(mebibyte, sender.bytes(good));
    const wire = sender.open();
    for (let round = 0; round < 3; round++) {
      wire.send(sender.bytes(headOf(size).replace('x-protobuf', 'x-nothing'))).send(part);
      t.is((await wire.next())?.status, 415);
      for (let sent = part.length; sent < size; sent += part.length) wire.send(part);
      t.like(await wire.send(sender.bytes(good)).next(), { status: 200 });
    }
    t.is(sender.bus.members().length, 3);
    t.is(wire.answers.length, 6);
  },
);

const endings: readonly [string, (wire: Wire) => unknown][] = [
  ['ends', (wire) => wire.socket.end()],
  ['closes', (wire) => wire.socket.destroy()],
  ['resets', (wire) => wire.socket.resetAndDestroy()],
];

for (const [how, end] of endings)
  test.serial(
    `a sender that ${how} before its body is complete leaves nothing on the bus and nothing in memory`,
    async (t) => {
      await using sender = await sending();
      sender.bus.storesMessages = false;
      const size = 49 * mebibyte;
      const fullBody = Buffer.alloc(size - 1, 0xff);
      // Together larger than the memory limit for bodies.
      for (let round = 0; round < 7; round++) {
        const wire = sender
          .open()
          .send(sender.bytes(headOf(size)))
          .send(fullBody);
        await wire.read();
        end(wire);
        if (how === 'ends') t.is((await wire.next())?.status, 400);
        const peer = await wire.peer();
        await eventually('the connection is closed', () => peer.destroyed);
      }
      t.is(sender.bus.publishes, 0);
      const wire = sender.open();
      for (let round = 0; round < 7; round++) {
        wire.send(sender.bytes(headOf(size))).send(fullBody);
        t.is((await wire.send('\xff').next())?.status, 400);
      }
      t.is(sender.bus.publishes, 7);
      await sender.receivers.stop();
    },
  );

test.serial('a body for which there is no memory is answered with 503 and skipped', async (t) => {
  await using sender = await sending();
  sender.bus.storesMessages = false;
  const size = 49 * mebibyte;
  const head = sender.bytes(headOf(size));
  const fullBody = Buffer.alloc(size - 1, 0xff);
  const wires = Array.from({ length: 5 }, () => sender.open());
  const late = sender.open();
  for (let round = 0; round < 2; round++) {
    for (const wire of wires) await wire.send(head).send(fullBody).read();
    // The memory limit is too small for this body.
    t.is(
      (
        await late
          .send(sender.bytes(headOf(mebibyte)))
          .send(Buffer.alloc(mebibyte, 0xff))
          .next()
      )?.status,
      400,
    );
    t.like(await late.send(head).send(fullBody).next(), { status: 503 });
    t.is((await late.send('\xff').send(sender.bytes(good)).next())?.status, 200);
    for (const wire of wires) t.is((await wire.send('\xff').next())?.status, 400);
  }
});

test.serial(
  'a body waits while the limits of its key are checked, and neither the body nor the check hangs',
  async (t) => {
    // No quota is granted in advance, so each request waits for the counters.
    await using sender = await sending({
      clock: { now: () => 1_700_000_000_000 },
      plan: { limits: { requestsPerSecond: 1, requestsBurst: 40, requestsPerMinute: 1_000, bytesPerDay: null } },
    });
    const size = 2 * mebibyte;
    const body = Buffer.alloc(size, 0xff);
    const statuses = new Map<number | undefined, number>();
    const wire = sender.open();
    for (let round = 0; round < 60; round++) {
      wire.send(Buffer.concat([sender.bytes(headOf(size)), body, sender.bytes(refused)]));
      for (const response of [await wire.next(), await wire.next()])
        statuses.set(response?.status, (statuses.get(response?.status) ?? 0) + 1);
    }
    t.deepEqual([...statuses.keys()].sort(), [400, 415, 429]);
    t.is(wire.answers.length, 120);
  },
);
