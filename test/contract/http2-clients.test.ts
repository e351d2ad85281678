/** Common HTTP/2 clients: node:http2 (nghttp2) and gRPC. */
import { type ClientHttp2Session, connect, constants, type IncomingHttpHeaders } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import type { ExecutionContext } from 'ava';
import type { createHttp2Server, Http2Stream } from '../../receivers/http2/server.ts';
import { closedOnce, onEach, serving } from './http2-fixture.ts';

interface Answer {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly trailers: IncomingHttpHeaders | undefined;
}

const post = (session: ClientHttp2Session, path: string, body: Uint8Array | string = ''): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const stream = session.request({ ':method': 'POST', ':path': path });
    const parts: Buffer[] = [];
    let headers: IncomingHttpHeaders = {};
    let trailers: IncomingHttpHeaders | undefined;
    stream.on('response', (all) => {
      headers = all;
    });
    stream.on('trailers', (all) => {
      trailers = all;
    });
    stream.on('data', (part: Buffer) => parts.push(part));
    stream.on('error', reject);
    stream.on('close', () => resolve({ headers, body: Buffer.concat(parts), trailers }));
    stream.end(body);
  });

const session = (t: ExecutionContext, port: number, options?: Parameters<typeof connect>[1]): ClientHttp2Session => {
  const client = connect(`http://127.0.0.1:${port}`, options);
  t.teardown(() => client.destroy());
  return client;
};

const exhausted = {
  ':status': '200',
  'content-type': 'application/grpc+proto',
  'grpc-status': '8',
  'grpc-message': 'too much%21',
};

/** A server that calls `serve` at the end of each request; at `/refuse-early`, it refuses the request before that. */
const served = async (
  t: ExecutionContext<typeof createHttp2Server>,
  serve: (stream: Http2Stream, body: Buffer) => void,
): Promise<number> => {
  const http2 = t.context((stream) => {
    const parts: Buffer[] = [];
    if (stream.headers[':path'] === '/refuse-early') stream.respond(exhausted, true);
    return {
      data: (chunk) => parts.push(chunk),
      end: () => serve(stream, Buffer.concat(parts)),
      closed: () => undefined,
    };
  });
  await new Promise<void>((resolve) => http2.server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    http2.destroy();
    http2.server.close();
  });
  return (http2.server.address() as AddressInfo).port;
};

for (const headerTableSize of [4096, 0, 65_536, 100])
  onEach(`a thousand calls on one connection with a header table of ${headerTableSize} bytes`, async (t) => {
    await using fixture = await serving({}, t.context);
    const client = session(t, fixture.port, { settings: { headerTableSize } });
    const responses = await Promise.all(
      Array.from({ length: 1_000 }, (_, index) => post(client, '/', Buffer.alloc(index, 'x'))),
    );
    for (const [index, { headers, body, trailers }] of responses.entries()) {
      t.is(String(headers[':status']), '200');
      t.is(headers['content-type'], 'text/plain');
      t.is(body.toString(), `${index} bytes`);
      t.is(trailers?.['grpc-status'], '0');
    }
    client.destroy();
    await fixture.empty();
    closedOnce(t, fixture);
  });

onEach('settings that a client changes between calls are followed', async (t) => {
  await using fixture = await serving({}, t.context);
  const client = session(t, fixture.port);
  for (const headerTableSize of [0, 4096, 64, 0, 65_536, 4095]) {
    await new Promise<void>((resolve) =>
      client.settings({ headerTableSize, maxFrameSize: 16_384 + headerTableSize }, () => resolve()),
    );
    t.is((await post(client, '/')).body.toString(), '0 bytes');
    t.is((await post(client, '/bytes/50000')).body.length, 50_000);
  }
});

