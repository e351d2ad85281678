/** Dashboards through the API: documents, panels, versions, visibility, and concurrent edits of two users. */
import test from 'ava';
import { getFields } from '../../runtime/stored-fields.ts';
import type { StoredMetadata } from '../../schemas/ports/documents.ts';
import { auditRecords } from '../../schemas/resources/audit-record.ts';
import { dashboards, type StoredDashboard } from '../../schemas/resources/dashboard.ts';
import { wholeDashboard } from '../cases/dashboards/dashboard-example.ts';
import { type Random, seeded } from '../cases/random.ts';
import { type Answer, type Harness, startHarness, withRetries } from './api-harness.ts';

let harness: Harness;
let savedId: string;
test.before(async () => {
  harness = withRetries(await startHarness());
  savedId = (await save({ name: 'shared' })).body.id;
});
test.after.always(() => harness?.close());

type As = NonNullable<Parameters<Harness['request']>[2]>['as'];
type Fields = Record<string, unknown>;

const save = (fields: object, as: As = 'editor'): Promise<Answer> =>
  harness.request('POST', '/api/saved-queries', {
    as,
    body: { query: { kind: 'promql', expression: 'up' }, ...fields },
  });
const whole = (): Fields => {
  const [errors, notes] = wholeDashboard.panels;
  const [a, b] = errors.queries;
  const queries = [a, b, { name: 'C', savedQueryId: savedId }];
  return { ...wholeDashboard, panels: [{ ...errors, queries }, notes] };
};
const make = async (fields: Fields = {}, as: As = 'editor'): Promise<Answer['body']> => {
  const response = await harness.request('POST', '/api/dashboards', { as, body: { name: 'one', ...fields } });
  if (response.status !== 200) throw new Error(JSON.stringify(response.body));
  return response.body;
};
const read = async (id: string, as: As = 'viewer'): Promise<Answer['body']> =>
  (await harness.request('GET', `/api/dashboards/${id}`, { as })).body;
const write = (
  method: string,
  path: string,
  version: number | undefined,
  body?: unknown,
  as: As = 'editor',
): Promise<Answer> =>
  harness.request(method, `/api/dashboards/${path}`, {
    as,
    body,
    headers: version === undefined ? {} : { 'if-match': `"${version}"` },
  });
const text = (id: string, content = id): Fields => ({ id, title: id, visual: { kind: 'text', content } });
const versions = async (id: string): Promise<number[]> =>
  (await harness.request('GET', `/api/dashboards/${id}/versions`, { as: 'viewer' })).body.items.map(
    ({ version }: { version: number }) => version,
  );
const difference = async (id: string, version: number): Promise<{ path: string; what: string }[]> =>
  (await harness.request('GET', `/api/dashboards/${id}/versions/${version}`, { as: 'viewer' })).body.differences;

test('a panel is added, changed and removed, and nothing else of the dashboard changes', async (t) => {
  const created = await make(whole());
  const added = await write('POST', `${created.id}/panels`, 1, { title: 'New', visual: { kind: 'stat' } });
  t.is(added.status, 200, JSON.stringify(added.body));
  t.is(added.headers.get('etag'), '"2"');
  const { panel } = added.body;
  t.deepEqual(panel.place, { section: null, x: 0, y: 16, width: 12, height: 8 });
  const withNew = await read(created.id);
  t.deepEqual(withNew.panels, [...created.panels, panel]);
  const { panels: _, version: __, updatedAt: ___, ...rest } = withNew;
  t.like(created, rest);

  const changed = await write('PUT', `${created.id}/panels/${panel.id}`, 2, {
    title: 'Newer',
    visual: { kind: 'gauge' },
  });
  t.is(changed.status, 200, JSON.stringify(changed.body));
  t.deepEqual(changed.body.panel.place, panel.place);
  t.deepEqual((await read(created.id)).panels.slice(0, 2), created.panels);
  t.deepEqual(
    (await difference(created.id, 2)).map(({ path }) => path),
    [`panels.${panel.id}.title`, `panels.${panel.id}.visual`],
  );

  const removed = await write('DELETE', `${created.id}/panels/${panel.id}`, 3);
  t.is(removed.status, 200, JSON.stringify(removed.body));
  t.deepEqual((await read(created.id)).panels, created.panels);
  t.deepEqual(await difference(created.id, 1), []);
});

