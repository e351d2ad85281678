/** States, identifiers, limits and priorities of streams: RFC 9113, section 5. */
import test from 'ava';
import {
  block,
  data,
  fieldsTo,
  flag,
  frame,
  opening,
  type Peer,
  request,
  reset,
  type,
  uint32,
  whole,
  windowUpdate,
} from './http2-client.ts';
import { closedOnce, conversations, serving, stillServes } from './http2-fixture.ts';

const protocolError = 'goaway PROTOCOL_ERROR';
const fields = block(fieldsTo('/'));
const continuation = (streamId: number): Buffer => frame(type.continuation, flag.endHeaders, streamId, fields);
const priority = (streamId: number, dependsOn: number): Buffer =>
  frame(type.priority, flag.none, streamId, Buffer.concat([uint32(dependsOn), Buffer.from([1])]));
const trailers = (streamId: number): Buffer => frame(type.headers, whole, streamId, block([['x-sum', '1']]));

/** A stream error, or a connection error instead, which an endpoint may choose. */
const streamClosed = (streamId: number): string => `reset ${streamId} STREAM_CLOSED | goaway STREAM_CLOSED`;

conversations([
  // 5.1, idle
  { title: 'DATA on an idle stream ends the connection', send: [data(1, 'x', flag.endStream)], answers: protocolError },
  { title: 'RST_STREAM on an idle stream ends the connection', send: [reset(1)], answers: protocolError },
  { title: 'WINDOW_UPDATE on an idle stream ends the connection', send: [windowUpdate(1, 9)], answers: protocolError },
  { title: 'CONTINUATION on an idle stream ends the connection', send: [continuation(1)], answers: protocolError },
  {
    title: 'PRIORITY on an idle stream is passed over',
    send: [priority(1, 0), priority(7, 1), request(1)],
    answers: 'answer 1 200',
  },
  {
    title: 'frames on an idle stream above the open one end the connection',
    send: [opening(1), data(3, 'x')],
    answers: protocolError,
  },
  // 5.1, half-closed (remote)
  {
    title: 'DATA behind the end of the request are an error of the stream',
    send: [request(1, '/silent'), data(1, 'x')],
    answers: streamClosed(1),
  },
  {
    title: 'HEADERS behind the end of the request are an error of the stream',
    send: [request(1, '/silent'), trailers(1)],
    answers: streamClosed(1),
  },
  {
    title: 'CONTINUATION behind the end of the request is an error',
    send: [request(1, '/silent'), continuation(1)],
    answers: `${streamClosed(1)} | ${protocolError}`,
  },
  {
    title: 'WINDOW_UPDATE, PRIORITY and RST_STREAM behind the end of the request are taken',
    send: [request(1, '/silent'), windowUpdate(1, 9), priority(1, 0), reset(1), request(3)],
    answers: 'answer 3 200',
  },
  // 5.1, closed by the client's RST_STREAM
  {
    title: 'DATA behind a RST_STREAM of their sender are an error',
    send: [opening(1, '/silent'), reset(1), data(1, 'x')],
    answers: streamClosed(1),
  },
  {
    title: 'HEADERS behind a RST_STREAM of their sender are an error',
    send: [opening(1, '/silent'), reset(1), trailers(1)],
    answers: streamClosed(1),
  },
  {
    title: 'CONTINUATION behind a RST_STREAM is an error',
    send: [opening(1, '/silent'), reset(1), continuation(1)],
    answers: `${streamClosed(1)} | ${protocolError}`,
  },
  {
    title: 'what may cross a RST_STREAM on its way is taken',
    send: [opening(1, '/silent'), reset(1), windowUpdate(1, 9), priority(1, 3), reset(1), request(3)],
    answers: 'answer 3 200',
  },
  // 5.1, closed by both ends
  ...[
    { what: 'DATA', sent: data(1, 'x') },
    { what: 'HEADERS', sent: trailers(1) },
    { what: 'a second request', sent: request(1) },
  ].map(({ what, sent }) => ({
    title: `${what} on a stream that was answered is an error`,
    send: [request(1), sent],
    answers: streamClosed(1),
  })),
  {
    title: 'CONTINUATION on a stream that was answered ends the connection',
    send: [request(1), continuation(1)],
    answers: `goaway STREAM_CLOSED | ${protocolError}`,
  },
  {
    title: 'WINDOW_UPDATE, PRIORITY and RST_STREAM on a stream that was answered are taken',
    send: [request(1), windowUpdate(1, 9), priority(1, 0), reset(1), request(3)],
    answers: 'answer 3 200',
  },
  // 5.1, closed by our RST_STREAM: frames of the peer may still arrive
  {
    title: 'the rest of a body that is not wanted any more is dropped',
    send: [opening(1, '/early'), data(1, 'one'), data(1, 'two', flag.endStream), request(3)],
    answers: 'answer 3 200',
    never: /STREAM_CLOSED/,
  },
  {
    title: 'trailers of a body that is not wanted any more are dropped, and decoded all the same',
    send: [
      opening(1, '/early'),
      // Incremental: the request that follows uses the table entries that these frames add.
      frame(type.headers, whole, 1, block([[':path', '/']], 0x40)),
      frame(type.headers, whole, 3, Buffer.concat([block([...fieldsTo('/').slice(0, 2)]), Buffer.from([0xbe])])),
    ],
    answers: 'answer 3 200',
  },
  // 5.1.1
  { title: 'a stream with an even number ends the connection', send: [request(2)], answers: protocolError },
  {
    title: 'a stream with a number below the last ends the connection',
    send: [request(5), request(3)],
    answers: `${protocolError} | goaway STREAM_CLOSED`,
  },
  {
    title: 'numbers of streams may be left out',
    send: [request(1), request(77), request(0x7fff_ffff)],
    answers: 'answer 2147483647 200',
  },
  // 5.3.1 of RFC 7540, for clients that still send priorities
  {
    title: 'HEADERS whose stream depends on itself are an error',
    send: [frame(type.headers, whole | flag.priority, 1, Buffer.concat([uint32(1), Buffer.from([9]), fields]))],
    answers: `reset 1 PROTOCOL_ERROR | ${protocolError} | answer 1 200`,
  },
  {
    title: 'PRIORITY of a stream that depends on itself is an error, or passed over',
    send: [opening(1, '/silent'), priority(1, 1)],
    answers: `reset 1 PROTOCOL_ERROR | ${protocolError} | settings taken`,
  },
]);

