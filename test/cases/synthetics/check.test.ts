/** Validation of checks: errors have their path, and templates are replaced by values. */
import test from 'ava';
import { CheckFields, listVariables } from '../../../subjects/synthetics/check.ts';
import { findCheckProblems, type ReferenceableNames } from '../../../subjects/synthetics/problems.ts';
import { checkTypes } from '../../../subjects/synthetics/registry.ts';
import {
  computeOneTimeCode,
  renderAll,
  renderText,
  TemplateValueError,
} from '../../../subjects/synthetics/templates.ts';

const known: ReferenceableNames = {
  locations: new Set(['l1', 'l2']),
  variables: new Map<string, readonly string[] | undefined>([
    ['path', undefined],
    ['password', ['shop.example', '*.inner.example']],
  ]),
};

const client = {
  type: 'oauth2',
  tokenUrl: 'https://shop.example/token',
  clientId: 'ann',
  clientSecret: '{{variables.password}}',
};
const step = { url: 'https://shop.example/' };
const httpCheck = (...steps: object[]) => ({ name: 'c', type: 'http', http: { steps } });

const slow = { source: 'vital', name: 'lcp', value: 2500, level: 'degrade' };
const field = { by: 'label', label: 'Password' };
const browserCheck = (...steps: object[]) => ({ name: 'c', type: 'browser', browser: { steps } });
const goto = { action: 'goto', url: 'https://shop.example/' };

const problemsOf = (input: object): string[] => {
  const { data, error } = CheckFields.safeParse(input);
  if (data === undefined) return error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  return findCheckProblems(data, known).map(({ path, message }) => `${path}: ${message}`);
};

test('a valid check has no problems', (t) => {
  const login = {
    method: 'POST',
    url: 'https://shop.example/{{variables.path}}',
    headers: { 'x-request': '{{uuid}}' },
    body: '{"password":"{{variables.password}}","at":"{{time}}"}',
    extract: [
      { as: 'token', source: 'json', path: '$.token' },
      { as: 'csrf', source: 'body', path: 'csrf="(\\w+)"' },
    ],
    assertions: [{ source: 'json', name: '$.token', operator: 'is', value: '{{values.token}}' }],
  };
  const cart = {
    url: 'https://api.inner.example/cart?csrf={{values.csrf}}',
    authentication: { type: 'basic', user: 'ann', password: '{{variables.password}}' },
    headers: { authorization: 'Bearer {{values.token}}' },
  };
  for (const check of [
    { ...httpCheck(login, cart), locations: ['local', 'l1', 'l2'], consensus: { down: 2 } },
    httpCheck({ url: '{{variables.path}}' }),
    // Its secret is sent only to the host of the token endpoint.
    httpCheck({ url: 'https://elsewhere.example/', authentication: client }),
    { name: 'c', type: 'tcp', tcp: { host: 'shop.example', port: 25, send: 'EHLO {{variables.path}}\r\n' } },
    { name: 'c', type: 'tls', tls: { host: '[2001:db8::1]' } },
    { name: 'c', type: 'dns', dns: { name: 'shop.example', server: '192.0.2.53' } },
    { name: 'c', type: 'icmp', icmp: { host: '{{variables.path}}' } },
    { name: 'c', type: 'grpc', grpc: { host: 'shop.example', metadata: { authorization: '{{variables.password}}' } } },
    { name: 'c', type: 'websocket', websocket: { url: 'wss://shop.example/live', send: '{{variables.password}}' } },
    browserCheck(
      { action: 'goto', url: 'https://start.example/', assertions: [{ ...slow, operator: 'lt' }] },
      { action: 'extract', target: field, read: 'value', as: 'id' },
      { action: 'fill', target: field, text: '{{values.id}} {{variables.password}}', host: 'a.inner.example' },
      { action: 'fill', target: field, text: '{{code.password}}' },
      { action: 'press', key: 'Control+Enter' },
      { action: 'expect', read: 'title', operator: 'matches', value: '^Shop' },
    ),
  ])
    t.deepEqual(problemsOf(check), [], JSON.stringify(check));
  t.deepEqual(listVariables(CheckFields.parse(httpCheck(login, cart))), ['path', 'password']);
});

