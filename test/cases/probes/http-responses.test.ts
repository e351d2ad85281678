/** Responses of real servers: compressed, in any charset, too long, with cookies; and request headers. */
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import { runHttp, serveHttp, serveSocket } from './targets.ts';

const bodyIs = (value: string) => [{ source: 'body', operator: 'is', value }];

/** Serves one response, and returns its address. */
const serveAnswer = async (
  t: ExecutionContext,
  content: string | Buffer,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> => {
  const port = await serveHttp(t, (_, response) => response.writeHead(200, headers).end(content));
  return `http://127.0.0.1:${port}/`;
};

const hello = Buffer.from('hello wörld');

test('compressed responses are decoded, whatever the request accepts', async (t) => {
  const codings: readonly [string, Buffer][] = [
    ['gzip', gzipSync(hello)],
    ['x-gzip', gzipSync(hello)],
    ['GZIP', gzipSync(hello)],
    ['deflate', deflateSync(hello)],
    ['deflate', deflateRawSync(hello)],
    ['br', brotliCompressSync(hello)],
    ['zstd', zstdCompressSync(hello)],
    ['deflate, gzip', gzipSync(deflateSync(hello))],
    ['identity', hello],
    ['aws-chunked', hello],
  ];
  for (const [coding, content] of codings) {
    const url = await serveAnswer(t, content, { 'content-encoding': coding });
    const size = { source: 'size', operator: 'is', value: hello.length };
    const { outcome, message } = await runHttp([{ url, assertions: [...bodyIs('hello wörld'), size] }]);
    t.is(outcome, 'passed', `${coding}: ${message}`);
  }
  const json = await serveAnswer(t, gzipSync('{"a":1}'), { 'content-encoding': 'gzip' });
  const assertions = [{ source: 'json', name: '$.a', operator: 'is', value: 1 }];
  t.is((await runHttp([{ url: json, assertions, headers: { 'Accept-Encoding': 'gzip' } }])).outcome, 'passed');
  const head = await serveAnswer(t, '', { 'content-encoding': 'gzip' });
  t.is((await runHttp([{ url: head, method: 'HEAD' }])).outcome, 'passed');
});

test('content that is not in its declared coding is the reason of the failure', async (t) => {
  const url = await serveAnswer(t, 'plain text', { 'content-encoding': 'gzip' });
  const { outcome, message } = await runHttp([{ url }]);
  t.is(outcome, 'failed');
  t.regex(message, /^127\.0\.0\.1:\d+ sent content that is not gzip$/);
});

test('a compressed response is read up to five megabytes, however small it is', async (t) => {
  const url = await serveAnswer(t, gzipSync(Buffer.alloc(64 * 1024 * 1024)), { 'content-encoding': 'gzip' });
  const assertions = [{ source: 'size', operator: 'gte', value: 5 * 1024 * 1024 }];
  t.is((await runHttp([{ url, assertions }])).outcome, 'passed');
});

test('the charset of a response is that of its byte order mark, its header, or its document', async (t) => {
  const gruesse = Buffer.from('Gr\xfc\xdfe', 'latin1');
  const html = (charset: string) => Buffer.concat([Buffer.from(`<html><meta ${charset}>`), gruesse]);
  const cases: readonly [string, Buffer, string][] = [
    ['text/html; charset=ISO-8859-1', gruesse, 'Grüße'],
    ['text/html;charset="iso-8859-1"', gruesse, 'Grüße'],
    ['text/plain; charset=gbk', Buffer.from([0xc4, 0xe3, 0xba, 0xc3]), '你好'],
    ['text/plain; charset=Shift_JIS', Buffer.from([0x93, 0xfa, 0x96, 0x7b]), '日本'],
    ['text/plain; charset=utf-16', Buffer.from('Grüße', 'utf16le'), 'Grüße'],
    ['text/plain; charset=utf-16', Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('hé', 'utf16le')]), 'hé'],
    [
      'text/plain; charset=utf-16',
      Buffer.concat([Buffer.from([0xfe, 0xff]), Buffer.from('hé', 'utf16le').swap16()]),
      'hé',
    ],
    ['text/html', html('charset=iso-8859-1'), '<html><meta charset=iso-8859-1>Grüße'],
    [
      'text/html',
      html(`http-equiv="Content-Type" content="text/html; charset=iso-8859-1"`),
      `<html><meta http-equiv="Content-Type" content="text/html; charset=iso-8859-1">Grüße`,
    ],
    [
      'application/xml',
      Buffer.concat([Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?>'), gruesse]),
      '<?xml version="1.0" encoding="ISO-8859-1"?>Grüße',
    ],
    ['text/html', html('charset=utf-16').subarray(0, 27), '<html><meta charset=utf-16>'],
    ['text/plain; charset=nonsense', Buffer.from('Grüße'), 'Grüße'],
    ['text/plain', Buffer.from('\ufeffGrüße'), 'Grüße'],
    ['', Buffer.from('Grüße'), 'Grüße'],
  ];
  for (const [type, content, expected] of cases) {
    const url = await serveAnswer(t, content, type === '' ? {} : { 'content-type': type });
    const { outcome, message } = await runHttp([{ url, assertions: bodyIs(expected) }]);
    t.is(outcome, 'passed', `${type}: ${message}`);
  }
  const url = await serveAnswer(t, Buffer.from('\ufeff{"a":1}'), { 'content-type': 'application/json' });
  t.is(
    (await runHttp([{ url, assertions: [{ source: 'json', name: '$.a', operator: 'is', value: 1 }] }])).outcome,
    'passed',
  );
  const failing = await serveAnswer(t, gruesse, { 'content-type': 'text/plain; charset=iso-8859-1' });
  t.is((await runHttp([{ url: failing, assertions: bodyIs('x') }])).steps[0]?.body, 'Grüße');
});

test('what depends on the rest of a response above five megabytes is unknown', async (t) => {
  const mib = 1024 * 1024;
  const content = Buffer.concat([Buffer.from('BEGIN'), Buffer.alloc(6 * mib, 'x'), Buffer.from('END')]);
  const known = await serveAnswer(t, content, { 'content-length': String(content.length) });
  const unknown = await serveAnswer(t, content, { 'transfer-encoding': 'chunked' });
  const limit = /is not known: only the first \d+ bytes of the answer are read/;
  const table: readonly [string, string, string, string | number | undefined, RegExp | undefined][] = [
    [unknown, 'body', 'contains', 'BEGIN', undefined],
    [unknown, 'body', 'contains', 'END', limit],
    [unknown, 'body', 'notContains', 'END', limit],
    [unknown, 'size', 'gt', 100, undefined],
    [unknown, 'size', 'lt', 10 * mib, limit],
    [unknown, 'size', 'is', 5 * mib, limit],
    [known, 'size', 'is', content.length, undefined],
    [known, 'size', 'lt', 5_300_000, /^size is 6291464, expected: lt 5300000$/],
  ];
  for (const [url, source, operator, value, expected] of table) {
    const { outcome, message } = await runHttp([{ url, assertions: [{ source, operator, value }] }]);
    if (expected === undefined) t.is(outcome, 'passed', message);
    else t.regex(message, expected, `${source} ${operator}`);
  }
  const json = { source: 'json', name: '$.a', operator: 'absent' };
  t.regex((await runHttp([{ url: unknown, assertions: [json] }])).message, limit);
  const extract = [{ as: 'x', source: 'body', path: 'x(x)' }];
  t.regex(
    (await runHttp([{ url: unknown, extract }])).message,
    /only the first \d+ bytes of the answer are read: x is not set/,
  );
});

test('integers that no number can hold stay exact', async (t) => {
  const requestedPaths: string[] = [];
  const port = await serveHttp(t, (request, response) => {
    requestedPaths.push(request.url ?? '');
    response.end(
      '{"id":9007199254740993,"list":[1,{"id":-12345678901234567890}],"half":12345678901234567.5,"small":7}',
    );
  });
  const url = `http://127.0.0.1:${port}/`;
  const is = (name: string, operator: string, value: string | number) => ({ source: 'json', name, operator, value });
  const passing = [
    is('$.id', 'is', '9007199254740993'),
    is('$.id', 'isNot', '9007199254740992'),
    is('$.id', 'gt', '9007199254740992'),
    is('$.id', 'lt', '9007199254740994'),
    is('$.id', 'gt', 7),
    is('$..[?@.id < 0].id', 'is', '-12345678901234567890'),
    is('$.list', 'contains', '-12345678901234567890'),
    is('$.small', 'is', 7),
  ];
  const extract = [
    { as: 'id', source: 'json', path: '$.id' },
    { as: 'list', source: 'json', path: '$.list' },
  ];
  const next = { url: `${url}next?id={{values.id}}&list={{values.list}}` };
  const result = await runHttp([{ url, assertions: passing, extract }, next]);
  t.is(result.outcome, 'passed', result.message);
  t.is(requestedPaths[1], `/next?id=9007199254740993&list=${encodeURIComponent('[1,{"id":-12345678901234567890}]')}`);
  const wrong = await runHttp([{ url, assertions: [is('$.id', 'is', '9007199254740992')] }]);
  t.is(wrong.message, 'json $.id is 9007199254740993, expected: is 9007199254740992');
});

test('cookies are sent after redirects and in later steps, unless the check does not store them', async (t) => {
  const port = await serveHttp(t, (request, response) => {
    const { cookie = '' } = request.headers;
    if (request.url === '/cookie')
      return cookie.includes('sid=1')
        ? response.end('in')
        : response.writeHead(302, { location: '/cookie', 'set-cookie': 'sid=1' }).end();
    if (request.url === '/login')
      return response.writeHead(200, { 'set-cookie': ['sess=abc; Path=/; HttpOnly', 'a=1'] }).end();
    if (request.url === '/logout') return response.writeHead(200, { 'set-cookie': 'sess=; Max-Age=0; Path=/' }).end();
    response.writeHead(cookie.includes('sess=abc') ? 200 : 401).end(cookie);
  });
  const step = (path: string, more: object = {}) => ({ url: `http://127.0.0.1:${port}${path}`, ...more });
  t.is((await runHttp([step('/cookie')])).outcome, 'passed');
  t.is((await runHttp([step('/login'), step('/me', { assertions: bodyIs('sess=abc; a=1') })])).outcome, 'passed');
  const own = step('/me', { headers: { Cookie: 'a=2; b=3' }, assertions: bodyIs('a=2; b=3; sess=abc') });
  t.is((await runHttp([step('/login'), own])).outcome, 'passed');
  t.regex((await runHttp([step('/login'), step('/logout'), step('/me')])).message, /status is 401/);
  const without = (steps: object[]) => runHttp([], {}, { http: { steps, storeCookies: false } });
  t.regex((await without([step('/login'), step('/me')])).message, /status is 401/);
  t.regex((await without([step('/cookie')])).message, /redirects more than 5 times/);
});

test('a cookie with a secret goes to the hosts of the secret only', async (t) => {
  const arrived: string[] = [];
  const port = await serveHttp(t, (request, response) => {
    if (request.headers.host?.startsWith('b.')) arrived.push(String(request.headers.cookie));
    const key = String(request.headers['x-key'] ?? '');
    response.writeHead(200, { 'set-cookie': `key=${encodeURIComponent(key)}; Domain=shop.example` }).end();
  });
  const names = { 'a.shop.example': [['127.0.0.1']], 'b.shop.example': [['127.0.0.1']] };
  const variables = { key: { value: 'correct horse 9', hosts: ['a.shop.example'] } };
  const steps = [
    { url: `http://a.shop.example:${port}/`, headers: { 'x-key': '{{variables.key}}' } },
    { url: `http://b.shop.example:${port}/` },
  ];
  t.regex((await runHttp(steps, { names, variables })).message, /not bound to b\.shop\.example/);
  t.deepEqual(arrived, []);
});

test('host, user agent and other headers are as the check has them', async (t) => {
  const seen: NodeJS.Dict<string | string[]>[] = [];
  const port = await serveHttp(t, (request, response) => {
    seen.push(request.headers);
    if (request.url === '/away') response.writeHead(302, { location: `http://other.example:${port}/` });
    response.end();
  });
  const names = { 'other.example': [['127.0.0.1']] };
  const headers = { Host: 'shop.example', 'User-Agent': 'Mozilla/5.0', 'x-key': '{{variables.key}}' };
  const run = (path: string, value: string) =>
    runHttp([{ url: `http://127.0.0.1:${port}/${path}`, headers }], { names, variables: { key: { value } } });
  t.is((await run('', ' wörld\n')).outcome, 'passed');
  t.like(seen[0], { host: 'shop.example', 'user-agent': 'Mozilla/5.0', 'x-key': 'wörld' });
  t.is((await run('away', '10 €')).outcome, 'passed');
  t.is(Buffer.from(String(seen[1]?.['x-key']), 'latin1').toString(), '10 €');
  t.like(seen[2], { host: `other.example:${port}`, 'user-agent': 'Mozilla/5.0' });
  t.regex((await run('', 'a\nb')).message, /^the header x-key contains a line break or another control character$/);
});

test('a response that ends early is not a reset connection', async (t) => {
  const port = await serveSocket(t, (socket) => {
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort'));
  });
  const { message } = await runHttp([{ url: `http://127.0.0.1:${port}/` }]);
  t.regex(message, /closed the connection before the end of its answer/);
});

test('reasons of TLS are in words', async (t) => {
  const plain = await serveHttp(t, (_, response) => response.end());
  const closing = await serveSocket(t, (socket) => {
    // TLS alerts: protocol_version and certificate_required
    socket.once('data', () => socket.end(Buffer.from([0x15, 3, 3, 0, 2, 2, 70])));
  });
  const requiring = await serveSocket(t, (socket) => {
    socket.once('data', () => socket.end(Buffer.from([0x15, 3, 3, 0, 2, 2, 40])));
  });
  for (const [port, expected] of [
    [plain, /^127\.0\.0\.1:\d+ does not speak TLS, or only versions before TLS 1\.2$/],
    [closing, /speaks only other versions of TLS$/],
    [requiring, /refused the TLS handshake: no common cipher, or a client certificate is required$/],
  ] as const)
    t.regex((await runHttp([{ url: `https://127.0.0.1:${port}/` }])).message, expected);
});

test('values of XML are compared, and used by later steps', async (t) => {
  const port = await serveHttp(t, async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    response.setHeader('content-type', 'application/xml');
    response.end(
      request.url === '/order' ? '<o:order xmlns:o="urn:o" id="7&amp;8"><o:state>paid</o:state></o:order>' : body,
    );
  });
  const address = `http://127.0.0.1:${port}`;
  const { outcome, message } = await runHttp([
    {
      url: `${address}/order`,
      assertions: [{ source: 'xml', name: '/order/state', operator: 'is', value: 'paid' }],
      extract: [{ as: 'order', source: 'xml', path: '/order/@id' }],
    },
    {
      url: `${address}/echo`,
      method: 'POST',
      headers: { 'content-type': 'application/xml' },
      body: '<ship><order>{{values.order}}</order></ship>',
      assertions: [
        { source: 'body', operator: 'contains', value: '<order>7&amp;8</order>' },
        { source: 'xml', name: '//order', operator: 'is', value: '7&8' },
      ],
    },
  ]);
  t.is(outcome, 'passed', message);
});
