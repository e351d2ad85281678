/** How a broker connection handles servers with incorrect responses. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { Writer } from '@platformatic/kafka';
import test, { type ExecutionContext } from 'ava';
import { DirectConnection } from '../../adapters/bus-kafka/direct-connection.ts';
import { DirectConnections } from '../../adapters/bus-kafka/direct-connections.ts';
import type { Parser } from '../../adapters/bus-kafka/fetch-buffer.ts';

/** Connects to a server that calls `serve` for each connection. */
const connectTo = async (t: ExecutionContext, serve: (socket: Socket) => void, requestTimeout = 10_000) => {
  const server = createServer((socket) => serve(socket.on('error', () => undefined))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const connection = new DirectConnection('127.0.0.1', port, { clientId: 'a', bootstrapBrokers: [], requestTimeout });
  t.teardown(() => {
    connection.close();
    server.close();
  });
  await connection.connected;
  return connection;
};

/** Requests a text from the server. */
const send = (connection: DirectConnection, text: string) =>
  connection.request({
    key: 1,
    version: 15,
    hasTaggedFields: true,
    payload: Writer.create().appendString(text, false),
    *parser(bytes): Parser<string> {
      return (yield Buffer.alloc(bytes)).toString();
    },
  });

const respond = (id: number, text: string): Buffer => {
  const head = Buffer.alloc(8);
  head.writeInt32BE(4 + text.length);
  head.writeInt32BE(id, 4);
  return Buffer.concat([head, Buffer.from(text, 'latin1')]);
};

test('responses are matched to their requests in order, even if they arrive in one chunk', async (t) => {
  let received = Buffer.alloc(0);
  const connection = await connectTo(t, (socket) =>
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      if (received.includes('second')) socket.write(Buffer.concat([respond(1, 'one'), respond(2, '')]));
    }),
  );
  t.deepEqual(await Promise.all([send(connection, 'first'), send(connection, 'second')]), ['one', '']);
  t.is(received.readInt32BE(0), received.indexOf('first') + 'first'.length - 4);
});

for (const { title, serve, message } of [
  { title: 'closes', serve: (socket: Socket) => socket.end(), message: /closed/ },
  {
    title: 'closes the connection within a response',
    serve: (socket: Socket) => socket.end(respond(1, 'half').subarray(0, 10)),
    message: /closed/,
  },
  {
    title: 'responds to another request',
    serve: (socket: Socket) => socket.write(respond(9, 'x')),
    message: /not Kafka/,
  },
  {
    title: 'speaks HTTP',
    serve: (socket: Socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'),
    message: /not Kafka/,
  },
  {
    title: 'speaks TLS',
    serve: (socket: Socket) => socket.write(Buffer.from('15030300020246ff', 'hex')),
    message: /TLS/,
  },
])
  test(`a server that ${title} fails all pending and later requests`, async (t) => {
    const connection = await connectTo(t, (socket) => socket.once('data', () => serve(socket)));
    const waiting = [send(connection, 'first'), send(connection, 'second')];
    for (const each of waiting) await t.throwsAsync(each, { message });
    t.false(connection.isOpen);
    await t.throwsAsync(send(connection, 'later'), { message });
  });

test('a connection to a silent server is closed after a timeout, but an idle connection stays open', async (t) => {
  const patient = await connectTo(t, () => undefined, 100);
  const connection = await connectTo(t, () => undefined, 100);
  await t.throwsAsync(send(connection, 'first'), { message: /within 100 ms/ });
  await t.throwsAsync(send(connection, 'later'), { message: /within 100 ms/ });
  t.true(patient.isOpen);
});

test('an unsolicited response closes the connection', async (t) => {
  const connection = await connectTo(t, (socket) => socket.write('x'));
  while (connection.isOpen) await new Promise((resolve) => setImmediate(resolve));
  await t.throwsAsync(send(connection, 'first'), { message: /not requested/ });
});

/** A broker that accepts any password for a session of the given lifetime; returns the requests that it received. */
const trusting = async (t: ExecutionContext, lifetimeMs: number) => {
  const sent: string[] = [];
  const server = createServer((socket) =>
    socket.on('data', (request: Buffer) => {
      const [key, id] = [request.readInt16BE(4), request.readInt32BE(8)];
      sent.push(`${key} ${request.toString('latin1')}`);
      const lifetime = Buffer.alloc(8);
      lifetime.writeBigInt64BE(BigInt(lifetimeMs));
      // The response to the handshake: no error, no mechanisms. To the password: no error, message or bytes, the
      // session lifetime, no tagged fields.
      const body =
        key === 17 ? Buffer.alloc(6) : Buffer.concat([Buffer.from('0000000001', 'hex'), lifetime, Buffer.alloc(1)]);
      socket.write(respond(id, body.toString('latin1')));
    }),
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const connections = new DirectConnections({
    clientId: 'a',
    bootstrapBrokers: [],
    connectTimeout: 60_000,
    sasl: { mechanism: 'PLAIN', username: 'anna', password: 'secret' },
  });
  t.teardown(() => {
    connections.close();
    server.close();
  });
  return { sent, connect: () => connections.get({ host: '127.0.0.1', port }) };
};

test('the client authenticates with a broker once, and a broken connection is reopened', async (t) => {
  const { sent, connect } = await trusting(t, 0);
  const [first, same] = await Promise.all([connect(), connect()]);
  t.is(first, same);
  t.is(await connect(), first);
  t.deepEqual(
    sent.map((request) => request.slice(0, 2)),
    ['17', '36'],
  );
  t.regex(sent[1] ?? '', /\0anna\0secret/);
  first.close();
  t.not(await connect(), first);
});

test('a connection with an expiring session is replaced before the session ends', async (t) => {
  const { connect } = await trusting(t, 20);
  const first = await connect();
  while ((await connect()) === first) await new Promise((resolve) => setImmediate(resolve));
  t.false(first.isOpen);
});