test('an invalid check is rejected with the path of the problem', (t) => {
  const table: readonly (readonly [check: object, problem: RegExp])[] = [
    [httpCheck({ url: 'shop.example' }), /^http\.steps\.0\.url: must begin with http/],
    [httpCheck({ url: 'ftp://shop.example' }), /^http\.steps\.0\.url: must begin with http/],
    [httpCheck({ url: 'https://ann:secret@shop.example' }), /^http\.steps\.0\.url: .*user name/],
    [
      httpCheck({ ...step, authentication: { ...client, clientSecret: 'in clear text' } }),
      /^http\.steps\.0\.authentication\.clientSecret: must be a variable/,
    ],
    [
      httpCheck({ ...step, authentication: { ...client, tokenUrl: 'https://evil.example/' } }),
      /^http\.steps\.0\.authentication\.clientSecret: would send the secret password to evil\.example/,
    ],
    [
      httpCheck({ url: 'https://{{variables.path}}/', authentication: client }),
      /^http\.steps\.0\.url: must contain the literal host, because an access token is sent to it/,
    ],
    [
      httpCheck({ url: 'http://shop.example', clientCertificate: { certificate: 'x', key: '{{variables.password}}' } }),
      /^http\.steps\.0\.clientCertificate: is allowed for https only/,
    ],
    [
      { name: 'c', type: 'icmp', icmp: { host: 'a', assertions: [{ source: 'body', operator: 'exists' }] } },
      /^icmp\.assertions\.0\.source: must be one of loss, duration, phase/,
    ],
    [
      { name: 'c', type: 'grpc', grpc: { host: 'a', tls: false, serverName: 'b' } },
      /^grpc\.serverName: must not be set without TLS/,
    ],
    [
      { name: 'c', type: 'grpc', grpc: { host: 'a', metadata: { 'grpc-timeout': '1S' } } },
      /^grpc\.metadata\.grpc-timeout: is set by the probe/,
    ],
    [{ name: 'c', type: 'websocket', websocket: { url: 'https://a' } }, /^websocket\.url: must begin with ws:/],
    [
      { name: 'c', type: 'websocket', websocket: { url: 'ws://a', headers: { 'Sec-WebSocket-Key': 'x' } } },
      /^websocket\.headers\.Sec-WebSocket-Key: is set by the probe/,
    ],
    [
      { name: 'c', type: 'websocket', websocket: { url: 'ws://evil.example/{{variables.password}}' } },
      /^websocket\.url: would send the secret password to evil\.example/,
    ],
    [browserCheck({ action: 'press', key: 'Enter' }), /^browser\.steps\.0\.action: must be goto in the first step/],
    [browserCheck({ action: 'goto', url: 'file:///etc/passwd' }), /^browser\.steps\.0\.url: must begin with http/],
    [
      browserCheck(goto, { action: 'click', target: { by: 'css', css: 'a >> xpath=//b' } }),
      /^browser\.steps\.1\.target\.css: must be a CSS selector/,
    ],
    [browserCheck(goto, { action: 'run', script: 'x' }), /^browser\.steps\.1\.action: /],
    [browserCheck(goto, { action: 'press', key: 'Enter)' }), /^browser\.steps\.1\.key: must be a key/],
    [
      browserCheck(
        { action: 'goto', url: 'https://evil.example/' },
        { action: 'fill', target: field, text: '{{variables.password}}' },
      ),
      /^browser\.steps\.1\.text: would send the secret password to evil\.example/,
    ],
    [
      browserCheck(goto, { action: 'click', target: { by: 'text', text: '{{variables.password}}' } }),
      /^browser\.steps\.1\.target\.text: would send the secret password to a host that is known only at run time/,
    ],
    [
      browserCheck(goto, { action: 'fill', target: field, text: '{{values.id}}' }),
      /^browser\.steps\.1\.text: uses the value id/,
    ],
    [
      browserCheck(goto, { action: 'expect', target: field, read: 'url', operator: 'is', value: 'x' }),
      /^browser\.steps\.1\.target: must not be set for url/,
    ],
    [
      browserCheck(goto, { action: 'extract', read: 'text', as: 'id' }),
      /^browser\.steps\.1\.target: is required for text/,
    ],
    [
      browserCheck(goto, { action: 'expect', read: 'title', operator: 'matches', value: '(?=a)' }),
      /^browser\.steps\.1\.value: .*RE2/,
    ],
    [
      browserCheck({ ...goto, assertions: [{ ...slow, name: 'inp', operator: 'lt' }] }),
      /^browser\.steps\.0\.assertions\.0\.name: must be one of lcp/,
    ],
    [{ ...browserCheck(goto), every: '30s' }, /^every: must be at least 1m for the type browser/],
    [httpCheck(), /^http\.steps: /],
    [httpCheck({ ...step, headers: { Trailer: 'a' } }), /^http\.steps\.0\.headers\.Trailer: is set by the probe/],
    [
      httpCheck(step, { url: 'https://a.example/{{values.id}}' }),
      /^http\.steps\.1\.url: uses the value id, which no earlier step/,
    ],
    [
      httpCheck({ ...step, body: '{{values.id}}', extract: [{ as: 'id', source: 'header', path: 'etag' }] }),
      /^http\.steps\.0\.body: uses the value id/,
    ],
    [httpCheck({ ...step, body: '{{variables.none}}' }), /^http\.steps\.0\.body: the variable none does not exist/],
    [
      httpCheck({ ...step, body: '{{process.env}}' }),
      /^http\.steps\.0\.body: contains \{\{process\.env\}\}, which is not one of/,
    ],
    [
      httpCheck({ ...step, extract: [{ as: 'id', source: 'json', path: '$[?@ == $.a]' }] }),
      /^http\.steps\.0\.extract\.0\.path: .*in a filter/,
    ],
    [
      httpCheck({ ...step, extract: [{ as: 'id', source: 'body', path: '(a' }] }),
      /^http\.steps\.0\.extract\.0\.path: .*RE2/,
    ],
    [
      httpCheck({ ...step, assertions: [{ source: 'body', operator: 'matches', value: '(?=a)' }] }),
      /^http\.steps\.0\.assertions\.0\.value: .*RE2/,
    ],
    [
      httpCheck({ ...step, assertions: [{ source: 'record', operator: 'exists' }] }),
      /^http\.steps\.0\.assertions\.0\.source: must be one of/,
    ],
    [{ ...httpCheck(step), timeout: '2m', every: '1m' }, /^timeout: must be at most the interval of 1m/],
    [{ ...httpCheck(step), timeout: '1m', retries: { count: 5 } }, /^retries: may take /],
    [{ ...httpCheck(step), every: '5s' }, /^every: must be a duration from 10s/],
    [{ ...httpCheck(step), locations: ['l1', 'l3'] }, /^locations\.1: the location l3 does not exist/],
    [{ ...httpCheck(step), locations: ['l1', 'l1'] }, /^locations\.1: is repeated/],
    [{ ...httpCheck(step), consensus: { down: 2 } }, /^consensus\.down: must be at most 1/],
    [{ name: 'c', type: 'tcp' }, /^tcp: is required/],
    [{ ...httpCheck(step), tcp: { host: 'a', port: 1 } }, /^tcp: must not be set for the type http/],
    [{ name: 'c', type: 'tcp', tcp: { host: 'tcp://a', port: 1 } }, /^tcp\.host: must be a name or an address/],
    [{ name: 'c', type: 'dns', dns: { name: 'a', server: 'ns.example' } }, /^dns\.server: must be an IP address/],
  ];
  for (const [check, problem] of table) {
    const found = problemsOf(check);
    t.is(found.length, 1, found.join('\n'));
    t.regex(found[0] ?? '', problem);
  }
});

