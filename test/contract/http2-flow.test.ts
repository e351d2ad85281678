/** Flow control in both directions: RFC 9113, sections 5.2, 6.9 and 6.5.2. */
import { once } from 'node:events';
import { connect } from 'node:http2';
import test from 'ava';
import {
  data,
  flag,
  frame,
  opening,
  type Peer,
  request,
  reset,
  setting,
  settings,
  type,
  uint32,
  windowUpdate,
} from './http2-client.ts';
import { closedOnce, conversations, serving, stillServes } from './http2-fixture.ts';

const mebibyte = 1024 * 1024;
const largestWindow = 2 ** 31 - 1;
const window = (bytes: number) => settings([setting.window, bytes]);

const overflow = 'goaway FLOW_CONTROL_ERROR';
conversations([
  {
    title: 'a window of the connection above 2^31-1 ends it',
    send: [windowUpdate(0, largestWindow), windowUpdate(0, largestWindow)],
    answers: overflow,
  },
  {
    title: 'a window of the connection may be 2^31-1',
    send: [windowUpdate(0, largestWindow - 65_535), request(1)],
    answers: 'bytes 1 7',
  },
  {
    title: 'a window of a stream above 2^31-1 ends it',
    send: [opening(1), windowUpdate(1, largestWindow), windowUpdate(1, largestWindow)],
    answers: `reset 1 FLOW_CONTROL_ERROR | ${overflow}`,
  },
  {
    title: 'a window of a stream may be 2^31-1',
    send: [opening(1), windowUpdate(1, largestWindow - 65_535), data(1, '', flag.endStream)],
    answers: 'bytes 1 7',
  },
  {
    title: 'settings that make a window of a stream larger than 2^31-1 end the connection',
    send: [opening(1), windowUpdate(1, largestWindow - 65_535), window(65_536)],
    answers: overflow,
  },
  {
    title: 'the reserved bit of an increment is passed over',
    send: [
      window(0),
      frame(type.windowUpdate, 0, 0, uint32(0x8000_0001)),
      request(1),
      frame(type.windowUpdate, 0, 1, uint32(0x8000_0007)),
    ],
    answers: 'bytes 1 7',
  },
]);

/** The sizes of the DATA frames on a stream, in order. */
const sizes = (peer: Peer, streamId = 1): number[] =>
  peer.frames.flatMap(({ kind, streamId: on, payload }) =>
    kind === type.data && on === streamId ? [payload.length] : [],
  );
const ended = (peer: Peer, streamId = 1): boolean => peer.events.includes(`end ${streamId}`);

for (const bytes of [1, 7])
  test(`a response waits for a window of 0, and continues by ${bytes} at a time`, async (t) => {
    await using fixture = await serving();
    const peer = await fixture.greeted([setting.window, 0]).send(request(1)).settled();
    t.true(peer.events.includes('answer 1 200'));
    t.deepEqual(sizes(peer), []);
    for (let sent = bytes; sent <= 7; sent += bytes) {
      t.false(ended(peer));
      await peer.send(windowUpdate(1, bytes)).settled();
      t.is(peer.bytesOn(1), sent);
    }
    t.true(ended(peer));
    t.is(fixture.calls[0]?.closed, 1);
  });

test('a response waits for a window that the settings make negative', async (t) => {
  await using fixture = await serving();
  const peer = await fixture.greeted([setting.window, 10]).send(request(1, '/bytes/30')).settled();
  t.is(peer.bytesOn(1), 10);
  // 10 - 7 = 3 for new streams; -7 for the one that has used its 10.
  await peer.send(window(3), windowUpdate(1, 7)).settled();
  t.is(peer.bytesOn(1), 10);
  await peer.send(windowUpdate(1, 2)).settled();
  t.is(peer.bytesOn(1), 12);
  await peer.send(window(8)).settled();
  t.is(peer.bytesOn(1), 17);
  await peer.send(request(3, '/bytes/30')).settled();
  t.is(peer.bytesOn(3), 8);
  await peer.send(window(largestWindow - 100)).settled();
  t.is(peer.bytesOn(1), 30);
  t.true(ended(peer) && ended(peer, 3));
});

