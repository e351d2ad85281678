/**
 * Steps in frames, and in windows that steps open: they are found and reported, and have the same network limits as the
 * page.
 */
import { browserTest, role, runBrowser } from './browsers.ts';
import { serveHttp, serveSocket, soon } from './targets.ts';

const within = soon(5000);
const text = (value: string) => ({ by: 'text', text: value });

const pages: Readonly<Record<string, string>> = {
  '/': `<title>Shop</title><button>Pay</button><iframe src="/empty"></iframe>
    <iframe id="outer" src="/outer"></iframe><p>Card</p>`,
  '/empty': '<p>Nothing</p>',
  '/outer': '<p>Outer</p><iframe src="/inner"></iframe>',
  '/inner': `<label>Card <input></label><button onclick="document.title = 'x'; said.textContent = 'Paid'">Pay</button>
    <button>Pay later</button><p id="said"></p>`,
  '/windows': `<title>Windows</title><a href="/second" target="_blank">Second</a>
    <button onclick="window.open('/second')">Open</button>
    <button onclick="setTimeout(() => window.open('/second'), 300)">Later</button>
    <button onclick="window.open(away())">Private</button>
    <script>window.open('/unasked'); const away = () => new URLSearchParams(location.search).get('to');</script>`,
  '/second': `<title>Second</title><h1>Sign in</h1><button onclick="window.close()">Done</button>
    <script>console.error('second complains')</script>`,
};

const serve = (t: Parameters<typeof serveHttp>[0], requests: string[] = []): Promise<number> =>
  serveHttp(t, ({ url = '' }, response) => {
    requests.push(url);
    response.setHeader('content-type', 'text/html').end(pages[url.replace(/\?.*/, '')] ?? '');
  });

browserTest(
  'a target in a frame is found by position or CSS; a secret is bound to the host of the frame',
  async (t) => {
    const port = await serve(t);
    const goto = { action: 'goto', url: `http://shop.example:${port}/` };
    const frame = ['#outer', 0];
    const pay = { ...role('Pay'), exact: true };
    const names = { 'shop.example': [['127.0.0.1']] };
    const variables = { card: { value: '4111-secret', hosts: ['shop.example'] } };
    const card = { by: 'label', label: 'Card' };
    const steps = [
      goto,
      { action: 'expect', target: text('Outer'), frame: [1], read: 'text', operator: 'is', value: 'Outer', within },
      { action: 'fill', target: card, frame, text: '{{variables.card}}' },
      { action: 'click', target: pay, frame },
      { action: 'wait', target: text('Paid'), frame, within },
    ];
    const seen = await runBrowser(steps, { names, variables });
    t.is(seen.outcome, 'passed', seen.message);
    const outside = await runBrowser([goto, { action: 'wait', target: text('Paid'), within: '300ms' }], { names });
    t.is(outside.outcome, 'failed');
    const elsewhere = { card: { value: '4111-secret', hosts: ['other.example'] } };
    const refused = await runBrowser([goto, { action: 'fill', target: card, frame, text: '{{variables.card}}' }], {
      names,
      variables: elsewhere,
    });
    t.regex(refused.message, /a secret of the check is not bound to shop\.example/);
  },
);

browserTest(
  'steps continue in the window that a step opened, and in the previous window once it is closed',
  async (t) => {
    const requests: string[] = [];
    const port = await serve(t, requests);
    const title = (value: string) => ({ action: 'expect', read: 'title', operator: 'is', value, within });
    const goto = { action: 'goto', url: `http://127.0.0.1:${port}/windows` };
    for (const opens of [role('Second', 'link'), role('Later')]) {
      const seen = await runBrowser([
        ...[goto, title('Windows'), { action: 'click', target: opens, within }],
        ...[title('Second'), { action: 'click', target: role('Done'), within }],
        ...[title('Windows'), { action: 'click', target: role('Open') }, { action: 'wait', target: text('Sign in') }],
      ]);
      t.is(seen.outcome, 'passed', `${JSON.stringify(opens)}: ${seen.message}`);
      const errors = seen.steps.flatMap(({ page }) => page?.errors ?? []);
      t.true(errors.includes('second complains'), errors.join());
      t.true(seen.steps.at(-1)?.page?.url.endsWith('/second'));
    }
    // The step after the click uses the opened window at once, without a step that waits for it.
    const atOnce = await runBrowser([
      ...[goto, { action: 'click', target: role('Open') }, { action: 'click', target: role('Done'), within }],
      title('Windows'),
    ]);
    t.is(atOnce.outcome, 'passed', atOnce.message);
  },
);

browserTest('a window cannot reach addresses that its location may not reach, and the error says why', async (t) => {
  const came: string[] = [];
  const inner = await serveSocket(t, () => void came.push('connected'), '127.0.0.2');
  const port = await serve(t);
  const url = `http://127.0.0.1:${port}/windows?to=${encodeURIComponent(`http://127.0.0.2:${inner}/`)}`;
  const seen = await runBrowser(
    [
      ...[
        { action: 'goto', url },
        { action: 'click', target: role('Private'), within },
      ],
      { action: 'expect', read: 'title', operator: 'is', value: 'Inside', within: '500ms' },
    ],
    { allowed: ['127.0.0.1/32'] },
  );
  t.deepEqual(came, []);
  t.is(seen.outcome, 'unknown', seen.message);
  t.regex(seen.message, /127\.0\.0\.2 is in a private network/);
});
