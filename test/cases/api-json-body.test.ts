/** Which JSON bodies the management API accepts. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import { toApiError } from '../../api/errors.ts';
import { readJson } from '../../api/kernel/json-body.ts';

const cap = 100_000;
const server = createServer((request, response) => {
  readJson(request, cap, 10_000).then(
    (value) => response.end(JSON.stringify(value)),
    (error: unknown) => {
      const { status, message, details = [] } = toApiError(error);
      response.writeHead(status, { connection: 'close' }).end(`${details[0]?.path}: ${message}`);
    },
  );
});
let url = '';
test.before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
test.after.always(() => server.close());

const cases: readonly (readonly [title: string, body: string | Buffer, status: number, says: RegExp])[] = [
  ['an object is read', '{"a":[1,"\\u00e9"]}', 200, /^\{"a":\[1,"é"\]\}$/],
  ['a pair of surrogates is a character', '{"a":"\\ud83d\\ude00"}', 200, /😀/],
  ['half of a surrogate pair in a value is refused', '{"a":["\\ud800x"]}', 400, /a lone surrogate/],
  ['half of a surrogate pair in a name is refused', '{"\\udc00":1}', 400, /a lone surrogate/],
  ['bytes that are not UTF-8 are refused', Buffer.from([0x22, 0xff, 0x22]), 400, /not JSON/],
  ['64 levels are read', '['.repeat(64) + ']'.repeat(64), 200, /^\[/],
  ['65 levels are refused', '['.repeat(65) + ']'.repeat(65), 400, /nested deeper than 64/],
  [
    'the position of the excessive depth is reported',
    `{"a":[1,{"b":2},"x,:{"],"panels":[{},{"c":[],"d":${'['.repeat(62)}1${']'.repeat(62)}}]}`,
    400,
    /^panels\.1\.d(?:\.0){61}: the body is nested/,
  ],
  ['brackets in a text are no levels', JSON.stringify('['.repeat(100)), 200, /\[/],
  ['10,001 elements are refused', JSON.stringify(Array(10_001).fill(0)), 400, /more than 10000 elements/],
  ['`__proto__` is refused', '{"a":{"__proto__":{"x":1}}}', 400, /not a known field/],
  ['a body above the cap is refused', `"${'x'.repeat(cap)}"`, 413, /larger than 100000 bytes/],
  ['half a document is refused', '{"a":', 400, /not JSON/],
];

for (const [title, body, status, expected] of cases)
  test(title, async (t) => {
    const response = await fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
    t.is(response.status, status);
    t.regex(await response.text(), expected);
  });

test('another content type and a content encoding are rejected', async (t) => {
  for (const headers of [
    { 'content-type': 'text/plain' },
    { 'content-type': 'application/json', 'content-encoding': 'gzip' },
  ]) {
    const response = await fetch(url, { method: 'POST', body: '{}', headers: { ...headers } });
    t.is(response.status, 415);
    await response.text();
  }
});