test('the last of several settings in one frame counts', async (t) => {
  await using fixture = await serving();
  const peer = await fixture.greeted([setting.window, 0]).send(request(1, '/bytes/30')).settled();
  await peer.send(settings([setting.window, 100], [setting.window, 0], [setting.window, 4])).settled();
  t.is(peer.bytesOn(1), 4);
});

test('all streams share the window of the connection, and no stream loses a byte', async (t) => {
  await using fixture = await serving();
  const peer = fixture.greeted([setting.window, largestWindow]);
  await peer.send(request(1, '/bytes/60000'), request(3, '/bytes/60000'), request(5, '/bytes/10')).settled();
  const sent = (): number => peer.bytesOn(1) + peer.bytesOn(3) + peer.bytesOn(5);
  t.is(sent(), 65_535);
  await peer.send(windowUpdate(0, 1)).settled();
  t.is(sent(), 65_536);
  await peer.send(reset(3), windowUpdate(0, 100_000)).settled();
  t.is(peer.bytesOn(1), 60_000);
  t.is(peer.bytesOn(5), 10);
  t.true(peer.bytesOn(3) < 60_000, 'the stream that was reset gets no more');
  t.true(ended(peer) && ended(peer, 5) && !ended(peer, 3));
  closedOnce(t, fixture);
});

test('no frame is longer than the client accepts', async (t) => {
  await using fixture = await serving();
  const peer = fixture.greeted([setting.window, largestWindow]).send(windowUpdate(0, mebibyte));
  await peer.send(request(1, '/bytes/40000')).settled();
  t.is(Math.max(...sizes(peer)), 16_384);
  await peer.send(settings([setting.frameSize, 20_000]), request(3, '/bytes/40000')).settled();
  t.true(Math.max(...sizes(peer, 3)) <= 20_000);
  t.is(peer.bytesOn(3), 40_000);
  await peer.send(settings([setting.frameSize, 16_384]), request(5, '/bytes/40000')).settled();
  t.is(Math.max(...sizes(peer, 5)), 16_384);
});

test('a response without bytes needs no window', async (t) => {
  await using fixture = await serving();
  const peer = await fixture.greeted([setting.window, 0]).send(request(1, '/bytes/0')).settled();
  t.true(ended(peer));
});

test('a call whose response waits is closed once when the client resets it, and when the client disconnects', async (t) => {
  await using fixture = await serving();
  const peer = await fixture.greeted([setting.window, 1]).send(request(1), request(3)).settled();
  t.deepEqual(
    fixture.calls.map(({ closed }) => closed),
    [0, 0],
  );
  await peer.send(reset(1), windowUpdate(1, 100)).settled();
  t.deepEqual(
    fixture.calls.map(({ closed }) => closed),
    [1, 0],
  );
  t.is(peer.bytesOn(1), 1);
  peer.socket.destroy();
  await fixture.empty();
  closedOnce(t, fixture);
});

test('a body as large as the window is accepted, and one byte more is a flow control error', async (t) => {
  await using fixture = await serving({ streamWindowBytes: 100 });
  const allowed = /(reset 3|goaway) FLOW_CONTROL_ERROR/;
  const peer = fixture.greeted();
  await peer.send(opening(1), data(1, 'x'.repeat(100), flag.endStream)).settled();
  t.true(peer.events.includes('answer 1 200'));
  await peer.send(opening(3), data(3, 'x'.repeat(101), flag.endStream)).settled();
  t.regex(peer.events.join(), allowed);
  t.is(fixture.calls[1]?.ended, 0);
  // Padding and its length byte count.
  const other = fixture.greeted().send(opening(3));
  await other
    .send(frame(type.data, flag.padded | flag.endStream, 3, `\x0a${'x'.repeat(90)}${'\0'.repeat(10)}`))
    .settled();
  t.regex(other.events.join(), allowed);
  t.is(fixture.calls[2]?.ended, 0);
  await stillServes(t, fixture);
});