const blocks: Readonly<Record<string, Record<string, string>>> = {
  'a status that the static table lacks': { ':status': '418', vary: 'x' },
  'values of the static table and others': {
    ':status': '200',
    'accept-encoding': 'gzip, deflate',
    'accept-charset': 'utf-8',
  },
  'an empty value': { ':status': '200', 'x-empty': '', vary: '' },
  'a value of 126, 127, 128 and 255 bytes': {
    ':status': '200',
    ...Object.fromEntries([126, 127, 128, 254, 255, 382].map((length) => [`x-${length}`, 'v'.repeat(length)])),
  },
  'a name of 200 bytes': { ':status': '200', ['n'.repeat(200)]: 'v' },
  'every byte that a value may have': {
    ':status': '200',
    'x-bytes': `a\t${Array.from({ length: 224 }, (_, index) => String.fromCharCode(32 + index))
      .join('')
      .replace('\x7f', '')}`,
  },
  'a hundred fields': {
    ':status': '200',
    ...Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`x-${index}`, `value ${index}`])),
  },
  'a block that needs several frames': { ':status': '200', 'x-long': 'v'.repeat(40_000) },
};
for (const [title, headers] of Object.entries(blocks))
  for (const headerTableSize of [4096, 0])
    onEach(`another client reads ${title}, with a table of ${headerTableSize}`, async (t) => {
      const port = await served(t, (stream) => {
        stream.respond(headers);
        stream.end({ 'x-trailer': 'last' });
      });
      const client = session(t, port, { settings: { headerTableSize, maxHeaderListSize: 100_000 } });
      for (let time = 0; time < 2; time++) {
        const { headers: echoedHeaders, trailers } = await post(client, '/');
        const { [':status']: status, ...others } = headers;
        t.is(Number(echoedHeaders[':status']), Number(status));
        t.like(echoedHeaders, others);
        t.is(trailers?.['x-trailer'], 'last');
      }
    });

onEach('another client reads blocks that just fill their frames, and those that just do not', async (t) => {
  const port = await served(t, (stream, body) => {
    stream.respond({ ':status': '200', 'x-long': 'v'.repeat(Number(body)) });
    stream.end({ 'x-trailer': 'last' });
  });
  const client = session(t, port, { settings: { maxHeaderListSize: 100_000 } });
  // The other fields and lengths take 12 bytes of the first block, and 13 of the second; a frame has 16,384.
  for (const full of [16_384 - 12, 2 * 16_384 - 13])
    for (const length of [full - 1, full, full + 1]) {
      const { headers, trailers } = await post(client, '/', String(length));
      t.is(headers['x-long']?.length, length);
      t.is(trailers?.['x-trailer'], 'last');
    }
});

for (const status of [200, 204, 206, 304, 400, 404, 500, 503])
  onEach(`an answer of status ${status} that is headers alone is an answer`, async (t) => {
    const port = await served(t, (stream) => stream.respond({ ':status': String(status) }, true));
    const { headers, body } = await post(session(t, port), '/', 'body');
    t.is(Number(headers[':status']), status);
    t.is(body.length, 0);
  });

onEach('300 calls at once are all answered: the client keeps to the limit that it was told', async (t) => {
  await using fixture = await serving({}, t.context);
  const client = session(t, fixture.port);
  const waiting = Array.from({ length: 300 }, () => {
    const stream = client.request({ ':method': 'POST', ':path': '/' });
    stream.resume();
    return stream;
  });
  // The bodies end when 256 of the calls are open.
  while (fixture.calls.length < 256) await new Promise((resolve) => setTimeout(resolve, 5));
  const closed = Promise.all(
    waiting.map((stream) => new Promise<number>((resolve) => stream.once('close', () => resolve(stream.rstCode)))),
  );
  for (const stream of waiting) stream.end();
  t.deepEqual(new Set(await closed), new Set([constants.NGHTTP2_NO_ERROR]));
  t.is(fixture.calls.length, 300);
});

