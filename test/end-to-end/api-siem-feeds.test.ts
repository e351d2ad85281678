/** Feeds of threat indicators: subscribed through the API, and polled from a server that behaves like real feeds. */
import test from 'ava';
import { openOutbound } from '../../runtime/outbound.ts';
import { createSecretBox, loadSecretKey } from '../../runtime/secret-box.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { indicatorBlocks, threatFeedStates } from '../../schemas/resources/threat-intel.ts';
import { pollDueFeeds } from '../../subjects/threat-intel/poll-feeds.ts';
import { type ChannelReceiver, type Reply, startChannelReceiver } from '../cases/channel-receiver.ts';
import { type Harness, startHarness } from './api-harness.ts';

let harness: Harness;
let server: ChannelReceiver;
let nowMs = Date.now();
test.before(async () => {
  server = await startChannelReceiver();
  const startedMs = nowMs;
  // The harness's own job polls nothing, because its clock does not advance.
  harness = await startHarness({ now: () => startedMs });
});
test.after.always(async () => {
  await harness.close();
  await server.close();
});

const path = '/api/siem/threat-intel/feeds';
const outbound = openOutbound({ allowedNetworks: ['127.0.0.0/8'] });
const poll = async (options: { readonly allowed?: boolean } = {}): Promise<void> => {
  const box = createSecretBox(await loadSecretKey({ SECRET_KEY: undefined, DATA_DIR: harness.directory }));
  await pollDueFeeds(
    {
      documents: harness.documents,
      box,
      log: silentLog,
      clock: { now: () => nowMs },
      outbound: options.allowed === false ? openOutbound() : outbound,
    },
    new AbortController().signal,
  );
};
const later = (seconds: number): void => {
  nowMs += seconds * 1000;
};

const subscribe = async (name: string, more: object): Promise<string> => {
  const { status, body } = await harness.request('POST', path, {
    as: 'editor',
    body: { name, everySeconds: 600, ...more },
  });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body.id;
};
const statusOf = async (id: string) => {
  const { body } = await harness.request('GET', path, { as: 'viewer' });
  return body.items.find((feed: { id: string }) => feed.id === id).status;
};
const indicatorsOf = async (source: string): Promise<string[]> => {
  const { body } = await harness.request(
    'GET',
    `/api/siem/threat-intel/indicators?limit=100&state=valid&source=${source}`,
    {
      as: 'viewer',
    },
  );
  return body.items.map(({ type, value }: { type: string; value: string }) => `${type} ${value}`).sort();
};
/** Otherwise later polls would include this feed. */
const forget = (id: string) => harness.request('DELETE', `${path}/${id}`, { as: 'editor' });

const stix = (id: string, value: string, more: object = {}) => ({
  type: 'indicator',
  spec_version: '2.1',
  id: `indicator--${id}`,
  pattern_type: 'stix',
  pattern: `[domain-name:value = '${value}']`,
  valid_from: '2026-01-01T00:00:00Z',
  ...more,
});

test.serial('a collection of a TAXII 2.1 server is read page by page, and then only its additions', async (t) => {
  const objects = ['a', 'b', 'c', 'd', 'e'].map((each, at) => ({
    added: `2026-01-0${at + 1}T00:00:00.000000Z`,
    object: stix(each, `${each}.example`),
  }));
  server.reply = ({ path: requestedPath, headers }): Reply => {
    const url = new URL(requestedPath, server.url);
    if (headers.accept !== 'application/taxii+json;version=2.1') return { status: 406 };
    if (headers.authorization !== `Basic ${btoa('ann:secret')}`) return { status: 401 };
    if (url.pathname !== '/api1/collections/of%20partners/objects/') return { status: 404 };
    const after = url.searchParams.get('added_after') ?? '';
    const from = Number(url.searchParams.get('next') ?? 0);
    const found = objects.filter(({ added }) => added > after);
    const page = found.slice(from, from + 2);
    const more = from + 2 < found.length;
    return {
      status: 200,
      headers: {
        'content-type': 'application/taxii+json;version=2.1',
        ...(page.length > 0 && { 'x-taxii-date-added-last': page.at(-1)?.added ?? '' }),
      },
      body: JSON.stringify({
        more,
        ...(more && { next: String(from + 2) }),
        objects: page.map(({ object }) => object),
      }),
    };
  };
  const location = { type: 'taxii', apiRoot: `${server.url}/api1/`, collection: 'of partners' };
  const authentication = { type: 'basic', username: 'ann', password: 'secret' };
  const id = await subscribe('partners', { location, authentication });
  t.is((await statusOf(id)).lastPolledAt, null);
  await poll();
  t.deepEqual(
    await indicatorsOf('partners'),
    ['a', 'b', 'c', 'd', 'e'].map((each) => `domain ${each}.example`),
  );
  const first = await statusOf(id);
  t.is(first.error, null);
  t.deepEqual(first.counts, { created: 5, updated: 0, unchanged: 0, refused: 0 });

  server.received.length = 0;
  await poll();
  t.is(server.received.length, 0, 'it is not due yet');

  const [one, two] = objects;
  if (one === undefined || two === undefined) throw new Error('there are five');
  objects.push(
    {
      added: '2026-01-06T00:00:00.000000Z',
      object: stix('a', 'a.example', { revoked: true, modified: '2026-01-06T00:00:00Z' }),
    },
    { added: '2026-01-07T00:00:00.000000Z', object: stix('b', 'other.example', { modified: '2026-01-07T00:00:00Z' }) },
  );
  later(601);
  await poll();
  t.deepEqual(
    await indicatorsOf('partners'),
    ['c', 'd', 'e', 'other'].map((each) => `domain ${each}.example`),
  );
  t.regex(server.received[0]?.path ?? '', /added_after=2026-01-05/);
  await forget(id);
});