test('panel operations require the version, and refuse an old version, a duplicate panel and an unknown panel', async (t) => {
  const { id } = await make({ panels: [text('a')] });
  for (const [method, path, body] of [
    ['POST', `${id}/panels`, text('b')],
    ['PUT', `${id}/panels/a`, text('a', 'x')],
    ['DELETE', `${id}/panels/a`, undefined],
    ['POST', `${id}/versions/1/restore`, undefined],
    ['PUT', id, { name: 'x' }],
  ] as const) {
    t.is((await write(method, path, undefined, body)).status, 428, path);
    const old = await write(method, path, 7, body);
    t.is(old.status, 412, path);
    t.is(old.headers.get('etag'), '"1"');
  }
  const twice = await write('POST', `${id}/panels`, 1, text('a'));
  t.is(twice.status, 400);
  t.is(twice.body.details[0].path, 'panels.1.id');
  t.is((await write('PUT', `${id}/panels/z`, 1, text('z'))).status, 404);
  t.is((await write('DELETE', `${id}/panels/z`, 1)).status, 404);
  t.is((await write('PUT', `${id}/panels/a`, 1, text('b'))).status, 400);
  t.deepEqual(await versions(id), [1]);
});

test('a change without effect creates no version, and leaves no record', async (t) => {
  const created = await make({ panels: [text('a')] });
  const again = await write('PUT', `${created.id}/panels/a`, 1, text('a'), 'admin');
  t.is(again.body.version, 1);
  t.is((await write('PUT', created.id, 1, created, 'admin')).body.version, 1);
  t.is((await read(created.id)).changedBy, created.ownerId);
  const records = await harness.documents
    .forTenant('a')
    .collection(auditRecords)
    .list({ filter: { 'resource.id': created.id } });
  t.deepEqual(
    records.items.map(({ action }) => action),
    ['dashboard.create'],
  );
});

test('a dashboard shows who created it and who last changed it', async (t) => {
  const created = await make({ panels: [text('a')] });
  const other = await write('PUT', `${created.id}/panels/a`, 1, text('a', 'x'), 'admin');
  t.is(other.status, 200);
  const shown = await read(created.id);
  t.is(shown.ownerId, created.ownerId);
  t.not(shown.changedBy, created.ownerId);
});

test('a version shows its difference from the current one, and can be restored as a new version', async (t) => {
  const created = await make(whole());
  t.is((await write('PUT', created.id, 1, { ...created, name: 'Shop', tags: [] })).status, 200);
  t.deepEqual(await difference(created.id, 1), [
    { path: 'name', what: 'dashboard renamed', before: 'Checkout', after: 'Shop' },
    { path: 'tags', what: 'tags changed', before: ['shop', 'red'], after: [] },
  ] as never);
  const restored = await write('POST', `${created.id}/versions/1/restore`, 2);
  t.is(restored.status, 200, JSON.stringify(restored.body));
  t.is(restored.body.version, 3);
  t.is(restored.body.name, 'Checkout');
  const again = await write('POST', `${created.id}/versions/1/restore`, 3);
  t.is(again.body.version, 3);
  t.deepEqual(await versions(created.id), [3, 2, 1]);
  t.is((await write('POST', `${created.id}/versions/9/restore`, 3)).status, 404);
});

test('a dashboard in an older format is converted to the current one, and lost parts are reported', async (t) => {
  const created = await make(whole());
  const own = harness.documents.forTenant('a').collection(dashboards);
  const { id } = created;
  const stored = getFields((await own.find(id)) as StoredDashboard & StoredMetadata);
  await own.replace(id, { ...stored, theme: 'dark', documentVersion: 0 } as StoredDashboard, 1);
  const shown = await read(id);
  t.deepEqual(shown.losses, [{ path: 'theme', message: 'is no longer known' }]);
  t.deepEqual(shown.panels, created.panels);
  const changed = await write('PUT', `${id}/panels/notes`, 2, text('notes'));
  t.is(changed.status, 200, JSON.stringify(changed.body));
  t.deepEqual((await read(id)).losses, []);
  t.deepEqual((await harness.request('GET', `/api/dashboards/${id}/versions/2`)).body.losses, shown.losses);
});

test('a private dashboard is visible only to its owner', async (t) => {
  const { id } = await make({ visibility: 'private', name: 'secret plans', panels: [text('a')] });
  for (const [method, path, body] of [
    ['GET', id, undefined],
    ['PUT', id, { name: 'x' }],
    ['DELETE', id, undefined],
    ['POST', `${id}/panels`, text('b')],
    ['PUT', `${id}/panels/a`, text('a')],
    ['DELETE', `${id}/panels/a`, undefined],
    ['GET', `${id}/versions`, undefined],
    ['GET', `${id}/versions/1`, undefined],
    ['POST', `${id}/versions/1/restore`, undefined],
    ['POST', `${id}/clone`, {}],
  ] as const)
    t.is((await write(method, path, 1, body, 'owner')).status, 404, `${method} ${path}`);
  const found = await harness.request('GET', '/api/dashboards?search=secret', { as: 'owner' });
  t.deepEqual(found.body.items, []);
  const own = await harness.request('GET', '/api/dashboards?search=secret', { as: 'editor' });
  t.is(own.body.items[0].id, id);
});

