/** `/ws/live-tail` as clients see it: permissions, messages, and reasons to close. */
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import test from 'ava';
import { WebSocket as WsSocket } from 'ws';
import { HeartbeatFrame, LogsFrame, SpansFrame } from '../../api/streams/frame.ts';
import type { Message } from '../../schemas/ports/bus.ts';
import { organizations, organizationsTenant } from '../../schemas/resources/organization.ts';
import { plans, plansTenant } from '../../schemas/resources/plan.ts';
import { memberships, users, usersTenant } from '../../schemas/resources/user.ts';

import { logsOf, numbered, spansOf } from '../contract/live-tail-harness.ts';
import { worldOf } from '../contract/world.ts';
import { eventually } from '../waiting.ts';
import { type Harness, startHarness } from './api-harness.ts';

let harness: Harness;
let publish: (...messages: Message[]) => Promise<void>;
test.before(async () => {
  harness = await startHarness();
  const producer = await harness.bus.producer();
  publish = (...messages) => producer.publish(messages);
});
test.after.always(() => harness?.close());

// biome-ignore lint/suspicious/noExplicitAny: frames of every kind
type Frame = any;

interface Client {
  readonly socket: WsSocket;
  readonly frames: Frame[];
  /** Bodies of log records and names of spans. */
  bodies(): string[];
  position(): string;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
}

interface Refused {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the error object
  readonly body: any;
}

const addressOf = (query: string): string => `${harness.url.replace('http', 'ws')}/ws/live-tail${query}`;

/** Connects, or returns the refusal. */
const attempt = (query: string, headers: Record<string, string> = {}): Promise<Client | Refused> =>
  new Promise((resolve, reject) => {
    const socket = new WsSocket(addressOf(query), { headers });
    const frames: Frame[] = [];
    const closed = new Promise<{ code: number; reason: string }>((over) =>
      socket.on('close', (code, reason) => over({ code, reason: String(reason) })),
    );
    socket.on('message', (text) => {
      const frame = JSON.parse(String(text));
      const schema = frame.type === 'heartbeat' ? HeartbeatFrame : query.includes('spans') ? SpansFrame : LogsFrame;
      frames.push(schema.parse(frame));
    });
    socket.on('open', () =>
      resolve({
        socket,
        frames,
        closed,
        bodies: () => frames.flatMap(({ records = [] }) => records.map((record: Frame) => record.body ?? record.name)),
        position: () => frames.at(-1).position,
      }),
    );
    socket.on('unexpected-response', (_request, response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) }));
    });
    socket.on('error', reject);
  });

const tokenHeader = (token: string) => ({ authorization: `Bearer ${token}` });

const connected = async (query: string, token: string): Promise<Client> => {
  const client = await attempt(query, tokenHeader(token));
  if ('status' in client) throw new Error(`refused with ${client.status}: ${JSON.stringify(client.body)}`);
  await eventually('the first frame', () => client.frames.some(({ live }) => live));
  return client;
};

const refused = async (query: string, headers: Record<string, string> = {}): Promise<Refused> => {
  const response = await attempt(query, headers);
  if ('status' in response) return response;
  response.socket.close();
  throw new Error('it was not refused');
};

const viewer = () => harness.signIn('viewer@a.example');

test.serial('a listener gets the last records, then live ones, and resumes after its last frame', async (t) => {
  const token = await viewer();
  const service = randomUUID();
  const sent = { tenantId: 'a', service };
  await publish(logsOf(numbered('old', 30), sent), logsOf(['of another'], { tenantId: 'b', service }));
  const first = await connected(`?service=${service}&last=10`, token);
  t.deepEqual(first.bodies(), numbered('old', 30).slice(20));
  await publish(logsOf(['new'], sent), logsOf(['of another'], { tenantId: 'b', service }));
  await eventually('the new record', () => first.bodies().includes('new'));
  first.socket.close();
  await first.closed;
  await publish(logsOf(['meanwhile'], sent));
  const second = await connected(`?service=${service}&last=10&resume=${first.position()}`, token);
  await publish(logsOf(['last'], sent));
  await eventually('the last record', () => second.bodies().includes('last'));
  t.deepEqual(second.bodies(), ['meanwhile', 'last']);
  t.true(second.frames.every(({ gap, dropped, skipped }) => !gap && dropped === 0 && skipped === 0));
  second.socket.close();
});

