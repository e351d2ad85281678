/** Dashboard templates through the API: order, dashboards created from them, favourites and usage. */
import test from 'ava';
import { templateOriginals, templateUses } from '../../schemas/resources/dashboard-template.ts';
import { landGolden } from '../cases/dashboards/golden-telemetry.ts';
import { landIn } from '../cases/sink-tables.ts';
import { type Answer, type Harness, startHarness, withRetries } from './api-harness.ts';

let harness: Harness;
test.before(async () => {
  harness = withRetries(await startHarness());
});
test.after.always(() => harness?.close());

type As = NonNullable<Parameters<Harness['request']>[2]>['as'];

const request = async (method: string, path: string, as: As = 'viewer', body?: unknown): Promise<Answer['body']> => {
  const response = await harness.request(method, path, { as, ...(body === undefined ? {} : { body }) });
  if (response.status !== 200) throw new Error(`${method} ${path}: ${JSON.stringify(response.body)}`);
  return response.body;
};
const list = async (query = ''): Promise<Record<string, unknown>[]> =>
  (await request('GET', `/api/templates${query}`)).items;
const one = async (id: string): Promise<Record<string, unknown>> => request('GET', `/api/templates/${id}`);

test.serial('without telemetry no template has data, and each panel lists what is missing', async (t) => {
  const items = await list();
  t.true(items.every(({ share, filled }) => share === 0 && filled === 0));
  const { fits, needs } = await request('GET', '/api/templates/nginx');
  t.deepEqual(fits[0], { panelId: 'requests', title: 'Requests', missing: ['the metric nginx.requests'] });
  t.deepEqual(needs.signals, ['metrics']);
  for (const { id } of items) t.is((await one(String(id)))['id'], id, 'no operation has its path');
});

test.serial(
  'usage ranks before favourites, and both before the name; each user sees only their own favourite marks',
  async (t) => {
    const [first, second, third] = await list();
    t.deepEqual(await request('PUT', `/api/templates/${third?.['id']}/favourite`), { isFavourite: true });
    t.deepEqual(await request('PUT', `/api/templates/${third?.['id']}/favourite`), { isFavourite: true });
    t.deepEqual(
      (await list()).slice(0, 3).map(({ id }) => id),
      [third?.['id'], first?.['id'], second?.['id']],
    );
    await request('POST', `/api/templates/${second?.['id']}/instantiate`, 'editor', {});
    t.deepEqual(
      (await list()).slice(0, 3).map(({ id }) => id),
      [second?.['id'], third?.['id'], first?.['id']],
    );
    t.like(await one(String(third?.['id'])), { place: 2, favourites: 1, isFavourite: true, dashboards: 0 });
    t.is((await request('GET', `/api/templates/${third?.['id']}`, 'editor')).isFavourite, false);
    t.is((await list('?favourite=true')).length, 1);
    t.deepEqual(await request('DELETE', `/api/templates/${third?.['id']}/favourite`), { isFavourite: false });
    t.deepEqual(await list('?favourite=true'), []);
  },
);

test.serial(
  'a dashboard stores its template, and later versions of that template are shown as a difference',
  async (t) => {
    const created = await request('POST', '/api/templates/redis/instantiate', 'editor', {
      name: 'Ours',
      folder: 'Shop',
    });
    const { templateVersion, document } = await request('GET', '/api/templates/redis');
    t.like(created, { name: 'Ours', folder: 'Shop', createdFrom: { templateId: 'redis', templateVersion } });
    t.deepEqual(created.panels, document.panels);
    const since = () => request('GET', `/api/templates/redis?dashboardId=${created.id}`);
    t.deepEqual((await since()).since, { dashboardId: created.id, templateVersion, differences: [] });

    // The state left by an earlier version of the platform.
    const own = harness.documents.forTenant('a');
    const former = { ...document, panels: document.panels.slice(1) };
    await own.collection(templateUses).update(created.id, { templateVersion: 'former' });
    await own
      .collection(templateOriginals)
      .insert({ id: 'redis.former', document: former, documentVersion: 1, queryVersion: 1 });
    const { templateVersion: from, differences } = (await since()).since;
    t.is(from, 'former');
    t.deepEqual(
      differences.map(({ what }: { what: string }) => what),
      ['panel “Memory” added'],
    );
    const other = await harness.request('GET', `/api/templates/mysql?dashboardId=${created.id}`, { as: 'viewer' });
    t.is(other.status, 404);
  },
);

test.serial(
  'usage figures show how many dashboards were created from a template, still exist, and were opened',
  async (t) => {
    const make = () => request('POST', '/api/templates/kafka/instantiate', 'editor', {});
    const [remaining, removed] = [await make(), await make()];
    await request('GET', `/api/dashboards/${remaining.id}?countView=true`);
    await harness.request('DELETE', `/api/dashboards/${removed.id}`, { as: 'editor', headers: { 'if-match': '"1"' } });
    const { items } = await request('GET', '/api/templates/usage');
    t.like(items[0], { id: 'kafka', name: 'Kafka', dashboards: 2, present: 1, opened: 1 });

    // Another dashboard with the same ID was not created from the template.
    const path = `/api/dashboards?id=${removed.id}`;
    const { body: again } = await harness.request('POST', path, { as: 'editor', body: { name: 'Another' } });
    t.like(again, { id: removed.id, createdFrom: null });
    await request('GET', `/api/dashboards/${removed.id}?countView=true`);
    const since = await harness.request('GET', `/api/templates/kafka?dashboardId=${removed.id}`, { as: 'viewer' });
    t.is(since.status, 404);
    const { items: later } = await request('GET', '/api/templates/usage');
    t.like(later[0], { id: 'kafka', dashboards: 2, present: 1, opened: 1 });
  },
);

test.serial('templates whose metrics were received in the last day are listed first', async (t) => {
  await landGolden({ columns: harness.columns, land: landIn(harness.columns) }, 'a', 'current', Date.now());
  const items = await list();
  t.is(items[0]?.['share'], 1);
  t.is(items.at(-1)?.['id'], 'go');
  t.deepEqual(
    (await request('GET', '/api/templates/go')).fits.find(({ missing }: { missing: string[] }) => missing.length > 0),
    {
      panelId: 'collections',
      title: 'Collections',
      missing: ['the metric process.runtime.go.gc.count'],
    },
  );
});