test('a secret is sent only to its bound hosts', (t) => {
  const strays = (url: string): boolean =>
    problemsOf(httpCheck({ url, headers: { 'x-key': '{{variables.password}}' } })).some((one) =>
      one.includes('would send the secret password to'),
    );
  const table: readonly (readonly [url: string, isStraying: boolean])[] = [
    ['https://shop.example/', false],
    ['https://SHOP.example:8443/', false],
    ['https://a.inner.example/', false],
    ['https://inner.example/', true],
    ['https://shop.example.evil.example/', true],
    ['https://evil.example/shop.example', true],
    ['https://evil.example\\@shop.example/', true],
    ['https://evil.example#@shop.example/', true],
    ['https://{{variables.path}}/', true],
    ['https://shop.example{{variables.path}}/', true],
    ['{{variables.path}}', true],
  ];
  for (const [url, isStraying] of table) t.is(strays(url), isStraying, url);
  t.true(
    problemsOf({ name: 'c', type: 'tcp', tcp: { host: 'evil.example', port: 1, send: '{{code.password}}' } }).some(
      (one) => one.startsWith('tcp.send: would send the secret password to evil.example'),
    ),
  );
});

test('templates are filled with literal values', (t) => {
  const values = { variables: { a: '{{values.b}}' }, values: { b: 'x' }, nowMs: 1_700_000_000_123 };
  t.is(
    renderText('{{ variables.a }}-{{values.b}}-{{time}}-{{seconds}}', values),
    '{{values.b}}-x-2023-11-14T22:13:20.123Z-1700000000',
  );
  t.not(renderText('{{uuid}}', values), renderText('{{uuid}}', values));
  t.deepEqual(renderAll({ list: [{ text: '{{values.b}}', number: 1, none: null }] }, values), {
    list: [{ text: 'x', number: 1, none: null }],
  });
  for (const text of ['{{values.constructor}}', '{{variables.b}}'])
    t.throws(() => renderText(text, values), { instanceOf: TemplateValueError });
});

