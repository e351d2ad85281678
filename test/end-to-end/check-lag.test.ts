/** Outages of a target while the cluster's sinks are stopped or killed: alerts, events and uptime match the target. */
import { lookup } from 'node:dns';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import test from 'ava';
import { createHttpSource } from '../../probes/http-source.ts';
import { RateLimiter } from '../../probes/pace.ts';
import { startProbe } from '../../probes/probe.ts';
import { createEgressPolicy } from '../../runtime/egress-policy.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { type ChannelReceiver, startChannelReceiver } from '../cases/channel-receiver.ts';
import { selectPart } from '../parts.ts';
import { eventually, stretched } from '../waiting.ts';
import { type Cluster, clusterMissing, startCluster, startRole } from './cluster.ts';
import { type OiqProcess, read, signIn } from './oiq-process.ts';

const serial = clusterMissing === undefined ? test.serial : test.serial.skip;

const everyMs = 10_000;
const lagMs = 60_000;
const environment = { OIQ_SECRET_KEY: 'k'.repeat(40), OIQ_OUTBOUND_NETWORKS: '127.0.0.0/8' };

let directory: string;
let cluster: Cluster;
let sinks: OiqProcess;
let roles: readonly OiqProcess[] = [];
let http = '';
let token = '';
let receiver: ChannelReceiver;
let probes: readonly ReturnType<typeof startProbe>[] = [];
let locations: readonly string[] = [];

let isUp = true;
const target = createServer((_, response) => response.writeHead(isUp ? 200 : 500).end());

// biome-ignore lint/suspicious/noExplicitAny: a response of the API
const get = (path: string): Promise<any> => read(http, path, token);

// biome-ignore lint/suspicious/noExplicitAny: a response of the API
const change = async (method: string, path: string, body: object, headers: object = {}): Promise<any> => {
  const response = await fetch(`${http}${path}`, {
    method,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, ...headers },
    body: JSON.stringify(body),
  });
  if (response.status !== 200) throw new Error(`${path} returned ${response.status}: ${await response.text()}`);
  return response.json();
};

const startAll = async (): Promise<void> => {
  directory = await mkdtemp(join(tmpdir(), 'oiq-check-lag-'));
  const started = await startCluster(directory);
  cluster = { ...started, environment: { ...started.environment, ...environment } };
  const [api, processors, landing] = await Promise.all([
    startRole(cluster, 'api'),
    startRole(cluster, 'processors'),
    startRole(cluster, 'sinks'),
  ]);
  roles = [api, processors];
  sinks = landing;
  http = api.http;
  token = await signIn(http);
};

const notifyReceiver = async (): Promise<void> => {
  receiver = await startChannelReceiver();
  const settings = { type: 'webhook', url: receiver.url };
  const channel = await change('POST', '/api/notification-channels', { name: 'hook', settings, maxPerMinute: 6000 });
  const current = await fetch(`${http}/api/v2/alerts/routing`, { headers: { authorization: `Bearer ${token}` } });
  await change(
    'PUT',
    '/api/v2/alerts/routing',
    {
      route: { receiver: 'hook', groupBy: ['check'], groupWait: '0s', groupInterval: '1s' },
      receivers: [{ name: 'hook', channelIds: [channel.id] }],
    },
    { 'if-match': current.headers.get('etag') ?? '' },
  );
};

const startProbes = async (): Promise<void> => {
  const egressPolicy = createEgressPolicy({
    allowedNetworks: ['127.0.0.0/8'],
    setting: 'OIQ_PROBE_NETWORKS',
    resolve: lookup,
  });
  const created = [];
  for (const name of ['one', 'two']) created.push(await change('POST', '/api/synthetics/locations', { name }));
  locations = created.map(({ id }) => id);
  probes = created.map(({ id, token: probeToken }) =>
    startProbe({
      source: createHttpSource({ url: http, token: probeToken, probe: id, onRejected: () => undefined }),
      egressPolicy,
      pace: new RateLimiter(),
      log: silentLog,
      chromium: { program: '/none/chromium', hasSandbox: true },
    }),
  );
};