/** Sends a body within the windows of the server, and returns the window that the server returned. */
const sendWithin = async (
  peer: Peer,
  streamId: number,
  bytes: number,
): Promise<{ stream: number; connection: number }> => {
  const input = (on: number): number =>
    peer.frames.reduce(
      (sum, { kind, streamId: id, payload }) =>
        sum + (kind === type.windowUpdate && id === on ? payload.readUInt32BE(0) : 0),
      0,
    );
  let sent = 0;
  const room = (): number => Math.min(4 * mebibyte + input(streamId), 65_535 + input(0)) - sent;
  const part = Buffer.alloc(16_384, 'x');
  while (sent < bytes) {
    const length = Math.min(part.length, bytes - sent, room());
    if (length > 0) {
      sent += length;
      peer.send(data(streamId, part.subarray(0, length), sent === bytes ? flag.endStream : flag.none));
    } else await peer.until('a window was given', () => room() > 0);
  }
  return { stream: input(streamId), connection: input(0) };
};

test('a request of 60 MiB is accepted within the announced windows, and no more window is returned than bytes arrived', async (t) => {
  await using fixture = await serving();
  const peer = await fixture.greeted().send(opening(1)).settled();
  const input = await sendWithin(peer, 1, 60 * mebibyte);
  await peer.untilEvent(`bytes 1 ${`${60 * mebibyte} bytes`.length}`);
  t.is(fixture.calls[0]?.bytes, 60 * mebibyte);
  t.true(input.stream <= 60 * mebibyte);
  t.true(input.connection <= 76 * mebibyte);
});

test('bytes of streams that are already closed are returned to the window of the connection', async (t) => {
  await using fixture = await serving();
  const peer = await fixture.greeted().settled();
  // Each request is answered and reset before its body arrives; together the bodies exceed the connection window.
  for (let stream = 1; stream < 20; stream += 2) {
    await peer.send(opening(stream, '/early')).untilEvent(`reset ${stream} NO_ERROR`);
    await sendWithin(peer, stream, 3 * mebibyte);
  }
  await peer.send(request(21)).untilEvent('answer 21 200');
  t.is(fixture.calls[0]?.bytes, 0);
});

test('another client receives a large response in full, and sends a large request in full', async (t) => {
  await using fixture = await serving();
  const client = connect(`http://127.0.0.1:${fixture.port}`);
  t.teardown(() => client.destroy());
  const sent = 60 * mebibyte;
  const bodyOf = async (path: string, body: Buffer): Promise<Buffer> => {
    const stream = client.request({ ':method': 'POST', ':path': path });
    stream.end(body);
    const parts: Buffer[] = [];
    for await (const part of stream) parts.push(part as Buffer);
    return Buffer.concat(parts);
  };
  const response = await bodyOf(`/bytes/${20 * mebibyte}`, Buffer.alloc(0));
  const echo = await bodyOf('/', Buffer.alloc(sent, 'x'));
  t.is(response.length, 20 * mebibyte);
  t.is(echo.toString(), `${sent} bytes`);
});

test('a peer whose windows fit a large response at once receives it in full', async (t) => {
  await using fixture = await serving();
  const wide = 2 ** 30;
  const client = connect(`http://127.0.0.1:${fixture.port}`, { settings: { initialWindowSize: wide } });
  t.teardown(() => client.destroy());
  await once(client, 'remoteSettings');
  client.setLocalWindowSize(wide);
  // Settings and window arrive before the request.
  await new Promise((resolve) => client.ping(resolve));
  const stream = client.request({ ':method': 'POST', ':path': `/bytes/${8 * mebibyte}` }).end();
  let bytes = 0;
  for await (const part of stream) bytes += (part as Buffer).length;
  t.is(bytes, 8 * mebibyte);
});
