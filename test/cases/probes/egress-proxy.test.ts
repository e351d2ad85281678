/** The proxy of a browser applies the egress policy to all its traffic. */
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { WebSocketServer } from 'ws';
import { EgressProxy } from '../../../probes/browser/egress-proxy.ts';
import { Deadline } from '../../../probes/deadline.ts';
import { RateLimiter } from '../../../probes/pace.ts';
import { resolveTarget } from '../../../probes/reach.ts';
import { createEgressPolicy } from '../../../runtime/egress-policy.ts';
import { resolving, serveHttp } from './targets.ts';

const names = {
  'shop.example': [['127.0.0.1']],
  'inner.example': [['10.0.0.1']],
  'mixed.example': [['127.0.0.1', '10.0.0.1']],
  // The connection uses the checked address, even if the name resolves differently a moment later.
  'rebinding.example': [['127.0.0.1'], ['10.0.0.1']],
};

const openProxy = async (
  t: ExecutionContext,
  { allowed = ['127.0.0.1/32'], max }: { readonly allowed?: readonly string[]; readonly max?: number } = {},
): Promise<EgressProxy> => {
  const egressPolicy = createEgressPolicy({
    allowedNetworks: allowed,
    setting: 'OIQ_PROBE_NETWORKS',
    resolve: resolving(names),
  });
  const deadline = new Deadline(60_000, new AbortController().signal);
  const pace = new RateLimiter();
  const attempt = {
    resolveAddress: (host: string, clock: never) => resolveTarget(host, { egressPolicy, pace, deadline, clock }),
  };
  const proxy = await EgressProxy.open({ ...attempt, signal: deadline.signal }, max);
  t.teardown(() => {
    deadline.end();
    proxy.close();
  });
  return proxy;
};

test('services of the browser itself are refused before a lookup', async (t) => {
  const proxy = await EgressProxy.open({
    signal: new AbortController().signal,
    resolveAddress: () => Promise.reject(t.fail('it is looked up')),
  });
  t.teardown(() => proxy.close());
  const socket = connect(proxy.port, '127.0.0.1');
  socket.write('CONNECT content-autofill.googleapis.com:443 HTTP/1.1\r\nhost: x\r\n\r\n');
  const [answer] = (await once(socket, 'data')) as [Buffer];
  t.regex(String(answer), /^HTTP\/1\.1 502 /);
});

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** Sends a request as a browser does to its proxy. Without a response, the status is 0. */
const sendRequest = ({ port }: EgressProxy, path: string, headers: Record<string, string> = {}): Promise<Answer> =>
  new Promise((resolve) => {
    const none = (): void => resolve({ status: 0, body: '' });
    const clientRequest = request({ host: '127.0.0.1', port, path, headers, agent: false }, (response) => {
      let body = '';
      response.on('data', (chunk) => {
        body += String(chunk);
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
      response.on('error', none);
    });
    clientRequest.on('error', none).end();
  });

/** Sends a text; resolves when the connection is closed. */
const sent = ({ port }: EgressProxy, text: string): Promise<void> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    socket
      .on('error', () => undefined)
      .on('close', () => resolve())
      .resume();
  });

/** The status of `CONNECT`, and the response to the text sent through the tunnel. */
const tunnel = (
  { port }: EgressProxy,
  place: string,
  sent = '',
  onBody: (body: string) => void = () => undefined,
): Promise<Answer> =>
  new Promise((resolve) => {
    const clientRequest = request({ host: '127.0.0.1', port, method: 'CONNECT', path: place, agent: false });
    clientRequest.on('connect', ({ statusCode: status = 0 }, socket) => {
      if (sent === '' || status !== 200) {
        socket.destroy();
        return resolve({ status, body: '' });
      }
      let body = '';
      socket.on('data', (chunk) => {
        body += String(chunk);
        onBody(body);
      });
      socket.on('close', () => resolve({ status, body }));
      socket.on('error', () => undefined);
      socket.write(sent);
    });
    clientRequest.on('error', () => resolve({ status: 0, body: '' })).end();
  });

test('requests to allowed targets are forwarded, without connection headers', async (t) => {
  const port = await serveHttp(t, ({ url, headers }, response) => {
    response.writeHead(201, { 'set-cookie': ['a=1', 'b=2'] }).end(JSON.stringify({ url, headers }));
  });
  const proxy = await openProxy(t);
  const { status, body } = await sendRequest(proxy, `http://shop.example:${port}/a?b=c`, {
    host: `shop.example:${port}`,
    'proxy-connection': 'keep-alive',
    'x-own': 'kept',
  });
  t.is(status, 201);
  const seen = JSON.parse(body) as { url: string; headers: Record<string, string> };
  t.is(seen.url, '/a?b=c');
  t.is(seen.headers['host'], `shop.example:${port}`);
  t.is(seen.headers['x-own'], 'kept');
  t.is(seen.headers['proxy-connection'], undefined);
  const through = `GET / HTTP/1.1\r\nhost: shop.example\r\nconnection: close\r\n\r\n`;
  t.regex((await tunnel(proxy, `shop.example:${port}`, through)).body, /^HTTP\/1\.1 201 /);
  t.regex((await tunnel(proxy, `rebinding.example:${port}`, through)).body, /^HTTP\/1\.1 201 /);
  t.is(proxy.getFailure(`http://shop.example:${port}/`), undefined);
});