test.serial(
  'the WebSocket of Node is accepted with the session cookie and its own origin, and gets spans',
  async (t) => {
    const token = await viewer();
    const service = randomUUID();
    const headers = { cookie: `oiq_token=${token}`, origin: harness.url };
    // Node's own client accepts headers in a second argument that browsers do not have.
    const socket = new WebSocket(addressOf(`?signal=spans&service=${service}&tenantId=a`), { headers } as never);
    const names: string[] = [];
    let live = false;
    socket.onmessage = ({ data }) => {
      const frame = JSON.parse(data);
      live ||= frame.live;
      names.push(...(frame.records ?? []).map(({ name }: { name: string }) => name));
    };
    await eventually('live records', () => live);
    const span = { name: 'GET /', startTimeUnixNano: '1700000000000000000', endTimeUnixNano: '1700000000000000005' };
    await publish(spansOf([span], { tenantId: 'a', service }));
    await eventually('the span', () => names.length > 0);
    t.deepEqual(names, ['GET /']);
    socket.close();
  },
);

test.serial(
  'nobody can connect without the permissions that the reads require, and errors are those of the API',
  async (t) => {
    const token = await viewer();
    const world = await worldOf(harness, 'a');
    const account = await world.make('createServiceAccount', { body: { name: randomUUID(), role: 'viewer' } });
    const apiToken = async (scopes: string[]): Promise<string> =>
      (await world.make('createApiToken', { params: { id: account.id }, body: { name: randomUUID(), scopes } })).token;
    const cookie = `oiq_token=${token}`;
    const cases: [string, string, Record<string, string>, number, string][] = [
      ['no session', '', {}, 401, 'UNAUTHENTICATED'],
      ['an invented token', '', tokenHeader('x.y.z'), 401, 'UNAUTHENTICATED'],
      ['a cookie from a foreign page', '', { cookie, origin: 'https://evil.example' }, 403, 'FORBIDDEN'],
      ['a cookie from a sandboxed page', '', { cookie, origin: 'null' }, 403, 'FORBIDDEN'],
      ['a cookie from no page', '', { cookie }, 403, 'FORBIDDEN'],
      [
        'a cookie with a foreign site and origin',
        '',
        { cookie, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
        403,
        'FORBIDDEN',
      ],
      ['another organization', '?tenantId=b', tokenHeader(token), 403, 'TENANT_MISMATCH'],
      ['two organizations', '?tenantId=a&tenantId=b', tokenHeader(token), 403, 'TENANT_MISMATCH'],
      ['a token for metrics', '', tokenHeader(await apiToken(['metrics:read'])), 403, 'FORBIDDEN'],
      ['a token for logs', '?signal=spans', tokenHeader(await apiToken(['logs:read'])), 403, 'FORBIDDEN'],
      [
        'a plan without traces',
        '?signal=spans',
        tokenHeader(await harness.signIn('viewer@b.example')),
        403,
        'UPGRADE_REQUIRED',
      ],
      ['an unknown parameter', '?servise=x', tokenHeader(token), 400, 'VALIDATION_FAILED'],
      ['a severity of spans', '?signal=spans&severity=warn', tokenHeader(token), 400, 'VALIDATION_FAILED'],
      ['no severity', '?severity=loud', tokenHeader(token), 400, 'VALIDATION_FAILED'],
      ['too many last ones', '?last=1001', tokenHeader(token), 400, 'VALIDATION_FAILED'],
      ['a position that is none', '?resume=abc', tokenHeader(token), 400, 'VALIDATION_FAILED'],
      ['a huge filter', `?search=${'x'.repeat(8_000)}`, tokenHeader(token), 400, 'VALIDATION_FAILED'],
      [
        'very many filters',
        `?${Array.from({ length: 17 }, (_, index) => `attribute=k${index}=v`).join('&')}`,
        tokenHeader(token),
        400,
        'VALIDATION_FAILED',
      ],
    ];
    for (const [what, query, headers, status, error] of cases) {
      const response = await refused(query, headers);
      t.deepEqual([response.status, response.body.error], [status, error], what);
      t.is(typeof response.body.requestId, 'string', what);
    }
    const logs = await connected('', await apiToken(['logs:read']));
    logs.socket.close();
    const request = await harness.request('GET', '/ws/live-tail');
    t.deepEqual(
      [request.status, request.body.error],
      [400, 'VALIDATION_FAILED'],
      'a request without a WebSocket upgrade',
    );
  },
);

test.serial('a position of another organization discloses nothing of it', async (t) => {
  const service = randomUUID();
  const otherTail = await connected(`?service=${service}`, await harness.signIn('viewer@b.example'));
  await publish(logsOf(['secret'], { tenantId: 'b', service }), logsOf(['ours'], { tenantId: 'a', service }));
  const ownTail = await connected(`?service=${service}&resume=${otherTail.position()}`, await viewer());
  await eventually('the record of organization a', () => ownTail.bodies().length > 0);
  await eventually('the record of organization b', () => otherTail.bodies().length > 0);
  t.deepEqual([ownTail.bodies(), otherTail.bodies()], [['ours'], ['secret']]);
  for (const { socket } of [ownTail, otherTail]) socket.close();
});

test.serial('a message from a client closes the connection, with a code', async (t) => {
  const token = await viewer();
  const cases: [string, (client: Client) => void, number][] = [
    ['text', ({ socket }) => socket.send('{"filter":1}'), 1003],
    ['bytes', ({ socket }) => socket.send(Buffer.alloc(10)), 1003],
    ['too much', ({ socket }) => socket.send('x'.repeat(100_000)), 1009],
  ];
  for (const [what, send, code] of cases) {
    const client = await connected('', token);
    send(client);
    t.is((await client.closed).code, code, what);
  }
});

test.serial(
  'bytes that are not WebSocket frames close the connection, and an incomplete handshake is refused',
  async (t) => {
    const token = await viewer();
    const { port, hostname } = new URL(harness.url);
    const talk = async (lines: readonly string[], then?: Buffer): Promise<string> => {
      const socket = connect(Number(port), hostname);
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk.toString('latin1');
        if (then !== undefined && text.includes('\r\n\r\n')) socket.write(then);
      });
      socket.write([...lines, `Authorization: Bearer ${token}`, '', ''].join('\r\n'));
      await new Promise<void>((resolve) => socket.on('close', () => resolve()));
      return text;
    };
    const upgrade = ['GET /ws/live-tail HTTP/1.1', 'Host: x', 'Connection: Upgrade', 'Upgrade: websocket'];
    const key = ['Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', 'Sec-WebSocket-Version: 13'];
    t.regex(await talk(upgrade), /^HTTP\/1\.1 400 .*"VALIDATION_FAILED"/s, 'no key');
    t.regex(await talk([...upgrade, key[0] ?? '', 'Sec-WebSocket-Version: 7']), /^HTTP\/1\.1 400 /, 'an old version');
    t.regex(await talk([...upgrade, ...key, 'Host: y']), /^HTTP\/1\.1 400 /, 'two hosts');
    const garbage = await talk([...upgrade, ...key], Buffer.alloc(64, 0xff));
    t.regex(garbage, /^HTTP\/1\.1 101 /);
    t.true(garbage.includes('\u0003\u00ea'), 'a close frame with 1002');
  },
);