const openStreams = (peer: Peer, count: number, from = 1): void => {
  peer.send(...Array.from({ length: count }, (_, index) => request(from + 2 * index, '/silent')));
};

test('the stream above the limit is refused, the others are not, and one more is accepted when one has ended', async (t) => {
  await using fixture = await serving();
  const peer = fixture.greeted();
  openStreams(peer, 257);
  await peer.settled();
  t.deepEqual(
    peer.events.filter((one) => one.startsWith('reset')),
    ['reset 513 REFUSED_STREAM'],
  );
  t.is(fixture.calls.length, 256);
  peer.send(reset(1), request(515));
  await peer.untilEvent('answer 515 200');
  openStreams(peer, 2, 517);
  await peer.settled();
  t.is(
    peer.events.filter((one) => one.endsWith('REFUSED_STREAM')).length,
    2,
    'one place was free, and one more is not',
  );
  peer.socket.destroy();
  await fixture.empty();
  closedOnce(t, fixture);
  await stillServes(t, fixture);
});

test('the headers of a refused stream are decoded, so that later headers can be decoded', async (t) => {
  await using fixture = await serving({ maxConcurrentStreams: 1 });
  const peer = fixture.greeted().send(request(1, '/silent'));
  peer.send(frame(type.headers, whole, 3, block(fieldsTo('/'), 0x40)));
  peer.send(reset(1), frame(type.headers, whole, 5, Buffer.from([0xbe, 0xc1, 0xc0, 0xbf])));
  await peer.untilEvent('end 5');
  t.true(peer.events.includes('reset 3 REFUSED_STREAM'));
  // The four fields, newest first, and pseudo-headers in any order.
  t.like(fixture.calls[1]?.stream.headers, {
    ':authority': 'test',
    ':method': 'POST',
    ':scheme': 'http',
    ':path': '/',
  });
});

test('a handler receives the headers of its request and the state of its stream', async (t) => {
  await using fixture = await serving();
  const peer = fixture.greeted().send(
    opening(1, '/silent', [
      ['x-many', 'one'],
      ['te', 'trailers'],
      ['x-many', 'two'],
      ['x-empty', ''],
    ]),
  );
  await peer.settled();
  const [call] = fixture.calls;
  t.deepEqual(
    { ...call?.stream.headers },
    {
      ':method': 'POST',
      ':scheme': 'http',
      ':path': '/silent',
      ':authority': 'test',
      'x-many': 'one, two',
      te: 'trailers',
      'x-empty': '',
    },
  );
  t.is(call?.stream.peer, '127.0.0.1');
  t.false(call?.stream.isClosed);
  t.false(call?.stream.hasResponded);
  peer.send(reset(1));
  await peer.settled();
  t.true(call?.stream.isClosed);
  t.is(call?.closed, 1);
  // Late data is not sent, and nothing throws.
  call?.stream.respond({ ':status': '200' });
  call?.stream.write(Buffer.from('late'));
  call?.stream.end({ 'grpc-status': '0' });
  call?.stream.reset(2);
  await peer.settled();
  t.deepEqual(
    peer.events.filter((one) => /^(answer|bytes|end|reset|trailers)/.test(one)),
    [],
  );
});

for (const path of ['/early', '/only-headers'])
  test(`a response to ${path} before the end of its request is followed by RST_STREAM(NO_ERROR)`, async (t) => {
    await using fixture = await serving();
    const peer = fixture.greeted().send(opening(1, path));
    await peer.settled();
    const streamEvents = peer.events.filter((one) => / 1( |$)/.test(one));
    t.is(streamEvents[0], 'answer 1 200');
    t.deepEqual(streamEvents.slice(-2), ['end 1', 'reset 1 NO_ERROR']);
    peer.send(request(3, path));
    await peer.settled();
    t.true(peer.events.includes('end 3'));
    t.false(peer.events.includes('reset 3 NO_ERROR'), 'a request that is whole is not reset');
    await fixture.greeted().settled();
    closedOnce(t, fixture);
  });

test('a handler that resets its stream is notified once', async (t) => {
  await using fixture = await serving();
  const peer = fixture.greeted().send(opening(1, '/silent'));
  await peer.settled();
  fixture.calls[0]?.stream.reset(2);
  fixture.calls[0]?.stream.reset(2);
  await peer.settled();
  t.deepEqual(
    peer.events.filter((one) => one.startsWith('reset')),
    ['reset 1 INTERNAL_ERROR'],
  );
  closedOnce(t, fixture);
});
