/** The files of the page as they are served. */
import { gunzipSync } from 'node:zlib';
import test from 'ava';
import { openPage } from '../../web/index.ts';
import { type Harness, startHarness } from './api-harness.ts';

let harness: Harness;
test.before(async () => {
  harness = await startHarness();
});
test.after.always(() => harness?.close());

const asNobody = { as: 'nobody' } as const;

test('the document is asked for each time, and lets nothing in but what is served from this site', async (t) => {
  const { headers, body } = await harness.ask('GET', '/logs', asNobody);
  t.is(headers.get('cache-control'), 'no-store');
  const policy = headers.get('content-security-policy') ?? '';
  for (const part of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'"])
    t.true(policy.includes(part), part);
  t.true(policy.includes("require-trusted-types-for 'script'; trusted-types 'none'"));
  t.notRegex(policy, /unsafe|https?:|\*/);
  t.deepEqual(
    [...String(body).matchAll(/<script[^>]*>/g)].map(([tag]) => tag.replace(/-\w+\.js/, '')),
    ['<script type="module" src="/assets/main">'],
  );
});

test('each file may be kept for ever, in the form that the client takes, and a name that there is not is 404', async (t) => {
  const { files } = await openPage();
  t.true(files.size > 2);
  for (const [name, { content, contentType }] of files) {
    const headers = { 'accept-encoding': 'identity' };
    const answer = await harness.ask('GET', `/assets/${name}`, { ...asNobody, headers });
    t.is(answer.headers.get('cache-control'), 'public, max-age=31536000, immutable');
    t.is(answer.headers.get('content-type'), contentType);
    t.is(answer.body, gunzipSync(content).toString());
    const compressed = await harness.ask('GET', `/assets/${name}`, {
      ...asNobody,
      headers: { 'accept-encoding': 'gzip' },
    });
    t.is(compressed.headers.get('content-encoding'), 'gzip');
    t.is(compressed.body, answer.body);
  }
  for (const name of ['main-AAAAAAAA.js', '', '..%2f..%2fpackage.json', 'built.json']) {
    const missing = await harness.ask('GET', `/assets/${name}`, asNobody);
    t.is(missing.status, 404, name);
    t.is(missing.headers.get('cache-control'), 'no-store');
  }
});

test('up to the first rows of logs the page takes 80 kB at most, and 450 kB in all', async (t) => {
  const { files } = await openPage();
  const sizes = [...files].map(([name, { content }]) => [name.split('-')[0], content.length] as const);
  const of = (names: readonly string[]): number =>
    sizes.filter(([name = '']) => names.includes(name)).reduce((sum, [, size]) => sum + size, 0);
  t.true(of(['main', 'page', 'chunk', 'logs']) <= 80_000);
  t.true(sizes.reduce((sum, [, size]) => sum + size, 0) <= 450_000);
  t.log(Object.fromEntries(sizes));
});
