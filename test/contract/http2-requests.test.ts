/** Well-formed and malformed requests: RFC 9113, section 8, and the limits of header lists. */
import test from 'ava';
import {
  block,
  data,
  type Fields,
  fieldsTo,
  flag,
  frame,
  opening,
  request,
  setting,
  settings,
  type,
  whole,
} from './http2-client.ts';
import { type Conversation, closedOnce, conversations, serving } from './http2-fixture.ts';

const requestFrame = (fields: Fields, flags: number = whole): Buffer => frame(type.headers, flags, 1, block(fields));
const without = (name: string): Fields => fieldsTo('/').filter(([one]) => one !== name);
const withFields = (...more: Fields): Buffer => requestFrame([...fieldsTo('/'), ...more]);
const trailers = (...fields: Fields): Buffer => frame(type.headers, whole, 1, block(fields));
const behind = (...sent: readonly Uint8Array[]): Uint8Array[] => [opening(1), data(1, 'body'), ...sent];

/** Section 8.1.1: a stream error, possibly after a response, but never a successful call. */
const malformed = 'reset 1 PROTOCOL_ERROR | answer 1 400';
const rejected = (title: string, ...send: Uint8Array[]): Conversation => ({
  title: `${title} is malformed`,
  send,
  answers: malformed,
  never: /answer 1 200/,
});
const served = (title: string, ...send: Uint8Array[]): Conversation => ({
  title: `${title} is served`,
  send,
  answers: 'answer 1 200',
});