test.serial('a user has a limited number of connections, and gets an error asking to close one above it', async (t) => {
  const token = await harness.signIn('editor@a.example');
  const clients = await Promise.all(Array.from({ length: 20 }, () => connected('', token)));
  const response = await refused('', tokenHeader(token));
  t.deepEqual([response.status, response.body.error], [429, 'RATE_LIMITED']);
  t.regex(response.body.message, /20 open connections/);
  clients[0]?.socket.close();
  await clients[0]?.closed;
  let again: Client | Refused = response;
  await eventually('a free connection', async () => {
    again = await attempt('', tokenHeader(token));
    return !('status' in again);
  });
  for (const { socket } of [...clients, again as unknown as Client]) socket.close();
});

const userOf = async (role: string) => {
  const world = await worldOf(harness, 'a');
  return world.person(role as 'viewer');
};

test.serial('a connection ends with its session, user, membership, role, token, plan or organization', async (t) => {
  const { documents } = harness;
  const world = await worldOf(harness, 'a');
  const ends: [string, number, () => Promise<{ token: string; end(): Promise<unknown> }>][] = [
    [
      'signing out',
      4401,
      async () => {
        const { token } = await userOf('viewer');
        return { token, end: () => harness.request('POST', '/auth/logout', { as: `token ${token}` }) };
      },
    ],
    [
      'the user is disabled',
      4401,
      async () => {
        const { id, token } = await userOf('viewer');
        const stored = documents.forTenant(usersTenant).collection(users);
        return { token, end: () => stored.update(id, { disabled: true }) };
      },
    ],
    [
      'the membership is disabled',
      4401,
      async () => {
        const { id, token } = await userOf('viewer');
        const stored = documents.forTenant('a').collection(memberships);
        return { token, end: () => stored.update(id, { disabled: true }) };
      },
    ],
    [
      'the membership is deleted',
      4401,
      async () => {
        const { id, token } = await userOf('viewer');
        return { token, end: () => documents.forTenant('a').collection(memberships).delete(id) };
      },
    ],
    [
      'the API token is revoked',
      4401,
      async () => {
        const account = await world.make('createServiceAccount', { body: { name: randomUUID(), role: 'viewer' } });
        const created = await world.make('createApiToken', {
          params: { id: account.id },
          body: { name: 't', scopes: ['logs:read'] },
        });
        const path = `/api/service-accounts/${account.id}/tokens/${created.id}`;
        return { token: created.token, end: () => harness.request('DELETE', path) };
      },
    ],
    [
      'the plan loses logs',
      4403,
      async () => ({
        token: await harness.signIn('admin@b.example'),
        end: () =>
          documents
            .forTenant(plansTenant)
            .collection(plans)
            .update('free', { entitlements: ['metrics'] }),
      }),
    ],
    [
      'the organization is disabled',
      4401,
      async () => {
        await documents
          .forTenant(plansTenant)
          .collection(plans)
          .update('free', { entitlements: ['logs', 'metrics'] });
        const token = await harness.signIn('admin@b.example');
        await eventually('logs again', async () => {
          const response = await harness.request('GET', '/api/logs', { as: `token ${token}` });
          return response.status === 200;
        });
        const stored = documents.forTenant(organizationsTenant).collection(organizations);
        return { token, end: () => stored.update('b', { disabled: true }) };
      },
    ],
  ];
  for (const [what, code, prepare] of ends) {
    const { token, end } = await prepare();
    const client = await connected('', token);
    await end();
    t.is((await client.closed).code, code, what);
  }
});

