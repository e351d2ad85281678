/** Which heads are plain. All others are for a parser that knows every form there is, and how to refuse it. */
import test from 'ava';
import { plainHead } from '../../receivers/engine/plain-head.ts';

const lines = (...all: string[]): string => `${all.join('\r\n')}\r\n\r\n`;
const head = (...fields: string[]): string => lines('POST /v1/logs HTTP/1.1', ...fields);
/** With all that a head must have. */
const withField = (...fields: string[]): string => head('Host: a', ...fields, 'Content-Length: 5');
const parsed = (text: string, from = 0) => plainHead(Buffer.from(text, 'latin1'), from);
const ofBytes = (bytes: number): string => {
  const without = withField('X: ').length;
  return withField(`X: ${'y'.repeat(bytes - without)}`);
};
const most = 16 * 1024 + 4;

const plain: readonly [title: string, text: string, headers?: Record<string, string>][] = [
  ['as senders send it', withField('Content-Type: application/json'), { 'content-type': 'application/json' }],
  ['without a space behind the colon', withField('A:b'), { a: 'b' }],
  ['with spaces around a value', withField('A: \t  b c  '), { a: 'b c' }],
  ['with an empty value', withField('A:', 'B: ', 'C: \t '), { a: '', b: '', c: '' }],
  ['with colons and quotes in a value', withField('A: :b:"c"; d=\\'), { a: ':b:"c"; d=\\' }],
  ['with names in any case', withField('x-LICENSE-key: K'), { 'x-license-key': 'K' }],
  ['with every letter that a name may have', withField("!#$%&'*+-.^_`|~09azAZ: b"), { "!#$%&'*+-.^_`|~09azaz": 'b' }],
  ['with names that objects have', withField('__proto__: a', 'constructor: b', 'toString: c'), { tostring: 'c' }],
  ['with Connection: keep-alive', withField('Connection: Keep-Alive'), { connection: 'Keep-Alive' }],
  ['with headers that say nothing about the body', withField('TE: trailers', 'Keep-Alive: timeout=5'), {}],
  ['with an empty Host', head('Host:', 'Content-Length: 5'), { host: '' }],
  ['with zeros before the length', head('Host: a', 'Content-Length: 0005'), {}],
  ['as large as it may be', ofBytes(most), {}],
];

for (const [title, text, headers = {}] of plain)
  test(`a head is plain ${title}`, (t) => {
    const found = parsed(text);
    t.like(found, { target: '/v1/logs', contentLength: 5, end: text.length });
    for (const [name, value] of Object.entries(headers)) t.is(found?.headers[name], value, name);
    t.is(Object.getPrototypeOf(found?.headers), null);
  });

test('a length is what the digits say', (t) => {
  for (const length of [0, 1, 9, 10, 65_536, 999_999_999])
    t.is(parsed(head('Host: a', `Content-Length: ${length}`))?.contentLength, length);
});

test('a head is read where it begins, and its end is where the body begins', (t) => {
  const before = 'x'.repeat(10);
  const text = withField();
  const behind = 'a body\r\n\r\n';
  t.like(parsed(before + text + behind, 10), { contentLength: 5, end: 10 + text.length });
  t.is(parsed(before + text + behind), undefined);
});

test('names are told in lower case however many there were before', (t) => {
  for (let n = 0; n < 1_000; n++) t.is(parsed(withField(`X-Name-${n}: ${n}`))?.headers[`x-name-${n}`], String(n));
});

test('every target of visible characters is told as it came', (t) => {
  for (const target of ['/', '/v1/logs?a=b', '/v1/logs#a', '//v1/logs', '/v1/%6cogs', '/v1/../v1/logs', '/v1/logs\\'])
    t.is(parsed(lines(`POST ${target} HTTP/1.1`, 'Host: a', 'Content-Length: 5'))?.target, target);
});

