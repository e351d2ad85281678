/** HTTP/1.1 connections that end with work in progress: closed by the client, timed out, or at shutdown. */
import test from 'ava';
import { eventually } from '../waiting.ts';
import { good, headOf, refused, type Sender, sending } from './http1-client.ts';

/** A long shutdown timeout, so that the server aborts nothing during a test. */
const patient = { environment: { OIQ_SHUTDOWN_SECONDS: '100' } };

/** The bus waits until it is released. */
const hold = ({ bus }: Sender): (() => void) => {
  const { promise, resolve } = Promise.withResolvers<void>();
  bus.held = promise;
  return () => {
    bus.held = undefined;
    resolve();
  };
};

test('a connection that closes while its call waits for the bus changes nothing on the bus', async (t) => {
  await using sender = await sending(patient);
  const release = hold(sender);
  const disconnected = [sender.open(), sender.open(), sender.open()].map((wire) => wire.send(sender.bytes(good)));
  const stays = sender.open().send(sender.bytes(good));
  await Promise.all([...disconnected, stays].map((wire) => wire.read()));
  await eventually('the bus is asked', () => sender.bus.publishes > 0);
  disconnected[0]?.socket.destroy();
  disconnected[1]?.socket.resetAndDestroy();
  disconnected[2]?.socket.end();
  release();
  t.is((await stays.next())?.status, 200);
  await eventually('all four are there', () => sender.bus.members().length === 4);
  await sender.receivers.stop();
});

test('connections closed by their senders are closed by the server as well', async (t) => {
  await using sender = await sending();
  for (const raw of ['', good, refused]) {
    const wire = sender.open();
    if (raw !== '') await wire.send(sender.bytes(raw)).next();
    const peer = await wire.peer();
    wire.socket.destroy();
    await eventually('it is closed', () => peer.destroyed);
  }
  t.pass();
});

test('a sender that does not read its responses is not read any further, and gets all of them once it reads again', async (t) => {
  await using sender = await sending();
  const wire = sender.open();
  const peer = await wire.peer();
  await wire.send(sender.bytes(refused)).next();
  wire.socket.pause();
  const count = 60_000;
  const some = Buffer.concat(Array.from({ length: 100 }, () => sender.bytes(refused)));
  for (let n = 0; n < count; n += 100) wire.socket.write(some);
  let maxBufferedBytes = 0;
  let [quiet, before] = [0, -1];
  // Until everything is read, which must not happen, or nothing was read for a while.
  while (quiet < 300 && wire.socket.writableLength > 0) {
    maxBufferedBytes = Math.max(maxBufferedBytes, peer.writableLength);
    quiet = peer.bytesRead === before ? quiet + 1 : 0;
    before = peer.bytesRead;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  t.true(maxBufferedBytes < 1024 * 1024, `${maxBufferedBytes} bytes wait`);
  wire.socket.resume();
  await eventually('all answers are there', () => wire.answers.length === count + 1);
  t.true(wire.answers.every(({ status }) => status === 415));
  wire.send(sender.bytes(good));
  await eventually('the last one as well', () => wire.answers[count + 1]?.status === 200);
});

test('a stop answers the in-flight calls as the last ones and closes idle connections', async (t) => {
  await using sender = await sending(patient);
  const release = hold(sender);
  const bytes = sender.bytes(good);
  const fresh = sender.open();
  const idle = sender.open();
  await idle.send(sender.bytes(refused)).next();
  const waiting = sender.open().send(bytes);
  const half = sender.open().send(bytes.subarray(0, -1));
  await Promise.all([fresh.peer(), ...[waiting, half].map((wire) => wire.read())]);
  await eventually('the bus is asked', () => sender.bus.publishes > 0);
  const stopped = sender.receivers.stop();
  await Promise.all([fresh.closed(), idle.closed()]);
  half.send(bytes.subarray(-1));
  await half.read();
  release();
  for (const wire of [waiting, half]) {
    const response = await wire.next();
    t.is(response?.status, 200);
    t.is(response?.headers['connection'], 'close');
    await wire.closed();
  }
  await stopped;
  t.is(sender.bus.members().length, 2);
  const late = sender.open().send(bytes);
  t.is(await late.next(), undefined);
});

test('a stop waits only until a refused body has arrived, and refuses the request after it', async (t) => {
  await using sender = await sending(patient);
  const wire = sender.open().send(sender.bytes(headOf(10).replace('x-protobuf', 'x-nothing')));
  t.is((await wire.next())?.status, 415);
  const stopped = sender.receivers.stop();
  wire.send(sender.bytes(`0123456789${good}`));
  await stopped;
  await wire.closed();
  t.deepEqual(
    wire.answers.map(({ status }) => status),
    [415, 503],
  );
  t.is(sender.bus.members().length, 0);
});

test('a stop aborts requests that do not complete in time', async (t) => {
  await using sender = await sending({ environment: { OIQ_SHUTDOWN_SECONDS: '1' } });
  const stalled = sender.open().send(sender.bytes(headOf(10)));
  const skipped = sender.open().send(sender.bytes(headOf(10).replace('x-protobuf', 'x-nothing')));
  await Promise.all([stalled.read(), skipped.next()]);
  await sender.receivers.stop();
  await Promise.all([stalled.closed(), skipped.closed()]);
  t.is(sender.bus.members().length, 0);
});