test('nobody can make a dashboard of the organization private', async (t) => {
  const created = await make();
  const withPrivate = await write('PUT', created.id, 1, { ...created, visibility: 'private' }, 'admin');
  t.is(withPrivate.body.visibility, 'organization');
});

test('a panel cannot use another user’s private saved query, and dashboards that use a saved query are named unless they are private', async (t) => {
  const privateQueryId = (await save({ name: 'mine', visibility: 'private' }, 'admin')).body.id;
  const panels = (id: string) => [{ ...text('a'), queries: [{ name: 'A', savedQueryId: id }] }];
  const refused = await harness.request('POST', '/api/dashboards', {
    as: 'editor',
    body: { name: 'x', panels: panels(privateQueryId) },
  });
  const missing = await harness.request('POST', '/api/dashboards', {
    as: 'editor',
    body: { name: 'x', panels: panels('none') },
  });
  t.is(refused.status, 400);
  t.is(refused.body.message.replaceAll(privateQueryId, 'none'), missing.body.message);

  const used = (await save({ name: 'used' })).body.id;
  await make({ name: 'hidden one', visibility: 'private', panels: panels(used) });
  const deleted = await harness.request('DELETE', `/api/saved-queries/${used}`, { as: 'admin' });
  t.is(deleted.status, 409);
  t.regex(deleted.body.message, /a private dashboard/);
  t.notRegex(deleted.body.message, /hidden one/);
  const { usedBy } = (await harness.request('GET', `/api/saved-queries/${used}`, { as: 'admin' })).body;
  t.deepEqual(usedBy, [{ noun: 'dashboard', id: null, name: null }]);
});

test('validity reports names that panels use and that do not exist, query by query', async (t) => {
  const query = (name: string, expression: string): Fields => ({ name, query: { kind: 'promql', expression } });
  const created = await make({
    panels: [
      { ...text('good'), queries: [query('A', 'sum(up)'), query('B', 'rate(x[$__rate_interval])')] },
      { ...text('unknown'), queries: [query('A', 'up{a="$typo"}')] },
      { ...text('bad'), queries: [query('A', 'sum(')], formulas: [{ name: 'f', expression: 'A / Z' }] },
    ],
  });
  t.false(created.validity.isValid);
  t.deepEqual(
    created.validity.problems.map(({ path }: { path: string }) => path),
    [
      'panels.bad.formulas.f.expression',
      'panels.unknown.queries.A.query.expression',
      'panels.bad.queries.A.query.expression',
    ],
  );
  t.true((await make({ panels: created.panels.slice(0, 1) })).validity.isValid);
});

test('views by people are counted', async (t) => {
  const { id } = await make();
  for (const _ of [1, 2]) await harness.request('GET', `/api/dashboards/${id}?countView=true`, { as: 'viewer' });
  t.deepEqual((await read(id)).opened, { days: 30, times: 2 });
});

test('a copy belongs to the user who requested it', async (t) => {
  const created = await make(whole());
  const copy = await write('POST', `${created.id}/clone`, undefined, { folder: 'Mine' }, 'admin');
  t.is(copy.status, 200, JSON.stringify(copy.body));
  t.like(copy.body, { name: 'Copy of Checkout', folder: 'Mine', version: 1, panels: created.panels });
  t.not(copy.body.ownerId, created.ownerId);
});

test('lists are filtered by text, tag and folder including subfolders, and contain no panels', async (t) => {
  const inside = await make({ name: 'within', folder: 'Alpha/Beta', tags: ['rare', 'x'], panels: [text('a')] });
  await make({ name: 'beside', folder: 'AlphaBeta' });
  const ids = async (query: string): Promise<string[]> =>
    (await harness.request('GET', `/api/dashboards?${query}`, { as: 'viewer' })).body.items.map(
      ({ id }: { id: string }) => id,
    );
  for (const query of ['folder=Alpha', 'folder=Alpha/Beta', 'tag=rare', 'search=WITHIN', 'folder=Alpha&tag=x'])
    t.deepEqual(await ids(query), [inside.id], query);
  t.deepEqual(await ids('folder=Alpha&tag=y'), []);
  const [item] = (await harness.request('GET', '/api/dashboards?tag=rare')).body.items;
  t.like(item, { panels: 1, version: 1, createdAt: inside.createdAt, updatedAt: inside.updatedAt });
  await write('PUT', inside.id, 1, { ...inside, tags: [] });
  t.deepEqual(await ids('tag=rare'), []);
  await write('DELETE', inside.id, 2);
  t.deepEqual(await ids('folder=Alpha'), []);
});

