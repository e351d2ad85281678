/** Matches of threat indicators through the API: listed, filtered, paged, and limited to one organization. */
import test from 'ava';
import { type Harness, startHarness } from './api-harness.ts';

let harness: Harness;
const columns =
  'tenant_id, project_id, received_at, partition, offset, id, type, value, source, score, field, observed, record_id, time, last_time, count, service, host, user';
test.before(async () => {
  harness = await startHarness({ projects: ['p2'] });
  const rows = [
    "'a', 'p1', now64(3), 0, 1, 'm1', 'ip', '192.0.2.1', 'feed', 80, 'client.address', '192.0.2.1', '1-0-0-0', now64(3) - 30, now64(3) - 30, 1, 'web', 'web-1', ''",
    // The same match with a higher count.
    "'a', 'p1', now64(3), 0, 2, 'm1', 'ip', '192.0.2.1', 'feed', 80, 'client.address', '192.0.2.1', '1-0-0-0', now64(3) - 30, now64(3) - 20, 4, 'web', 'web-1', ''",
    "'a', 'p1', now64(3), 0, 3, 'm2', 'domain', 'evil.example', 'analyst', 40, 'body', 'www.evil.example', '2-0-0-0', now64(3) - 20, now64(3) - 20, 1, 'mail', 'mail-1', 'ann'",
    "'a', 'p2', now64(3), 0, 4, 'm3', 'ip', '192.0.2.1', 'other', 10, 'body', '192.0.2.1', '3-0-0-0', now64(3) - 10, now64(3) - 10, 1, 'web', 'web-2', ''",
    "'b', 'p1', now64(3), 0, 5, 'of-b', 'ip', '192.0.2.1', 'feed', 80, 'body', '192.0.2.1', '4-0-0-0', now64(3) - 10, now64(3) - 10, 1, 'web', 'web-1', ''",
  ];
  // The time of a match is that of its first report.
  const at = "toDateTime64('2026-01-01 00:00:00', 3, 'UTC')";
  await harness.columns.execute(
    `INSERT INTO threat_matches (${columns}) VALUES ${rows.map((row) => `(${row.replaceAll(/now64\(3\) - /g, `${at} + 60 - `)})`).join(', ')}`,
  );
  await harness.request('POST', '/api/siem/threat-intel/indicators', {
    as: 'editor',
    body: {
      source: 'analyst',
      indicators: [{ type: 'domain', value: 'evil.example', name: 'A campaign', tags: ['c2'] }],
    },
  });
});
test.after.always(() => harness.close());

const list = async (query = '') => {
  const { status, body } = await harness.request(
    'GET',
    `/api/siem/threat-intel/matches?from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z&${query}`,
    { as: 'viewer' },
  );
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body;
};
const idsOf = async (query: string): Promise<string[]> => (await list(query)).items.map(({ id }: { id: string }) => id);

test.serial(
  'matches are listed newest first, each once with the latest count and the details of the indicator',
  async (t) => {
    const { items } = await list();
    t.deepEqual(
      items.map(({ id, count }: { id: string; count: number }) => [id, count]),
      [
        ['m3', 1],
        ['m2', 1],
        ['m1', 4],
      ],
    );
    t.like(items[1].indicator, { value: 'evil.example', source: 'analyst', name: 'A campaign', tags: ['c2'] });
    t.like(items[1], { observed: 'www.evil.example', recordId: '2-0-0-0', user: 'ann' });
    t.is(items[0].indicator.id, null);
    t.true(items[2].lastTime > items[2].time);
  },
);

const filters: readonly [query: string, ids: readonly string[]][] = [
  ['type=domain', ['m2']],
  ['value=192.0.2.1', ['m3', 'm1']],
  ['source=feed', ['m1']],
  ['field=body', ['m3', 'm2']],
  ['service=mail', ['m2']],
  ['host=web-2', ['m3']],
  ['user=ann', ['m2']],
  ['minScore=40', ['m2', 'm1']],
  ['projectId=p2', ['m3']],
  ["value=' OR 1=1 --", []],
];
for (const [query, ids] of filters)
  test.serial(`matches by ${query}`, async (t) => {
    t.deepEqual(await idsOf(query), ids);
  });

test.serial('pages neither skip nor repeat a match', async (t) => {
  const seen: string[] = [];
  let cursor = '';
  do {
    const page = await list(`limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`);
    seen.push(...page.items.map(({ id }: { id: string }) => id));
    cursor = page.nextCursor ?? '';
  } while (cursor !== '');
  t.deepEqual(seen, ['m3', 'm2', 'm1']);
});
