/** Requests to user-defined addresses never reach private networks, hang, or exhaust the memory. */
import { createSocket } from 'node:dgram';
import type { lookup } from 'node:dns';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { OutboundError, openOutbound } from '../../runtime/outbound.ts';

const serve = async (t: ExecutionContext, listener: RequestListener): Promise<number> => {
  const server: Server = createServer(listener);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
};

/** Resolves every name to the same addresses, with the next list for each lookup. */
const names = (...responses: readonly (readonly string[])[]): typeof lookup => {
  let lookupCount = 0;
  const resolve = (
    _name: string,
    _options: object,
    done: (error: null, addresses: { address: string; family: number }[]) => void,
  ): void => {
    const addresses = responses[Math.min(lookupCount++, responses.length - 1)] ?? [];
    setImmediate(() =>
      done(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      ),
    );
  };
  return resolve as unknown as typeof lookup;
};

const loopback = { allowedNetworks: ['127.0.0.0/8'] };

test('addresses in private networks are rejected in every notation', async (t) => {
  const port = await serve(t, (_, response) => response.end('reached'));
  const outbound = openOutbound({ timeoutMs: 60_000 });
  const hosts = [
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '0.0.0.0',
    '10.0.0.1',
    '172.16.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::ffff:a9fe:a9fe]',
    '[fd00::1]',
    '[fe80::1]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
    '[::127.0.0.1]',
    '[::808:808]',
    '[100::1]',
    '[3fff::1]',
    '[4000::1]',
    '[fec0::1]',
    '[2001:db8::1]',
    'localhost',
  ]; // prettier-ignore
  for (const host of hosts)
    await t.throwsAsync(
      outbound.fetch(`http://${host}:${port}/`),
      { instanceOf: OutboundError, message: /is in a private network/ },
      host,
    );
});

test('other schemes and user names are rejected', async (t) => {
  const outbound = openOutbound(loopback);
  for (const url of ['file:///etc/passwd', 'gopher://127.0.0.1/', 'ftp://127.0.0.1/', 'http://user@127.0.0.1/'])
    await t.throwsAsync(outbound.fetch(url), { instanceOf: OutboundError }, url);
});

test('a name is rejected if any of its addresses is private', async (t) => {
  for (const addresses of [['10.0.0.1'], ['192.0.43.7', '10.0.0.1'], ['::ffff:127.0.0.1'], ['fd00::1'], []])
    await t.throwsAsync(
      openOutbound({ resolve: names(addresses) }).fetch('http://public.example/'),
      { instanceOf: OutboundError, message: /private network/ },
      String(addresses),
    );
});

test('an unknown name is rejected like a name in a private network', async (t) => {
  const failing = (code: string): typeof lookup =>
    ((_name: string, _options: object, done: (error: Error) => void) =>
      setImmediate(() => done(Object.assign(new Error(`getaddrinfo ${code}`), { code })))) as unknown as typeof lookup;
  const messageOf = async (resolve: typeof lookup): Promise<string> =>
    (await t.throwsAsync(openOutbound({ resolve }).fetch('http://name.example/'))).message;
  const ofPrivate = await messageOf(names(['10.0.0.1']));
  for (const resolve of [names([]), names(['fd00::1']), failing('ENOTFOUND'), failing('EAI_AGAIN')])
    t.is(await messageOf(resolve), ofPrivate);
  t.is(await messageOf(names(['2001:db8::1'])), ofPrivate);
});

test('the connection uses the address that was resolved and checked', async (t) => {
  let reached = 0;
  const port = await serve(t, (_, response) => {
    reached++;
    response.end('yes');
  });
  const allowed = { ...loopback, timeoutMs: 60_000 };
  const once = openOutbound({ ...allowed, resolve: names(['127.0.0.1'], ['169.254.169.254']) });
  t.is(await (await once.fetch(`http://rebound.example:${port}/`)).text(), 'yes');
  await t.throwsAsync(once.fetch(`http://rebound.example:${port}/`), { message: /private network/ });
  t.is(reached, 1);
});

test('redirects are not followed', async (t) => {
  const port = await serve(t, (_, response) => response.writeHead(302, { location: 'http://169.254.169.254/' }).end());
  const apiResponse = await openOutbound(loopback).fetch(`http://127.0.0.1:${port}/`);
  t.is(apiResponse.status, 302);
});

