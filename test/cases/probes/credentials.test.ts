/** Access tokens and client certificates: they open what they are for, and are shown to nobody else. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import test, { type ExecutionContext } from 'ava';
import { runHttp, serveHttp } from './targets.ts';

const clientSecret = 'cl1ent s3cret+/';
const token = 't0ken-of-the-run';

interface TokenRequest {
  readonly authorization: string | undefined;
  readonly form: URLSearchParams;
}

/** Gives the token for the right secret. */
const serveTokens = async (
  t: ExecutionContext,
): Promise<{ readonly port: number; readonly requests: TokenRequest[] }> => {
  const requests: TokenRequest[] = [];
  const port = await serveHttp(t, async (request, answer) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const form = new URLSearchParams(body);
    const { authorization } = request.headers;
    requests.push({ authorization, form });
    const pair =
      Buffer.from(authorization?.slice(6) ?? '', 'base64')
        .toString()
        .split(':')[1] ?? '';
    const given = form.get('client_secret') ?? decodeURIComponent(pair.replaceAll('+', ' '));
    const isRight = given === clientSecret;
    answer.writeHead(isRight ? 200 : 401, { 'content-type': 'application/json' });
    const refusal = { error: 'invalid_client', error_description: `not ${given}` };
    answer.end(JSON.stringify(isRight ? { access_token: token, token_type: 'Bearer', expires_in: 60 } : refusal));
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
  const port = await serveHttp(t, ({ headers }, answer) => {
    brought.push(headers.authorization);
    answer.end('ok');
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
  const port = await serveHttp(t, ({ headers }, answer) => answer.writeHead(500).end(headers.authorization));
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
  const evil = await serveHttp(t, ({ headers }, answer) => {
    brought.push(headers.authorization);
    answer.end('ok');
  });
  const port = await serveHttp(t, (_, answer) => {
    answer.writeHead(302, { location: `http://evil.example:${evil}/` }).end();
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
    const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '9'];
    execFileSync('openssl', [...made, ...files], { cwd: directory, stdio: 'ignore' });
    return {
      key: readFileSync(join(directory, `${name}.key`), 'utf8'),
      cert: readFileSync(join(directory, `${name}.pem`), 'utf8'),
    };
  };
  const client = make('probe');
  const seen: (string | undefined)[] = [];
  const serve = async (location: string): Promise<number> => {
    const trusting = { ...make('shop.example'), ca: client.cert, requestCert: true, rejectUnauthorized: false };
    const server = createServer(trusting, (request, answer) => {
      seen.push(String((request.socket as TLSSocket).getPeerCertificate().subject?.CN));
      answer.writeHead(location === '' ? 200 : 302, location === '' ? {} : { location }).end('ok');
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
