/** WebSocket checks against real local servers. */
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { type WebSocket, WebSocketServer } from 'ws';
import { run, serveHttp, serveSocket, soon } from './targets.ts';

const serve = async (
  t: ExecutionContext,
  onSocket: (socket: WebSocket, request: IncomingMessage) => void,
): Promise<number> => {
  const server = new WebSocketServer({
    host: '127.0.0.1',
    port: 0,
    handleProtocols: (offered) => (offered.has('v2') ? 'v2' : false),
  });
  server.on('connection', (socket, request) => {
    socket.on('error', () => undefined);
    onSocket(socket, request);
  });
  await new Promise<void>((ready) => server.once('listening', ready));
  t.teardown(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });
  return (server.address() as AddressInfo).port;
};

const websocket = (settings: object, more: object = {}, around = {}) =>
  run({ type: 'websocket', websocket: settings, ...more }, around);

const body = (value: string) => [{ source: 'body', operator: 'is', value }];

test('a WebSocket check sends data, and reads messages until one passes', async (t) => {
  const port = await serve(t, (socket) => {
    socket.send('{"hello":true}');
    socket.on('message', (message) => {
      socket.send('{"noise":1}');
      socket.send(JSON.stringify({ echo: String(message) }));
    });
  });
  const url = `ws://127.0.0.1:${port}/live`;
  const open = await websocket({ url });
  t.is(open.outcome, 'passed', open.message);
  t.is((await websocket({ url, assertions: body('{"hello":true}') })).outcome, 'passed');
  const echo = [{ source: 'json', name: '$.echo', operator: 'is', value: 'ping' }];
  const response = await websocket({ url, send: 'ping', assertions: echo });
  t.is(response.outcome, 'passed', response.message);
  t.deepEqual(Object.keys(response.phases), ['lookup', 'connect', 'send', 'wait', 'receive']);
  const sum = Object.values(response.phases).reduce((whole, ms) => whole + ms, 0);
  t.true(Math.abs(sum - response.durationMs) < 0.01);
  const silent = await websocket({ url, assertions: body('never') }, { timeout: soon(300) });
  t.is(silent.outcome, 'failed');
  t.regex(silent.message, /took too long \(receive\)/);
});

test('the last message of a closed WebSocket is evaluated, together with the subprotocol', async (t) => {
  const port = await serve(t, (socket) => {
    socket.send('busy');
    socket.close();
  });
  const url = `ws://127.0.0.1:${port}/`;
  const { outcome, message } = await websocket({ url, assertions: body('ready') });
  t.is(outcome, 'failed');
  t.regex(message, /body is busy, expected: is ready/);
  const chosen = [{ source: 'protocol', operator: 'is', value: 'v2' }];
  t.is((await websocket({ url, protocols: ['v1', 'v2'], assertions: chosen })).outcome, 'passed');
  t.is((await websocket({ url, protocols: ['v1'], assertions: chosen })).outcome, 'failed');
});

test('handshakes have a user agent, and send secrets only to hosts to which they are bound', async (t) => {
  const requests: IncomingMessage[] = [];
  const port = await serve(t, (_, request) => requests.push(request));
  const settings = { url: `ws://shop.example:${port}/`, headers: { authorization: 'Bearer {{variables.token}}' } };
  const names = { 'shop.example': [['127.0.0.1']] };
  const bound = (host: string) => ({ names, variables: { token: { value: 's3cret-t0ken', hosts: [host] } } });
  const seen = await websocket(settings, {}, bound('shop.example'));
  t.is(seen.outcome, 'passed', seen.message);
  const { headers } = requests[0] as IncomingMessage;
  t.is(headers.authorization, 'Bearer s3cret-t0ken');
  t.is(headers['user-agent'], 'oiq-probe');
  t.is(headers['x-oiq-location'], 'here');
  t.true(headers['traceparent']?.toString().includes(seen.traceId));
  const refused = await websocket(settings, {}, bound('other.example'));
  t.is(refused.outcome, 'failed');
  t.regex(refused.message, /not bound to/);
  t.is(requests.length, 1);
});

test('a target that refuses, hangs or speaks no WebSocket fails, and private networks are not reached', async (t) => {
  const web = await serveHttp(t, (_, response) => response.writeHead(403).end('no'));
  const forbidden = await websocket({ url: `ws://127.0.0.1:${web}/` });
  t.is(forbidden.outcome, 'failed');
  t.regex(forbidden.message, /answered 403 instead of opening a WebSocket/);
  const silent = await serveSocket(t, () => undefined);
  const hanging = await websocket({ url: `ws://127.0.0.1:${silent}/` }, { timeout: soon(300) });
  t.regex(hanging.message, /took too long \(wait\)/);
  t.regex((await websocket({ url: 'ws://127.0.0.3:9/' })).message, /refused the connection/);
  const redirecting = await serveHttp(t, (_, response) =>
    response.writeHead(302, { location: 'ws://10.0.0.1/' }).end(),
  );
  t.regex((await websocket({ url: `ws://127.0.0.1:${redirecting}/` })).message, /answered 302/);
  const port = await serve(t, () => undefined);
  const none = { allowed: [], names: { 'inner.example': [['10.0.0.1']] } };
  for (const host of ['127.0.0.1', '[::ffff:127.0.0.1]', 'inner.example', '2130706433'])
    t.is((await websocket({ url: `ws://${host}:${port}/` }, {}, none)).outcome, 'unknown', host);
  const names = { 'shop.example': [['127.0.0.1'], ['10.0.0.1']] };
  t.is((await websocket({ url: `ws://shop.example:${port}/` }, {}, { names })).outcome, 'passed');
});
