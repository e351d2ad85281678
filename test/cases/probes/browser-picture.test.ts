/** No screenshot shows a secret, whatever the page does with it; and screenshots are sent to the platform. */
import { lookup } from 'node:dns';
import test from 'ava';
import { chromium, type Page } from 'playwright-core';
import { takeScreenshot } from '../../../probes/browser/picture.ts';
import { RateLimiter } from '../../../probes/pace.ts';
import { PictureQueue } from '../../../probes/picture-queue.ts';
import { startProbe } from '../../../probes/probe.ts';
import { visibleForms } from '../../../probes/secret-forms.ts';
import { createEgressPolicy } from '../../../runtime/egress-policy.ts';
import { silentLog } from '../../../schemas/ports/log.ts';
import { ProbePicture, type ProbeResult } from '../../../schemas/synthetic-work.ts';
import { CheckFields } from '../../../subjects/synthetics/check.ts';
import { findNextDueMs } from '../../../subjects/synthetics/due-times.ts';
import { chromiumProgram } from '../../services/chromium.ts';
import { eventually } from '../../waiting.ts';
import { browserTest } from './browsers.ts';
import { serveHttp, soon } from './targets.ts';

/** Two secrets of the same length, in all forms. */
const secrets = ['kO0 w8!Wm', 'Wm! 8wO0k'] as const;

const pages: Readonly<Record<string, (secret: string) => string>> = {
  'a text': (secret) => `<p>Hello ${secret}</p>`,
  'a text of several elements': (secret) => `<p>${[...secret].map((char) => `<b>${char}</b>`).join('')}</p>`,
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
  return Buffer.from((await takeScreenshot(page, hidden)) ?? []).toString('base64');
};

browserTest('displayed secrets are covered: screenshots of two secrets are identical', async (t) => {
  const browser = await chromium.launch({ executablePath: await chromiumProgram(), chromiumSandbox: false });
  t.teardown(() => browser.close());
  const page = await browser.newPage({ viewport: { width: 500, height: 300 } });
  for (const [name, htmlOf] of Object.entries(pages)) {
    const [one, other] = [htmlOf(secrets[0]), htmlOf(secrets[1])];
    const hidden = visibleForms(secrets);
    const covered = await drawn(page, one, hidden);
    t.true(covered.startsWith('/9j/'), name);
    t.is(await drawn(page, other, hidden), covered, `${name} is seen`);
    t.not(await drawn(page, one, []), await drawn(page, other, []), `${name} shows nothing without being covered`);
  }
  const password = (value: string) => `<input type="password" value="${value}">`;
  t.is(await drawn(page, password('short'), []), await drawn(page, password('much longer'), []));
});

browserTest('a probe sends the screenshot of a scheduled run, and resends it if it was not accepted', async (t) => {
  const port = await serveHttp(t, (_, response) =>
    response.setHeader('content-type', 'text/html').end('<h1>Shop</h1>'),
  );
  const steps = [{ action: 'goto', url: `http://127.0.0.1:${port}/` }];
  const input = { name: 'c', type: 'browser', every: '1h', timeout: soon(20_000), browser: { steps } };
  const check = { id: 'c1', ...CheckFields.parse({ ...input, retries: { count: 0 } }) };
  // By the clock of the platform, the run is due in a moment.
  const aheadMs = findNextDueMs(check, 'here', Date.now()) - Date.now() - 500;
  const results: ProbeResult[] = [];
  const shown: ProbePicture[] = [];
  const probe = startProbe({
    source: {
      fetchWork: async () => ({
        location: 'here',
        probes: 1,
        atMs: Date.now() + aheadMs,
        digest: 'd',
        requestedRuns: [],
        checks: [{ check, variables: {} }],
      }),
      send: async (some) => void results.push(...some),
      sendAlarms: async () => undefined,
      async sendScreenshot(picture) {
        shown.push(picture);
        if (shown.length === 1) throw new Error('the platform is away');
      },
    },
    egressPolicy: createEgressPolicy({ allowedNetworks: ['127.0.0.0/8'], setting: 'x', resolve: lookup }),
    chromium: { program: await chromiumProgram(), hasSandbox: false },
    pace: new RateLimiter(),
    log: silentLog,
    pollMs: 200,
  });
  t.teardown(() => probe.stop());
  await eventually('it is shown', () => shown.length === 2);
  const [result] = results;
  const [first, again] = shown.map((picture) => ProbePicture.parse(picture));
  t.is(again?.content, first?.content);
  t.deepEqual(
    [again?.checkId, again?.outcome, again?.dueMs, again?.startedAtMs],
    ['c1', 'passed', result?.dueMs, result?.startedAtMs],
  );
  t.false(JSON.stringify(result).includes('picture'));
});

test('a screenshot that cannot be sent is replaced by that of a later run', async (t) => {
  const sent: string[] = [];
  const stopping = new AbortController();
  const queue = new PictureQueue(async ({ content }) => void sent.push(content));
  const of = { checkId: 'c', dueMs: 1, startedAtMs: 1 };
  for (const [outcome, content] of [
    ['passed', 'good'],
    ['failed', 'bad'],
    ['degraded', 'better'],
    ['failed', 'worse'],
  ] as const)
    queue.add({ ...of, outcome, content });
  for (let at = 0; at < 200; at++) queue.add({ ...of, checkId: `c${at}`, outcome: 'passed', content: `${at}` });
  queue.add({ ...of, outcome: 'passed', content: 'best' });
  const running = queue.run(stopping.signal);
  await eventually('they are sent', () => sent.includes('best'));
  stopping.abort();
  await running;
  t.is(sent.length, 100, 'the oldest are lost');
  t.is(sent.at(-1), 'best');
});