test.before(async () => {
  if (clusterMissing !== undefined) return;
  await new Promise<void>((ready) => target.listen(0, '127.0.0.1', ready));
  await startAll();
  await notifyReceiver();
  await startProbes();
});
test.after.always(async () => {
  await Promise.all(probes.map((probe) => probe.stop()));
  await Promise.all([...roles, sinks].map((role) => role?.kill()));
  await receiver?.close();
  target.close();
  await cluster?.close();
  if (directory !== undefined) await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
});

interface Lag {
  readonly title: string;
  begin(): Promise<void>;
  end(): Promise<void>;
}

const lags: readonly Lag[] = [
  {
    title: 'killed, and started a minute later',
    begin: () => sinks.kill(),
    async end() {
      sinks = await startRole(cluster, 'sinks');
    },
  },
  {
    title: 'stopped for a minute',
    begin: async () => void process.kill(sinks.pid, 'SIGSTOP'),
    end: async () => void process.kill(sinks.pid, 'SIGCONT'),
  },
];

/** Outages, by when the target recovers. */
const outages = [
  { title: 'that ends meanwhile', endsMeanwhile: true },
  { title: 'that goes on', endsMeanwhile: false },
] as const;

const cases = lags.flatMap((lag) => outages.map((outage) => ({ lag, outage })));

for (const { lag, outage } of selectPart(cases, 4)) {
  const { title, endsMeanwhile } = outage;
  serial(`an outage ${title} is not lost by sinks that are ${lag.title}`, async (t) => {
    t.timeout(900_000);
    isUp = true;
    const name = `check ${lag.title} ${title}`;
    const steps = [{ url: `http://127.0.0.1:${(target.address() as AddressInfo).port}/` }];
    const { id } = await change('POST', '/api/synthetics/checks', {
      name,
      type: 'http',
      every: '10s',
      timeout: '5s',
      retries: { count: 0 },
      locations,
      http: { steps },
    });
    const states = (state: string): Promise<void> =>
      eventually(`it is ${state}`, async () => (await get(`/api/synthetics/checks/${id}`)).state === state);
    await states('up');
    const notified = (status: string): number =>
      receiver.received.filter(({ body, text }) => body?.status === status && text.includes(name)).length;

    await lag.begin();
    await delay(5000);
    isUp = false;
    const downAtMs = Date.now();
    await delay(lagMs / 2);
    let upAtMs = Date.now();
    if (endsMeanwhile) isUp = true;
    await delay(lagMs / 2 - 5000);
    await lag.end();
    const consumedAtMs = Date.now();

    await eventually('the alert is sent', () => notified('firing') > 0);
    t.log(`the alert was sent ${Date.now() - consumedAtMs} ms after the sinks went on`);
    if (!endsMeanwhile) {
      isUp = true;
      upAtMs = Date.now();
    }
    await eventually('its end is sent', () => notified('resolved') > 0);
    await states('up');
    const downMs = upAtMs - downAtMs;
    const offMs = 2 * everyMs + stretched(3000);
    let whole = { downMs: 0, unknownMs: 0 };
    await eventually(`uptime has the outage of ${downMs} ms`, async () => {
      const { items } = await get(`/api/synthetics/checks/${id}/uptime?from=now-1h`);
      whole = items.find(({ location }: { location: string | null }) => location === null);
      return Math.abs(whole.downMs - downMs) <= offMs;
    });
    t.log(`down for ${downMs} ms; uptime: ${JSON.stringify(whole)}`);
    const { items: events } = await get('/api/events?kinds=check&from=now-1h&limit=100');
    const changes = events.filter(({ title: text }: { title: string }) => text.startsWith(name));
    t.log(changes.map((event: { title: string; at: string; text: string }) => [event.at, event.title, event.text]));
    t.is(changes.filter((event: { title: string }) => event.title.endsWith('is down')).length, 1);
    const texts = receiver.received.map(({ text }) => text).filter((text) => text.includes(name));
    t.is(notified('firing'), 1, texts.join('\n'));
    t.is(notified('resolved'), 1, texts.join('\n'));
  });
}