conversations([
  served('a GET', requestFrame(fieldsTo('/', 'GET'))),
  served('a HEAD', requestFrame(fieldsTo('/', 'HEAD'))),
  served('a POST', ...behind(data(1, '', flag.endStream))),
  served('a POST with trailers', ...behind(trailers(['x-sum', '1']))),
  served('a POST with trailers and nothing in them', ...behind(trailers())),
  served('a POST with trailers and no body', opening(1), trailers(['x-sum', '1'])),
  served('a request without :authority', requestFrame(without(':authority'))),
  served('a request whose pseudo-headers stand in another order', requestFrame([...fieldsTo('/')].reverse())),
  served('a request that says te: trailers', withFields(['te', 'trailers'])),
  served('a body as long as its content-length', opening(1, '/', [['content-length', '4']]), data(1, 'body', 1)),
  served(
    'a body in parts, as long as its content-length',
    opening(1, '/', [['content-length', '8']]),
    data(1, 'body'),
    data(1, ''),
    frame(type.data, flag.padded, 1, '\x03body\0\0\0'),
    trailers(),
  ),
  served('no body, as content-length says', withFields(['content-length', '0'])),
  served('a value of visible characters, spaces within, and bytes above 127', withFields(['x-a', '!~ \t\x80\xff~'])),
  served('every character that a name may have', withFields(["!#$%&'*+-.^_`|~09az", 'x'])),

  // 8.2.1
  rejected('a name in upper case', withFields(['X-Upper', 'x'])),
  rejected('a name with one letter in upper case', withFields(['x-uppeR', 'x'])),
  rejected('an empty name', withFields(['', 'x'])),
  ...['\0', '\n', '\r', '\x1f', ' ', '\x7f', '\x80', '\xff'].map((character) =>
    rejected(`a name with the byte ${character.charCodeAt(0)}`, withFields([`x${character}y`, 'x'])),
  ),
  rejected('a name with a colon in it', withFields(['x:y', 'x'])),
  ...['\0', '\n', '\r'].map((character) =>
    rejected(`a value with the byte ${character.charCodeAt(0)}`, withFields(['x-a', `a${character}b`])),
  ),
  rejected('a value that begins with a space', withFields(['x-a', ' a'])),
  rejected('a value that ends with a space', withFields(['x-a', 'a '])),
  rejected('a value that begins with a tab', withFields(['x-a', '\ta'])),
  rejected('a value that ends with a line feed', withFields(['x-a', 'a\n'])),
  rejected('a path with a line feed', requestFrame(fieldsTo('/a\nb'))),

  // 8.2.2
  ...(
    [
      ['connection', 'keep-alive'],
      ['keep-alive', 'timeout=1'],
      ['proxy-connection', 'keep-alive'],
      ['transfer-encoding', 'chunked'],
      ['upgrade', 'h2c'],
      ['te', 'trailers, deflate'],
      ['te', 'gzip'],
    ] as const
  ).map((field) => rejected(`a request with ${field.join(': ')}`, withFields(field))),

  // 8.3
  rejected('an unknown pseudo-header', requestFrame([...fieldsTo('/'), [':test', 'ok']])),
  rejected('a pseudo-header without a name', requestFrame([...fieldsTo('/'), [':', 'ok']])),
  rejected('a pseudo-header of answers', requestFrame([...fieldsTo('/'), [':status', '200']])),
  rejected('a pseudo-header behind other fields', requestFrame([...without(':path'), ['x-a', 'b'], [':path', '/']])),
  rejected('a pseudo-header in upper case', requestFrame([...without(':path'), [':Path', '/']])),

  // 8.3.1
  ...[':method', ':scheme', ':path'].flatMap((name) => [
    rejected(`a request without ${name}`, requestFrame(without(name))),
    rejected(`a request with two of ${name}`, requestFrame([...fieldsTo('/'), [name, '/']])),
    rejected(`a request without ${name}, whose body follows,`, requestFrame(without(name), flag.endHeaders)),
  ]),
  rejected('a request with two of :authority', requestFrame([...fieldsTo('/'), [':authority', 'other']])),
  rejected('an empty :path', requestFrame(fieldsTo(''))),
  rejected('a header block without fields', requestFrame([])),

  // 8.1.1
  rejected('a body shorter than its content-length', opening(1, '/', [['content-length', '5']]), data(1, 'body', 1)),
  rejected('a body longer than its content-length', opening(1, '/', [['content-length', '3']]), data(1, 'body', 1)),
  rejected(
    'a body whose parts are longer than its content-length',
    opening(1, '/', [['content-length', '7']]),
    data(1, 'body'),
    data(1, 'body', 1),
  ),
  rejected(
    'a body with padding that makes up its content-length',
    opening(1, '/', [['content-length', '8']]),
    frame(type.data, flag.padded | flag.endStream, 1, '\x03body\0\0\0'),
  ),
  rejected('a body where content-length is 0', opening(1, '/', [['content-length', '0']]), data(1, 'b', 1)),
  rejected('no body where content-length is 1', withFields(['content-length', '1'])),
  rejected('trailers before content-length is reached', opening(1, '/', [['content-length', '1']]), trailers()),
  ...['-1', '+4', '4x', '0x4', '', '4.0', '99999999999999999999'].map((value) =>
    rejected(
      `content-length ${JSON.stringify(value)}`,
      opening(1, '/', [['content-length', value]]),
      data(1, 'body', 1),
    ),
  ),
  rejected(
    'two lengths that differ',
    opening(1, '/', [
      ['content-length', '4'],
      ['content-length', '5'],
    ]),
  ),

  // 8.1
  rejected(
    'a second HEADERS without END_STREAM',
    ...behind(frame(type.headers, flag.endHeaders, 1, block([['a', 'b']]))),
  ),
  rejected('a pseudo-header in trailers', ...behind(trailers([':method', 'POST']))),
  rejected('an unknown pseudo-header in trailers', ...behind(trailers([':test', 'ok']))),
  rejected('a name in upper case in trailers', ...behind(trailers(['X-Sum', '1']))),
  rejected('a field of connections in trailers', ...behind(trailers(['connection', 'close']))),
  rejected('a value with a line feed in trailers', ...behind(trailers(['x-sum', 'a\nb']))),
]);

