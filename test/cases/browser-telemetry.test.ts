/** What is published from browser telemetry: texts without personal data, of one application, from allowed origins. */
import test from 'ava';
import fc from 'fast-check';
import { requireFormat } from '../../receivers/registry.ts';
import { type BrowserPrivacy, defaultBrowserPrivacy } from '../../schemas/browser-privacy.ts';
import { PermanentError } from '../../schemas/errors.ts';
import { convertJsonRequest } from '../../schemas/otlp/json.ts';
import { rewriteRequest } from '../../schemas/otlp/rewrite.ts';
import { createOriginTest, isOriginPattern } from '../../schemas/web-origin.ts';
import { requestTypes } from './proto/load.ts';

interface Value {
  readonly stringValue?: string;
  readonly kvlistValue?: { readonly values?: readonly Pair[] };
  readonly arrayValue?: { readonly values?: readonly Value[] };
}
interface Pair {
  readonly key: string;
  readonly value?: Value;
}
interface LogsRequest {
  readonly resourceLogs: readonly {
    readonly resource?: { readonly attributes?: readonly Pair[] };
    readonly scopeLogs: readonly { readonly logRecords: readonly { body?: Value; attributes?: readonly Pair[] }[] }[];
  }[];
}

const decode = (body: Buffer): LogsRequest =>
  requestTypes.logs.toObject(requestTypes.logs.decode(body), { longs: String, bytes: String }) as LogsRequest;

const toPlain = ({ stringValue, kvlistValue, arrayValue }: Value = {}): unknown => {
  if (kvlistValue !== undefined) return toObject(kvlistValue.values);
  return arrayValue === undefined ? stringValue : (arrayValue.values ?? []).map(toPlain);
};
const toObject = (pairs: readonly Pair[] = []): Record<string, unknown> =>
  Object.fromEntries(pairs.map(({ key, value }) => [key, toPlain(value)]));

const toValue = (value: unknown): unknown => {
  if (typeof value === 'string') return { stringValue: value };
  if (Array.isArray(value)) return { arrayValue: { values: value.map(toValue) } };
  return { kvlistValue: { values: toPairs(value as Record<string, unknown>) } };
};
const toPairs = (object: Record<string, unknown>): unknown[] =>
  Object.entries(object).map(([key, value]) => ({ key, value: toValue(value) }));

const application = 'shop-web';

/** An export request with one record. */
const buildRequest = (
  { body, attributes = {} }: { body?: unknown; attributes?: Record<string, unknown> },
  resource: Record<string, unknown> | undefined = { 'service.name': application },
): Buffer =>
  Buffer.from(
    JSON.stringify({
      resourceLogs: [
        {
          ...(resource !== undefined && { resource: { attributes: toPairs(resource) } }),
          scopeLogs: [
            {
              logRecords: [
                {
                  timeUnixNano: '1700000000000000000',
                  ...(body !== undefined && { body: toValue(body) }),
                  attributes: toPairs(attributes),
                },
              ],
            },
          ],
        },
      ],
    }),
  );

const translate = (request: Buffer, privacy: Partial<BrowserPrivacy> = {}): LogsRequest => {
  const browser = { application, privacy: { ...defaultBrowserPrivacy, ...privacy } };
  const fromJson = requireFormat('browser-otlp-json').translate?.(request, 'logs', undefined, browser).body;
  const protobuf = convertJsonRequest('logs', request);
  const fromProtobuf = requireFormat('browser-otlp-protobuf').translate?.(protobuf, 'logs', undefined, browser).body;
  if (fromJson === undefined || fromProtobuf === undefined || !fromJson.equals(fromProtobuf))
    throw new Error('the two formats have different results');
  return decode(fromJson);
};

const getRecord = ({ resourceLogs }: LogsRequest) => {
  const record = resourceLogs[0]?.scopeLogs[0]?.logRecords[0];
  return { body: toPlain(record?.body), attributes: toObject(record?.attributes) };
};

