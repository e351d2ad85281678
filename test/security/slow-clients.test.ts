/** Clients that send slowly, too much or nothing are disconnected in time, and others are served meanwhile. */
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { type OiqProcess, signIn, startOiq } from '../end-to-end/oiq-process.ts';
import { stretched } from '../waiting.ts';

const directory = mkdtempSync(join(tmpdir(), 'oiq-slow-'));
let oiq: OiqProcess;
let token: string;
test.before(async () => {
  // The many clients of these tests share one address.
  const environment = { OIQ_API_ANONYMOUS_REQUESTS_PER_SECOND: '10000' };
  oiq = await startOiq({ dataDirectory: directory, environment });
  token = await signIn(oiq.http);
});
test.after.always(async () => {
  await oiq?.stop();
  rmSync(directory, { recursive: true, force: true });
});

interface Client {
  readonly socket: Socket;
  received(): string;
  /** Resolves when the server has closed the connection. */
  readonly closed: Promise<unknown>;
}

const client = (t: ExecutionContext, text: string): Client => {
  const { hostname, port } = new URL(oiq.http);
  const socket = connect(Number(port), hostname);
  let received = '';
  socket.setEncoding('utf8').on('data', (part: string) => (received += part));
  socket.on('error', () => undefined);
  socket.write(text);
  t.teardown(() => socket.destroy());
  return { socket, received: () => received, closed: new Promise((resolve) => socket.once('close', resolve)) };
};

/** Sends a byte every second until the server closes. */
const trickle = ({ socket }: Client, byte: string): void => {
  const timer = setInterval(() => socket.write(byte), 1_000);
  socket.once('close', () => clearInterval(timer));
};

const request = (headers: string): string => `POST /auth/login HTTP/1.1\r\nhost: x\r\n${headers}`;
const manyAtOnce = 100;

/** Requests an operation that checks permissions, and health; both must respond soon. */
const othersAreAnswered = async (t: ExecutionContext): Promise<void> => {
  const headers = { authorization: `Bearer ${token}` };
  for (const path of ['/healthz', '/auth/session']) {
    const response = await fetch(`${oiq.http}${path}`, { headers, signal: AbortSignal.timeout(stretched(5_000)) });
    t.is(response.status, 200, path);
    await response.arrayBuffer();
  }
};

test('slowly sent headers are cut off, and others are served meanwhile', async (t) => {
  const clients = Array.from({ length: manyAtOnce }, () => client(t, request('x-slow: ')));
  for (const one of clients) trickle(one, 'x');
  await othersAreAnswered(t);
  await Promise.all(clients.map(({ closed }) => closed));
  await othersAreAnswered(t);
  t.regex(clients[0]?.received() ?? '', /^(HTTP\/1\.1 408 |$)/);
});

test('a slowly sent body is refused and its connection closed', async (t) => {
  const start = request('content-type: application/json\r\ncontent-length: 1000\r\n\r\n{');
  const clients = Array.from({ length: manyAtOnce }, () => client(t, start));
  for (const one of clients) trickle(one, ' ');
  await othersAreAnswered(t);
  await Promise.all(clients.map(({ closed }) => closed));
  await othersAreAnswered(t);
  for (const { received } of clients) {
    t.true(received().startsWith('HTTP/1.1 400 '), received());
    t.true(received().includes('did not arrive within'), received());
  }
});

test('idle connections are closed, and block nobody', async (t) => {
  const clients = Array.from({ length: manyAtOnce }, () => client(t, ''));
  await othersAreAnswered(t);
  await Promise.all(clients.map(({ closed }) => closed));
  t.pass();
});

const mebibyte = 1024 * 1024;
const tooMuch: Readonly<Record<string, readonly [headers: string, body: string, status: number]>> = {
  'a length beyond the cap': [`content-length: ${100 * mebibyte}`, '{', 413],
  'chunks beyond the cap': [
    'transfer-encoding: chunked',
    `${mebibyte.toString(16)}\r\n${' '.repeat(mebibyte)}\r\n${mebibyte.toString(16)}\r\n${' '.repeat(mebibyte)}\r\n0\r\n\r\n`,
    413,
  ],
  'brackets 10,000 deep': ['content-length: 10000', '['.repeat(10_000), 400],
  'objects 2,000 deep': [`content-length: ${2000 * 5 + 1 + 2000}`, `${'{"a":'.repeat(2000)}1${'}'.repeat(2000)}`, 400],
  'an array of 7,000 numbers in too small a body': ['content-length: 14001', `[${'1,'.repeat(6999)}1]`, 400],
  'both a length and chunks': [
    'content-length: 5\r\ntransfer-encoding: chunked',
    '0\r\n\r\nGET /smuggled HTTP/1.1\r\nhost: x\r\n\r\n',
    400,
  ],
  'two lengths': ['content-length: 2\r\ncontent-length: 3', '{}', 400],
  'a header of 80 kB': [`x-long: ${'x'.repeat(80_000)}\r\ncontent-length: 2`, '{}', 431],
};

for (const [title, [headers, body, status]] of Object.entries(tooMuch))
  test(`${title} gets the status ${status}`, async (t) => {
    const { closed, received } = client(
      t,
      request(`content-type: application/json\r\nconnection: close\r\n${headers}\r\n\r\n${body}`),
    );
    await closed;
    t.is(received().match(/^HTTP\/1\.1 (\d+)/)?.[1], String(status), received().slice(0, 300));
    t.is(received().split('HTTP/1.1 ').length, 2, 'one answer');
    await othersAreAnswered(t);
  });

test('on the main address a request with two hosts is refused, and an absolute-form target is reduced to its path', async (t) => {
  const sendHead = async (head: string): Promise<string> => {
    const { closed, received } = client(t, `${head}\r\nconnection: close\r\n\r\n`);
    await closed;
    return received().slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length);
  };
  t.is(await sendHead('GET /healthz HTTP/1.1\r\nhost: x'), '200');
  t.is(await sendHead('GET /healthz HTTP/1.1\r\nhost: x\r\nhost: x'), '400');
  t.is(await sendHead('GET http://elsewhere/healthz HTTP/1.1\r\nhost: x'), '200');
});