onEach('a ping of another client is answered', async (t) => {
  await using fixture = await serving({}, t.context);
  const client = session(t, fixture.port);
  const payload = Buffer.from('01234567');
  const echo = await new Promise((resolve, reject) =>
    client.once('connect', () =>
      client.ping(payload, (error, _duration, bytes) => (error === null ? resolve(bytes) : reject(error))),
    ),
  );
  t.deepEqual(echo, payload);
});

const grpcHeaders = { ':status': '200', 'content-type': 'application/grpc+proto' };
const done = { 'grpc-status': '0', 'x-answered': 'yes' };
/** Echoes the request, except at `/refuse`. */
const echo = (stream: Http2Stream, body: Buffer): void => {
  const path = stream.headers[':path'];
  if (path === '/refuse') {
    stream.respond(exhausted, true);
    return;
  }
  stream.respond(grpcHeaders);
  stream.write(body);
  stream.end(done);
};

const identity = (bytes: Buffer): Buffer => bytes;
interface Ending {
  readonly deadlineMs?: number;
  /** Whether the call should be cancelled now. */
  cancelled?(): boolean;
}
const call = (
  client: Client,
  path: string,
  body: Buffer,
  { deadlineMs = 600_000, cancelled }: Ending = {},
): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const timer = setInterval(() => cancelled?.() && created.cancel(), 5);
    const options = { deadline: Date.now() + deadlineMs };
    const created = client.makeUnaryRequest(
      path,
      identity,
      identity,
      body,
      new Metadata(),
      options,
      (error, response) => {
        clearInterval(timer);
        if (error === null) resolve(response ?? Buffer.alloc(0));
        else reject(error);
      },
    );
  });
const grpc = (t: ExecutionContext, port: number): Client => {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), {
    'grpc.max_receive_message_length': -1,
    'grpc.max_send_message_length': -1,
  });
  t.teardown(() => client.close());
  return client;
};

onEach('gRPC: a unary call, small and large', async (t) => {
  const client = grpc(t, await served(t, echo));
  for (const size of [0, 1, 16_379, 16_380, 70_000, 5_000_000]) {
    const body = Buffer.alloc(size, 'g');
    t.true(body.equals(await call(client, '/echo', body)), `${size} bytes`);
  }
});

onEach('gRPC: a thousand calls at once on one connection', async (t) => {
  const client = grpc(t, await served(t, echo));
  const bodies = Array.from({ length: 1_000 }, (_, index) => Buffer.from(`call ${index} ${'x'.repeat(index)}`));
  t.deepEqual(await Promise.all(bodies.map((body) => call(client, '/echo', body))), bodies);
});

onEach('gRPC: an error without a message is told by its status, and early if it comes early', async (t) => {
  const client = grpc(t, await served(t, echo));
  for (const [path, size] of [
    ['/refuse', 3],
    ['/refuse-early', 3],
    ['/refuse-early', 8_000_000],
    ['/refuse-early', 60_000_000],
  ] as const) {
    const error = await t.throwsAsync<ServiceError>(call(client, path, Buffer.alloc(size)));
    t.is(error.code, 8, error.message);
    t.is(error.details, 'too much!');
    t.deepEqual(await call(client, '/echo', Buffer.from('on')), Buffer.from('on'));
  }
});

onEach('gRPC: a call that is cancelled, and one whose deadline passes, are reset alone', async (t) => {
  await using fixture = await serving({}, t.context);
  const client = grpc(t, fixture.port);
  const cancelled = call(client, '/silent', Buffer.from('x'), { cancelled: () => fixture.calls.length === 1 });
  t.is((await t.throwsAsync<ServiceError>(cancelled)).code, 1);
  t.is((await t.throwsAsync<ServiceError>(call(client, '/silent', Buffer.from('x'), { deadlineMs: 1_000 }))).code, 4);
  while (fixture.calls.some(({ closed }) => closed === 0)) await new Promise((resolve) => setTimeout(resolve, 5));
  t.true(fixture.calls[0]?.stream.isClosed);
  client.close();
  await fixture.empty();
  closedOnce(t, fixture);
});
