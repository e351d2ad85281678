/** Walks through the sign-in pages in a real browser, with the keyboard. */
import type { TestFn } from 'ava';
import { generateSync } from 'otplib';
import { users, usersTenant } from '../../schemas/resources/user.ts';
import { password } from './api-harness.ts';
import type { Tab } from './chromium.ts';
import type { OidcHarness } from './oidc-harness.ts';

export interface Walked {
  readonly oidc: () => OidcHarness;
  readonly open: () => Promise<Tab>;
  /** The path of the newest link mailed to an address, including the token. */
  readonly linkTo: (email: string, subject: RegExp) => Promise<string>;
}

const problem = (id: string): string => `document.querySelector('#${id} .problem')`;
const complained = (id: string): string => `!${problem(id)}.hidden && document.activeElement === ${problem(id)}`;
const signedIn = `document.getElementById('person') !== null`;
const openAccount = `document.getElementById('account').click()`;

/** Declares the tests. They share one API, so they run serially. */
export const declareWalks = (test: TestFn['serial'] | TestFn['skip'], { oidc, open, linkTo }: Walked): void => {
  const at = (path: string): string => `${oidc().harness.url}${path}`;
  const signIn = async (tab: Tab, email: string, word = password, query = ''): Promise<void> => {
    await tab.go(at(`/login${query}`));
    await tab.fillIn({ email, password: word });
    await tab.until(signedIn);
  };

  test('in a browser: a wrong password is reported and focused, the correct one leads back, signing out ends the session', async (t) => {
    const tab = await open();
    await tab.go(at('/anywhere?a=1'));
    await tab.until(`location.pathname === '/login' && document.activeElement?.id === 'email'`);
    await tab.fillIn({ email: 'editor@a.example', password: '<b>wrong</b>' });
    await tab.until(complained('password-form'));
    t.is(await tab.evaluate(`${problem('password-form')}.textContent`), 'the e-mail address or the password is wrong');
    await tab.fillIn({ password });
    await tab.until(signedIn);
    t.is(await tab.evaluate('location.href'), at('/anywhere?a=1'));
    t.regex(await tab.evaluate(`document.getElementById('person').textContent`), /editor@a\.example/);
    t.regex(await tab.evaluate(`document.getElementById('organization').textContent`), /Organization a/);
    await tab.evaluate(openAccount);
    await tab.until(`document.getElementById('sign-out') !== null`);
    await tab.evaluate(`document.getElementById('sign-out').click()`);
    await tab.until(`location.pathname === '/login'`);
    t.is(await tab.evaluate(`fetch('/auth/session').then(({ status }) => status)`), 401);
    t.deepEqual(tab.complaints, []);
  });

  test('in a browser: a sign-in never redirects to another site, whatever the link contains', async (t) => {
    for (const hostileTarget of [
      '//evil.example',
      '/\\evil.example',
      'https://evil.example',
      'javascript:alert(1)',
      '/\t/evil',
    ]) {
      const tab = await open();
      await signIn(tab, 'viewer@a.example', password, `?returnTo=${encodeURIComponent(hostileTarget)}`);
      // The organization has no telemetry yet.
      await tab.until(`location.href === '${at('/get-started')}'`);
      t.is(await tab.evaluate('location.href'), at('/get-started'), hostileTarget);
    }
  });

  test('in a browser: a session with an expired token is renewed', async (t) => {
    const tab = await open();
    await signIn(tab, 'auditor@a.example');
    oidc().ahead(16 * 60_000);
    await tab.go(at('/'));
    await tab.until(signedIn);
    oidc().ahead(0);
    t.true(tab.requests.some(({ url }) => url === at('/auth/refresh')));
  });

  test('in a browser: two tabs whose token expires at the same time renew it once, and stay signed in', async (t) => {
    const tab = await open();
    await signIn(tab, 'auditor@a.example');
    const tabs = [tab.page, await tab.page.context().newPage()];
    const renewals: number[] = [];
    for (const page of tabs) {
      page.on('response', (response) => {
        if (response.url() === at('/auth/refresh')) renewals.push(response.status());
      });
      await page.goto(at('/alerts'));
      await page.locator('#person').waitFor({ state: 'attached' });
      // Further requests of the page would renew the session, and their responses would be lost when the page is left.
      await page.goto('about:blank');
    }
    oidc().ahead(16 * 60_000);
    await Promise.all(tabs.map((page) => page.goto(at('/alerts'))));
    for (const page of tabs) await page.locator('#person').waitFor({ state: 'attached' });
    oidc().ahead(0);
    t.deepEqual(renewals, [200]);
    t.deepEqual(
      tabs.map((page) => page.url()),
      tabs.map(() => at('/alerts')),
    );
    await tabs[1]?.close();
  });

  test('in a browser: if cookies are not stored because TLS is missing, the page explains it', async (t) => {
    const tab = await open();
    await tab.go(at('/login').replace('127.0.0.1', 'plain.example'));
    await tab.fillIn({ email: 'auditor@a.example', password });
    await tab.until(complained('password-form'));
    t.regex(await tab.evaluate(`${problem('password-form')}.textContent`), /https/);
  });

  test('in a browser: a second factor is requested after the password', async (t) => {
    const { harness } = oidc();
    const email = 'admin@a.example';
    const token = await harness.signIn(email);
    const { secret } = (await harness.request('POST', '/auth/mfa/enroll', { as: `token ${token}` })).body;
    const code = generateSync({ secret, epoch: Math.floor(Date.now() / 1000) });
    const { body } = await harness.request('POST', '/auth/mfa/confirm', { as: `token ${token}`, body: { code } });
    const tab = await open();
    await tab.go(at('/login'));
    await tab.fillIn({ email, password });
    await tab.until(`document.activeElement?.id === 'code'`);
    t.true(await tab.evaluate(`${problem('password-form')}.hidden`));
    await tab.fillIn({ code: '000000' });
    await tab.until(complained('password-form'));
    t.regex(await tab.evaluate(`${problem('password-form')}.textContent`), /code/);
    await tab.fillIn({ code: body.recoveryCodes[0] });
    await tab.until(signedIn);
    t.deepEqual(tab.complaints, []);
  });

  test('in a browser: a new user joins by the mailed link, whose token is sent only in one request body', async (t) => {
    const email = 'new@a.example';
    await oidc().harness.request('POST', '/api/users/invitations', { body: { email, role: 'editor' } });
    const tab = await open();
    const link = await linkTo(email, /invited/);
    await tab.go(at(link));
    t.is(await tab.evaluate('location.href'), at('/accept-invite'));
    await tab.fillIn({ name: '<img src=x onerror=alert(1)>', password: 'aaaaaaaaaaaaaaaa' });
    await tab.until(complained('join'));
    t.is(await tab.evaluate(`document.getElementById('password').getAttribute('aria-invalid')`), 'true');
    await tab.fillIn({ password: 'seventeen blue lanterns' });
    await tab.until(signedIn);
    t.regex(await tab.evaluate(`document.getElementById('person').textContent`), /^<img src=x/);
    t.is(await tab.evaluate('document.images.length'), 0);
    const token = link.slice(link.indexOf('=') + 1);
    t.deepEqual(
      [...new Set(tab.requests.filter(({ body }) => body.includes(token)).map(({ url }) => url))],
      [at('/auth/accept-invite')],
    );
    // The protocol reports the typed address with its fragment, which browsers do not send.
    t.false(
      tab.requests.some(
        ({ url, referrer }) => (url !== at('/accept-invite') && url.includes(token)) || referrer.includes(token),
      ),
    );
    t.false((await tab.visited()).some((url) => url.includes(token)));
    t.deepEqual(tab.complaints, []);
  });

  test('in a browser: an existing user joins with the password, signs in, and switches from one organization to the other', async (t) => {
    const email = 'viewer@b.example';
    await oidc().harness.request('POST', '/api/users/invitations', { body: { email, role: 'auditor' } });
    const tab = await open();
    await tab.go(at('/accept-invite'));
    t.true(await tab.evaluate(`document.getElementById('join').hidden`));
    await tab.go(at(await linkTo(email, /invited/)));
    await tab.until(`document.activeElement?.id === 'name'`);
    await tab.fillIn({ name: 'Other', password: 'seventeen blue lanterns' });
    await tab.until(complained('join'));
    t.regex(await tab.evaluate(`${problem('join')}.textContent`), /has an account/);
    t.is(await tab.evaluate(`document.getElementById('password').autocomplete`), 'current-password');
    await tab.fillIn({ password });
    await tab.until(`document.querySelector('.said').innerText.includes('Organization a')`);
    await signIn(tab, email);
    await tab.evaluate(openAccount);
    await tab.until(`document.getElementById('switch') !== null`);
    const first = await tab.evaluate(`document.getElementById('organization').textContent`);
    await tab.evaluate(`document.querySelector('#switch button').click()`);
    await tab.until(`![${JSON.stringify(first)}, ''].includes(document.getElementById('organization').textContent)`);
    t.deepEqual([first, await tab.evaluate(`document.getElementById('organization').textContent`)].sort(), [
      'Organization a',
      'Organization b',
    ]);
    t.deepEqual(tab.complaints, []);
  });

  test('in a browser: a forgotten password is replaced by the mailed link, which is then invalid', async (t) => {
    const email = 'editor@b.example';
    const tab = await open();
    await tab.go(at('/forgot-password'));
    await tab.fillIn({ email });
    await tab.until(`document.querySelector('.said').innerText.includes('no mail server')`);
    const link = await linkTo(email, /new password/);
    await tab.go(at(link));
    await tab.fillIn({ password: 'seventeen blue lanterns' });
    await tab.until(`document.querySelector('.said').innerText.includes('is set')`);
    await signIn(tab, email, 'seventeen blue lanterns');
    await tab.go(at(link));
    await tab.fillIn({ password: 'nineteen red lanterns' });
    await tab.until(`${complained('reset')} && !document.getElementById('again').hidden`);
    t.deepEqual(tab.complaints, []);
  });

  test('in a browser: single sign-on leads to the provider and back, or shows why not', async (t) => {
    await oidc().prove('a', 'corp.example');
    await oidc().provider.accounts({ ann: { email: 'ann@corp.example', email_verified: true, name: 'Ann' } });
    await oidc().provider.signIn('ann');
    const tab = await open();
    await tab.go(at('/login?returnTo=/logs&organization=nowhere'));
    await tab.until(`document.activeElement?.id === 'who'`);
    await tab.fillIn({ who: 'nowhere' });
    await tab.until(complained('sso-form'));
    t.regex(await tab.evaluate(`${problem('sso-form')}.textContent`), /no single sign-on/);
    await tab.fillIn({ who: 'ann@corp.example' });
    await tab.until(`location.pathname === '/logs' && ${signedIn}`);
    t.regex(await tab.evaluate(`document.getElementById('person').textContent`), /ann@corp\.example/);
    t.deepEqual(tab.complaints, []);
    t.is(
      (
        await oidc()
          .harness.documents.forTenant(usersTenant)
          .collection(users)
          .list({ filter: { email: 'ann@corp.example' } })
      ).items.length,
      1,
    );
  });
};
