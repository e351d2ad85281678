/** Hostile peers and peers of other protocols: each is disconnected, and others are served meanwhile. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import test from 'ava';
import { defaultOptions } from '../../receivers/http2/options.ts';
import { stretched } from '../waiting.ts';
import {
  block,
  data,
  fieldsTo,
  flag,
  frame,
  opening,
  Peer,
  ping,
  preface,
  request,
  reset,
  setting,
  settings,
  settingsAck,
  type,
  uint32,
  whole,
  windowUpdate,
} from './http2-client.ts';
import { closedOnce, readAllFrom, serving, stillServes } from './http2-fixture.ts';

const calm = 'goaway ENHANCE_YOUR_CALM';
const priority = frame(type.priority, 0, 1, Buffer.concat([uint32(3), Buffer.from([1])]));
const malformed = (streamId: number): Buffer =>
  frame(type.headers, flag.endStream | flag.endHeaders, streamId, block([]));

/** Frames that are sent first, and the cheapest frame to repeat. */
const floods: Readonly<Record<string, readonly [before: Uint8Array, one: (index: number) => Uint8Array]>> = {
  PING: [Buffer.alloc(0), () => ping()],
  'answers to PING': [Buffer.alloc(0), () => frame(type.ping, flag.ack, 0, '8 bytes!')],
  SETTINGS: [Buffer.alloc(0), () => settings()],
  'acknowledgements of SETTINGS': [Buffer.alloc(0), () => settingsAck],
  'SETTINGS that change every window': [opening(1), (index) => settings([setting.window, index % 2])],
  'requests that are reset at once': [
    Buffer.alloc(0),
    (index) => Buffer.concat([opening(1 + 2 * index), reset(1 + 2 * index)]),
  ],
  'RST_STREAM on a stream that is over': [request(1), () => reset(1)],
  'malformed requests': [Buffer.alloc(0), (index) => malformed(1 + 2 * index)],
  'DATA without bytes': [opening(1), () => data(1, '')],
  'DATA that is only padding': [opening(1), () => frame(type.data, flag.padded, 1, '\x00')],
  'DATA without bytes on a stream that nobody wants': [opening(1, '/early'), () => data(1, '')],
  WINDOW_UPDATE: [Buffer.alloc(0), () => windowUpdate(0, 1)],
  'WINDOW_UPDATE on a stream': [opening(1), () => windowUpdate(1, 1)],
  'WINDOW_UPDATE on a stream that is over': [request(1), () => windowUpdate(1, 1)],
  PRIORITY: [Buffer.alloc(0), () => priority],
  GOAWAY: [Buffer.alloc(0), () => frame(type.goaway, 0, 0, uint32(0, 0))],
  'frames of an unknown type': [Buffer.alloc(0), () => frame(0xbe, 0, 0)],
  'CONTINUATION without bytes': [
    frame(type.headers, flag.endStream, 1, block(fieldsTo('/'))),
    () => frame(type.continuation, 0, 1),
  ],
  'CONTINUATION of single bytes': [
    frame(type.headers, flag.endStream, 1),
    (index) => frame(type.continuation, 0, 1, Buffer.from([0x82 + (index & 1)])),
  ],
};

for (const [what, [before, one]] of Object.entries(floods))
  test.serial(`a flood of ${what} closes its connection, and no other`, async (t) => {
    await using fixture = await serving();
    const other = fixture.greeted();
    const peer = fixture.greeted().send(before);
    peer.send(...Array.from({ length: 5_000 }, (_, index) => one(index)));
    await peer.untilEvent(calm);
    await peer.closed();
    await other.send(request(1)).untilEvent('end 1');
    other.socket.destroy();
    await fixture.empty();
    closedOnce(t, fixture);
  });

test('frames of all kinds count towards one flood limit', async (t) => {
  // The allowance is not refilled during the test, however long it takes.
  await using fixture = await serving({
    controlFrameBudget: { ...defaultOptions.controlFrameBudget, perSecond: 0.001 },
  });
  const peer = fixture.greeted();
  const mixed = [ping(), settings(), priority, windowUpdate(0, 1), frame(0xbe, 0, 0)];
  peer.send(...Array.from({ length: 1_500 }, (_, index) => mixed[index % mixed.length] ?? ping()));
  await peer.untilEvent(calm);
  t.true(peer.events.filter((one) => one.startsWith('pong')).length <= 210);
});

