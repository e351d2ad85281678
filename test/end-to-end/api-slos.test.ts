/** SLOs through the API: documents, refusals with their path, and limits of the plan. */
import test from 'ava';
import { type Harness, startHarness } from './api-harness.ts';

let harness: Harness;
test.before(async () => {
  harness = await startHarness();
});
test.after.always(() => harness?.close());

let names = 0;
const make = async (fields: object = {}) => {
  const body = { name: `slo ${++names}`, service: 'checkout', ...fields };
  const response = await harness.request('POST', '/api/slos', { as: 'editor', body });
  if (response.status !== 200) throw new Error(JSON.stringify(response.body));
  return response.body;
};
const put = (id: string, body: object) => harness.request('PUT', `/api/slos/${id}`, { as: 'editor', body });

const count = (search: string) => ({ kind: 'aggregate', signal: 'logs', search, measures: [{ function: 'count' }] });
const ratio = { good: count('NOT severity:error'), total: count('*') };

test('the short form is sufficient, and a patch writes only the fields in it', async (t) => {
  const created = await make({ targetPct: 99.5 });
  t.like(created, {
    type: 'availability',
    signal: 'traces',
    windowDays: 30,
    targetPct: 99.5,
    enabled: true,
    version: 1,
  });
  const changed = await put(created.id, { windowDays: 7 });
  t.is(changed.status, 200, JSON.stringify(changed.body));
  t.deepEqual(changed.body, { ...created, windowDays: 7, version: 2, updatedAt: changed.body.updatedAt });
});

test('a new query replaces the previous one, as an object and as text', async (t) => {
  const bad = { bad: count('severity:error'), total: ratio.total };
  const created = await make({ type: 'ratio', query: { sli: ratio, slice: '5m', alerting: { enabled: false } } });
  for (const query of [{ sli: bad }, JSON.stringify({ sli: bad })]) {
    const { body, status } = await put(created.id, { query });
    t.is(status, 200, JSON.stringify(body));
    t.is(body.query.sli.good, undefined);
    t.is(body.query.slice, '1m');
    t.true(body.query.alerting.enabled);
    await put(created.id, { query: created.query });
  }
});

test('an error is reported with its path, even if only the whole document reveals it', async (t) => {
  const created = await make();
  const wrong = [
    [{ targetPct: 100 }, 'targetPct'],
    [{ windowDays: 367 }, 'windowDays'],
    [{ query: '{' }, 'query'],
    [{ query: { slice: '7m' } }, 'query.slice'],
    [
      { query: { calendar: { period: 'month', timeZone: 'Mars/Base', startsAt: '2026-01-01T00:00' } } },
      'query.calendar.timeZone',
    ],
    [{ type: 'latency' }, 'latencyThresholdMs'],
    [{ service: null }, 'service'],
  ] as const;
  for (const [body, path] of wrong) {
    const response = await put(created.id, body);
    t.is(response.status, 400, path);
    t.deepEqual(
      response.body.details.map((detail: { path: string }) => detail.path),
      [path],
    );
  }
  t.is((await harness.request('GET', `/api/slos/${created.id}`)).body.version, 1);
});

test('an SLO on telemetry that the plan lacks is refused with 403', async (t) => {
  const as = `token ${await harness.signIn('owner@b.example')}` as const;
  const body = { name: 'Of spans', service: 'checkout' };
  const refused = await harness.request('POST', '/api/slos', { as, body });
  t.is(refused.status, 403);
  t.is(refused.body.error, 'UPGRADE_REQUIRED');
  t.regex(refused.body.message, /traces/);
  const ofLogs = { name: 'Of logs', type: 'ratio', query: { sli: ratio } };
  t.is((await harness.request('POST', '/api/slos', { as, body: ofLogs })).status, 200);
});

const document = (name: string, displayName: string, target = 0.99): string => `apiVersion: openslo/v1
kind: SLO
metadata: { name: ${name}, displayName: ${displayName} }
spec:
  service: ${name}
  indicator:
    metadata: { name: ratio }
    spec:
      ratioMetric:
        counter: true
        good: { metricSource: { type: prometheus, spec: { query: ok_total } } }
        total: { metricSource: { type: prometheus, spec: { query: all_total } } }
  timeWindow: [{ duration: 30d, isRolling: true }]
  budgetingMethod: Occurrences
  objectives: [{ target: ${target} }]
`;
const importDocuments = async (documents: readonly string[], more: object = {}) => {
  const body = { source: documents.join('---\n'), ...more };
  const response = await harness.request('POST', '/api/slos/import', { as: 'editor', body });
  const items = response.body.items as { name: string; outcome: string; id: string; problems: { message: string }[] }[];
  return items.map(({ name, outcome, problems: [problem] }) => [name, outcome, ...(problem ? [problem.message] : [])]);
};

