/** Dashboards as documents through the API: import and export in the formats of OIQ and Grafana. */
import test from 'ava';
import { stringify } from 'yaml';
import { wholeDashboard } from '../cases/dashboards/dashboard-example.ts';
import { oldDashboard, presentDashboard } from '../cases/dashboards/grafana-example.ts';
import { type Answer, type Harness, startHarness, withRetries } from './api-harness.ts';

let harness: Harness;
test.before(async () => {
  harness = withRetries(await startHarness());
});
test.after.always(() => harness?.close());

type As = NonNullable<Parameters<Harness['request']>[2]>['as'];
const send = (body: unknown, query = '', as: As = 'editor'): Promise<Answer> =>
  harness.request('POST', `/api/dashboards/import${query}`, { as, body });
const versionsOf = async (id: string): Promise<number> =>
  (await harness.request('GET', `/api/dashboards/${id}/versions`, { as: 'viewer' })).body.items.length;
/** An OIQ dashboard without saved queries, because those are separate resources. */
const oiqDashboard = () => {
  const [errors, notes] = wholeDashboard.panels;
  return { ...wholeDashboard, panels: [{ ...errors, queries: errors.queries.slice(0, 2) }, notes] };
};

test('an import creates a dashboard whose ID follows from the UID, and a repeated import changes nothing', async (t) => {
  const first = await send({ ...presentDashboard, uid: 'again' });
  t.is(first.status, 200, JSON.stringify(first.body));
  t.like(first.body, { outcome: 'created', dashboard: { id: 'again', version: 1, name: 'Shop' } });
  t.is(
    first.body.report.leaves.total,
    first.body.report.leaves.carried + first.body.report.leaves.default + first.body.report.leaves.named,
  );
  t.like((await send({ ...presentDashboard, uid: 'again' })).body, { outcome: 'unchanged', dashboard: { version: 1 } });
  t.is(await versionsOf('again'), 1);
  const changed = await send({ ...presentDashboard, uid: 'again', title: 'Other' });
  t.like(changed.body, { outcome: 'changed', dashboard: { version: 2, name: 'Other' } });
});

test('every leaf of the body is counted, including fields that the server owns', async (t) => {
  const body = { id: 7, version: 3, uid: 'counted', title: 'x', panels: [] };
  t.is((await send(body)).body.report.leaves.total, 5);
});

test('a dry run writes nothing and reports what would happen', async (t) => {
  const dry = await send({ ...oldDashboard, uid: 'dry' }, '?dryRun=true');
  t.like(dry.body, { outcome: 'created', dashboard: { id: 'dry', version: null } });
  t.is((await harness.request('GET', '/api/dashboards/dry', { as: 'viewer' })).status, 404);
});

test('the folder and ID can be chosen, and a dashboard that was moved stays in its folder', async (t) => {
  const created = await send(presentDashboard, '?folder=Shop/Web&id=chosen');
  t.like(created.body.dashboard, { id: 'chosen', folder: 'Shop/Web' });
  t.like((await send(presentDashboard, '?id=chosen')).body, {
    outcome: 'unchanged',
    dashboard: { folder: 'Shop/Web' },
  });
});

test('an export of an OIQ dashboard is imported bit by bit, as JSON and as YAML', async (t) => {
  t.is((await send({ id: 'bits', ...oiqDashboard() })).body.outcome, 'created');
  const read = async () => (await harness.request('GET', '/api/dashboards/bits', { as: 'viewer' })).body;
  const before = await read();
  for (const format of ['oiq', 'yaml', 'grafana']) {
    const file = await harness.request('GET', `/api/dashboards/bits/export?format=${format}`, { as: 'viewer' });
    t.is(file.status, 200, JSON.stringify(file.body));
    const { body } = file;
    const headers = format === 'yaml' ? { 'content-type': 'application/yaml' } : {};
    const again = await harness.request('POST', '/api/dashboards/import', { as: 'editor', body, headers });
    t.is(again.body.outcome, 'unchanged', `${format}: ${JSON.stringify(again.body).slice(0, 500)}`);
  }
  t.deepEqual(await read(), before);
  // The response of a read is itself a valid document.
  t.is((await send(before)).body.outcome, 'unchanged');
  t.is(
    (
      await harness.request('POST', '/api/dashboards/import', {
        as: 'editor',
        body: stringify(oiqDashboard()),
        headers: { 'content-type': 'application/yaml' },
      })
    ).body.outcome,
    'created',
  );
});

test('an error in a document is reported with its path, and Viewers cannot import', async (t) => {
  const bad = await send({ ...oiqDashboard(), links: [{ kind: 'address', url: 'javascript:alert(1)' }], more: 1 });
  t.is(bad.status, 400);
  t.deepEqual(bad.body.details.map(({ path }: { path: string }) => path).sort(), ['links.0.url', 'more']);
  t.is((await send({})).status, 400);
  t.is((await send(presentDashboard, '', 'viewer')).status, 403);
  const deep = JSON.parse(`${'{"a":'.repeat(70)}1${'}'.repeat(70)}`);
  for (const asYaml of [false, true]) {
    const body = { title: 'x', panels: [deep] };
    const headers = asYaml ? { 'content-type': 'application/yaml' } : {};
    const sent = { as: 'editor', body: asYaml ? JSON.stringify(body) : body, headers } as const;
    const refused = await harness.request('POST', '/api/dashboards/import', sent);
    t.is(refused.status, 400);
    t.regex(refused.body.details[0].path, /^panels\.0(?:\.a){61,}$/);
  }
});

test('a large document is parsed in a thread', async (t) => {
  const panels = Array.from({ length: 200 }, (_, id) => ({
    id,
    type: 'text',
    title: `Panel ${id}`,
    options: { content: 'word '.repeat(100) },
    gridPos: { x: 0, y: id, w: 24, h: 1 },
  }));
  const { status, body } = await send({ uid: 'large', title: 'Large', panels });
  t.is(status, 200);
  t.is(body.dashboard.panels.length, 200);
});

test('the ID of another user’s private dashboard is refused, and that dashboard is not disclosed', async (t) => {
  t.is((await send({ id: 'mine', name: 'mine', visibility: 'private' })).status, 200);
  const other = await send({ ...presentDashboard, uid: 'mine' }, '', 'admin');
  t.is(other.status, 409);
  t.is((await harness.request('GET', '/api/dashboards/mine/export', { as: 'admin' })).status, 404);
});