test('a malformed request reaches no handler, and a body that turns out to be invalid is never complete', async (t) => {
  await using fixture = await serving();
  const peer = fixture.greeted();
  peer.send(requestFrame(without(':path')), request(3, '/', whole, [['X', 'y']]));
  await peer.settled();
  t.is(fixture.calls.length, 0);
  peer.send(opening(5, '/', [['content-length', '3']]), data(5, 'body', flag.endStream));
  await peer.settled();
  t.deepEqual(
    fixture.calls.map(({ ended, closed }) => ({ ended, closed })),
    [{ ended: 0, closed: 1 }],
  );
  peer.send(request(7));
  await peer.untilEvent('answer 7 200');
});

/** A field with the given size, counted as in RFC 9113, section 6.5.2. */
const filler = (bytes: number): Fields => [['x-filler', 'x'.repeat(bytes - 32 - 'x-filler'.length)]];
const sizeOf = (fields: Fields): number =>
  fields.reduce((sum, [name, value]) => sum + name.length + value.length + 32, 0);
const listBytes = 16 * 1024;

test('a header list of 16 KiB is accepted, and one with one more byte is answered with 431', async (t) => {
  await using fixture = await serving();
  const peer = fixture.greeted();
  const left = listBytes - sizeOf(fieldsTo('/'));
  /** Split, because a frame has at most 16 KiB. */
  const inPieces = (streamId: number, fields: Fields): Buffer => {
    const bytes = block(fields);
    return Buffer.concat([
      frame(type.headers, flag.endStream, streamId, bytes.subarray(0, 9_000)),
      frame(type.continuation, flag.endHeaders, streamId, bytes.subarray(9_000)),
    ]);
  };
  peer.send(inPieces(1, [...fieldsTo('/'), ...filler(left)]));
  await peer.untilEvent('answer 1 200');
  peer.send(inPieces(3, [...fieldsTo('/'), ...filler(left + 1)]));
  await peer.untilEvent('answer 3 431');
  await peer.untilEvent('end 3');
  peer.send(request(5));
  await peer.untilEvent('answer 5 200');
  t.is(fixture.calls.length, 2);
  closedOnce(t, fixture);
});

test('one large header field repeated a thousand times is answered with 431, and costs no memory', async (t) => {
  await using fixture = await serving();
  const peer = fixture.greeted();
  const large = frame(
    type.headers,
    whole,
    1,
    Buffer.concat([block(fieldsTo('/')), block([['x', 'y'.repeat(4_000)]], 0x40)]),
  );
  peer.send(large);
  await peer.untilEvent('answer 1 200');
  const before = process.memoryUsage().rss;
  const bomb = Buffer.concat([block(fieldsTo('/')), Buffer.alloc(16_000, 0xbe)]);
  for (let stream = 3; stream < 203; stream += 2) peer.send(frame(type.headers, whole, stream, bomb));
  await peer.untilEvent('end 201');
  t.is(peer.events.filter((one) => one.endsWith(' 431')).length, 100);
  t.is(fixture.calls.length, 1);
  t.true(process.memoryUsage().rss - before < 100 * 1024 * 1024);
});

test('a header block of more than 64 KiB closes the connection', async (t) => {
  await using fixture = await serving();
  const peer = fixture.greeted().send(frame(type.headers, flag.endStream, 1, block(fieldsTo('/'))));
  for (let part = 0; part < 5; part++) peer.send(frame(type.continuation, 0, 1, Buffer.alloc(16_000, 0x82)));
  await peer.untilEvent('goaway ENHANCE_YOUR_CALM');
  await peer.closed();
  t.is(fixture.calls.length, 0);
});

test('a smaller header table size set by the client is confirmed by the next header block, and by no other', async (t) => {
  await using fixture = await serving();
  const peer = fixture.greeted([setting.tableSize, 0]).send(request(1));
  await peer.untilEvent('end 1');
  peer.send(settings([setting.tableSize, 4096]), request(3));
  await peer.untilEvent('end 3');
  const blocks = peer.frames
    .filter(({ kind }) => kind === type.headers)
    .map(({ payload }) => (payload[0] ?? 0) >> 5 === 1);
  t.deepEqual(blocks, [true, false, false, false]);
  t.is(peer.frames.find(({ kind }) => kind === type.headers)?.payload[0], 0x20);
});
