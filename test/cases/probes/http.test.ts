/** HTTP checks against real servers: steps, phases, redirects, hostile targets and addresses, and secrets. */
import test from 'ava';
import { createEgressPolicy } from '../../../runtime/egress-policy.ts';
import { resolving, runHttp, serveHttp, serveSocket, soon } from './targets.ts';

const sum = (phases: Readonly<Record<string, number>>): number =>
  Math.round(Object.values(phases).reduce((all, ms) => all + ms, 0) * 1000) / 1000;

test('phases of a step add up to its duration, and the wait phase is the time of the target', async (t) => {
  const port = await serveHttp(t, (_, response) => setTimeout(() => response.end('hello'), 150));
  const result = await runHttp([{ url: `http://shop.example:${port}/` }], {
    names: { 'shop.example': [['127.0.0.1']] },
  });
  t.is(result.outcome, 'passed', result.message);
  t.deepEqual(Object.keys(result.phases).toSorted(), ['connect', 'lookup', 'receive', 'send', 'wait']);
  t.true((result.phases['wait'] ?? 0) >= 140, JSON.stringify(result.phases));
  t.is(sum(result.phases), result.durationMs);
});

test('steps can use responses of earlier steps', async (t) => {
  const port = await serveHttp(t, (request, response) => {
    if (request.url === '/login') return response.setHeader('x-csrf', 'c7').end('<i id="u">u-5</i>{"token":"t1"}');
    response.end(
      JSON.stringify({ got: request.headers['authorization'], csrf: request.headers['x-csrf'], url: request.url }),
    );
  });
  const base = `http://127.0.0.1:${port}`;
  const { outcome, message, steps } = await runHttp([
    {
      url: `${base}/login`,
      extract: [
        { as: 'csrf', source: 'header', path: 'X-Csrf' },
        { as: 'user', source: 'body', path: 'id="u">([^<]+)' },
      ],
    },
    {
      name: 'cart',
      url: `${base}/cart/{{values.user}}`,
      authentication: { type: 'bearer', token: 't-{{values.user}}' },
      headers: { 'X-Csrf': '{{values.csrf}}' },
      assertions: [
        { source: 'json', name: '$.got', operator: 'is', value: 'Bearer t-u-5' },
        { source: 'json', name: '$.csrf', operator: 'is', value: '{{values.csrf}}' },
        { source: 'json', name: '$.url', operator: 'is', value: '/cart/u-5' },
      ],
    },
  ]);
  t.is(outcome, 'passed', message);
  t.is(steps.length, 2);
});

test('a failed step ends the run, gives the reason, and preserves the start of its response', async (t) => {
  const port = await serveHttp(t, (_, response) => response.writeHead(503).end('x'.repeat(10_000)));
  const { outcome, message, steps } = await runHttp([
    { name: 'start', url: `http://127.0.0.1:${port}/` },
    { url: `http://127.0.0.1:${port}/` },
  ]);
  t.is(outcome, 'failed');
  t.is(message, 'status is 503, expected: lt 400');
  t.is(steps.length, 1);
  t.is(steps[0]?.body?.length, 4096);
});

test('a requested run reports its response and each assertion, without secrets and cookies', async (t) => {
  const port = await serveHttp(t, (request, response) => {
    if (request.url === '/old') return response.writeHead(302, { location: '/new?key=s3cr3t-key' }).end();
    response
      .setHeader('set-cookie', ['id=abc123; Path=/', 'b=2'])
      .setHeader('x-echo', 's3cr3t-key')
      .end('got s3cr3t-key');
  });
  const steps = [
    {
      url: `http://127.0.0.1:${port}/old`,
      headers: { 'x-key': '{{variables.key}}' },
      assertions: [
        { source: 'status', operator: 'is', value: 200 },
        { source: 'body', operator: 'contains', value: '{{variables.key}}' },
      ],
    },
  ];
  const variables = { key: { value: 's3cr3t-key', hosts: ['127.0.0.1'] } };
  const requested = await runHttp(steps, { variables, hasExchanges: true });
  const [step] = requested.steps;
  t.like(step?.exchange, {
    method: 'GET',
    url: `http://127.0.0.1:${port}/new?key=********`,
    protocol: 'HTTP/1.1',
    body: 'got ********',
  });
  t.like(step?.exchange?.headers, { 'set-cookie': 'id=********; Path=/, b=********', 'x-echo': '********' });
  t.deepEqual(step?.assertions, [
    { source: 'status', operator: 'is', value: '200', outcome: 'passed', found: '200' },
    { source: 'body', operator: 'contains', value: '********', outcome: 'passed', found: 'got ********' },
  ]);
  const [scheduledStep] = (await runHttp(steps, { variables })).steps;
  t.is(scheduledStep?.exchange, undefined);
  t.is(scheduledStep?.assertions?.length, 2);
});