test.serial(
  'a client that never reads costs a limited number of bytes, slows nobody, and gets the number of missed records',
  async (t) => {
    const token = await viewer();
    const service = randomUUID();
    const [deaf, quick] = await Promise.all([
      connected(`?service=${service}`, token),
      connected(`?service=${service}`, token),
    ]);
    deaf.socket.pause();
    const padding = 'x'.repeat(50_000);
    const [rounds, batchSize] = [400, 20];
    // A client that reads nothing for 45 seconds is disconnected: even the slowest machine must publish faster.
    for (let round = 0; round < rounds; round += batchSize) {
      const messages = Array.from({ length: batchSize }, (_, at) =>
        logsOf([`${padding} ${round + at}`], { tenantId: 'a', service }),
      );
      await publish(...messages);
      await eventually(
        'all records of the fast client',
        () => quick.bodies().length + lostOf(quick) === round + batchSize,
      );
    }
    t.is(lostOf(quick), 0);
    deaf.socket.resume();
    await eventually('the count of missed records', () => deaf.bodies().length + lostOf(deaf) === rounds);
    t.true(lostOf(deaf) > 0, '20 MB do not wait for one client');
    for (const { socket } of [deaf, quick]) socket.close();
  },
);

const lostOf = ({ frames }: Client): number => frames.reduce((sum, { dropped, skipped }) => sum + dropped + skipped, 0);
