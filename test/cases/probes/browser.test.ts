/** Checks in a real Chromium against test pages: steps, reports about pages, network limits, and cleanup. */
import { createSocket } from 'node:dgram';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import test from 'ava';
import { BrowserProcess } from '../../../probes/browser/browser-process.ts';
import { findProcesses } from '../../../probes/browser/processes.ts';
import { maxPictureBytes } from '../../../schemas/synthetic-work.ts';
import { eventually } from '../../waiting.ts';
import { browserTest, role, runBrowser } from './browsers.ts';
import { serveHttp, serveSocket, soon } from './targets.ts';

const shop = `<!doctype html><title>Shop</title><h1>Shop</h1>
<form action="/in" method="get">
  <label>Name <input name="user"></label>
  <label>Password <input name="password" type="password"></label>
  <label>Size <select name="size"><option value="s">Small<option value="l">Large</select></label>
  <button>Sign in</button>
</form>
<ul><li class="item">one</li><li class="item">two</li></ul>
<p data-testid="later"></p>
<script>
  setTimeout(() => { document.querySelector('[data-testid=later]').textContent = 'order 4711'; }, 200);
  console.error('a complaint with ' + location.pathname);
  fetch('/cart').then((answer) => answer.text());
</script>`;

browserTest('steps act like a user, and the activity of the page is reported without secrets', async (t) => {
  const requests: IncomingMessage[] = [];
  const port = await serveHttp(t, (request, response) => {
    requests.push(request);
    response.setHeader('content-type', 'text/html; charset=utf-8');
    if (request.url?.startsWith('/in')) return response.end(`<title>In</title><h1>Welcome</h1>${request.url}`);
    response.end(request.url === '/' ? shop : '{}');
  });
  const names = { 'shop.example': [['127.0.0.1']] };
  const variables = { password: { value: "pa55 w0rd!('~{/", hosts: ['shop.example'] } };
  const later = { by: 'testId', testId: 'later' };
  const quick = { source: 'vital', name: 'ttfb', operator: 'lt', value: 60_000 };
  const table = [
    { action: 'goto', url: `http://shop.example:${port}/`, assertions: [quick] },
    { action: 'expect', target: { by: 'css', css: '.item' }, read: 'count', operator: 'is', value: 2 },
    { action: 'expect', target: later, read: 'text', operator: 'contains', value: 'order', within: soon(5000) },
    { action: 'extract', target: later, read: 'text', pattern: 'order (\\d+)', as: 'order' },
    { action: 'fill', target: { by: 'label', label: 'Name' }, text: '{{values.order}}' },
    { action: 'fill', target: { by: 'label', label: 'Password' }, text: '{{variables.password}}' },
    { action: 'choose', target: { by: 'label', label: 'Size' }, option: 'Large' },
    { action: 'click', target: role('Sign in') },
    { action: 'wait', target: { by: 'text', text: 'Welcome' }, within: soon(5000) },
    { action: 'expect', read: 'title', operator: 'is', value: 'In' },
    { action: 'expect', read: 'url', operator: 'contains', value: 'user=4711', level: 'degrade' },
  ];
  const seen = await runBrowser(table, { names, variables });
  t.is(seen.outcome, 'passed', seen.message);
  t.deepEqual([...(seen.picture ?? []).slice(0, 3)], [0xff, 0xd8, 0xff], 'a JPEG');
  t.true((seen.picture?.length ?? 0) <= maxPictureBytes);
  t.is(seen.steps.length, table.length);
  t.deepEqual(Object.keys(seen.phases), ['wait']);
  const inside = requests.find(({ url }) => url?.startsWith('/in'));
  t.is(inside?.url, '/in?user=4711&password=pa55+w0rd%21%28%27%7E%7B%2F&size=l');
  const [first] = seen.steps;
  t.is(first?.status, 200);
  t.true((first?.page?.vitals.ttfb ?? 0) > 0);
  // A slow page paints after the step that opened it has ended.
  t.true(
    seen.steps.some(({ page }) => (page?.vitals.fcp ?? 0) > 0),
    JSON.stringify(first?.page),
  );
  t.is(first?.page?.vitals.cls, 0);
  t.regex(first?.page?.errors.join() ?? '', /a complaint with \//);
  const [document] = first?.page?.requests ?? [];
  t.is(document?.status, 200);
  t.is(document?.type, 'document');
  t.true((document?.bytes ?? 0) > 500);
  const report = JSON.stringify(seen);
  t.false(/pa55|w0rd/.test(report), report);
  t.regex(report, /\*{8}/);
  for (const path of ['/', '/cart']) {
    const headers = requests.findLast(({ url }) => url === path)?.headers ?? {};
    t.is(headers['x-oiq-check'], 'c1', path);
    t.regex(String(headers['traceparent']), new RegExp(`^00-${seen.traceId}-`));
    t.regex(String(headers['user-agent']), /oiq-probe$/);
  }
});

browserTest('a secret is filled in only on pages of its hosts, wherever the page navigates', async (t) => {
  const port = await serveHttp(t, (request, response) => {
    if (request.headers.host?.startsWith('shop'))
      return response.writeHead(302, { location: `http://evil.example:${port}/` }).end();
    response.setHeader('content-type', 'text/html').end('<label>Password <input></label>');
  });
  const names = { 'shop.example': [['127.0.0.1']], 'evil.example': [['127.0.0.1']] };
  const variables = { password: { value: 'pa55w0rd', hosts: ['shop.example'] } };
  const target = { by: 'label', label: 'Password' };
  const seen = await runBrowser(
    [
      { action: 'goto', url: `http://shop.example:${port}/` },
      { action: 'fill', target, text: '{{variables.password}}' },
    ],
    { names, variables },
  );
  t.is(seen.outcome, 'failed');
  t.not(seen.picture, undefined);
  t.regex(seen.message, /a secret of the check is not bound to evil\.example/);
});

browserTest('a page cannot reach addresses that its location may not reach, in any way', async (t) => {
  const came: string[] = [];
  const onSocket = (socket: Socket): void => {
    came.push('connected');
    socket.on('data', (chunk) => came.push(String(chunk).slice(0, 200)));
  };
  const inner = await serveSocket(t, onSocket, '127.0.0.2');
  const datagrams = createSocket('udp4', () => came.push('datagram')).bind(inner, '127.0.0.2');
  t.teardown(() => datagrams.close());
  const port = await serveHttp(t, ({ url }, response) => {
    if (url === '/redirect') return response.writeHead(302, { location: `http://127.0.0.2:${inner}/redirected` }).end();
    response.setHeader('content-type', 'text/html').end(`<title>attack</title><body><script>
      const places = ['127.0.0.2:${inner}', 'localhost:${inner}', '[::1]:${inner}', 'inner.example:${inner}', '169.254.169.254',
        '[::ffff:127.0.0.2]:${inner}', '[::127.0.0.2]:${inner}', '[64:ff9b::7f00:2]:${inner}', '2130706434:${inner}', '0x7f.2:${inner}',
        '0177.0.0.2:${inner}', '127.0.0.2.:${inner}', 'user@127.0.0.2:${inner}', '0.0.0.0:${inner}', 'rebound.example:${inner}'];
      const tries = places.flatMap((place) => [
        fetch('http://' + place + '/fetched').then(() => 'reached ' + place),
        fetch('https://' + place + '/fetched').then(() => 'reached ' + place),
        new Promise((resolve, reject) => {
          const socket = new WebSocket('ws://' + place + '/socket');
          socket.onopen = () => resolve('socket ' + place);
          socket.onerror = () => reject();
        }),
        new Promise((resolve, reject) => {
          const image = new Image();
          image.onload = () => resolve('image ' + place);
          image.onerror = () => reject();
          image.src = 'http://' + place + '/image';
        }),
      ]);
      tries.push(fetch('/redirect').then(() => 'redirected'));
      const frame = document.createElement('iframe');
      frame.src = 'http://127.0.0.2:${inner}/frame';
      document.body.append(frame);
      window.open('http://127.0.0.2:${inner}/window');
      navigator.sendBeacon('http://127.0.0.2:${inner}/beacon', 'x');
      const peer = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.2:${inner}' },
        { urls: ['turn:127.0.0.2:${inner}?transport=tcp', 'turn:127.0.0.2:${inner}'], username: 'a', credential: 'b' }] });
      const candidates = [];
      peer.onicecandidate = ({ candidate }) => { if (candidate?.candidate) candidates.push(candidate.candidate); };
      peer.createDataChannel('x');
      peer.createOffer().then((offer) => peer.setLocalDescription(offer));
      Promise.allSettled(tries).then((all) => setTimeout(() => {
        document.title = 'done: ' + [...all.filter(({ value }) => value).map(({ value }) => value), ...candidates].join();
      }, 500));
    </script>`);
  });
  const names = {
    'shop.example': [['127.0.0.1']],
    'inner.example': [['127.0.0.2']],
    localhost: [['127.0.0.2']],
    // Nothing listens on the first address, which is resolved once; all later requests resolve the name again.
    'rebound.example': [['127.0.0.1'], ['127.0.0.2'], ['127.0.0.1', '127.0.0.2']],
  };
  const around = { allowed: ['127.0.0.1/32'], names };
  const seen = await runBrowser(
    [
      { action: 'goto', url: `http://shop.example:${port}/` },
      { action: 'expect', read: 'title', operator: 'contains', value: 'done', within: soon(10_000) },
      { action: 'extract', read: 'title', as: 'title' },
      { action: 'expect', read: 'title', operator: 'is', value: 'done:', within: '100ms' },
      { action: 'goto', url: `http://shop.example:${port}/redirect` },
    ],
    around,
  );
  t.deepEqual(came, []);
  t.is(seen.steps.length, 5, seen.message);
  // If the page itself navigates there, the location cannot know.
  t.is(seen.outcome, 'unknown');
  t.is(seen.picture, undefined);
  t.regex(seen.message, /127\.0\.0\.2 is in a private network that OIQ_PROBE_NETWORKS does not allow/);
});

browserTest('endless scripts of a page are reported, and failed requests include their address', async (t) => {
  const port = await serveHttp(t, ({ url }, response) => {
    if (url?.startsWith('/missing') || url === '/favicon.ico') return response.writeHead(404).end();
    response.setHeader('content-type', 'text/html');
    response.end(
      url === '/endless'
        ? '<h1>x</h1><button onclick="setTimeout(() => { for (;;); }, 50)">Go</button>'
        : '<img src="/missing.png"><h1>x</h1>',
    );
  });
  const base = `http://127.0.0.1:${port}`;
  const heading = { by: 'css', css: 'h1' };
  for (const [last, level] of [
    [{ action: 'expect', target: heading, read: 'text', operator: 'is', value: 'x' }, 'is'],
    [{ action: 'expect', target: heading, read: 'text', operator: 'absent' }, 'absent'],
    [{ action: 'expect', read: 'title', operator: 'is', value: 'x' }, 'title'],
  ] as const) {
    const { outcome, message } = await runBrowser([
      { action: 'goto', url: `${base}/endless` },
      { action: 'click', target: role('Go') },
      // Its script starts meanwhile.
      { action: 'expect', read: 'url', operator: 'is', value: 'x', level: 'degrade', within: soon(500) },
      { ...last, within: '500ms' },
    ]);
    t.is(outcome, 'failed', level);
    t.regex(message, /the page does not respond: its scripts run without end$/, level);
  }
  const absent = {
    action: 'expect',
    target: { by: 'css', css: 'h2' },
    read: 'text',
    operator: 'exists',
    within: '300ms',
  };
  t.regex((await runBrowser([{ action: 'goto', url: base }, absent])).message, /: text is absent, expected: exists$/);
  const { steps } = await runBrowser([{ action: 'goto', url: base }]);
  t.deepEqual(steps[0]?.page?.errors, [
    `Failed to load resource: the server responded with a status of 404 (Not Found) ${base}/missing.png`,
  ]);
});

browserTest('a page that hangs, is down, or is aborted leaves nothing behind', async (t) => {
  const started: string[] = [];
  const start = BrowserProcess.start;
  BrowserProcess.start = async (...parameters) => {
    const one = await start.apply(BrowserProcess, parameters);
    started.push(one.directory);
    return one;
  };
  t.teardown(() => {
    BrowserProcess.start = start;
  });
  const port = await serveHttp(t, ({ url }, response) => {
    if (url === '/hang') return;
    if (url === '/broken') return response.writeHead(500).end('broken');
    response.setHeader('content-type', 'text/html').end('<script>for (;;);</script>');
  });
  const base = `http://127.0.0.1:${port}`;
  const hanging = await runBrowser([{ action: 'goto', url: `${base}/hang` }], {}, { timeout: soon(1000) });
  t.is(hanging.outcome, 'failed');
  t.regex(hanging.message, /took too long/);
  const broken = await runBrowser([{ action: 'goto', url: `${base}/broken` }]);
  t.regex(broken.message, /status is 500/);
  const stopping = new AbortController();
  const endless = runBrowser([{ action: 'goto', url: `${base}/endless` }], { signal: stopping.signal });
  await eventually('the browser runs', () => started.length === 3 && findProcesses(started[2] ?? '').length > 3);
  await pause(300);
  stopping.abort();
  await t.throwsAsync(endless);
  t.is(started.length, 3);
  if (process.platform === 'linux') t.deepEqual(started.flatMap(findProcesses), []);
});

browserTest('a page that exceeds the memory limit of a run is aborted, which is reported', async (t) => {
  const started: string[] = [];
  const start = BrowserProcess.start;
  // The real limit is a gigabyte, which a test machine may not have.
  BrowserProcess.start = async () => {
    const one = await start.call(BrowserProcess, 400 * 1024 * 1024);
    started.push(one.directory);
    return one;
  };
  t.teardown(() => {
    BrowserProcess.start = start;
  });
  const port = await serveHttp(t, (_, response) => {
    response.setHeader('content-type', 'text/html').end(`<h1>Shop</h1><script>
      const kept = [];
      const take = () => {
        kept.push(new Uint8Array(64 * 1024 * 1024).fill(1));
        if (kept.length < 16) setTimeout(take, 50);
      };
      take();
    </script>`);
  });
  const never = { action: 'wait', target: { by: 'text', text: 'Never' }, within: soon(15_000) };
  const seen = await runBrowser([{ action: 'goto', url: `http://127.0.0.1:${port}/` }, never]);
  t.is(seen.outcome, 'failed');
  t.regex(seen.message, /takes more than 400 MB of memory/);
  t.deepEqual(started.flatMap(findProcesses), []);
});

test('a location without Chromium, or whose Chromium does not start, reports unknown', async (t) => {
  const steps = [{ action: 'goto', url: 'http://127.0.0.1:1/' }];
  const none = await runBrowser(steps, { chromium: { program: '/none', hasSandbox: true } });
  t.is(none.outcome, 'unknown');
  t.regex(none.message, /this location has no Chromium at \/none/);
  const wrong = await runBrowser(steps, { chromium: { program: '/bin/false', hasSandbox: true } });
  t.is(wrong.outcome, 'unknown');
  t.regex(wrong.message, /Chromium does not start/);
});
