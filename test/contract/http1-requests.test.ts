/** Responses to requests of every form, the same at the OTLP/HTTP address and at the main address. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import { enforceRequestRules } from '../../runtime/http-requests.ts';
import { generateLicenseKey } from '../../schemas/license-key-format.ts';
import { type Answered, essence, good, headOf, lines, onBus, refused, sending, Wire } from './http1-client.ts';
import { jsonRequest } from './receivers-bodies.ts';

const secret = generateLicenseKey();

/** The same receivers twice: one at its own address, the other below `/otlp` at the main address. */
const both = async () => {
  const [own, other] = await Promise.all([sending({ secret }), sending({ secret })]);
  const listener: RequestListener = enforceRequestRules((request, response) => {
    if (!other.receivers.handler(request, response)) response.writeHead(418).end();
  });
  const server = createServer(listener).on('checkContinue', listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { own, other, url: `http://127.0.0.1:${port}`, server };
};
let pair: Awaited<ReturnType<typeof both>>;
test.before(async () => {
  pair = await both();
});
test.after.always(async () => {
  pair.server.closeAllConnections();
  pair.server.close();
  await Promise.all([pair.own[Symbol.asyncDispose](), pair.other[Symbol.asyncDispose]()]);
});

/** Expected statuses, and `closed` if the connection must end. */
const answersTo = async (wire: Wire, bytes: Uint8Array, outcome: string): Promise<(Answered | undefined)[]> => {
  wire.send(bytes);
  const responses: (Answered | undefined)[] = [];
  for (const _ of outcome.match(/\d+/g) ?? []) responses.push(await wire.next());
  if (outcome.includes('closed')) await wire.closed();
  return responses;
};
const outcomeOf = (wire: Wire): string =>
  [...wire.answers.map(({ status }) => status), ...(wire.isClosed ? ['closed'] : [])].join(' ');

/** Paths of requests, without lines that only look like one. */
const outer = /(?<= |http:\/\/[^/ ]+)\/v1\/(?!\S+ HTTP\/1\.1\r\nHost: inner)/gi;
const compare = async (t: ExecutionContext, raw: string, outcome: string): Promise<void> => {
  const { own, other, url } = pair;
  own.bus.messages.length = 0;
  other.bus.messages.length = 0;
  const bytes = own.bytes(raw);
  const wire = own.open();
  const node = new Wire(url);
  const [one, two] = await Promise.all([
    answersTo(wire, bytes, outcome),
    answersTo(node, Buffer.from(bytes.toString('latin1').replace(outer, '/otlp/v1/'), 'latin1'), outcome),
  ]);
  t.is(outcomeOf(wire), outcome.replace(' waits', ''));
  t.is(outcomeOf(node), outcome.replace(' waits', ''));
  t.deepEqual(one.map(essence), two.map(essence));
  t.deepEqual(onBus(own), onBus(other));
  if (!/closed|waits/.test(outcome)) t.is((await wire.send(own.bytes(good)).next())?.status, 200, 'and the next one');
  wire.socket.destroy();
  node.socket.destroy();
};

const json = (text: string, ...more: string[]): string =>
  headOf(Buffer.byteLength(text), ...more).replace('application/x-protobuf', 'application/json') +
  Buffer.from(text).toString('latin1');
const zipped = (bytes: Uint8Array, ...more: string[]): string =>
  headOf(bytes.length, ...more) + Buffer.from(bytes).toString('latin1');
const inner = lines('POST /v1/logs HTTP/1.1', 'Host: inner', `X-License-Key: ${secret}`, 'Content-Length: 0');
const without = (name: string): string => good.replace(new RegExp(`${name}: .*\r\n`), '');

const requests: readonly [title: string, raw: string, outcome: string][] = [
  ['a good request', good, '200'],
  ['metrics', json(jsonRequest('metrics', 3)).replace('/logs', '/metrics'), '200'],
  ['traces', json(jsonRequest('traces', 3)).replace('/logs', '/traces'), '200'],
  ['JSON', json(jsonRequest('logs', 2)), '200'],
  ['JSON with a charset', json(jsonRequest('logs')).replace('/json', '/json; charset=utf-8'), '200'],
  ['a media type in other letters', good.replace('x-protobuf', 'X-PROTOBUF'), '200'],
  ['octets', good.replace('x-protobuf', 'octet-stream'), '200'],
  [
    'gzip',
    zipped(gzipSync(Buffer.from(jsonRequest('logs'))), 'Content-Encoding: gzip').replace('x-protobuf', 'json'),
    '200',
  ],
  [
    'an encoding in other letters',
    good.replace('Content-Length', 'Content-Encoding: Identity\r\nContent-Length'),
    '200',
  ],
  ['no body', headOf(0), '200'],
  ['a key as bearer', good.replace('X-License-Key: ', 'Authorization: Bearer '), '200'],
  ['a key between spaces', good.replace('{key}', ' \t {key}   '), '200'],
  ['traceparent', good.replace('Host', `Traceparent: 00-${'a'.repeat(32)}-${'b'.repeat(16)}-01\r\nHost`), '200'],
  ['no key', without('X-License-Key'), '401'],
  ['an empty key', good.replace('{key}', ''), '401'],
  ['an unknown key', good.replace('{key}', generateLicenseKey()), '401'],
  ['a key that is none', good.replace('{key}', '__proto__'), '401'],
  ['no media type', without('Content-Type'), '415'],
  ['an empty media type', good.replace('application/x-protobuf', ''), '415'],
  ['another media type', refused, '415'],
  ['a media type that objects have', good.replace('application/x-protobuf', 'constructor'), '415'],
  ['an encoding that objects have', good.replace('Host', 'Content-Encoding: toString\r\nHost'), '415'],
  ['snappy', good.replace('Host', 'Content-Encoding: snappy\r\nHost'), '415'],
  ['a body that is not what it says', `${headOf(5)}\xff\xff\xff\xff\xff`, '400'],
  ['no body where there should be JSON', json(''), '400'],
  ['JSON that is none', json('{"resourceLogs":'), '400'],
  ['letters that are none of UTF-8', `${json('"')}`.replace(/"$/, '\xff'), '400'],
  ['gzip that is none', good.replace('Host', 'Content-Encoding: gzip\r\nHost'), '400'],
  ['a header that objects have', good.replace('Host', '__proto__: x\r\nconstructor: y\r\nHost'), '200'],
  ['a body that looks like a request', json(inner), '400'],
  ['a body that begins with the end of a head', `${headOf(9)}\r\n\r\nabcde`, '400'],
  ['two', good + good, '200 200'],
  ['a good one behind a refused one', refused + good, '415 200'],
  ['a good one behind a malformed one', `${headOf(1)}\xff${good}`, '400 200'],
  ['a request in the body of a refused one', json(inner).replace('/json', '/nothing') + good, '415 200'],
  ['one that closes behind another', `${good}${good.replace('Host', 'Connection: close\r\nHost')}`, '200 200 closed'],
];

const chunked = (text: string): string =>
  `${headOf('').replace('Content-Length: ', 'Transfer-Encoding: chunked').replace('x-protobuf', 'json')}${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;
const twoFramings = good.replace('Content-Length', 'Transfer-Encoding: chunked\r\nContent-Length');

const forms: readonly [title: string, raw: string, outcome: string][] = [
  ['a trailer that is announced', good.replace('Host', 'Trailer: X-Nothing\r\nHost'), '200'],
  ['a query', good.replace('/v1/logs', '/v1/logs?a=b'), '200'],
  ['a path that is none', good.replace('/v1/logs', '/v1/nothing'), '404'],
  ['a path that objects have', good.replace('/v1/logs', '/v1/constructor'), '404'],
  ['another method', good.replace('POST', 'PUT'), '405'],
  ['GET', lines('GET /v1/logs HTTP/1.1', 'Host: a'), '405'],
  ['OPTIONS', lines('OPTIONS /v1/logs HTTP/1.1', 'Host: a', 'Origin: http://a'), '405'],
  ['Connection: close', good.replace('Host', 'Connection: close\r\nHost'), '200 closed'],
  ['HTTP/1.0', good.replace('HTTP/1.1', 'HTTP/1.0'), '200 closed'],
  ['an Expect', good.replace('Host', 'Expect: 100-continue\r\nHost'), '100 200'],
  ['an Upgrade', good.replace('Host', 'Connection: Upgrade\r\nUpgrade: h2c\r\nHost'), '200'],
  ['chunks', chunked(jsonRequest('logs')), '200'],
  ['a body of 60 MiB announced', headOf(60 * 1024 * 1024), '413 waits'],
  ['no host', without('Host'), '400 closed'],
  ['two hosts', good.replace('Host', 'Host: a\r\nHost'), '400 closed'],
  [
    'the same host twice, and an Expect',
    good.replace('Host', 'Expect: 100-continue\r\nhost: localhost:4318\r\nHost'),
    '400 closed',
  ],
  ['a target in absolute form', good.replace('/v1/logs', 'http://elsewhere:1/v1/logs'), '200'],
  ['a target in absolute form with a query', good.replace('/v1/logs', 'HTTP://elsewhere/v1/logs?a=b'), '200'],
  ['a target that is of no form', good.replace('/v1/logs', 'v1/logs'), '400 closed'],
  ['a folded header', good.replace('Host', 'A: b\r\n c\r\nHost'), '400 closed'],
  ['a bare LF', good.replace('4318\r\n', '4318\n'), '400 closed'],
  ['a space before a colon', good.replace('Host:', 'Host :'), '400 closed'],
  ['an empty name', good.replace('Host', ': a\r\nHost'), '400 closed'],
  ['a control character in a value', good.replace('4318', '4318\x01'), '400 closed'],
  ['Latin 1 in a value', good.replace('4318\r\n', '4318\r\nA: \xe9\r\n'), '200'],
  ['a header twice', good.replace('Host', 'A: b\r\nA: c\r\nHost'), '200'],
  ['two keys, the first one good', good.replace('Host', 'X-License-Key: {key}\r\nX-License-Key: x\r\nHost'), '401'],
  ['two lengths that agree', good.replace('Host', 'Content-Length: {length}\r\nHost'), '400 closed'],
  ['two lengths that differ', good.replace('Host', 'Content-Length: 0\r\nHost'), '400 closed'],
  ['two lengths in one header', good.replace('{length}', '{length}, {length}'), '400 closed'],
  ['a length with a sign', good.replace('{length}', '+{length}'), '400 closed'],
  ['a negative length', good.replace('{length}', '-1'), '400 closed'],
  ['a length in hexadecimal', good.replace('{length}', '0x1'), '400 closed'],
  ['an empty length', good.replace('{length}', ''), '400 closed'],
  ['a length of twenty digits', good.replace('{length}', '18446744073709551621'), '400 closed'],
  ['a length and chunks', twoFramings, '400 closed'],
  ['chunks and a length', good.replace('\r\n\r\n', '\r\nTransfer-Encoding: chunked\r\n\r\n'), '400 closed'],
  ['a length and an unknown coding', twoFramings.replace('chunked', 'identity'), '400 closed'],
  ['a length and chunks in disguise', twoFramings.replace('chunked', 'xchunked'), '400 closed'],
  ['a length and chunks with a tab', twoFramings.replace(' chunked', '\tchunked'), '400 closed'],
  ['a length and chunks behind a vertical tab', twoFramings.replace(' chunked', ' \x0bchunked'), '400 closed'],
  ['a length and chunks with a space before the colon', twoFramings.replace('Encoding:', 'Encoding :'), '400 closed'],
  ['a length and folded chunks', twoFramings.replace(' chunked', '\r\n chunked'), '400 closed'],
  ['a head of 20 KiB', good.replace('Host', `A: ${'b'.repeat(20_000)}\r\nHost`), '431 closed'],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', '400 closed'],
];

for (const [title, raw, outcome] of [...requests, ...forms])
  test.serial(`both addresses answer ${outcome} to ${title}`, (t) => compare(t, raw, outcome));

test.serial('remote-write does not accept the name of an object prototype property as a proto', async (t) => {
  const head = good.replace('/v1/logs', '/api/v1/prom/write').replace('protobuf', 'protobuf;proto=constructor');
  const wire = new Wire(pair.url).send(pair.other.bytes(head));
  t.is((await wire.next())?.status, 415);
  wire.socket.destroy();
});