const firstLine = (line: string): string => lines(line, 'Host: a', 'Content-Length: 5');
const length = (...values: string[]): string => head('Host: a', ...values.map((value) => `Content-Length: ${value}`));

const notPlain: readonly [title: string, text: string][] = [
  ['only the end of a head', '\r\n\r\n'],
  ['an empty line before it', `\r\n${withField()}`],
  ['another method', firstLine('PUT /v1/logs HTTP/1.1')],
  ['a method in lower case', firstLine('post /v1/logs HTTP/1.1')],
  ['a method with more behind it', firstLine('POSTS /v1/logs HTTP/1.1')],
  ['a space before the method', firstLine(' POST /v1/logs HTTP/1.1')],
  ['two spaces in the first line', firstLine('POST  /v1/logs HTTP/1.1')],
  ['a tab in the first line', firstLine('POST\t/v1/logs HTTP/1.1')],
  ['a space behind the version', firstLine('POST /v1/logs HTTP/1.1 ')],
  ['a target of another form', firstLine('POST http://a/v1/logs HTTP/1.1')],
  ['an asterisk for a target', firstLine('POST * HTTP/1.1')],
  ['an authority for a target', firstLine('POST a:80 HTTP/1.1')],
  ['no target', firstLine('POST HTTP/1.1')],
  ['a space in the target', firstLine('POST /v1/ logs HTTP/1.1')],
  ['a control character in the target', firstLine('POST /v1/\x01logs HTTP/1.1')],
  ['DEL in the target', firstLine('POST /v1/\x7flogs HTTP/1.1')],
  ['a byte above 0x7e in the target', firstLine('POST /v1/\xe9 HTTP/1.1')],
  ['HTTP/1.0', firstLine('POST /v1/logs HTTP/1.0')],
  ['HTTP/1.2', firstLine('POST /v1/logs HTTP/1.2')],
  ['HTTP/2.0', firstLine('POST /v1/logs HTTP/2.0')],
  ['HTTP/0.9', firstLine('POST /v1/logs')],
  ['http in lower case', firstLine('POST /v1/logs http/1.1')],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['a hello of TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n'],
  ['only bare LF', withField().replaceAll('\r\n', '\n')],
  ['a bare LF behind the first line', withField().replace('\r\n', '\n')],
  ['a bare LF between headers', withField('A: b\nC: d')],
  ['a bare CR between headers', withField('A: b\rC: d')],
  ['a CR more before the end of a line', withField('A: b\r')],
  ['LF LF before the end', `${withField('A: b\n\nPOST / HTTP/1.1')}`],
  ['a folded value', withField('A: b', ' c')],
  ['a folded value with a tab', withField('A: b', '\tc')],
  ['a folded first header', head(' Host: a', 'Content-Length: 5')],
  ['a space before the colon', withField('A : b')],
  ['a tab before the colon', withField('A\t: b')],
  ['a space before the colon of the length', head('Host: a', 'Content-Length : 5')],
  ['an empty name', withField(': b')],
  ['no colon', withField('A')],
  ['a space in a name', withField('A b: c')],
  ['a NUL in a name', withField('A\0: b')],
  ['a byte above 0x7e in a name', withField('\xc4: b')],
  ['a parenthesis in a name', withField('A(b): c')],
  ['a tab in a value', withField('A: b\tc')],
  ['a tab behind a value', withField('A: b\t')],
  ['a NUL in a value', withField('A: b\0c')],
  ['an escape in a value', withField('A: b\x1b')],
  ['DEL in a value', withField('A: \x7f')],
  ['Latin 1 in a value', withField('A: \xe9')],
  ['Latin 1 in the middle of a value', withField('A: b\xe9c')],
  ['DEL in the middle of a value', withField('A: b\x7fc')],
  ['UTF-8 in a value', withField('A: \xc3\xa9')],
  ['a header twice', withField('A: b', 'a: b')],
  ['an empty header twice', withField('A:', 'A:')],
  ['two hosts', withField('Host: a')],
  ['no host', head('Content-Length: 5')],
  ['no length', head('Host: a')],
  ['two lengths that agree', length('5', '5')],
  ['two lengths that differ', length('5', '6')],
  ['two lengths in one header', length('5, 5')],
  ['an empty length', length('')],
  ['a length with a sign', length('+5')],
  ['a negative length', length('-5')],
  ['a length in hexadecimal', length('0x5')],
  ['a length with a fraction', length('5.0')],
  ['a length with an exponent', length('1e1')],
  ['a length with a space', length('1 0')],
  ['a length in quotes', length('"5"')],
  ['a length with an underscore', length('1_0')],
  ['a length of ten digits', length('1000000000')],
  ['a length of twenty digits', length('18446744073709551621')],
  ['Transfer-Encoding alone', head('Host: a', 'Transfer-Encoding: chunked')],
  ['Transfer-Encoding beside a length', withField('Transfer-Encoding: chunked')],
  ['an unknown Transfer-Encoding', withField('transfer-ENCODING: identity')],
  ['an empty Transfer-Encoding', withField('Transfer-Encoding:')],
  ['Expect', withField('Expect: 100-continue')],
  ['Upgrade', withField('Upgrade: h2c')],
  ['Trailer', withField('Trailer: A')],
  ['Proxy-Connection', withField('Proxy-Connection: close')],
  ['Connection: close', withField('Connection: close')],
  ['Connection: Upgrade', withField('Connection: Upgrade')],
  ['an empty Connection', withField('Connection:')],
  ['a Connection of two tokens', withField('Connection: keep-alive, Content-Length')],
  ['a byte more than it may have', ofBytes(most + 1)],
  ['a name without end', withField(`${'A'.repeat(most)}: b`)],
];

