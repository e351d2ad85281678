/** Pages load nothing from other origins, run only their own scripts and styles, and never render data as markup. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import test from 'ava';
import { type Harness, startHarness } from '../end-to-end/api-harness.ts';

let harness: Harness;
test.before(async () => {
  harness = await startHarness();
});
test.after.always(() => harness?.close());

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

for (const [method, path] of [
  ['GET', '/login'],
  ['GET', '/accept-invite'],
  ['GET', '/reset-password'],
  ['GET', '/acknowledge'],
  ['GET', '/forgot-password'],
  ['GET', '/api/docs'],
  ['POST', '/anything'],
] as const)
  test(`${method} ${path} allows its own script and style by their hashes, and nothing else`, async (t) => {
    const page = await harness.request(method, path, { as: 'nobody' });
    const policy = page.headers.get('content-security-policy') ?? '';
    t.notRegex(policy, /unsafe|https?:|\*/);
    t.regex(policy, /default-src 'none'/);
    t.regex(policy, /frame-ancestors 'none'/);
    t.regex(policy, /base-uri 'none'/);
    for (const tag of ['style', 'script'] as const) {
      const elements = [...String(page.body).matchAll(new RegExp(`<${tag}[^>]*>([\\s\\S]*?)</${tag}>`, 'g'))];
      const allowed = elements.length === 0 ? ["'none'"] : elements.map(([, text = '']) => hashOf(text));
      t.regex(policy, new RegExp(`${tag}-src ${allowed.join(' ').replace(/[+]/g, '\\+')}(;|$)`));
    }
    t.notRegex(page.body, /\son\w+=|\sstyle=|javascript:|(?:src|href)="?(?:https?:)?\/\//);
    t.is(page.headers.get('x-content-type-options'), 'nosniff');
  });

for (const path of ['/login', '/accept-invite', '/acknowledge', '/reset-password', '/forgot-password', '/api/docs'])
  test(`the script of ${path} never turns text into markup or code`, async (t) => {
    const page = await harness.request('GET', path, { as: 'nobody' });
    const [, script = ''] = /<script[^>]*>([\s\S]*)<\/script>/.exec(page.body) ?? [];
    t.true(script.length > 100);
    t.notRegex(script, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|srcdoc|Storage\b/);
  });

test('the page never turns text into markup or code', (t) => {
  const web = new URL('../../web/', import.meta.url);
  const files = readdirSync(web, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name));
  t.true(files.length > 20);
  for (const name of files)
    t.notRegex(
      readFileSync(new URL(name, web), 'utf8'),
      /innerHTML|dangerouslySet|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|srcdoc/i,
      name,
    );
});
