/** The sign-in pages: each form works with the fields of its page; plus walks in a real browser. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { chromiumMissing } from '../services/chromium.ts';
import { eventually } from '../waiting.ts';
import { type Answer, password } from './api-harness.ts';
import { type Chromium, startChromium, type Tab } from './chromium.ts';
import { type OidcHarness, startOidcHarness } from './oidc-harness.ts';
import { declareWalks } from './pages-walks.ts';

let oidc: OidcHarness;
let chromium: Chromium | undefined;
test.before(async () => {
  oidc = await startOidcHarness();
});
test.after.always(async () => {
  await chromium?.close();
  await oidc?.close();
});

interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

const mails = (): Mail[] => {
  const path = join(oidc.harness.directory, 'outbox.jsonl');
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line));
};

const linkTo = async (email: string, subject: RegExp): Promise<string> => {
  const found = (): string | undefined => {
    const mail = mails().findLast((each) => each.to === email && subject.test(each.subject));
    return /http:\/\/[^/\s]+(\/[a-z-]+#token=\S+)/.exec(mail?.text ?? '')?.[1];
  };
  await eventually(`a link for ${email}`, () => found() !== undefined);
  return found() ?? '';
};

/** The target of a page's form and the names of its fields. */
const formAt = async (path: string): Promise<{ readonly to: string; readonly fields: readonly string[] }> => {
  const { status, body } = await oidc.harness.request('GET', path, { as: 'nobody' });
  if (status !== 200) throw new Error(`${path} returned ${status}`);
  const [, to = '', markup = ''] = /<form [^>]*data-to="([^"]+)"[^>]*>([\s\S]*?)<\/form>/.exec(body) ?? [];
  return { to, fields: [...markup.matchAll(/<input [^>]*\bname="(\w+)"/g)].map(([, name = '']) => name) };
};

/** Submits the form of a page like its script. */
const send = async (page: string, typed: Readonly<Record<string, string>>, token?: string): Promise<Answer> => {
  const { to, fields } = await formAt(page);
  for (const name of Object.keys(typed)) if (!fields.includes(name)) throw new Error(`${page} has no field ${name}`);
  return oidc.harness.request('POST', to, {
    as: 'nobody',
    body: { ...typed, ...(token === undefined ? {} : { token }) },
    headers: { origin: oidc.harness.url, 'sec-fetch-site': 'same-origin' },
  });
};

const tokenIn = (link: string): string => link.slice(link.indexOf('=') + 1);
const pageIn = (link: string): string => link.slice(0, link.indexOf('#'));

test.serial(
  'the form of /login signs in with cookies for the browser, and hides the refresh token from its scripts',
  async (t) => {
    t.is((await send('/login', { email: 'owner@a.example', password: 'wrong' })).body.error, 'UNAUTHENTICATED');
    const { status, headers, body } = await send('/login', { email: 'owner@a.example', password });
    t.is(status, 200);
    t.false('refreshToken' in body);
    t.is(headers.getSetCookie().length, 2);
    const cookie = headers
      .getSetCookie()
      .map((line) => line.slice(0, line.indexOf(';')))
      .join('; ');
    const asPage = { as: 'nobody', headers: { cookie, 'sec-fetch-site': 'same-origin' } } as const;
    t.is((await oidc.harness.request('GET', '/auth/session', asPage)).body.tenant.id, 'a');
    t.is((await oidc.harness.request('GET', '/api/organizations', asPage)).body.items.length, 1);
    t.is((await oidc.harness.request('POST', '/auth/logout', asPage)).status, 200);
    t.is((await oidc.harness.request('GET', '/auth/session', asPage)).status, 401);
  },
);

test.serial('the links for invitations and new passwords lead to pages whose forms use them', async (t) => {
  const email = 'invited@a.example';
  await oidc.harness.request('POST', '/api/users/invitations', { body: { email, role: 'viewer' } });
  const invitation = await linkTo(email, /invited/);
  const chosen = 'seventeen blue lanterns';
  t.is((await send(pageIn(invitation), { password: chosen }, tokenIn(invitation))).body.details[0].path, 'name');
  const joined = await send(pageIn(invitation), { name: 'Ida', password: chosen }, tokenIn(invitation));
  t.is(joined.status, 200, JSON.stringify(joined.body));
  t.is(joined.headers.getSetCookie().length, 2);
  t.is((await send('/forgot-password', { email })).status, 200);
  const reset = await linkTo(email, /new password/);
  t.is((await send(pageIn(reset), { password: 'nineteen red lanterns' }, tokenIn(reset))).status, 200);
  t.is((await send('/login', { email, password: chosen })).status, 401);
  t.is((await send('/login', { email, password: 'nineteen red lanterns' })).status, 200);
});

for (const path of [
  '/',
  '/login',
  '/login/',
  '/accept-invite',
  '/acknowledge',
  '/reset-password',
  '/forgot-password',
  '/logs/anything',
])
  test.serial(`${path} responds to a GET with a page, and to no other method`, async (t) => {
    const got = await oidc.harness.request('GET', path, { as: 'nobody' });
    t.is(got.status, 200);
    t.is(got.headers.get('content-type'), 'text/html; charset=utf-8');
    t.is(got.headers.get('cache-control'), 'no-store');
    t.is((await oidc.harness.request('HEAD', path, { as: 'nobody' })).status, 200);
    for (const method of ['POST', 'PUT', 'DELETE']) {
      const refused = await oidc.harness.request(method, path, { as: 'nobody' });
      t.is(refused.status, 404);
      t.regex(refused.body, /^<!doctype html>/);
    }
  });

for (const path of ['/login', '/accept-invite', '/reset-password', '/forgot-password'])
  test.serial(`every field of ${path} has a label and an autocomplete hint for password managers`, async (t) => {
    const { body } = await oidc.harness.request('GET', path, { as: 'nobody' });
    const inputs = [...String(body).matchAll(/<input id="(\w+)" [^>]*>/g)];
    t.true(inputs.length > 0);
    for (const [markup, id] of inputs) {
      t.regex(body, new RegExp(`<label for="${id}"`));
      t.regex(markup, /autocomplete="(?:username|current-password|new-password|one-time-code|name)"/);
    }
  });

const open = async (): Promise<Tab> => {
  chromium ??= await startChromium();
  return chromium.open();
};
declareWalks(chromiumMissing === undefined ? test.serial : test.serial.skip, { oidc: () => oidc, open, linkTo });