test('a slow target is degraded, not down', async (t) => {
  const port = await serveHttp(t, (_, response) => response.end());
  const assertions = [{ source: 'duration', operator: 'lt', value: 0, level: 'degrade' }];
  t.is((await runHttp([{ url: `http://127.0.0.1:${port}/`, assertions }])).outcome, 'degraded');
});

test('a successful retry clears the failure before it', async (t) => {
  let requestCount = 0;
  const port = await serveHttp(t, (_, response) => response.writeHead(requestCount++ === 0 ? 500 : 200).end());
  const retries = { count: 2, wait: '0s' };
  const { outcome, attempts } = await runHttp([{ url: `http://127.0.0.1:${port}/` }], {}, { retries });
  t.is(outcome, 'passed');
  t.is(attempts, 2);
});

test('a target that hangs, drips, resets, refuses or sends garbage fails in time, with the reason', async (t) => {
  const hanging = await serveSocket(t, () => undefined);
  const dripping = await serveHttp(t, (_, response) => {
    const drip = setInterval(() => response.write('.'), 20);
    response.once('close', () => clearInterval(drip));
  });
  const resetting = await serveSocket(t, (socket) => socket.resetAndDestroy());
  const nonsense = await serveSocket(t, (socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'));
  const closed = await serveHttp(t, () => undefined, '127.0.0.2');
  for (const [port, expected] of [
    [hanging, /took too long \(wait\)/],
    [dripping, /took too long \(receive\)/],
    [resetting, /reset the connection|closed|hang up/],
    [nonsense, /wait failed: Parse Error|Expected HTTP/],
    [closed, /refused the connection/],
  ] as const) {
    const { outcome, message, phases, durationMs } = await runHttp(
      [{ url: `http://127.0.0.1:${port}/` }],
      {},
      { timeout: soon(500) },
    );
    t.is(outcome, 'failed', message);
    t.regex(message, expected);
    t.is(sum(phases), durationMs);
  }
});

test('at most five megabytes of an endless response are read, and the sender is stopped', async (t) => {
  const closed = Promise.withResolvers<number>();
  const port = await serveHttp(t, (_, response) => {
    const block = Buffer.alloc(1024 * 1024, 'x');
    const more = (): void => {
      while (response.write(block));
      response.once('drain', more);
    };
    const { socket } = response;
    response.once('close', () => closed.resolve(socket?.bytesWritten ?? Number.POSITIVE_INFINITY));
    more();
  });
  const assertions = [{ source: 'size', operator: 'gte', value: 5 * 1024 * 1024 }];
  const { outcome, message } = await runHttp([{ url: `http://127.0.0.1:${port}/`, assertions }]);
  t.is(outcome, 'passed', message);
  // Data in the kernel buffers of both sides.
  const sent = await closed.promise;
  t.true(sent < 32 * 1024 * 1024, `${sent} bytes left the target`);
});

test('requests have a user agent and the trace context of the run', async (t) => {
  let seen: Record<string, unknown> = {};
  const port = await serveHttp(t, (request, response) => {
    seen = request.headers;
    response.end();
  });
  const { traceId } = await runHttp([{ url: `http://127.0.0.1:${port}/` }]);
  t.is(seen['user-agent'], 'oiq-probe');
  t.is(seen['x-oiq-check'], 'c1');
  t.is(seen['x-oiq-location'], 'here');
  t.regex(String(seen['traceparent']), new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`));
});

test('redirects are followed up to the limit of the step, or are the response', async (t) => {
  const port = await serveHttp(t, (request, response) => {
    const left = Number(request.url?.slice(1));
    if (left === 0) return response.end(`${request.method}`);
    response.writeHead(302, { location: `/${left - 1}` }).end();
  });
  const step = (from: number, more: object) => ({ url: `http://127.0.0.1:${port}/${from}`, ...more });
  const followed = [
    { source: 'redirects', operator: 'is', value: 3 },
    { source: 'body', operator: 'is', value: 'GET' },
  ];
  t.is((await runHttp([step(3, { method: 'POST', body: 'a', assertions: followed })])).outcome, 'passed');
  t.regex((await runHttp([step(6, {})])).message, /redirects more than 5 times/);
  const first = [{ source: 'status', operator: 'is', value: 302 }];
  t.is((await runHttp([step(1, { redirects: 0, assertions: first })])).outcome, 'passed');
});

test('a private network in any notation is not reached: the result is unknown, not down', async (t) => {
  const port = await serveHttp(t, (_, response) => response.end('reached'));
  const redirecting = await serveHttp(t, (request, response) =>
    response.writeHead(307, { location: `http://${decodeURIComponent(request.url?.slice(1) ?? '')}:${port}/` }).end(),
  );
  const hosts = [
    ...[
      '10.0.0.1',
      '2130706434',
      '0x7f000002',
      '127.2',
      '[::1]',
      '[::ffff:7f00:2]',
      '[::ffff:10.0.0.1]',
      '[fd00::1]',
      '[fe80::1]',
    ],
    ...[
      '[64:ff9b::7f00:2]',
      '[2002:7f00:2::]',
      '[::127.0.0.2]',
      '169.254.169.254',
      '[fd00:ec2::254]',
      'private.example',
      'mixed.example',
    ],
  ];
  // Only the address that redirects is allowed.
  const around = {
    allowed: ['127.0.0.1/32'],
    names: { 'private.example': [['10.1.2.3']], 'mixed.example': [['192.0.2.1', '::1']] },
  };
  for (const host of hosts) {
    const direct = await runHttp([{ url: `http://${host}:${port}/` }], around);
    t.is(direct.outcome, 'unknown', `${host}: ${direct.message}`);
    t.regex(direct.message, /private network that OIQ_PROBE_NETWORKS does not allow/);
    const around2 = await runHttp([{ url: `http://127.0.0.1:${redirecting}/${encodeURIComponent(host)}` }], around);
    t.is(around2.outcome, 'unknown', `redirected to ${host}: ${around2.message}`);
  }
  t.is((await runHttp([{ url: `http://nowhere.example:${port}/` }], around)).outcome, 'failed');
});

test('metadata addresses need a separate allowlist entry', (t) => {
  const policyOf = (...allowedNetworks: string[]) =>
    createEgressPolicy({ allowedNetworks, setting: 'OIQ_PROBE_NETWORKS', resolve: resolving({}) });
  const wide = policyOf('0.0.0.0/0', '169.254.0.0/16', '::/0');
  for (const address of ['169.254.169.254', '::ffff:169.254.169.254', '168.63.129.16', 'fd00:ec2::254']) {
    t.false(wide.isAllowed(address), address);
    t.true(policyOf(address).isAllowed(address), address);
  }
  t.true(policyOf('169.254.169.254/32').isAllowed('169.254.169.254'));
  t.true(wide.isAllowed('169.254.1.1'));
});

test('a name that becomes private between two steps, or at a redirect, is rejected at that point', async (t) => {
  const port = await serveHttp(t, (request, response) => {
    if (request.url === '/again')
      return response.writeHead(302, { location: `http://flips.example:${port}/end` }).end();
    response.end('reached');
  });
  const around = { allowed: ['127.0.0.1/32'], names: { 'flips.example': [['127.0.0.1'], ['127.0.0.2']] } };
  const steps = await runHttp(
    [{ url: `http://flips.example:${port}/` }, { url: `http://flips.example:${port}/` }],
    around,
  );
  t.deepEqual(
    steps.steps.map(({ outcome }) => outcome),
    ['passed', 'unknown'],
  );
  const redirect = await runHttp([{ url: `http://flips.example:${port}/again` }], around);
  t.is(redirect.outcome, 'unknown', redirect.message);
});

const secret = `correct horse+9/ü"('{<&>}')!~`;
const variables = { key: { value: secret, hosts: ['127.0.0.1'] } };

test('secrets are redacted from messages and stored responses, in every encoding', async (t) => {
  const forms = (text: string): string[] => [
    text,
    encodeURIComponent(text),
    JSON.stringify(text),
    Buffer.from(text).toString('base64'),
    Buffer.from(`ann:${text}`).toString('base64'),
    Buffer.from(`a:${text}`).toString('base64url'),
    Buffer.from(text).toString('hex'),
    Buffer.from(text).toString('hex').toUpperCase(),
    encodeURIComponent(text).replace(/%../g, (digits) => digits.toLowerCase()),
    new URLSearchParams({ '': text }).toString(),
    new URL(`http://shop/?${text}`).search,
    new URL(`http://shop/${text}`).pathname,
    new URL(`http://shop/#${text}`).hash,
    JSON.stringify(text).replaceAll('/', '\\/').replace('ü', '\\u00fc'),
    JSON.stringify(text).replace(/[<>&']/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`),
    JSON.stringify(text).replace(/[<>&]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`),
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'),
    encodeURIComponent(Buffer.from(text).toString('base64')),
  ];
  const port = await serveHttp(t, (request, response) =>
    response
      .writeHead(500, { 'x-echo': encodeURIComponent(secret) })
      .end(forms(secret).join('\n') + String(request.headers['authorization'])),
  );
  const result = await runHttp(
    [
      {
        url: `http://127.0.0.1:${port}/`,
        authentication: { type: 'basic', user: 'ann', password: '{{variables.key}}' },
        assertions: [{ source: 'header', name: 'x-echo', operator: 'absent' }],
      },
    ],
    { variables },
  );
  t.is(result.outcome, 'failed');
  const output = [result.message, ...result.steps.flatMap(({ message, body }) => [message, body])].join('\n');
  t.regex(output, /\*{8}/);
  for (const form of forms(secret)) t.false(output.includes(form.slice(4, -8)), `${form} in ${output}`);
});

test('if a truncated response ends within a secret, no part of the secret is revealed', async (t) => {
  const key = 'pÄssw0rd-0123456789';
  const shown = { key: { value: `${key}\n`, hosts: ['127.0.0.1'] } };
  for (const [name, before] of Object.entries({ message: 200, body: 4096 }))
    for (const form of [key, encodeURIComponent(key), Buffer.from(key).toString('base64')])
      for (let seen = 6; seen <= form.length; seen += 3) {
        const sent = 'x'.repeat(before - seen) + form + 'y'.repeat(9000);
        const port = await serveHttp(t, (_, response) => response.writeHead(500).end(sent));
        const assertions = [{ source: 'body', operator: 'is', value: 'z' }];
        const url = `http://127.0.0.1:${port}/{{variables.key}}`;
        const { steps } = await runHttp([{ url, assertions }], { variables: shown });
        const output = JSON.stringify(steps);
        t.false(output.includes(form.slice(0, 6)), `${seen} of ${form} in ${name}: ${output.slice(-200)}`);
        t.true(output.includes('x'.repeat(100)));
      }
});

test('a redirect sends no secret to another host, and no credentials to another origin', async (t) => {
  const seen: Record<string, unknown>[] = [];
  const other = await serveHttp(t, (request, response) => {
    seen.push(request.headers);
    response.end();
  });
  const port = await serveHttp(t, (request, response) =>
    response
      .writeHead(307, {
        location: request.url === '/same' ? `http://127.0.0.1:${other}/` : `http://evil.example:${other}/`,
      })
      .end(),
  );
  const key = { value: 'k-123456', hosts: ['127.0.0.1'] };
  const ascii = { variables: { key }, names: { 'evil.example': [['127.0.0.1']] } };
  const headers = { 'x-key': '{{variables.key}}', authorization: 'Bearer x', 'x-plain': 'p' };
  const step = (path: string, more: object = {}) => [{ url: `http://127.0.0.1:${port}/${path}`, headers, ...more }];
  t.is((await runHttp(step('evil'), ascii)).outcome, 'passed');
  t.is(seen.at(-1)?.['x-key'], undefined);
  t.is(seen.at(-1)?.['authorization'], undefined);
  t.is((await runHttp(step('same'), ascii)).outcome, 'passed');
  t.is(seen.at(-1)?.['x-key'], 'k-123456');
  t.is(seen.at(-1)?.['authorization'], undefined);
  const sent = await runHttp(step('evil', { method: 'POST', body: '{{variables.key}}' }), ascii);
  t.regex(sent.message, /redirects a body with a secret to evil\.example/);
});
