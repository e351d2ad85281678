/** Threat indicators through the API: added, imported, repeated, listed and deleted. */
import test from 'ava';
import { indicatorHunting } from '../../processors/threat-intel/indicator-hunts.ts';
import { indicatorHunts } from '../../schemas/resources/threat-intel.ts';
import { readMisp } from '../../subjects/threat-intel/misp.ts';
import { measureCpuMs } from '../cpu-time.ts';
import { type Harness, startHarness } from './api-harness.ts';

let harness: Harness;
test.before(async () => {
  harness = await startHarness();
});
test.after.always(() => harness.close());

const path = '/api/siem/threat-intel/indicators';
const add = (body: object) => harness.request('POST', path, { as: 'editor', body });
const list = async (query: string) => (await harness.request('GET', `${path}?${query}`, { as: 'viewer' })).body.items;

test.serial('an indicator is stored in its comparable form, and is scored by its confidence', async (t) => {
  const { status, body } = await add({
    source: 'analyst',
    indicators: [{ type: 'domain', value: 'Evil[.]Example', confidence: 80, tags: ['c2'] }],
  });
  t.is(status, 200);
  t.deepEqual(body, { created: 1, updated: 0, unchanged: 0, refused: [] });
  const [one] = await list('source=analyst');
  t.is(one.value, 'evil.example');
  t.is(one.score, 80);
});

test.serial('a repeated indicator of a source does not become a second indicator', async (t) => {
  const indicatorSet = {
    source: 'analyst',
    indicators: [{ type: 'domain', value: 'evil.example', confidence: 80, tags: ['c2'] }],
  };
  t.is((await add(indicatorSet)).body.unchanged, 1);
  const changed = await add({
    source: 'analyst',
    indicators: [{ type: 'domain', value: 'evil.example', confidence: 20 }],
  });
  t.is(changed.body.updated, 1);
  t.deepEqual(
    (await list('source=analyst')).map(({ confidence }: { confidence: number }) => confidence),
    [20],
  );
  t.is((await add({ ...indicatorSet, source: 'another' })).body.created, 1);
});

test.serial('STIX, MISP and CSV are imported, and entries that cannot be imported are named', async (t) => {
  const stix = await add({
    source: 'stix',
    format: 'stix',
    content: {
      type: 'bundle',
      objects: [
        { type: 'indicator', id: 'indicator--1', pattern_type: 'stix', pattern: "[ipv4-addr:value = '192.0.2.1']" },
        { type: 'indicator', id: 'indicator--2', pattern_type: 'stix', pattern: "[process:name = 'x']" },
      ],
    },
  });
  t.is(stix.body.created, 1);
  t.is(stix.body.refused[0].at, 'indicator--2');
  const misp = await add({
    source: 'misp',
    format: 'misp',
    content: JSON.stringify({
      Event: { info: 'x', Attribute: [{ type: 'ip-dst', value: '192.0.2.2', to_ids: true }] },
    }),
  });
  t.is(misp.body.created, 1);
  const lines = Array.from({ length: 600 }, (_, index) => `host-${index}.evil.example`);
  const csv = await add({ source: 'csv', format: 'csv', content: `${lines.join('\n')}\nnothing of the kind\n` });
  t.is(csv.body.created, 600);
  t.is(csv.body.refused[0].at, 'line 601');
  t.is((await list('source=csv&limit=1000')).length, 600);
});

test.serial('content given as objects is parsed in a thread, too', async (t) => {
  const many = (part: string): string => Array.from({ length: 100_000 }, () => part).join('|');
  const content = { Event: { Attribute: [{ type: many('ip-dst'), value: many('192.0.2.1'), to_ids: true }] } };
  const body = JSON.stringify({ format: 'misp', content });
  const upload = async (): Promise<void> => {
    const response = await harness.request('POST', path, { as: 'editor', body });
    t.is(response.status, 413, JSON.stringify(response.body));
    t.regex(response.body.message, /this one has 100000/);
  };
  const mainThreadMs = Math.min(await measureCpuMs(upload), await measureCpuMs(upload));
  const atOnce = await measureCpuMs(() => readMisp(content));
  t.true(mainThreadMs < atOnce / 2, `${mainThreadMs} ms instead of ${atOnce} ms`);
});