test('a list returns tags and folders, each with the number of visible dashboards', async (t) => {
  await make({ folder: 'Facets/One', tags: ['facet-a', 'facet-b'] });
  await make({ folder: 'Facets/Two', tags: ['facet-a'] });
  await make({ folder: 'Facets', tags: ['facet-b', 'facet-c'], visibility: 'private' }, 'editor');
  const facets = async (query: string, as: 'viewer' | 'editor') => {
    const { status, body } = await harness.request('GET', `/api/dashboards?${query}`, { as });
    t.is(status, 200, JSON.stringify(body));
    const formatFacet = ({ values }: { values: { value: string; count: number }[] }): string =>
      values
        .filter(({ value }) => /^facet/i.test(value))
        .map(({ value, count }) => `${value} ${count}`)
        .join(', ');
    return body.facets === null ? null : [formatFacet(body.facets.tags), formatFacet(body.facets.folders)];
  };
  t.is(await facets('', 'viewer'), null);
  t.deepEqual(await facets('facets=true', 'viewer'), ['facet-a 2, facet-b 1', 'Facets 2, Facets/One 1, Facets/Two 1']);
  t.deepEqual(await facets('facets=true', 'editor'), [
    'facet-a 2, facet-b 2, facet-c 1',
    'Facets 3, Facets/One 1, Facets/Two 1',
  ]);
  // The selected tag restricts the folders and vice versa, and each list also shows its own alternatives.
  t.deepEqual(await facets('facets=true&tag=facet-b&folder=Facets/One', 'viewer'), [
    'facet-a 1, facet-b 1',
    'Facets 1, Facets/One 1',
  ]);
});

test('an audit record of a change of one panel contains only that panel', async (t) => {
  const created = await make({ panels: [text('a'), text('b', 'of the other')] });
  await write('PUT', `${created.id}/panels/a`, 1, text('a', 'new'));
  const records = await harness.documents
    .forTenant('a')
    .collection(auditRecords)
    .list({ filter: { 'resource.id': created.id } });
  const [change, ...more] = records.items.find(({ action }) => action === 'dashboard.update')?.details?.changes ?? [];
  t.deepEqual(more, []);
  t.is(change?.path, 'panels');
  t.notRegex(JSON.stringify(change), /of the other/);
});

/** A random edit: its request, with a mark that must then be in some version. */
const editOf = (
  random: Random,
  document: Answer['body'],
  mark: string,
): [method: string, path: string, body: unknown] => {
  const { id, panels } = document;
  const panel = panels[random(panels.length)];
  const kind = random(4);
  if (kind === 0 || panel === undefined) return ['POST', `${id}/panels`, text(mark)];
  if (kind === 1) return ['PUT', `${id}/panels/${panel.id}`, { ...panel, description: mark }];
  if (kind === 2) return ['PUT', id, { ...document, description: mark }];
  return [
    'PUT',
    id,
    { ...document, panels: panels.map((one: Fields) => (one === panel ? { ...one, title: mark } : one)) },
  ];
};

test('with random edits of two users, each edit with a 200 response is in some version', async (t) => {
  const random = seeded(28);
  const { id } = await make({ panels: [text('a'), text('b')] });
  const savedVersions = new Map<string, number>();
  const edit = async (who: As, round: number): Promise<void> => {
    const document = await read(id, who);
    const mark = `${who}-${round}`;
    const [method, path, body] = editOf(random, document, mark);
    const response = await write(method, path, document.version, body, who);
    if (response.status === 200) savedVersions.set(mark, response.body.version);
    else t.is(response.status, 412, JSON.stringify(response.body));
  };
  for (let round = 0; round < 20; round++) await Promise.all([edit('editor', round), edit('admin', round)]);
  t.true(savedVersions.size >= 20);
  t.is(new Set(savedVersions.values()).size, savedVersions.size, 'each edit created its own version');
  for (const [mark, version] of savedVersions) {
    const { document } = (await harness.request('GET', `/api/dashboards/${id}/versions/${version}`)).body;
    t.true(JSON.stringify(document).includes(`"${mark}"`), mark);
    const former = version - 1;
    const differences = (
      await harness.request('GET', `/api/dashboards/${id}/versions/${former}?compareWith=${version}`)
    ).body.differences;
    t.true(JSON.stringify(differences).includes(`"${mark}"`), `${mark} is in a version`);
  }
});