test.serial('an indicator that a feed repeats changes nothing, and adds nothing to the matching index', async (t) => {
  server.reply = () => ({ status: 200, body: 'evil.example\n192.0.2.7\n# end\n' });
  const id = await subscribe('list', { location: { type: 'url', url: `${server.url}/list`, format: 'list' } });
  await poll();
  const blocks = await harness.documents.forTenant('a').collection(indicatorBlocks).count();
  later(601);
  await poll();
  t.deepEqual((await statusOf(id)).counts, { created: 0, updated: 0, unchanged: 2, refused: 0 });
  t.is(await harness.documents.forTenant('a').collection(indicatorBlocks).count(), blocks);
  await forget(id);
});

test.serial('an address is polled with a conditional request, and read in full once a day', async (t) => {
  server.reply = ({ headers }) =>
    headers['if-none-match'] === '"1"'
      ? { status: 304 }
      : { status: 200, headers: { etag: '"1"' }, body: 'type,value,confidence\ndomain,csv.example,80\n' };
  const id = await subscribe('csv', { location: { type: 'url', url: `${server.url}/csv`, format: 'csv' } });
  await poll();
  later(601);
  server.received.length = 0;
  await poll();
  t.is(server.received[0]?.headers['if-none-match'], '"1"');
  t.deepEqual((await statusOf(id)).counts.created, 1, 'counts are those of the last poll with content');
  later(86_400);
  server.received.length = 0;
  await poll();
  t.is(server.received[0]?.headers['if-none-match'], undefined);
  t.is((await statusOf(id)).counts.unchanged, 1);
  await forget(id);
});

test.serial('a modified feed is polled at once, and read from its beginning', async (t) => {
  server.reply = ({ headers }): Reply =>
    headers['if-none-match'] === '"1"'
      ? { status: 304 }
      : { status: 200, headers: { etag: '"1"' }, body: 'one.changed.example' };
  const id = await subscribe('changed', { location: { type: 'url', url: `${server.url}/list`, format: 'list' } });
  await poll();
  const before = await statusOf(id);
  const { body: feed } = await harness.request('GET', `${path}/${id}`, { as: 'editor' });
  const { id: _, version, createdAt, updatedAt, status, ...fields } = feed;
  const { status: answer } = await harness.request('PUT', `${path}/${id}`, {
    as: 'editor',
    body: { ...fields, validDays: 1 },
  });
  t.is(answer, 200);
  server.received.length = 0;
  await poll();
  t.is(server.received.length, 1);
  t.is(server.received[0]?.headers['if-none-match'], undefined);
  const after = await statusOf(id);
  t.is(after.error, null);
  t.deepEqual([before.counts.created, after.counts.unchanged], [1, 1]);
  await forget(id);
});