test('values are encoded as the place of their template needs it', (t) => {
  const value = `a/b #?&=+%41"'\\ü\n`;
  const path = 'a/b%20%23%3F%26%3D%2B%2541%22%27%5C%C3%BC%0A';
  const query = path.replace('/', '%2F');
  const json = JSON.stringify(value).slice(1, -1);
  const xml = value.replace('&', '&amp;').replace('"', '&quot;').replace("'", '&apos;');
  const form = new URLSearchParams([['', value]]).toString().slice(1);
  const values = {
    variables: {
      v: value,
      cdata: '<&]]>',
      base: 'https://shop.example:81/api',
      link: '/x?y=1&z=2',
      query: 'a=1&b=2',
      n: '5',
    },
    values: {},
    nowMs: 0,
  };
  const table: readonly [object, object][] = [
    [{ url: 'https://shop.example/p/{{variables.v}}/end' }, { url: `https://shop.example/p/${path}/end` }],
    [{ url: 'https://shop.example/{{variables.v}}' }, { url: `https://shop.example/${path}` }],
    [{ url: 'https://shop.example/?k={{variables.v}}&x' }, { url: `https://shop.example/?k=${query}&x` }],
    [{ tokenUrl: 'https://shop.example/{{variables.v}}' }, { tokenUrl: `https://shop.example/${path}` }],
    [{ url: '{{variables.base}}/{{variables.v}}' }, { url: `https://shop.example:81/api/${path}` }],
    [{ url: '{{variables.base}}?k={{variables.v}}' }, { url: `https://shop.example:81/api?k=${query}` }],
    [{ url: 'https://shop.example{{variables.link}}' }, { url: 'https://shop.example/x?y=1&z=2' }],
    [{ url: '{{variables.base}}{{variables.link}}' }, { url: 'https://shop.example:81/api/x?y=1&z=2' }],
    [{ url: 'https://shop.example/?{{variables.query}}' }, { url: 'https://shop.example/?a=1&b=2' }],
    [{ url: 'https://shop.example/?{{variables.query}}&c' }, { url: 'https://shop.example/?a%3D1%26b%3D2&c' }],
    [{ body: '{"a":"x{{variables.v}}","n":{{variables.n}}}' }, { body: `{"a":"x${json}","n":5}` }],
    [{ send: '["\\"{{variables.v}}"]' }, { send: `["\\"${json}"]` }],
    [{ body: '{{variables.v}}' }, { body: value }],
    [{ body: 'not {"json": {{variables.v}}' }, { body: `not {"json": ${value}` }],
    [
      { headers: { 'Content-Type': 'application/x-www-form-urlencoded' }, body: 'a=1&b={{variables.v}}' },
      { headers: { 'Content-Type': 'application/x-www-form-urlencoded' }, body: `a=1&b=${form}` },
    ],
    [
      { headers: { 'Content-Type': 'text/xml; charset=utf-8' }, body: '<a b="{{variables.v}}">{{variables.v}}</a>' },
      { headers: { 'Content-Type': 'text/xml; charset=utf-8' }, body: `<a b="${xml}">${xml}</a>` },
    ],
    [
      { headers: { 'content-type': 'application/soap+xml' }, body: '{{variables.v}}' },
      { headers: { 'content-type': 'application/soap+xml' }, body: value },
    ],
    [{ body: '<?xml version="1.0"?><a>{{variables.v}}</a>' }, { body: `<?xml version="1.0"?><a>${xml}</a>` }],
    [
      { body: '<?xml version="1.0"?><a><![CDATA[x{{variables.cdata}}]]>{{variables.n}}</a>' },
      { body: '<?xml version="1.0"?><a><![CDATA[x<&]]]]><![CDATA[>]]>5</a>' },
    ],
    [{ body: '<p>{{variables.v}}' }, { body: `<p>${value}` }],
    [{ headers: { url: 'https://x/{{variables.v}}' } }, { headers: { url: `https://x/${value}` } }],
  ];
  for (const [written, expected] of table) t.deepEqual(renderAll(written, values), expected);
  t.is(decodeURIComponent(path), value);
});

test('one-time codes follow RFC 6238', (t) => {
  const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
  for (const [seconds, code] of [
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_234_567_890, '005924'],
    [20_000_000_000, '353130'],
  ] as const)
    t.is(computeOneTimeCode(secret, seconds * 1000), code);
});

test('each type has its own settings, phases and summary', (t) => {
  t.deepEqual(
    checkTypes.map(({ type }) => type),
    ['http', 'tcp', 'tls', 'dns', 'icmp', 'grpc', 'websocket', 'browser', 'heartbeat'],
  );
  for (const { name, summary, phases, isPassive = false } of checkTypes)
    t.true(name !== '' && summary.endsWith('.') && phases.length > 0 !== isPassive);
});