test('a request is delivered, and its response is returned with its headers', async (t) => {
  const port = await serve(t, (request, response) => {
    request.setEncoding('utf8').once('data', (body: string) => {
      response.writeHead(201, { 'x-seen': `${request.method} ${request.headers['x-mine']}` }).end(body.toUpperCase());
    });
  });
  const request = { method: 'POST', headers: { 'x-mine': 'a' }, body: 'hello' };
  const apiResponse = await openOutbound(loopback).fetch(`http://127.0.0.1:${port}/`, request);
  t.is(apiResponse.status, 201);
  t.is(apiResponse.headers.get('x-seen'), 'POST a');
  t.is(await apiResponse.text(), 'HELLO');
});

test('a response that is too large, too slow or truncated is an error', async (t) => {
  const port = await serve(t, ({ url }, response) => {
    if (url === '/large') response.end(Buffer.alloc(200_000));
    else if (url === '/endless') response.write('x');
    else if (url === '/cut') {
      response.writeHead(200, { 'content-length': '100' });
      response.write('x');
      setImmediate(() => response.destroy());
    }
  });
  const fetching = (path: string, timeoutMs: number) =>
    openOutbound({ ...loopback, timeoutMs, maxBytes: 100_000 }).fetch(`http://127.0.0.1:${port}${path}`);
  await t.throwsAsync(fetching('/large', 60_000), { instanceOf: OutboundError, message: /more than 100000 bytes/ });
  await t.throwsAsync(fetching('/silent', 300), { instanceOf: OutboundError, message: /too long/ });
  await t.throwsAsync(fetching('/endless', 300), { instanceOf: OutboundError, message: /too long/ });
  await t.throwsAsync(fetching('/cut', 60_000), { instanceOf: OutboundError });
});

/** A name server that responds to every query with a code and TXT records; `undefined` sends no response. */
const nameServer = async (
  t: ExecutionContext,
  responses: Readonly<
    Record<string, { readonly code: number; readonly texts: readonly (readonly string[])[] } | undefined>
  >,
): Promise<string> => {
  const socket = createSocket('udp4');
  socket.on('message', (question, { port, address }) => {
    const end = question.indexOf(0, 12) + 5;
    const labels = question.subarray(12, end - 4).toString('latin1');
    const response = Object.entries(responses).find(([name]) => labels.includes(name))?.[1];
    if (response === undefined) return;
    const records = response.texts.map((parts) => {
      const text = Buffer.concat(parts.map((part) => Buffer.from([part.length, ...Buffer.from(part)])));
      // The name of the query, TXT, IN, a minute, and the length.
      return Buffer.concat([
        Buffer.from([0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 60, text.length >> 8, text.length & 255]),
        text,
      ]);
    });
    const header = Buffer.from([
      ...question.subarray(0, 2),
      0x81,
      0x80 | response.code,
      0,
      1,
      0,
      records.length,
      0,
      0,
      0,
      0,
    ]);
    socket.send(Buffer.concat([header, question.subarray(12, end), ...records]), port, address);
  });
  await new Promise<void>((bound) => socket.bind(0, '127.0.0.1', bound));
  t.teardown(() => void socket.close());
  return `127.0.0.1:${socket.address().port}`;
};

test('TXT records are joined from their parts, and a failing name server is distinguished from a missing record', async (t) => {
  const server = await nameServer(t, {
    there: { code: 0, texts: [['v=spf1 -all'], ['oiq-verification=', 'abc']] },
    nothing: { code: 0, texts: [] },
    unknown: { code: 3, texts: [] },
    broken: { code: 2, texts: [] },
    silent: undefined,
  });
  const { resolveTxt } = openOutbound({ nameServers: [server], timeoutMs: 60_000 });
  const impatient = openOutbound({ nameServers: [server], timeoutMs: 200 });
  t.deepEqual([...((await resolveTxt('there.example')) ?? [])].sort(), ['oiq-verification=abc', 'v=spf1 -all']);
  t.deepEqual(await resolveTxt('nothing.example'), []);
  t.deepEqual(await resolveTxt('unknown.example'), []);
  t.is(await resolveTxt('broken.example'), undefined);
  t.is(await impatient.resolveTxt('silent.example'), undefined);
});
