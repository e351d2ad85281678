/** Responses are compressed if the client accepts it: texts as a whole, streams chunk by chunk. */
import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createGunzip, gunzipSync } from 'node:zlib';
import test from 'ava';
import Koa, { type Context } from 'koa';
import { compressResponse } from '../../api/kernel/compression.ts';
import { eventually } from '../waiting.ts';

const long = JSON.stringify({ data: Array.from({ length: 500 }, (_, index) => ({ index, text: 'of a series' })) });
const piped = new PassThrough();
const left = new PassThrough();

const responses: Readonly<Record<string, (context: Context) => void>> = {
  '/long': (context) => {
    context.type = 'json';
    context.body = long;
  },
  '/versioned': (context) => {
    context.type = 'json';
    context.set('ETag', '"3"');
    context.body = long;
  },
  '/short': (context) => {
    context.type = 'json';
    context.body = '{}';
  },
  '/image': (context) => {
    context.type = 'image/png';
    context.body = Buffer.alloc(5000);
  },
  '/auth/login': (context) => {
    context.type = 'json';
    context.body = long;
  },
  '/stream': (context) => {
    context.type = 'application/x-ndjson';
    context.body = Readable.from(['{"a":1}\n', '{"a":2}\n']);
  },
  '/pieces': (context) => {
    context.type = 'application/x-ndjson';
    context.body = piped;
  },
  '/left': (context) => {
    context.type = 'application/x-ndjson';
    context.body = left;
  },
};

let server: Server;
test.before(async () => {
  const app = new Koa();
  app.on('error', () => {});
  app.use(async (context) => {
    responses[context.path]?.(context);
    await compressResponse(context);
  });
  server = createServer(app.callback()).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
test.after.always(() => server.close());

const request = (
  path: string,
  headers: Record<string, string> = { 'accept-encoding': 'gzip, deflate, br' },
  method = 'GET',
) =>
  new Promise<IncomingMessage>((resolve, reject) => {
    const { port } = server.address() as AddressInfo;
    get({ port, host: '127.0.0.1', path, headers, method }, resolve).on('error', reject);
  });
const read = async (path: string, headers?: Record<string, string>) => {
  const response = await request(path, headers);
  return { headers: response.headers, body: await buffer(response) };
};

test('a long response is compressed with gzip, and has Content-Length and Vary headers', async (t) => {
  const { headers, body } = await read('/long');
  t.like(headers, { 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
  t.is(headers['content-length'], String(body.length));
  t.true(body.length < long.length / 10);
  t.is(gunzipSync(body).toString(), long);
});

for (const [what, encoding] of [
  ['no encoding', undefined],
  ['another encoding', 'br'],
  ['gzip at a weight of zero', 'gzip;q=0'],
  ['none at all', 'identity'],
] as const)
  test(`a client that accepts ${what} gets the response uncompressed`, async (t) => {
    const { headers, body } = await read('/long', encoding === undefined ? {} : { 'accept-encoding': encoding });
    t.is(headers['content-encoding'], undefined);
    t.like(headers, { vary: 'Accept-Encoding' });
    t.is(body.toString(), long);
  });

test('short responses, images and responses with tokens are not compressed', async (t) => {
  for (const path of ['/short', '/image', '/auth/login'])
    t.is((await read(path)).headers['content-encoding'], undefined, path);
});

test('a response with an ETag is not compressed, and its ETag stays strong, as If-Match requires', async (t) => {
  const { headers } = await read('/versioned');
  t.is(headers['content-encoding'], undefined);
  t.is(headers.etag, '"3"');
});

test('a stream is compressed too', async (t) => {
  const { headers, body } = await read('/stream');
  t.is(headers['content-encoding'], 'gzip');
  t.is(headers['content-length'], undefined);
  t.is(gunzipSync(body).toString(), '{"a":1}\n{"a":2}\n');
});

test('each chunk of a stream arrives before the next chunk is produced', async (t) => {
  piped.write('first\n');
  const response = await request('/pieces');
  const plain = response.pipe(createGunzip());
  const [first] = await once(plain, 'data');
  t.is(String(first), 'first\n');
  piped.end('last\n');
  const [last] = await once(plain, 'data');
  t.is(String(last), 'last\n');
});

test('a stream ends when its client disconnects', async (t) => {
  left.write('first\n');
  const response = await request('/left');
  await once(response, 'data');
  response.destroy();
  await eventually('the end of the stream', () => left.destroyed);
  t.pass();
});

test('the response to HEAD has no body', async (t) => {
  const response = await request('/long', { 'accept-encoding': 'gzip' }, 'HEAD');
  t.is(response.headers['content-encoding'], undefined);
  t.is((await buffer(response)).length, 0);
});
