import { hash } from 'node:crypto';
import test from 'ava';
import { createMemoryCounters } from '../../adapters/counters-memory.ts';
import { createAdmission } from '../../receivers/engine/admission.ts';
import { Freshness } from '../../receivers/engine/freshness.ts';
import { KeyUse } from '../../receivers/engine/key-uses.ts';
import { Keyring } from '../../receivers/engine/keyring.ts';
import { Limits } from '../../receivers/engine/limits.ts';
import { Quotas } from '../../receivers/engine/quotas.ts';
import { TokenLease } from '../../receivers/engine/token-lease.ts';
import { VisitorLimits } from '../../receivers/engine/visitor-limits.ts';
import { UnavailableError } from '../../schemas/errors.ts';
import { generateBrowserKey, generateLicenseKey, isWellFormedLicenseKey } from '../../schemas/license-key-format.ts';
import type { Documents, Feed } from '../../schemas/ports/documents.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { silentMetrics } from '../../schemas/ports/metrics.ts';
import type { LicenseKey } from '../../schemas/resources/license-key.ts';
import type { Organization } from '../../schemas/resources/organization.ts';
import { defaultPlans, type Plan } from '../../schemas/resources/plan.ts';
import { createSourceResolver, parseNetworks } from '../../schemas/source-address.ts';
import { type Signal, signals } from '../../schemas/telemetry-signals.ts';

const secret = generateLicenseKey();
const start = Date.parse('2025-06-01T12:00:00Z');

/** A change feed that the test controls: its documents and its lag. */
class Feeds {
  staleMs = 0;
  readonly #followers = new Map<string, (change: never) => void>();
  readonly #first: Readonly<Record<string, readonly object[]>>;

  constructor(first: Readonly<Record<string, readonly object[]>>) {
    this.#first = first;
  }

  change(collection: string, change: object): void {
    this.#followers.get(collection)?.(change as never);
  }

