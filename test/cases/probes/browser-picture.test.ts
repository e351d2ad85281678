/** No secret is to be seen in a picture, whatever the page does with it. */
import { chromium, type Page } from 'playwright-core';
import { pictureOf } from '../../../probes/browser/picture.ts';
import { formsIn } from '../../../probes/struck.ts';
import { chromiumProgram } from '../../services/chromium.ts';
import { browserTest } from './browsers.ts';

/** Two of the same size, in all forms. */
const secrets = ['kO0 w8!Wm', 'Wm! 8wO0k'] as const;

const pages: Readonly<Record<string, (secret: string) => string>> = {
  'a text': (secret) => `<p>Hello ${secret}</p>`,
  'a text of several elements': (secret) => `<p>${[...secret].map((letter) => `<b>${letter}</b>`).join('')}</p>`,
  'a text in two lines': (secret) => `<p>${secret.replace(' ', '<br>')}</p>`,
  'a text in capitals': (secret) => `<p>${secret.toUpperCase()}</p>`,
  'an address': (secret) => `<p>/?password=${encodeURIComponent(secret)}&x=1</p>`,
  'base64 of more': (secret) => `<p>${Buffer.from(`ann:${secret}:x`).toString('base64')}</p>`,
  'a field': (secret) => `<input value="${secret}"><textarea>${secret}</textarea>`,
  'a choice': (secret) => `<select><option>${secret}</select>`,
  'a drawing': (secret) =>
    `<canvas id="c"></canvas><script>document.getElementById('c').getContext('2d').fillText('${secret}', 9, 9)</script>`,
  'a frame': (secret) => `<iframe srcdoc="<p>${secret}</p>"></iframe>`,
  'a shadow root': (secret) => `<div><template shadowrootmode="open"><p>${secret}</p></template></div>`,
  'a picture of the page': (secret) =>
    `<img src="data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg"><text y="20">${secret}</text></svg>`)}">`,
};

const drawn = async (page: Page, html: string, hidden: readonly string[]): Promise<string> => {
  await page.setContent(`<body style="font: 16px monospace"><h1>Shop</h1>${html}`, { waitUntil: 'load' });
  return Buffer.from((await pictureOf(page, hidden)) ?? []).toString('base64');
};

browserTest('what shows a secret is covered: pictures of two secrets are the same', async (t) => {
  const browser = await chromium.launch({ executablePath: await chromiumProgram(), chromiumSandbox: false });
  t.teardown(() => browser.close());
  const page = await browser.newPage({ viewport: { width: 500, height: 300 } });
  for (const [name, htmlOf] of Object.entries(pages)) {
    const [one, other] = [htmlOf(secrets[0]), htmlOf(secrets[1])];
    const hidden = formsIn(secrets);
    const covered = await drawn(page, one, hidden);
    t.true(covered.startsWith('/9j/'), name);
    t.is(await drawn(page, other, hidden), covered, `${name} is seen`);
    t.not(await drawn(page, one, []), await drawn(page, other, []), `${name} shows nothing without being covered`);
  }
  const password = (value: string) => `<input type="password" value="${value}">`;
  t.is(await drawn(page, password('short'), []), await drawn(page, password('much longer'), []));
});