const failures: readonly [what: string, reply: Reply, more: object, error: RegExp][] = [
  ['refused credentials', { status: 401 }, {}, /refuses the credentials \(401\)/],
  ['a redirect', { status: 302, headers: { location: 'http://169.254.169.254/latest/' } }, {}, /redirects \(302\)/],
  ['a huge answer', { status: 200, body: 'x'.repeat(5000) }, { maxBytes: 2048 }, /answered with more than 2048 bytes/],
  [
    'too many indicators',
    { status: 200, body: 'a.example\nb.example' },
    { maxIndicators: 1 },
    /more than 1 indicators/,
  ],
  ['what is not valid JSON', { status: 200, body: '<html>' }, { format: 'stix' }, /not valid JSON/],
  ['an error', { status: 500 }, {}, /answered 500/],
];
for (const [what, reply, { format = 'list', ...more }, error] of failures as readonly [
  string,
  Reply,
  { format?: string },
  RegExp,
][])
  test.serial(`${what}: the reason is reported, and indicators of the feed stay`, async (t) => {
    server.reply = () => ({ status: 200, body: format === 'list' ? 'kept.example' : '[]' });
    const name = `failing ${what}`;
    const id = await subscribe(name, { location: { type: 'url', url: `${server.url}/x`, format }, ...more });
    await poll();
    const before = await indicatorsOf(encodeURIComponent(name));
    server.reply = () => reply;
    server.received.length = 0;
    later(601);
    await poll();
    const status = await statusOf(id);
    t.regex(status.error, error);
    t.is(status.failures, 1);
    t.is(server.received.length, 1);
    t.deepEqual(await indicatorsOf(encodeURIComponent(name)), before);
    server.reply = () => ({ status: 200, body: format === 'list' ? 'kept.example' : '[]' });
    later(601);
    await poll();
    t.is((await statusOf(id)).error, null);
    await forget(id);
  });

test.serial('a retry delay requested by a server is respected', async (t) => {
  server.reply = () => ({ status: 429, headers: { 'retry-after': '3600' } });
  const id = await subscribe('busy', { location: { type: 'url', url: `${server.url}/busy`, format: 'list' } });
  await poll();
  const { error, nextPollAt } = await statusOf(id);
  t.regex(error, /answered 429, and requests a wait of 3600 s/);
  t.is(Date.parse(nextPollAt), nowMs + 3_600_000);
  await forget(id);
});

test.serial('pages stored before a failure are not read again', async (t) => {
  let isBroken = true;
  server.reply = ({ path: requestedPath }) => {
    const url = new URL(requestedPath, server.url);
    if (url.searchParams.has('next')) return isBroken ? { status: 503 } : { status: 200, body: '{}' };
    return {
      status: 200,
      headers: { 'x-taxii-date-added-last': '2026-01-05T00:00:00.000000Z' },
      body: JSON.stringify({ more: isBroken, next: '1', objects: [stix('x', 'first.example')] }),
    };
  };
  const location = { type: 'taxii', apiRoot: server.url, collection: 'c' };
  const id = await subscribe('breaking', { location });
  await poll();
  t.deepEqual(await indicatorsOf('breaking'), ['domain first.example']);
  t.regex((await statusOf(id)).error, /answered 503/);
  isBroken = false;
  later(601);
  server.received.length = 0;
  await poll();
  t.regex(server.received[0]?.path ?? '', /added_after=2026-01-04T23%3A59%3A59/);
  await forget(id);
});

test.serial('an address in a private network is not called', async (t) => {
  const id = await subscribe('inside', { location: { type: 'url', url: `${server.url}/x`, format: 'list' } });
  server.received.length = 0;
  await poll({ allowed: false });
  t.is(server.received.length, 0);
  t.regex((await statusOf(id)).error, /private network/);
  await forget(id);
  await poll();
  t.is(
    await harness.documents.forTenant('a').collection(threatFeedStates).count(),
    0,
    'nothing of deleted feeds is stored',
  );
});

test.serial('secrets of feeds are stored encrypted, and never shown', async (t) => {
  const authentication = { type: 'header', header: 'X-API-Key', secret: 'a very secret key' };
  const location = { type: 'url', url: `${server.url}/key`, format: 'list' };
  const { body } = await harness.request('POST', path, {
    as: 'editor',
    body: { name: 'keyed', location, authentication },
  });
  t.is(body.authentication.secret, '********');
  server.reply = () => ({ status: 200, body: '' });
  server.received.length = 0;
  await poll();
  t.is(server.received[0]?.headers['x-api-key'], 'a very secret key');
  await forget(body.id);
});

const refused: readonly [what: string, body: object, field: RegExp][] = [
  ['a file', { location: { type: 'url', url: 'file:///etc/passwd', format: 'list' } }, /location/],
  [
    'a user name in the address',
    { location: { type: 'url', url: 'https://ann:x@feeds.example/', format: 'list' } },
    /user name/,
  ],
  ['a header that is none', { authentication: { type: 'header', header: 'a b', secret: 'x' } }, /header/],
  ['a secret that adds a header', { authentication: { type: 'header', header: 'A', secret: 'x\r\nHost: y' } }, /ASCII/],
];
for (const [what, body, field] of refused)
  test.serial(`a feed with ${what} is refused`, async (t) => {
    const location = { type: 'url', url: 'https://feeds.example/', format: 'list' };
    const response = await harness.request('POST', path, { as: 'editor', body: { name: 'bad', location, ...body } });
    t.is(response.status, 400);
    t.regex(JSON.stringify(response.body), field);
  });