  async follow({ name }: { name: string }, onChange: (change: never) => void): Promise<Feed> {
    this.#followers.set(name, onChange);
    for (const change of this.#first[name] ?? []) onChange(change as never);
    return { getStaleMs: () => this.staleMs, close: async () => undefined };
  }
}

interface Setup {
  readonly key?: Partial<LicenseKey>;
  readonly organization?: Partial<Organization> | null;
  readonly plan?: Partial<Plan>;
}

const key: LicenseKey = {
  name: 'k',
  kind: 'server',
  application: null,
  origins: [],
  maxBytesPerDay: null,
  projectId: 'shop',
  hash: hash('sha256', secret),
  prefix: '',
  signals: [...signals],
  allowedCidrs: [],
  expiresAt: null,
  revokedAt: null,
  requestsPerSecond: null,
};

const setUp = async ({ key: changes = {}, organization = {}, plan = {} }: Setup = {}) => {
  const clock = { at: start, now: () => clock.at };
  const acme = { name: 'Acme', planId: 'pro', retentionDays: {}, shards: 1, disabled: false, ...organization };
  const feeds = new Feeds({
    'license-keys': [{ tenantId: 'acme', id: 'k1', document: { ...key, ...changes } }],
    organizations: organization === null ? [] : [{ tenantId: '-', id: 'acme', document: acme }],
    plans: [{ tenantId: '-', id: 'pro', document: { ...defaultPlans['pro'], ...plan } }],
  });
  const keyring = await Keyring.load(feeds as unknown as Documents, clock, {
    findOrCreate: (secret) => new KeyUse(clock, secret),
  });
  const counters = createMemoryCounters({ clock });
  const rejected: string[] = [];
  const logged: string[] = [];
  const log = (level: string) => (_: object, message: string) => void logged.push(`${level}: ${message}`);
  const freshness = new Freshness({
    staleMs: () => keyring.staleMs(),
    graceMs: 60_000,
    metrics: silentMetrics,
    log: { info: log('info'), warn: log('warn'), error: log('error') },
  });
  const visitorLimits = new VisitorLimits(clock);
  const { admit, admitBrowser } = createAdmission({
    keyring,
    freshness,
    limits: new Limits(counters, clock, 1_000),
    visitorLimits,
    rejections: { count: ({ keyId }, signal, { kind }) => void rejected.push(`${keyId} ${signal} ${kind}`) },
  });
  const quotas = new Quotas({ counters, clock, log: silentLog, readUsedBytes: undefined });
  const outcome = async (
    input: Partial<Parameters<typeof admit>[0]> = {},
    signal: Signal = 'logs',
  ): Promise<string> => {
    const response = await admit(
      { licenseKey: secret, authorization: undefined, source: '192.0.2.7', ...input },
      signal,
    );
    if (!('kind' in response)) return 'admitted';
    return response.retryAfterSeconds === undefined ? response.kind : `${response.kind} ${response.retryAfterSeconds}`;
  };
  return { clock, feeds, keyring, freshness, logged, quotas, admit, admitBrowser, visitorLimits, outcome, rejected };
};

const bearer = { licenseKey: undefined, authorization: `Bearer ${secret}` };
const past = new Date(start - 1_000).toISOString();
const future = new Date(start + 1_000).toISOString();

/** A key whose current secret differs from the presented one, which is its previous secret. */
const rotatedOut = (validUntil: string): Partial<LicenseKey> => ({
  hash: hash('sha256', generateLicenseKey()),
  previous: [{ hash: hash('sha256', secret), prefix: '', rotatedAt: past, validUntil }],
});

const cases: [string, Setup, Partial<Parameters<Awaited<ReturnType<typeof setUp>>['admit']>[0]>, Signal, string][] = [
  ['the key in a separate header', {}, {}, 'logs', 'admitted'],
  ['the key as bearer', {}, bearer, 'logs', 'admitted'],
  ['the scheme in lower case', {}, { ...bearer, authorization: `bearer ${secret}` }, 'logs', 'admitted'],
  ['an empty header in addition to a bearer token', {}, { ...bearer, licenseKey: '' }, 'logs', 'admitted'],
  [
    'a wrong key in addition to a valid bearer token',
    {},
    { ...bearer, licenseKey: generateLicenseKey() },
    'logs',
    'unauthenticated',
  ],
  ['no credentials', {}, { licenseKey: undefined }, 'logs', 'unauthenticated'],
  ['another scheme', {}, { licenseKey: undefined, authorization: `Basic ${secret}` }, 'logs', 'unauthenticated'],
  ['the key in capitals', {}, { licenseKey: secret.toUpperCase() }, 'logs', 'unauthenticated'],
  ['an API token', {}, { licenseKey: secret.replace('oiq_lk_', 'oiq_sa_') }, 'logs', 'unauthenticated'],
  ['a revoked key', { key: { revokedAt: past } }, {}, 'logs', 'unauthenticated'],
  ['an expired key', { key: { expiresAt: past } }, {}, 'logs', 'unauthenticated'],
  ['a key that expires later', { key: { expiresAt: future } }, {}, 'logs', 'admitted'],
  ['a key rotated out, within its grace', { key: rotatedOut(future) }, {}, 'logs', 'admitted'],
  ['a key rotated out, after its grace', { key: rotatedOut(past) }, {}, 'logs', 'unauthenticated'],
  [
    'a rotated key of a revoked key',
    { key: { ...rotatedOut(future), revokedAt: past } },
    {},
    'logs',
    'unauthenticated',
  ],
  [
    'a key rotated out, of an expired one',
    { key: { ...rotatedOut(future), expiresAt: past } },
    {},
    'logs',
    'unauthenticated',
  ],
  ['a disabled organization', { organization: { disabled: true } }, {}, 'logs', 'forbidden'],
  ['an organization that does not exist', { organization: null }, {}, 'logs', 'forbidden'],
  ['a plan that does not exist', { organization: { planId: 'none' } }, {}, 'logs', 'forbidden'],
  ['a signal that the key has not', { key: { signals: ['logs'] } }, {}, 'traces', 'forbidden'],
  ['a signal that the plan has not', { plan: { entitlements: ['logs'] } }, {}, 'traces', 'forbidden'],
  ['an address outside the networks', { key: { allowedCidrs: ['10.0.0.0/8'] } }, {}, 'logs', 'forbidden'],
  ['an address inside the networks', { key: { allowedCidrs: ['10.0.0.0/8', '192.0.2.0/24'] } }, {}, 'logs', 'admitted'],
  ['a network list that is not a list', { key: { allowedCidrs: ['everywhere'] } }, {}, 'logs', 'forbidden'],
  ['an IPv4-mapped network', { key: { allowedCidrs: ['::ffff:192.0.2.0/120'] } }, {}, 'logs', 'admitted'],
];

test('a session token or service account token used as a license key is identified in the error', async (t) => {
  const { admit } = await setUp();
  for (const token of [secret.replace('oiq_lk_', 'oiq_sa_'), 'eyJhbGciOiJFZERTQSJ9.eyJzIjoxfQ.c2ln'])
    t.like(await admit({ licenseKey: token, authorization: undefined, source: '192.0.2.7' }, 'logs'), {
      message:
        'this is the token of a session or of a service account: telemetry is sent with a license key, which begins with oiq_lk_',
    });
});

for (const [name, setup, given, signal, expected] of cases) {
  test(`${name}: ${expected}`, async (t) => {
    const { outcome, rejected } = await setUp(setup);
    t.is(await outcome(given, signal), expected);
    t.deepEqual(
      rejected,
      expected === 'forbidden' ? [`k1 ${signal} forbidden`] : [],
      'only what a known key is refused',
    );
  });
}

const browserSecret = generateBrowserKey();
const browserKey: Partial<LicenseKey> = {
  kind: 'browser',
  hash: hash('sha256', browserSecret),
  application: 'shop-web',
  origins: ['https://shop.example.com'],
  signals: ['logs', 'traces'],
};
const visit = { key: browserSecret, origin: 'https://shop.example.com', source: '192.0.2.7' };

const browserCases: [string, Setup, Partial<typeof visit> | { origin: undefined }, Signal, string][] = [
  ['a browser key from its origin', {}, {}, 'logs', 'admitted'],
  ['a browser key from another origin', {}, { origin: 'https://evil.example' }, 'logs', 'forbidden'],
  ['a browser key without an origin', {}, { origin: undefined }, 'logs', 'forbidden'],
  ['an unknown browser key', {}, { key: generateBrowserKey() }, 'logs', 'unauthenticated'],
  ['a revoked browser key', { key: { revokedAt: past } }, {}, 'logs', 'unauthenticated'],
  ['metrics with a browser key', {}, {}, 'metrics', 'forbidden'],
  ['a disabled organization of a browser key', { organization: { disabled: true } }, {}, 'logs', 'forbidden'],
];
for (const [name, setup, given, signal, expected] of browserCases)
  test(`${name}: ${expected}`, async (t) => {
    const { admitBrowser } = await setUp({ ...setup, key: { ...browserKey, ...setup.key } });
    const response = await admitBrowser({ ...visit, ...given }, signal);
    t.is('kind' in response ? response.kind : 'admitted', expected);
  });

test('a server key is refused on the path for browsers, and a browser key on all other paths', async (t) => {
  const server = await setUp();
  t.like(await server.admitBrowser({ ...visit, key: secret }, 'logs'), { kind: 'forbidden' });
  const browser = await setUp({ key: browserKey });
  const refusal = await browser.admit(
    { licenseKey: browserSecret, authorization: undefined, source: '192.0.2.7' },
    'logs',
  );
  t.like(refusal, { kind: 'forbidden' });
  t.regex('message' in refusal ? refusal.message : '', /below \/rum\//);
});

test('a browser that sends too many requests or bytes is refused, and other visitors are not', async (t) => {
  const { admitBrowser, visitorLimits, clock } = await setUp({ key: browserKey });
  const outcomeOf = async (source: string): Promise<string> => {
    const response = await admitBrowser({ ...visit, source }, 'logs');
    return 'kind' in response ? response.kind : 'admitted';
  };
  t.deepEqual(await many(200, () => outcomeOf('192.0.2.7')), { admitted: 120, 'rate-limited': 80 });
  t.is(await outcomeOf('192.0.2.8'), 'admitted');
  clock.at += 6_000;
  t.deepEqual(await many(100, () => outcomeOf('192.0.2.7')), { admitted: 60, 'rate-limited': 40 });
  visitorLimits.countBytes('k1', '192.0.2.8', 25 * 1024 * 1024);
  t.is(await outcomeOf('192.0.2.8'), 'rate-limited');
  t.is(await outcomeOf('192.0.2.9'), 'admitted');
  clock.at += 60_000;
  t.is(await outcomeOf('192.0.2.8'), 'admitted');
});

test('the daily volume of a browser key has its own limit', async (t) => {
  const { admitBrowser, quotas } = await setUp({ key: { ...browserKey, maxBytesPerDay: 1_000 } });
  const caller = await admitBrowser(visit, 'logs');
  if ('kind' in caller) return t.fail(caller.message);
  t.is(await quotas.spend(caller, 'logs', 900), undefined);
  t.like(await quotas.spend(caller, 'traces', 200), { kind: 'rate-limited', reason: 'quota' });
});

const many = async (count: number, outcome: () => Promise<string>): Promise<Record<string, number>> => {
  const outcomes = await Promise.all(Array.from({ length: count }, () => outcome()));
  const counts: Record<string, number> = {};
  for (const each of outcomes) counts[each] = (counts[each] ?? 0) + 1;
  return counts;
};

test('by default 400 requests pass in a burst and 200 more a second later', async (t) => {
  const { outcome, clock } = await setUp();
  t.deepEqual(await many(500, outcome), { admitted: 400, 'rate-limited 1': 100 });
  clock.at += 1_000;
  t.deepEqual(await many(300, outcome), { admitted: 200, 'rate-limited 1': 100 });
});

test('sequential requests get the same limit as concurrent requests', async (t) => {
  const { outcome } = await setUp();
  let admitted = 0;
  for (let index = 0; index < 600; index++) if ((await outcome()) === 'admitted') admitted++;
  t.is(admitted, 400);
});

test('10,000 requests pass in a minute, and then the retry delay is 60 seconds', async (t) => {
  const { outcome, clock } = await setUp();
  const total: Record<string, number> = {};
  for (let second = 0; second < 58; second++) {
    for (const [name, count] of Object.entries(await many(200, outcome))) total[name] = (total[name] ?? 0) + count;
    clock.at += 1_000;
  }
  t.deepEqual(total, { admitted: 10_000, 'rate-limited 60': 1_600 });
  clock.at += 2_000;
  t.is(await outcome(), 'admitted');
});

test('a key in its own header has its own bucket; bearer tokens from one address share a bucket', async (t) => {
  const { outcome } = await setUp();
  t.deepEqual(await many(400, outcome), { admitted: 400 });
  t.is(await outcome(), 'rate-limited 1');
  t.is(await outcome(bearer), 'admitted');
  t.deepEqual(await many(400, () => outcome(bearer)), { admitted: 399, 'rate-limited 1': 1 });
  t.is(await outcome({ ...bearer, source: '192.0.2.8' }), 'admitted');
});

test('the limit of a key applies across all addresses', async (t) => {
  const { outcome } = await setUp({ key: { requestsPerSecond: 5 } });
  let number = 0;
  t.deepEqual(await many(8, () => outcome({ ...bearer, source: `192.0.2.${number++}` })), {
    admitted: 5,
    'rate-limited 1': 3,
  });
});

test('a plan replaces the default limits, even at runtime', async (t) => {
  const limits = { requestsPerSecond: 2, requestsBurst: 2, requestsPerMinute: 100, bytesPerDay: null };
  const { outcome, feeds } = await setUp({ plan: { limits } });
  t.deepEqual(await many(4, outcome), { admitted: 2, 'rate-limited 1': 2 });
  feeds.change('plans', { tenantId: '-', id: 'pro', document: { ...defaultPlans['pro'] } });
  t.is(await outcome(bearer), 'admitted');
  t.deepEqual(await many(100, () => outcome(bearer)), { admitted: 100 });
});

test('failed authentication is rate-limited per address, and valid keys still pass', async (t) => {
  const { outcome } = await setUp();
  const guess = () => outcome({ licenseKey: generateLicenseKey() });
  t.deepEqual(await many(300, guess), { unauthenticated: 200, 'rate-limited 1': 100 });
  t.is(await outcome(), 'admitted');
  t.is(await outcome({ licenseKey: generateLicenseKey(), source: '192.0.2.9' }), 'unauthenticated');
});

test('the daily quota counts bytes exactly and resets at midnight UTC', async (t) => {
  const { keyring, quotas, clock } = await setUp({
    plan: { limits: { ...(defaultPlans['pro'] as Plan).limits, bytesPerDay: 10_000 } },
  });
  const spend = async (bytes: number) => {
    const caller = keyring.lookup(secret, '192.0.2.7');
    return caller && (await quotas.spend(caller, 'logs', bytes));
  };
  for (let index = 0; index < 9; index++) t.is(await spend(1_000), undefined);
  t.is((await spend(1_001))?.retryAfterSeconds, 12 * 3_600);
  t.is(await spend(1_000), undefined);
  t.is((await spend(1))?.kind, 'rate-limited');
  clock.at += 12 * 3_600_000;
  t.is(await spend(10_000), undefined);
});

test('while the feed lags, cached keys are admitted until the grace period ends, and each change is logged once', async (t) => {
  const { outcome, feeds, freshness, logged } = await setUp();
  const at = (staleMs: number): void => {
    feeds.staleMs = staleMs;
    for (let times = 0; times < 3; times++) freshness.report();
  };
  at(5_000);
  t.is(freshness.describeDegradation(), undefined);
  t.deepEqual(logged, []);
  at(5_001);
  t.is(await outcome(), 'admitted');
  t.regex(freshness.describeDegradation() ?? '', /are valid for 55 more seconds$/);
  at(60_000);
  t.is(await outcome(), 'admitted');
  at(60_001);
  await t.throwsAsync(async () => outcome(), { instanceOf: UnavailableError });
  t.throws(() => freshness.check(), { instanceOf: UnavailableError });
  at(100);
  t.is(await outcome(), 'admitted');
  t.is(freshness.describeDegradation(), undefined);
  t.deepEqual(
    logged.map((line) => line.split(':')[0]),
    ['warn', 'error', 'info'],
  );
});

test('a permanently failed feed admits no request, regardless of the grace period', async (t) => {
  const { outcome, feeds } = await setUp();
  feeds.staleMs = Number.POSITIVE_INFINITY;
  await t.throwsAsync(async () => outcome(), { instanceOf: UnavailableError });
});

test('revoking, deleting and replacing a key take effect at once', async (t) => {
  const { outcome, feeds } = await setUp();
  t.is(await outcome(), 'admitted');
  feeds.change('license-keys', { tenantId: 'acme', id: 'k1', document: { ...key, revokedAt: past } });
  t.is(await outcome(), 'unauthenticated');
  feeds.change('license-keys', { tenantId: 'acme', id: 'k1', document: key });
  t.is(await outcome(), 'admitted');
  feeds.change('license-keys', {
    tenantId: 'acme',
    id: 'k1',
    document: { ...key, hash: hash('sha256', generateLicenseKey()) },
  });
  t.is(await outcome(), 'unauthenticated');
  feeds.change('license-keys', { tenantId: 'acme', id: 'k1', document: undefined });
  t.is(await outcome(), 'unauthenticated');
});

test('several instances together never grant more than the shared counter allows', async (t) => {
  const clock = { now: () => start };
  const counters = createMemoryCounters({ clock });
  const instances = Array.from(
    { length: 4 },
    () =>
      new TokenLease(
        async (requestedTokens) => {
          const { granted, resetMs } = await counters.spend('shared', 1_000, 60_000, requestedTokens);
          return { granted, retryAfterMs: resetMs, validMs: resetMs };
        },
        clock,
        50,
      ),
  );
  const results = await Promise.all(Array.from({ length: 2_000 }, async (_, index) => instances[index % 4]?.acquire()));
  t.true(results.filter(Boolean).length <= 1_000);
  t.true(results.filter(Boolean).length >= 800);
});

const forwarded: [string, string[], string, string | undefined, string][] = [
  ['no proxy is trusted', [], '10.0.0.1', '1.2.3.4', '10.0.0.1'],
  ['an untrusted peer sends the header', ['10.0.0.0/8'], '192.0.2.1', '1.2.3.4', '192.0.2.1'],
  ['a trusted proxy sends the header', ['10.0.0.0/8'], '10.0.0.1', '1.2.3.4', '1.2.3.4'],
  ['an untrusted client wrote the leftmost entry', ['10.0.0.0/8'], '10.0.0.1', '6.6.6.6, 1.2.3.4', '1.2.3.4'],
  ['two trusted proxies', ['10.0.0.0/8'], '10.0.0.1', '1.2.3.4, 10.0.0.2', '1.2.3.4'],
  ['only proxies', ['10.0.0.0/8'], '10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
  ['rubbish', ['10.0.0.0/8'], '10.0.0.1', '1.2.3.4, unknown', '10.0.0.1'],
  ['a port', ['10.0.0.0/8'], '10.0.0.1', '1.2.3.4:555', '1.2.3.4'],
  ['IPv6 in brackets', ['10.0.0.0/8'], '10.0.0.1', '[2001:db8::1]:555', '2001:db8::1'],
  ['an IPv4-mapped peer', ['10.0.0.0/8'], '::ffff:10.0.0.1', '1.2.3.4', '1.2.3.4'],
  ['an IPv4-mapped peer without proxies', [], '::ffff:192.0.2.4', undefined, '192.0.2.4'],
];

for (const [name, trusted, peer, header, expected] of forwarded)
  test(`the source address when ${name}`, (t) => t.is(createSourceResolver(trusted)(peer, header), expected));

test('networks of one address family do not contain addresses of the other', (t) => {
  const everything = parseNetworks(['0.0.0.0/0']);
  t.true(everything.contains('1.2.3.4'));
  t.true(everything.contains('::ffff:1.2.3.4'));
  t.false(everything.contains('2001:db8::1'));
  t.false(everything.contains('nowhere'));
});

test('license keys are well-formed and unique, and every changed character is detected', (t) => {
  const created = Array.from({ length: 1_000 }, generateLicenseKey);
  t.is(new Set(created).size, 1_000);
  t.true(created.every(isWellFormedLicenseKey));
  const [first = ''] = created;
  for (let index = 0; index < first.length; index++) {
    const other = first[index] === 'a' ? 'b' : 'a';
    t.false(isWellFormedLicenseKey(first.slice(0, index) + other + first.slice(index + 1)));
  }
  t.false(isWellFormedLicenseKey(`${first}0`));
  t.false(isWellFormedLicenseKey(''));
});