test.serial('fields of objects that have a wrong type are ignored', async (t) => {
  const attributes = [{ type: 'domain', value: 5, to_ids: true, uuid: 'u1' }];
  const { status, body } = await add({ format: 'misp', content: { Event: { Attribute: attributes } } });
  t.is(status, 200);
  t.is(body.refused[0].at, 'u1');
});

test.serial('indicators are found by value, type, tag and whether they are active', async (t) => {
  await add({
    source: 'old',
    indicators: [{ type: 'ip', value: '192.0.2.9', validUntil: '2020-01-01T00:00:00Z', tags: ['old'] }],
  });
  const [ended] = await list('state=ended');
  t.is(ended.value, '192.0.2.9');
  t.is(ended.score, 0);
  t.deepEqual(await list('tag=old&state=valid'), []);
  t.is((await list('value=192.0.2.1&type=ip')).length, 1);
});

test.serial('an indicator can be deleted only by users with the permission', async (t) => {
  const [one] = await list('source=misp');
  t.is((await harness.request('DELETE', `${path}/${one.id}`, { as: 'viewer' })).status, 403);
  t.is((await harness.request('DELETE', `${path}/${one.id}`, { as: 'editor' })).status, 200);
  t.deepEqual(await list('source=misp'), []);
});

const refused: readonly [what: string, body: object, at: string][] = [
  ['nothing', {}, 'indicators'],
  ['a format without content', { format: 'csv' }, 'content'],
  ['text that is no JSON', { format: 'stix', content: '{' }, 'content'],
  ['a value of another type', { indicators: [{ type: 'ip', value: 'evil.example' }] }, 'indicators.0.value'],
];
for (const [what, body, at] of refused)
  test(`${what} is refused with its path`, async (t) => {
    const { status, body: answer } = await add(body);
    t.is(status, 400);
    t.is(answer.details[0].path, at);
  });

test.serial('new indicators are searched in stored logs on request, and the result is reported', async (t) => {
  const hunts = harness.documents.forTenant('a').collection(indicatorHunts);
  const indicatorSet = {
    source: 'hunting',
    indicators: [{ type: 'ip', value: '203.0.113.9' }],
    retroHunt: { from: 'now-1d' },
  };
  const startedMs = Date.now();
  t.is((await add(indicatorSet)).body.created, 1);
  t.is((await add(indicatorSet)).body.unchanged, 1);
  const { items } = await hunts.list();
  t.is(items.length, 1, 'a repeated indicator starts no second search');
  const [hunt] = items;
  if (hunt === undefined) throw new Error('there is one');
  t.true(hunt.fromMs >= startedMs - 86_400_000 && hunt.fromMs < startedMs && hunt.toMs > startedMs);

  const events: { text: string }[] = [];
  const run = (state: boolean) =>
    indicatorHunting.run(
      { ...hunt, toMs: hunt.toMs - 60_000 } as typeof hunt,
      {
        tenantId: 'a',
        dueMs: Date.now(),
        state,
        signal: new AbortController().signal,
        emit: { matches: () => t.fail('there are no logs'), events: (event: { text: string }) => events.push(event) },
        ports: { columns: harness.columns, documents: harness.documents },
      } as unknown as Parameters<typeof indicatorHunting.run>[1],
    );
  t.true(await run(false));
  t.regex(events[0]?.text ?? '', /^0 log records were scanned, and 0 matches found\.$/);
  await run(true);
  t.is(await hunts.count(), 0);
  t.is((await add({ ...indicatorSet, source: 'other', retroHunt: { from: 'soon' } })).status, 400);
});