test('forbidden targets are not reached, by a request or through a tunnel', async (t) => {
  let came = 0;
  const port = await serveHttp(t, (_, response) => {
    came++;
    response.end();
  });
  const proxy = await openProxy(t, { allowed: ['192.168.0.0/16', '169.254.0.0/16'] });
  const hosts = [
    ...['127.0.0.1', 'shop.example', 'inner.example', 'mixed.example', '[::1]', '0.0.0.0', '10.0.0.1'],
    ...['169.254.169.254', '[fd00:ec2::254]', '[::ffff:127.0.0.1]', '2130706433', '0x7f.1', '127.1'],
  ];
  for (const host of hosts) {
    t.is((await sendRequest(proxy, `http://${host}:${port}/`)).status, 0, host);
    t.is((await tunnel(proxy, `${host}:${port}`)).status, 502, host);
    const failure = proxy.getFailure(`https://${host}:${port}/x`);
    t.is(failure?.outcome, 'unknown', host);
    t.regex(failure?.message ?? '', /private network that OIQ_PROBE_NETWORKS does not allow/);
  }
  t.is(came, 0);
});

test('only proxy requests get a response', async (t) => {
  const proxy = await openProxy(t);
  for (const path of ['/', 'https://shop.example/', 'ftp://shop.example/', 'file:///etc/passwd'])
    t.is((await sendRequest(proxy, path)).status, 400, path);
  for (const place of ['shop.example:99999', ':80', 'shop.example:', '[::1'])
    t.not((await tunnel(proxy, place)).status, 200, place);
  // The proxy survives a connection that is not HTTP.
  const socket = connect(proxy.port, '127.0.0.1');
  socket.end('\x16\x03\x01 no request\r\n\r\n').resume();
  await once(socket, 'close');
  t.is((await sendRequest(proxy, '/')).status, 400);
});

test('the reason for a failed connection is reported in plain language', async (t) => {
  const proxy = await openProxy(t);
  const port = await serveHttp(t, (_, response) => response.end());
  await tunnel(proxy, 'none.example:443');
  t.regex(proxy.getFailure('https://none.example/a')?.message ?? '', /none\.example:443 is not a known name/);
  await tunnel(proxy, `127.0.0.1:1`);
  t.regex(proxy.getFailure('http://127.0.0.1:1/')?.message ?? '', /refused the connection/);
  t.is(proxy.getFailure('http://127.0.0.1:1/')?.outcome, 'failed');
  t.is(proxy.getFailure(`http://127.0.0.1:${port}/`), undefined);
});

test('a run receives no more than its limit, and nothing after the proxy is closed', async (t) => {
  const port = await serveHttp(t, (_, response) => response.end('x'.repeat(100_000)));
  const proxy = await openProxy(t, { max: 150_000 });
  const url = `http://127.0.0.1:${port}/`;
  t.is((await sendRequest(proxy, url)).body.length, 100_000);
  t.false(proxy.isFull);
  t.true((await sendRequest(proxy, url)).body.length < 100_000);
  t.true(proxy.isFull);
  t.is((await sendRequest(proxy, url)).status, 0);
  const other = await openProxy(t);
  const sockets = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  t.teardown(() => sockets.close());
  await once(sockets, 'listening');
  const { port: socketPort } = sockets.address() as { port: number };
  const handshake =
    'GET / HTTP/1.1\r\nhost: a\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';
  sockets.on('connection', (socket) => socket.send('from the socket'));
  const closing = (body: string): void => {
    if (body.includes('from the socket')) other.close();
  };
  t.regex((await tunnel(other, `127.0.0.1:${socketPort}`, handshake, closing)).body, /101 Switching Protocols/);
  t.is((await sendRequest(other, url)).status, 0);
});

test('sent data of a run is counted like received data, in requests and in tunnels', async (t) => {
  let came = 0;
  const port = await serveHttp(t, (request, response) => {
    request.on('data', (chunk) => (came += chunk.length)).once('end', () => response.end());
  });
  const rawRequest = `POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 4000000\r\n\r\n`;
  const plain = await openProxy(t, { max: 100_000 });
  await sent(plain, rawRequest.replace(' /', ` http://127.0.0.1:${port}/`) + 'x'.repeat(4_000_000));
  t.true(plain.isFull);
  const tunnelled = await openProxy(t, { max: 100_000 });
  await tunnel(tunnelled, `127.0.0.1:${port}`, rawRequest + 'x'.repeat(4_000_000));
  t.true(tunnelled.isFull);
  t.true(came < 4_000_000, `${came} bytes of two times as many`);
});