test('empty frames within the limit do no harm, and the allowance is refilled over time', async (t) => {
  await using fixture = await serving({ controlFrameBudget: { burst: 100, perSecond: 1_000 } });
  const peer = fixture.greeted().send(...Array.from({ length: 90 }, () => ping()));
  for (let wave = 0; wave < 5; wave++) {
    await peer.send(request(1 + 2 * wave)).untilEvent(`end ${1 + 2 * wave}`);
    await new Promise((resolve) => setTimeout(resolve, 150));
    peer.send(...Array.from({ length: 80 }, () => ping()));
  }
  await peer.settled();
  t.false(peer.events.includes(calm));
});

test('an active client may send PING and WINDOW_UPDATE frames in proportion to its traffic', async (t) => {
  await using fixture = await serving({ controlFrameBudget: { burst: 50, perSecond: 0.001 } });
  const peer = fixture.greeted();
  for (let stream = 1; stream < 2_000; stream += 2) {
    peer.send(request(stream), ping(), windowUpdate(0, 7));
    if (stream % 100 === 1) await peer.untilEvent(`end ${stream}`);
  }
  await peer.untilEvent('end 1999');
  t.false(peer.events.includes(calm));
});

test('a client that reads a large response with small windows may send the WINDOW_UPDATE frames for it', async (t) => {
  await using fixture = await serving({ controlFrameBudget: { burst: 50, perSecond: 0.001 } });
  const peer = fixture.greeted([setting.window, 4_096]).send(request(1, '/bytes/1000000'));
  while (!peer.events.includes('end 1')) {
    const bytes = peer.bytesOn(1);
    peer.send(windowUpdate(0, 4_096), windowUpdate(1, 4_096));
    await peer.until('bytes come', () => peer.bytesOn(1) > bytes);
    await new Promise((resolve) => setImmediate(resolve));
  }
  t.is(peer.bytesOn(1), 1_000_000);
  t.false(peer.events.includes(calm));
});

test('a window that is returned byte by byte is still a flood', async (t) => {
  await using fixture = await serving();
  const peer = fixture.greeted([setting.window, 0]).send(request(1, '/bytes/60000'));
  peer.send(...Array.from({ length: 5_000 }, () => windowUpdate(1, 1)));
  await peer.untilEvent(calm);
  t.true(peer.bytesOn(1) < 2_000);
});

const indexedRequest = block(fieldsTo('/silent'), 0x40);
/** Frames that are sent first, and one of many requests whose responses nobody reads. */
const unreadRequests: Readonly<Record<string, readonly [before: Uint8Array, one: (streamId: number) => Uint8Array]>> = {
  'large answers': [Buffer.alloc(0), (streamId) => request(streamId, '/bytes/60000')],
  // Five times the entry of 4,000 bytes exceeds the header list limit.
  'answers of 431': [
    frame(type.headers, whole, 1, block([...fieldsTo('/'), ['x', 'y'.repeat(3_500)]], 0x40)),
    (streamId) => frame(type.headers, whole, streamId, Buffer.alloc(5, 0xbe)),
  ],
  refusals: [
    frame(type.headers, whole, 1, indexedRequest),
    (streamId) => frame(type.headers, whole, streamId, Buffer.from([0xc1, 0xc0, 0xbf, 0xbe])),
  ],
};
for (const [what, [before, one]] of Object.entries(unreadRequests))
  test.serial(`a peer that requests ${what} and never reads is disconnected before it costs memory`, async (t) => {
    await using fixture = await serving();
    const accepted = once(fixture.http2.server, 'connection');
    const peer = fixture.greeted([setting.window, 2 ** 31 - 1]).send(windowUpdate(0, 2 ** 30), before);
    const socket = (await accepted)[0] as Socket;
    await peer.settled();
    peer.socket.pause();
    const rss = process.memoryUsage().rss;
    for (let streamId = 3; !socket.destroyed && streamId < 8_000_000; streamId += 4_000) {
      peer.send(...Array.from({ length: 2_000 }, (_, index) => one(streamId + 2 * index)));
      while (peer.socket.writableLength > 0 && !socket.destroyed) await new Promise((resolve) => setImmediate(resolve));
    }
    t.true(socket.destroyed);
    t.true(process.memoryUsage().rss - rss < 300 * 1024 * 1024);
    peer.socket.destroy();
    await fixture.empty();
    closedOnce(t, fixture);
    await stillServes(t, fixture);
  });