test('an imported SLO is identified by its own name in the document, not by its title', async (t) => {
  const both = [document('svc1-avail', 'Availability'), document('svc2-avail', 'Availability')];
  const created = [
    ['Availability', 'created'],
    ['Availability (svc2-avail)', 'created'],
  ];
  t.deepEqual(await importDocuments(both, { dryRun: true }), created);
  t.deepEqual(await importDocuments(both), created);
  const unchanged = created.map(([name]) => [name, 'unchanged']);
  t.deepEqual(await importDocuments(both), unchanged);
  t.deepEqual(await importDocuments(both.toReversed()), unchanged.toReversed());
  t.deepEqual(await importDocuments([document('svc1-avail', 'Availability of one')]), [
    ['Availability of one', 'changed'],
  ]);
  t.deepEqual(await importDocuments([document('svc1-avail', 'Other file')], { fileName: 'other.yaml' }), [
    ['Other file', 'created'],
  ]);
  const twice = [document('same', 'One'), document('same', 'Two')];
  const refused = [
    ['One', 'created'],
    ['Two', 'refused', 'another document of this import has the same name same'],
  ];
  t.deepEqual(await importDocuments(twice, { dryRun: true }), refused);
  t.deepEqual(await importDocuments(twice), refused);
});

test('an import changes an SLO that was created by hand only with takeOver', async (t) => {
  const created = await make({ name: 'Checkout is up', service: 'checkout', description: 'made by hand' });
  const source = [document('svc9-avail', 'Checkout is up')];
  for (const dryRun of [true, false]) {
    const [[name, outcome, message = ''] = []] = await importDocuments(source, { dryRun });
    t.deepEqual([name, outcome], ['Checkout is up', 'refused']);
    t.regex(message, /was not imported/);
  }
  const read = async () => (await harness.request('GET', `/api/slos/${created.id}`)).body;
  t.like(await read(), { version: 1, service: 'checkout', importedFrom: null });
  const changed = [['Checkout is up', 'changed']];
  t.deepEqual(await importDocuments(source, { dryRun: true, takeOver: true }), changed);
  t.deepEqual(await importDocuments(source, { takeOver: true }), changed);
  t.like(await read(), {
    service: 'svc9-avail',
    importedFrom: { format: 'openslo', fileName: '', name: 'svc9-avail' },
  });
  const put = await harness.request('PUT', `/api/slos/${created.id}`, { as: 'editor', body: { targetPct: 98 } });
  t.like(put.body, { targetPct: 98, importedFrom: { name: 'svc9-avail' } });
  t.deepEqual(await importDocuments(source), changed);
});

test('importing an export changes nothing, and an invalid document is refused with its line', async (t) => {
  const created = await make({ type: 'ratio', service: 'shop', query: { sli: ratio, slice: '5m' } });
  const exported = await harness.request('GET', `/api/slos/${created.id}/export`, { as: 'viewer' });
  t.is(exported.status, 200, JSON.stringify(exported.body));
  const importSource = (source: string, dryRun = false) =>
    harness.request('POST', '/api/slos/import', { as: 'editor', body: { source, dryRun, takeOver: true } });
  const again = await harness.request('POST', '/api/slos/import', { as: 'editor', body: { source: exported.body } });
  t.like(again.body.items, [{ name: created.name, outcome: 'unchanged', id: created.id, problems: [] }]);
  t.is((await harness.request('GET', `/api/slos/${created.id}`)).body.version, 1);
  const other = exported.body.replaceAll('targetPercent: 99.9', 'targetPercent: 99');
  t.like((await importSource(other, true)).body.items, [{ outcome: 'changed', id: created.id }]);
  t.is((await harness.request('GET', `/api/slos/${created.id}`)).body.targetPct, 99.9);
  t.like((await importSource(other)).body.items, [{ outcome: 'changed', id: created.id }]);
  t.is((await harness.request('GET', `/api/slos/${created.id}`)).body.targetPct, 99);
  const named = other.replaceAll(created.name, 'Another one').replace(/name: slo-\S+/, 'name: another');
  const isNew = await importSource(`${named}---\n${other.replace('30d', '1m')}`);
  t.like(isNew.body.items, [
    { document: 1, outcome: 'created', name: 'Another one' },
    { document: 2, outcome: 'refused', name: created.name },
  ]);
  t.regex(isNew.body.items[1].problems[0].path, /timeWindow/);
  const as = `token ${await harness.signIn('owner@b.example')}` as const;
  const short = await harness.request('GET', `/api/slos/${(await make()).id}/export?version=v2alpha`);
  const refused = await harness.request('POST', '/api/slos/import', { as, body: { source: short.body } });
  t.is(refused.body.items[0].outcome, 'refused');
  t.regex(refused.body.items[0].problems[0].message, /traces/);
});
