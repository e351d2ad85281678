/** A plain connection below its receiver: what is too slow, what is the last, and what is handed over, in time that the test sets. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import test from 'ava';
import type { Answer, HttpCall } from '../../receivers/engine/http-call.ts';
import { InFlight } from '../../receivers/engine/in-flight.ts';
import { PlainConnection } from '../../receivers/engine/plain-connection.ts';

const limits = { firstMs: 1_000, bodyMs: 10_000, keepAliveMs: 5_000 };
const answerOf = (status: number, body: string | Buffer = ''): Answer => ({
  status,
  headers: { 'content-length': Buffer.byteLength(body) },
  body,
});
const big = Buffer.alloc(100_000, 'x');
const post = (length: number | string, path = '/take'): string =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`;

/** One connection, whose calls the test answers. `/refuse` is answered at once, `/last` as the last one. */
const connected = async () => {
  const calls: { call: HttpCall; body: string | undefined; isOver: boolean }[] = [];
  const inFlight = new InFlight();
  const handedOver: string[] = [];
  const serve = (path: string) => (call: HttpCall) => {
    const entry = { call, body: undefined as string | undefined, isOver: false };
    calls.push(entry);
    call.onceOver(() => {
      entry.isOver = true;
    });
    if (path === '/big') call.answer(answerOf(200, big), false);
    else if (path === '/refuse') call.answer(answerOf(415, 'no'), false);
    else if (path === '/last') call.answer(answerOf(503, Buffer.from('last')), true);
    else if (path === '/take')
      call.read(1e6, inFlight, {
        whole(body) {
          entry.body = body.toString();
        },
        tooLarge: () => undefined,
        noMemory: () => call.answer(answerOf(503), false),
      });
  };
  const server = createServer({ allowHalfOpen: true });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
  client.on('error', () => undefined);
  const [socket] = (await once(server, 'connection')) as [Socket];
  const connection = new PlainConnection(socket, {
    serves: ({ target }) => (target === '/node' ? undefined : serve(target)),
    handOver: (given) => given.on('data', (chunk: Buffer) => handedOver.push(chunk.toString())),
    ...limits,
  });
  let heard = '';
  client.on('data', (chunk: Buffer) => {
    heard += chunk.toString();
  });
  const until = async (what: string, holds: () => boolean): Promise<void> => {
    const end = Date.now() + 20_000;
    while (!holds()) {
      if (Date.now() > end) throw new Error(`waited in vain until ${what}; heard ${JSON.stringify(heard)}`);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  };
  let sent = 0;
  return {
    ...{ calls, inFlight, handedOver, socket, client, connection, until },
    heard: () => heard,
    ended: () => until('all is told', () => client.readableEnded || client.destroyed),
    statuses: () => [...heard.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => Number(match[1])),
    /** Resolves when the connection has read it. */
    async send(text: string): Promise<void> {
      client.write(text);
      sent += text.length;
      await until('it is read', () => socket.bytesRead >= sent);
      await new Promise((resolve) => setImmediate(resolve));
    },
    async [Symbol.asyncDispose]() {
      client.destroy();
      socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
};

/** As far from now as the limit, and a bit. */
const after = (ms: number): number => performance.now() + ms + 1;

test('a first request that does not come ends the connection, and not before its time', async (t) => {
  await using one = await connected();
  one.connection.sweep(performance.now() + limits.firstMs / 2);
  t.false(one.socket.destroyed);
  one.connection.sweep(after(limits.firstMs));
  t.true(one.socket.destroyed);
  await one.ended();
  t.is(one.heard(), '');
});

test('a body that stalls is answered 408, and what it held is released', async (t) => {
  await using one = await connected();
  await one.send(`${post(10)}12345`);
  one.connection.sweep(after(limits.keepAliveMs));
  t.false(one.socket.destroyed);
  one.connection.sweep(after(limits.bodyMs));
  await one.until('the call is over', () => one.calls[0]?.isOver === true);
  await one.until('it is told', () => one.heard().includes('HTTP/1.1 408 '));
  t.is(one.calls[0]?.body, undefined);
  t.true(one.inFlight.hold(256 * 1024 * 1024), 'nothing is held');
});

test('a body that stalls behind its refusal ends the connection without another answer', async (t) => {
  await using one = await connected();
  await one.send(`${post(10, '/refuse')}12345`);
  one.connection.sweep(after(limits.bodyMs));
  t.true(one.socket.destroyed);
  await one.ended();
  t.deepEqual(one.statuses(), [415]);
});

test('a call that waits for its answer is waited for', async (t) => {
  await using one = await connected();
  await one.send(`${post(2)}ab`);
  one.connection.sweep(after(1e9));
  t.false(one.socket.destroyed);
  one.calls[0]?.call.answer(answerOf(200), false);
  await one.until('it is answered', () => one.statuses().length === 1);
  one.connection.sweep(after(limits.keepAliveMs / 2));
  t.false(one.socket.destroyed);
  one.connection.sweep(after(limits.keepAliveMs));
  t.true(one.socket.destroyed);
});

test('a call that was not asked for its body in time is swept, and its late answer goes nowhere', async (t) => {
  await using one = await connected();
  await one.send(`${post(10, '/wait')}123`);
  t.true(one.socket.isPaused());
  one.connection.sweep(after(limits.bodyMs));
  await one.until('the call is over', () => one.calls[0]?.isOver === true);
  const never = (): void => t.fail('the body is not read');
  one.calls[0]?.call.read(1e6, one.inFlight, { whole: never, tooLarge: never, noMemory: never });
  one.calls[0]?.call.answer(answerOf(200), false);
  await one.until('it is told', () => one.heard().includes('HTTP/1.1 408 '));
  t.deepEqual(one.statuses(), [408]);
  t.true(one.inFlight.hold(256 * 1024 * 1024));
});

test('a call is answered once', async (t) => {
  await using one = await connected();
  await one.send(`${post(2)}ab`);
  for (let n = 0; n < 3; n++) one.calls[0]?.call.answer(answerOf(200 + n), false);
  await one.send(post(0, '/refuse'));
  await one.until('both are answered', () => one.statuses().length >= 2);
  t.deepEqual(one.statuses(), [200, 415]);
});

test('nothing is served or handed over behind a last answer', async (t) => {
  for (const behind of [post(0), post(0, '/node'), 'rubbish\r\n\r\n', post(5)]) {
    await using one = await connected();
    await one.send(post(0, '/last') + behind);
    await one.ended();
    t.deepEqual(one.statuses(), [503]);
    t.true(one.heard().includes('connection: close\r\n') && one.heard().endsWith('last'));
    t.is(one.calls.length, 1);
    t.deepEqual(one.handedOver, []);
  }
});

test('calls of a sender that does not read are not served, until it does', async (t) => {
  await using one = await connected();
  const count = 300;
  one.client.pause();
  // The last one has a body that is to be skipped while answers wait.
  await one.send(post(0, '/big').repeat(count) + post(10, '/big'));
  await one.until('answers wait', () => one.socket.writableNeedDrain);
  t.true(one.calls.length < count, `${one.calls.length} calls`);
  t.true(one.socket.writableLength < 3 * big.length);
  await one.send(`0123456789${post(0, '/refuse')}`);
  t.true(one.calls.length < count);
  one.client.resume();
  await one.until('all are answered', () => one.statuses().length === count + 2);
  t.is(one.calls.length, count + 2);
  t.is(one.socket.listenerCount('drain'), 0);
});

test('a refused body is skipped while its answer waits for its reader', async (t) => {
  await using one = await connected();
  one.client.pause();
  await one.send(`${post(10, '/big')}01234`);
  while (!one.socket.writableNeedDrain) await one.send(`56789${post(10, '/big')}01234`);
  t.false(one.socket.isPaused());
  await one.send('56789');
  await one.send(post(0, '/refuse'));
  one.client.resume();
  await one.until('the last one is answered', () => one.statuses().at(-1) === 415);
  t.is(one.statuses().length, one.calls.length);
});

test('a sender that does not read is swept, and does not outlive a close', async (t) => {
  for (const end of ['sweep', 'close'] as const) {
    await using one = await connected();
    one.client.pause();
    await one.send(post(0, '/big').repeat(300));
    if (end === 'close') one.connection.close();
    else {
      one.connection.sweep(performance.now() + limits.keepAliveMs / 2);
      t.false(one.socket.destroyed);
      one.connection.sweep(after(limits.keepAliveMs));
    }
    t.true(one.socket.destroyed);
  }
});

test('close ends an idle connection at once', async (t) => {
  await using one = await connected();
  await one.send(post(0, '/refuse'));
  one.connection.close();
  t.true(one.socket.destroyed);
});

test('close lets the call in hand be answered, as the last', async (t) => {
  await using one = await connected();
  await one.send(`${post(5)}abc`);
  one.connection.close();
  await one.send(`de${post(0)}`);
  t.is(one.calls[0]?.body, 'abcde');
  one.calls[0]?.call.answer(answerOf(200), false);
  await one.ended();
  t.true(one.heard().includes('connection: close'));
  t.is(one.calls.length, 1);
});

test('close lets the sender of a refused body finish, and no longer', async (t) => {
  await using one = await connected();
  await one.send(`${post(5, '/refuse')}abc`);
  one.connection.close();
  t.false(one.socket.destroyed);
  await one.send(`de${post(0)}`);
  await one.ended();
  t.deepEqual(one.statuses(), [415]);
});

test('a sender that ends is answered what it waits for, and its connection is closed', async (t) => {
  await using one = await connected();
  await one.send(`${post(2)}ab${post(0)}`);
  one.client.end();
  one.calls[0]?.call.answer(answerOf(200), false);
  await one.until('the second is served', () => one.calls.length === 2);
  await new Promise((resolve) => setTimeout(resolve, 20));
  one.calls[1]?.call.answer(answerOf(202), false);
  await one.ended();
  t.deepEqual(one.statuses(), [200, 202]);
  await one.until('the connection is closed', () => one.socket.destroyed);
});

for (const [title, text, statuses] of [
  ['before a request', '', []],
  ['between requests', post(0, '/refuse'), [415]],
  ['in a refused body', `${post(10, '/refuse')}abc`, [415]],
  ['in a body', `${post(10)}abc`, [400]],
] as const)
  test(`a sender that ends ${title} ends its connection`, async (t) => {
    await using one = await connected();
    await one.send(text);
    one.client.end();
    await one.until('the connection is closed', () => one.socket.destroyed);
    await one.ended();
    t.deepEqual(one.statuses(), [...statuses]);
    t.true(one.calls.every(({ isOver }) => isOver));
  });

test('what is not served is handed over with all that follows, and without listeners', async (t) => {
  await using one = await connected();
  const rest = `${post(3, '/node')}abc${post(0)}`;
  await one.send(`${post(0, '/refuse')}${rest}`);
  await one.send('and more');
  await one.until('all is there', () => one.handedOver.join('') === `${rest}and more`);
  t.is(one.calls.length, 1);
  for (const name of ['error', 'drain', 'close', 'data']) t.is(one.socket.listenerCount(name), name === 'data' ? 1 : 0);
});