for (const [title, text] of notPlain)
  test(`a head is not plain with ${title}`, (t) => {
    t.is(parsed(text), undefined);
    t.is(parsed(`${text}${withField()}`), undefined, 'nor with a plain one behind it');
  });

test('a head is not plain until its last byte is there', (t) => {
  const text = withField('Content-Type: application/json');
  for (let cut = 0; cut < text.length; cut++) t.is(parsed(text.slice(0, cut)), undefined, `${cut} bytes`);
  t.not(parsed(text), undefined);
});

test('each byte in each place is either plain or not, and says so without an error', (t) => {
  const text = withField('A: b');
  for (let at = 0; at < text.length; at++)
    for (let byte = 0; byte < 256; byte++) {
      const found = parsed(text.slice(0, at) + String.fromCharCode(byte) + text.slice(at + 1));
      if (found !== undefined) t.regex(found.target, /^\/[\x21-\x7e]*$/);
    }
});

/** CPU time, since the machine may have others to work for. */
const cpuMs = (work: () => void): number => {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
};

test('no head of 16 KiB takes long to read, whatever it is full of', (t) => {
  const room = most - withField('A: ').length - 1;
  const hostile = [
    `A:${' '.repeat(room)}\x01`,
    `A:${'\t '.repeat(room / 2)}\x01`,
    `A: ${'b'.repeat(room)}\x01`,
    `A: b${' '.repeat(room - 1)}\x01`,
    `A: ${'b '.repeat(room / 2)}\x01`,
    `${'A'.repeat(room)}\x01: b`,
    Array.from({ length: room / 8 }, (_, n) => `${n.toString(36).padStart(4, 'x')}:`).join('\r\n'),
  ];
  for (const text of hostile) {
    let least = Number.POSITIVE_INFINITY;
    for (let attempt = 0; attempt < 5; attempt++)
      least = Math.min(
        least,
        cpuMs(() => parsed(withField(text))),
      );
    t.true(least < 25, `${least.toFixed(1)} ms for ${JSON.stringify(text.slice(0, 10))}`);
  }
});