const texts: readonly (readonly [title: string, text: string, published: string])[] = [
  ['a query', 'GET https://shop.example.com/cart?token=abc&step=2 failed', 'GET https://shop.example.com/cart failed'],
  ['a query without a value', 'https://a.example/x?abc&def', 'https://a.example/x'],
  ['a query after a path', 'open /reset?code=123456 now', 'open /reset now'],
  ['a query in quotes', 'fetch("/api/me?session=s3cret")', 'fetch("/api/me")'],
  ['several queries', '/a?x=1 /b?y=2', '/a /b'],
  ['a question', 'really? yes = no', 'really? yes = no'],
  ['a ternary in code', 'a ? b : c', 'a ? b : c'],
  ['a URL fragment', 'at https://a.example/app#access_token=abc', 'at https://a.example/app'],
  ['a number sign without a URL', 'issue #12 of C#', 'issue #12 of C#'],
  ['credentials', 'wss://ann:pa55@a.example/socket', 'wss://a.example/socket'],
  ['an email address', 'no account for ann.lee+x@mail.example.com', 'no account for [email]'],
  ['an encoded email address', 'path /users/ann%40example.com/edit', 'path /users/[email]/edit'],
  ['an email address of another script', 'для анна@пример.рф', 'для [email]'],
  ['a stack', 'Error: x\n at f (https://a.example/app.js?v=1:10:5)', 'Error: x\n at f (https://a.example/app.js:10:5)'],
  ['a handle', '@ann said hi', '@ann said hi'],
  ['a package', 'node_modules/@scope/name@1.2.3/index.js', 'node_modules/@scope/name@1.2.3/index.js'],
];

for (const [title, text, published] of texts)
  test(`text with ${title} is published without personal data, wherever the text is`, (t) => {
    const record = getRecord(
      translate(
        buildRequest({
          body: { message: text, list: [text] },
          attributes: { 'exception.message': text, nested: { deep: [text] } },
        }),
      ),
    );
    t.deepEqual(record, {
      body: { message: published, list: [published] },
      attributes: { 'exception.message': published, nested: { deep: [published] } },
    });
    t.is(getRecord(translate(buildRequest({ body: text }))).body, published);
  });

test('attributes of recordings in other log records are refused, and the refused body is stored nowhere', (t) => {
  const request = buildRequest({ body: '{"type":5', attributes: { 'rr-web.chunk': '1' } });
  const error = t.throws(() => translate(request), { instanceOf: PermanentError, message: /\/rum\/\{key\}\/replay/ });
  for (const name of ['browser-otlp-json', 'browser-otlp-protobuf']) {
    t.true(requireFormat(name).isSensitive?.(error));
    t.false(requireFormat(name).isSensitive?.(new PermanentError('malformed', 'no JSON')));
  }
});

test('parameters that the project allows stay in URLs, also if their names are encoded', (t) => {
  const url = 'https://a.example/search?q=shoes&token=abc&page%5Bno%5D=2#top';
  const privacy = { queryParameters: ['q', 'page[no]'] };
  const { attributes } = getRecord(
    translate(
      buildRequest({ attributes: { 'url.full': url, 'url.query': 'token=1&q=hat', 'url.fragment': 'a=b' } }),
      privacy,
    ),
  );
  t.deepEqual(attributes, {
    'url.full': 'https://a.example/search?q=shoes&page%5Bno%5D=2',
    'url.query': 'q=hat',
    'url.fragment': '',
  });
});

test('addresses of clients, names and email addresses of users are removed, and ids stay', (t) => {
  const attributes = {
    'client.address': '203.0.113.7',
    'user.id': 'u-17',
    'user.name': 'Ann Lee',
    'user.email': 'ann@example.com',
    user: { name: 'Ann Lee', id: 'u-17', email: 'ann@example.com' },
  };
  const request = buildRequest({ body: { user: { name: 'Ann' } }, attributes });
  t.deepEqual(getRecord(translate(request)), {
    body: { user: {} },
    attributes: { 'user.id': 'u-17', user: { id: 'u-17' } },
  });
  const privacy = { storesUserNames: true, storesEmailAddresses: true };
  const { 'client.address': _, ...stored } = attributes;
  t.deepEqual(getRecord(translate(request, privacy)).attributes, stored);
});