const cutShort: Readonly<Record<string, readonly (Uint8Array | string)[]>> = {
  nothing: [],
  'half a preface': [preface.slice(0, 12)],
  'a preface without settings': [preface],
  'half of its settings': [preface, settings([setting.push, 0]).subarray(0, 11)],
  'half the head of a frame': [preface, settings(), ping().subarray(0, 5)],
  'half a frame': [preface, settings(), ping().subarray(0, 15)],
  'half of HEADERS': [preface, settings(), request(1).subarray(0, 30)],
  'half a header block': [preface, settings(), frame(type.headers, flag.endStream, 1, block(fieldsTo('/')))],
  'half of padded DATA': [
    preface,
    settings(),
    opening(1),
    frame(type.data, flag.padded, 1, '\x03abc\0\0\0').subarray(0, 12),
  ],
};
for (const [what, sent] of Object.entries(cutShort))
  test(`a peer that sends ${what} and then stops is disconnected in time`, async (t) => {
    await using fixture = await serving({ receiveTimeoutMs: stretched(2_000) });
    const idle = await fixture.greeted().settled();
    const peer = new Peer(fixture.port).send(...sent);
    await peer.closed();
    t.false(idle.isClosed, 'a connection on which nothing has begun may stay');
    await idle.send(request(1)).untilEvent('end 1');
    closedOnce(t, fixture);
  });

test('a peer that sends a frame byte by byte is disconnected in time', async (t) => {
  await using fixture = await serving({ receiveTimeoutMs: 1_000 });
  const peer = await fixture.greeted().settled();
  const slow = request(1, `/${'x'.repeat(1_000)}`);
  let at = 0;
  const timer = setInterval(() => peer.send(slow.subarray(at, ++at)), 20);
  t.teardown(() => clearInterval(timer));
  await peer.closed();
  t.is(fixture.calls.length, 0);
});

test('a peer whose bytes always end within a frame is not disconnected while its frames continue', async (t) => {
  const receiveTimeoutMs = stretched(2_000);
  await using fixture = await serving({ receiveTimeoutMs });
  const peer = await fixture.greeted().settled();
  const frames = Buffer.concat(Array.from({ length: 20 }, (_, index) => request(1 + 2 * index)));
  const step = frames.length / 20;
  let sent = 0;
  for (let index = 0; index < 20; index++) {
    const end = (index + 0.5) * step;
    peer.send(frames.subarray(sent, end));
    sent = Math.floor(end);
    await new Promise((resolve) => setTimeout(resolve, receiveTimeoutMs / 10));
  }
  await peer.send(frames.subarray(sent)).untilEvent('end 39');
  t.is(fixture.calls.length, 20);
});

for (const text of [
  'GET / HTTP/1.1\r\nhost: test\r\n\r\n',
  'POST /v1/logs HTTP/1.1\r\nhost: test\r\ncontent-length: 2\r\n\r\n{}',
  'PUT /v1/logs HTTP/1.0\r\n\r\n',
  'OPTIONS * HTTP/1.1\r\nhost: test\r\n\r\n',
  'GET http://test/ HTTP/1.1\r\nhost: test\r\n\r\n',
  'PRI / HTTP/1.1\r\nhost: test\r\n\r\n',
])
  test(`${text.split('\r')[0]} gets a response in its own protocol that it uses the wrong port`, async (t) => {
    await using fixture = await serving();
    const response = (await readAllFrom(fixture.port, text)).toString();
    t.regex(response, /^HTTP\/1\.1 400 .+\r\n/);
    t.regex(response, /gRPC over HTTP\/2/);
    t.is(fixture.calls.length, 0);
  });

const foreign: Readonly<Record<string, Uint8Array | string>> = {
  'the hello of TLS': Buffer.concat([Buffer.from('16030100f8010000f40303', 'hex'), randomBytes(240)]),
  'random bytes': randomBytes(1_000),
  'zero bytes': Buffer.alloc(1_000),
  'a frame without a preface': Buffer.concat([settings(), ping()]),
  'a line of text': 'hello?\r\n',
  'a preface that is none': 'INVALID CONNECTION PREFACE\r\n\r\n',
  'one byte': 'X',
};
for (const [what, bytes] of Object.entries(foreign))
  test(`${what}: the connection is closed, and no handler is called`, async (t) => {
    await using fixture = await serving();
    const response = await readAllFrom(fixture.port, bytes);
    t.notRegex(response.toString(), /HTTP/);
    await fixture.empty();
    t.is(fixture.calls.length, 0);
    await stillServes(t, fixture);
  });
