/** The files of the page as served. */
import { gunzipSync, gzipSync } from 'node:zlib';
import test from 'ava';
import { openPage } from '../../web/index.ts';
import { type Harness, startHarness } from './api-harness.ts';

let harness: Harness;
test.before(async () => {
  harness = await startHarness();
});
test.after.always(() => harness?.close());

const asNobody = { as: 'nobody' } as const;

test('the document is revalidated each time, and allows only resources served from this site', async (t) => {
  const { headers, body } = await harness.request('GET', '/logs', asNobody);
  t.is(headers.get('cache-control'), 'no-store');
  const policy = headers.get('content-security-policy') ?? '';
  for (const part of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'"])
    t.true(policy.includes(part), part);
  t.true(policy.includes("require-trusted-types-for 'script'; trusted-types 'none'"));
  t.notRegex(policy, /unsafe|https?:|\*/);
  t.deepEqual(
    [...String(body).matchAll(/<script[^>]*>/g)].map(([tag]) => tag.replace(/-\w+\.js/, '')),
    ['<script type="module" src="/assets/main">', '<script type="application/json" id="restrictions">'],
  );
});

test('each file may be cached forever, in the encoding that the client accepts, and an unknown name is 404', async (t) => {
  const { files } = await openPage();
  t.true(files.size > 2);
  for (const [name, { content, contentType }] of files) {
    const headers = { 'accept-encoding': 'identity' };
    const response = await harness.request('GET', `/assets/${name}`, { ...asNobody, headers });
    t.is(response.headers.get('cache-control'), 'public, max-age=31536000, immutable');
    t.is(response.headers.get('content-type'), contentType);
    t.is(response.body, gunzipSync(content).toString());
    const compressed = await harness.request('GET', `/assets/${name}`, {
      ...asNobody,
      headers: { 'accept-encoding': 'gzip' },
    });
    t.is(compressed.headers.get('content-encoding'), 'gzip');
    t.is(compressed.body, response.body);
  }
  for (const name of ['main-AAAAAAAA.js', '', '..%2f..%2fpackage.json', 'built.json']) {
    const missing = await harness.request('GET', `/assets/${name}`, asNobody);
    t.is(missing.status, 404, name);
    t.is(missing.headers.get('cache-control'), 'no-store');
  }
});

/** Names of the files that a file loads before it runs. */
const loadedWith = (content: Buffer): string[] =>
  [
    ...gunzipSync(content)
      .toString()
      .matchAll(/(?:from|import)"\.\/([^"]+)"/g),
  ].map(([, name = '']) => name);

test('the page takes at most 120 kB up to the first log rows, 60 kB per later part, 160 kB for the PromQL editor, and 900 kB in total', async (t) => {
  const { files } = await openPage();
  /** A file and all files that it loads before it runs. */
  const whole = (name: string, seen = new Set<string>()): ReadonlySet<string> => {
    if (seen.has(name)) return seen;
    seen.add(name);
    for (const next of loadedWith(files.get(name)?.content ?? Buffer.from(gzipSync('')))) whole(next, seen);
    return seen;
  };
  const sizeOf = (names: Iterable<string>): number =>
    [...names].reduce((sum, name) => sum + (files.get(name)?.content.length ?? 0), 0);
  const fileNamed = (word: string): string => [...files.keys()].find((name) => name.startsWith(`${word}-`)) ?? '';
  const first = whole(fileNamed('main'));
  const logs = new Set([...first, ...whole(fileNamed('logs'))]);
  t.true(sizeOf([...logs, fileNamed('page')]) <= 120_000);
  const later = [...files.keys()].filter((name) => name.endsWith('.js') && !first.has(name));
  const sizes = later.map((name) => [name, sizeOf([...whole(name)].filter((one) => !first.has(one)))] as const);
  t.true(sizes.length > 10);
  const tooLarge = sizes.filter(([name, size]) => size > (name.startsWith('promql-editor-') ? 160_000 : 60_000));
  t.deepEqual(tooLarge, []);
  t.true(sizeOf(files.keys()) <= 900_000);
  t.log({ logs: sizeOf([...logs, fileNamed('page')]), all: sizeOf(files.keys()), ...Object.fromEntries(sizes) });
});