test('a request that names another service is refused, and a resource without a service gets that of the key', (t) => {
  const foreign = buildRequest({ body: 'x' }, { 'service.name': 'payments' });
  const error = t.throws(() => translate(foreign), { instanceOf: PermanentError });
  t.is((error as PermanentError).reason, 'foreign-service');
  t.regex(error?.message ?? '', /payments.*shop-web/);
  for (const resource of [{ 'browser.language': 'de' }, undefined]) {
    const [first] = translate(buildRequest({ body: 'x' }, resource)).resourceLogs;
    t.deepEqual(toObject(first?.resource?.attributes), {
      ...resource,
      'service.name': application,
      'telemetry.sdk.language': 'webjs',
    });
  }
});

test('a rewriter that changes nothing leaves the request as it was', (t) => {
  const text = fc.string({ unit: 'binary' }).map((value) => value.toWellFormed());
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 3 },
      text,
      fc.array(tie('any'), { maxLength: 3 }),
      fc.dictionary(text, tie('any'), { maxKeys: 3 }),
    ),
  })).any;
  fc.assert(
    fc.property(value, fc.dictionary(text, value, { maxKeys: 4 }), (body, attributes) => {
      const request = convertJsonRequest('logs', buildRequest({ body, attributes }));
      const { body: copy, records } = rewriteRequest('logs', request, {
        removes: () => false,
        rewrite: (unchanged) => unchanged,
      });
      t.is(records, 1);
      t.true(copy.equals(request));
    }),
  );
});

test('malformed requests are refused with a position, and never loop', (t) => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      try {
        rewriteRequest('logs', bytes, { removes: () => false, rewrite: (unchanged) => unchanged });
      } catch (error) {
        if (!(error instanceof PermanentError)) throw error;
      }
    }),
  );
  t.pass();
});

test('fields that OTLP does not have are dropped, because they can contain anything', (t) => {
  const secret = Buffer.from('ann@example.com');
  const unknown = Buffer.concat([Buffer.from([0xfa, 0x07, secret.length]), secret]);
  const request = Buffer.concat([convertJsonRequest('logs', buildRequest({ body: 'x' })), unknown]);
  const { body } = rewriteRequest('logs', request, { removes: () => false, rewrite: (text) => text });
  t.false(body.includes(secret));
});

const patterns: readonly (readonly [pattern: string, isValid: boolean])[] = [
  ['https://shop.example.com', true],
  ['https://shop.example.com:8443', true],
  ['https://*.example.com', true],
  ['http://localhost:3000', true],
  ['http://[::1]:3000', true],
  ['http://shop.example.com', false],
  ['https://*.com', false],
  ['https://*', false],
  ['*', false],
  ['https://shop.example.com/', false],
  ['https://Shop.example.com', false],
  ['https://ann@example.com', false],
  ['https://a.*.example.com', false],
  ['null', false],
];
for (const [pattern, isValid] of patterns)
  test(`${pattern} is ${isValid ? 'an' : 'no'} origin of a key`, (t) => t.is(isOriginPattern(pattern), isValid));

test('a wildcard allows all subdomains, and neither the domain itself nor one that only ends alike', (t) => {
  const isAllowed = createOriginTest(['https://*.example.com', 'https://other.test:8443']);
  const allowed = ['https://a.example.com', 'https://a.b.example.com', 'https://other.test:8443'];
  const refused = [
    'https://example.com',
    'https://evilexample.com',
    'https://a.example.com.evil.test',
    'http://a.example.com',
    'https://a.example.com:444',
    'https://other.test',
    'null',
  ];
  t.deepEqual([...allowed, ...refused].filter(isAllowed), allowed);
});
