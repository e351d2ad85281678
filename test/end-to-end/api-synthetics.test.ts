/** Checks, locations and variables of two organizations through the API. */
import test from 'ava';
import { probeTokenPrefix, syntheticLocations } from '../../schemas/resources/synthetic-location.ts';
import { syntheticPictures } from '../../schemas/resources/synthetic-picture.ts';
import { syntheticVariables } from '../../schemas/resources/synthetic-variable.ts';
import { findLastDueMs } from '../../subjects/synthetics/due-times.ts';
import { startHarness } from './api-harness.ts';

const harness = await startHarness();
const elsewhere = { as: `token ${await harness.signIn('owner@b.example')}` } as const;
test.after.always(() => harness.close());

const checks = '/api/synthetics/checks';
const locations = '/api/synthetics/locations';
const variables = '/api/synthetics/variables';

let createdItem = 0;
const check = (more: object = {}, step: object = {}) => ({
  name: `check ${createdItem++}`,
  type: 'http',
  http: { steps: [{ url: 'https://shop.example/', ...step }] },
  ...more,
});
const create = async (body: object, options: object = {}) => {
  const response = await harness.request('POST', checks, { body, ...options });
  if (response.status !== 200) throw new Error(JSON.stringify(response.body));
  return response.body;
};

test('a check is created, read, replaced, patched and deleted', async (t) => {
  const { id, ...created } = await create(check());
  t.is(created.every, '1m');
  t.deepEqual(created.locations, ['local']);
  t.is(created.http.steps[0].method, 'GET');
  t.is((await harness.request('PUT', `${checks}/${id}`, { body: { ...created, every: '30s' } })).body.every, '30s');
  const patched = await harness.request('PATCH', `${checks}/${id}`, { body: { enabled: false } });
  t.is(patched.body.every, '30s');
  t.false(patched.body.enabled);
  t.true((await harness.request('GET', checks)).body.items.some((one: { id: string }) => one.id === id));
  t.is((await harness.request('GET', `${checks}/${id}`, elsewhere)).status, 404);
  t.is((await harness.request('DELETE', `${checks}/${id}`, elsewhere)).status, 404);
  t.is((await harness.request('DELETE', `${checks}/${id}`)).status, 200);
  t.is((await harness.request('GET', `${checks}/${id}`)).status, 404);
});

test('an invalid check is refused with the path of the error', async (t) => {
  for (const [body, path] of [
    [check({}, { url: 'shop.example' }), 'http.steps.0.url'],
    [check({}, { body: '{{variables.nothing}}' }), 'http.steps.0.body'],
    [check({ locations: ['nowhere'] }), 'locations.0'],
    [check({ surprise: 1 }), 'surprise'],
  ] as const) {
    const { status, body: answer } = await harness.request('POST', checks, { body });
    t.is(status, 400);
    t.is(answer.details[0].path, path);
  }
});

test('the token of a location is shown once, and only its hash is stored', async (t) => {
  const { status, body } = await harness.request('POST', locations, { body: { name: 'Frankfurt' } });
  t.is(status, 200);
  t.true(body.token.startsWith(probeTokenPrefix));
  t.false(JSON.stringify((await harness.request('GET', locations)).body).includes(body.token));
  const stored = await harness.documents.forTenant('a').collection(syntheticLocations).find(body.id);
  t.false(JSON.stringify(stored).includes(body.token));
  t.is((await harness.request('POST', locations, { as: 'editor', body: { name: 'x' } })).status, 403);
  const { items } = (await harness.request('GET', locations, elsewhere)).body;
  t.deepEqual(
    items.map(({ id }: { id: string }) => id),
    ['local'],
  );
  t.is((await harness.request('POST', checks, { ...elsewhere, body: check({ locations: [body.id] }) })).status, 400);
  t.is((await harness.request('DELETE', `${locations}/${body.id}`, elsewhere)).status, 404);
});

test('a location shows how far the clock of its probe is ahead of the platform’s', async (t) => {
  const { id, token, clockAheadMs } = (await harness.request('POST', locations, { body: { name: 'Late' } })).body;
  t.is(clockAheadMs, null);
  const reportClock = async (probeFields: object) => {
    const headers = { authorization: `Bearer ${token}` };
    const body = { probe: 'p', ...probeFields };
    t.is((await harness.request('POST', '/api/synthetics/probe/work', { as: 'nobody', body, headers })).status, 200);
    const { items } = (await harness.request('GET', locations)).body;
    return items.find((one: { id: string }) => one.id === id).clockAheadMs;
  };
  t.is(await reportClock({}), null);
  t.is(await reportClock({ clockAheadMs: -90_000 }), -90_000);
});

test('a location used by a check can be deleted only by force, and is then removed from its checks', async (t) => {
  const { id } = (await harness.request('POST', locations, { body: { name: 'Zurich' } })).body;
  const alone = await create(check({ locations: [id] }));
  const both = await create(check({ locations: ['local', id] }));
  const refused = await harness.request('DELETE', `${locations}/${id}`);
  t.is(refused.status, 409);
  t.regex(refused.body.message, new RegExp(alone.name));
  t.notRegex(refused.body.message, new RegExp(both.name));
  t.is((await harness.request('DELETE', `${locations}/${id}?force=true`)).status, 200);
  t.deepEqual((await harness.request('GET', `${checks}/${alone.id}`)).body.locations, []);
  t.deepEqual((await harness.request('GET', `${checks}/${both.id}`)).body.locations, ['local']);
  t.is((await harness.request('DELETE', `${locations}/local?force=true`)).status, 409);
});

test.serial('an organization can have 50 locations in addition to the local one', async (t) => {
  const make = (name: string) => harness.request('POST', locations, { ...elsewhere, body: { name } });
  const created = await Promise.all(Array.from({ length: 50 }, (_, count) => make(`Place ${count}`)));
  t.true(created.every(({ status }) => status === 200));
  t.is((await harness.request('GET', locations, elsewhere)).body.items.length, 51);
  const refused = await make('One more');
  t.is(refused.status, 409);
  t.regex(refused.body.message, /there are 50 synthetic locations/);
  const other = await harness.request('POST', locations, { body: { name: 'Of another organization' } });
  t.is(other.status, 200);
  for (const { body } of created)
    t.is((await harness.request('DELETE', `${locations}/${body.id}`, elsewhere)).status, 200);
  t.is((await harness.request('DELETE', `${locations}/${other.body.id}`)).status, 200);
});

test('a secret is encrypted, masked and bound to its hosts; adding hosts requires the secret again', async (t) => {
  const value = 'correct-horse-9';
  const set = (body: object) => harness.request('PUT', `${variables}/shop_password`, { body });
  t.is((await set({ value, isSecret: true })).body.details[0].path, 'hosts');
  t.is((await set({ value, isSecret: true, hosts: ['shop.example', '*.inner.example'] })).body.value, '********');
  const user = await create(check({}, { headers: { 'x-key': '{{variables.shop_password}}' } }));
  const { items } = (await harness.request('GET', variables, { as: 'viewer' })).body;
  t.deepEqual(items[0].checks, [{ id: user.id, name: user.name }]);
  t.false(JSON.stringify(items).includes(value));
  const stored = await harness.documents.forTenant('a').collection(syntheticVariables).find('shop_password');
  t.false(JSON.stringify(stored).includes(value));

  const masked = { value: '********', isSecret: true };
  t.is((await set({ ...masked, hosts: ['shop.example', 'a.inner.example'] })).status, 200);
  const wider = await set({ ...masked, hosts: ['shop.example', 'evil.example'] });
  t.is(wider.body.details[0].path, 'value');
  t.regex(wider.body.details[0].message, /evil\.example is a new host/);
  t.is((await set({ ...masked, hosts: ['a.inner.example'] })).status, 409);
  for (const plain of [{ value: masked.value }, { value: masked.value, isSecret: false }]) {
    const { status, body } = await set(plain);
    t.is(status, 400);
    t.deepEqual(body.details, [
      { path: 'value', message: 'is the mask of a secret: give the value, or set `isSecret`' },
    ]);
  }
  t.is((await harness.request('DELETE', `${variables}/shop_password`)).status, 409);

  const leakingCheck = check({}, { url: 'https://evil.example/', body: '{{variables.shop_password}}' });
  const { body: refused } = await harness.request('POST', checks, { body: leakingCheck });
  t.regex(refused.details[0].message, /would send the secret shop_password to evil\.example/);
  t.deepEqual((await harness.request('GET', variables, elsewhere)).body.items, []);
  t.is((await harness.request('DELETE', `${variables}/shop_password`, elsewhere)).status, 404);

  await harness.request('DELETE', `${checks}/${user.id}`);
  t.is((await harness.request('DELETE', `${variables}/shop_password`)).status, 200);
  const { body: log } = await harness.request('GET', '/api/audit?limit=100', { as: 'auditor' });
  t.false(JSON.stringify(log).includes(value));
});

test('checks are exported as YAML, and importing the export changes nothing', async (t) => {
  const { id } = (await harness.request('POST', locations, { body: { name: 'Vienna' } })).body;
  await create(
    check(
      { name: 'coded', locations: ['local', id], labels: { team: 'shop' }, every: '30s', timeout: '5s' },
      {
        method: 'POST',
        body: '{"a": 1}',
        headers: { accept: 'text/html' },
        assertions: [{ source: 'body', operator: 'contains', value: 'multi\nline: "text"' }],
      },
    ),
  );
  await create(check({ name: 'plain', labels: { team: 'shop' } }));
  const exported = await harness.request('GET', '/api/synthetics/export?label=team=shop', { as: 'viewer' });
  t.is(exported.status, 200);
  const source = String(exported.body);
  t.true(source.includes('- Vienna'), source);
  t.false(source.includes('retries'), source);
  const put = async (text: string, more: object = {}, options: object = {}) =>
    (await harness.request('POST', '/api/synthetics/import', { body: { source: text, ...more }, ...options })).body
      .items;
  const outcomes = (items: { name: string; outcome: string }[]) => items.map(({ name, outcome }) => [name, outcome]);
  t.deepEqual(outcomes(await put(source)), [
    ['coded', 'unchanged'],
    ['plain', 'unchanged'],
  ]);
  const changed = source.replace('every: 30s', 'every: 20s').replace('name: plain', 'name: new');
  const expected = [
    ['coded', 'changed'],
    ['new', 'created'],
  ];
  const foreign = [['coded', 'refused'], expected[1]];
  t.deepEqual(outcomes(await put(changed, { dryRun: true })), foreign);
  t.deepEqual(outcomes(await put(changed, { dryRun: true, takeOver: true })), expected);
  t.deepEqual(outcomes(await put(changed, { takeOver: true })), expected);
  t.deepEqual(outcomes(await put(changed)), [
    ['coded', 'unchanged'],
    ['new', 'unchanged'],
  ]);
  // Locations of another organization are not found.
  const other = await put(source, {}, elsewhere);
  t.deepEqual(outcomes(other), [
    ['coded', 'refused'],
    ['plain', 'created'],
  ]);
  t.regex(other[0].problems[0].message, /the location Vienna does not exist/);
});

test('an error in a file is reported with its line, and does not affect the other documents', async (t) => {
  const source = [
    ...['name: one', 'type: http', 'surprise: 1', 'http:', '  steps: [{ url: https://a.example }]', '---'],
    ...['name: two', 'type: http', 'http:', '  steps:', '    - method: GET', '      url: a.example', '---'],
    ...['name: three', 'type: tcp', 'tcp: { host: a.example, port: 1 }', '---', 'name: [', '---'],
    ...['type: icmp', 'name: three', 'icmp: { host: a.example }', '---'],
    ...['name: four', 'type: icmp', 'icmp: { host: !!js/function "x" }', ''],
  ].join('\n');
  const { items } = (await harness.request('POST', '/api/synthetics/import', { body: { source, dryRun: true } })).body;
  t.deepEqual(
    items.map(({ name, outcome }: { name: string; outcome: string }) => [name, outcome]),
    [
      ...[
        ['one', 'refused'],
        ['two', 'refused'],
        ['three', 'created'],
        [null, 'refused'],
        ['three', 'refused'],
        ['four', 'refused'],
      ],
    ],
  );
  const [[one], [two], , , [repeated], [tagged]] = items.map(({ problems }: { problems: object[] }) => problems);
  t.deepEqual(one, { path: 'surprise', line: 3, message: 'is not a known field' });
  t.is(two.line, 12);
  t.is(two.path, 'http.steps.0.url');
  t.deepEqual(repeated, { path: 'name', line: 21, message: 'is that of the document at line 14' });
  t.is(tagged.line, 26);
  t.regex(tagged.message, /^has the unknown tag .*js\/function$/);
});

test('a downtime is a maintenance window for checks, visible from both sides', async (t) => {
  const downtimes = '/api/synthetics/downtimes';
  const windows = '/api/maintenance-windows';
  const one = await create(check({ labels: { team: 'downtimes' } }));
  const other = await create(check());
  const foreign = await create(check(), elsewhere);
  const startsAt = new Date(Date.now() - 3_600_000).toISOString().slice(0, 16);
  const times = { timeZone: 'UTC', startsAt, durationMinutes: 120 };
  const post = (body: object) => harness.request('POST', downtimes, { as: 'editor', body: { ...times, ...body } });
  for (const [body, path] of [
    [{ name: 'none' }, 'checkIds'],
    [{ name: 'foreign', checkIds: [one.id, foreign.id] }, 'checkIds.1'],
    [{ name: 'rule', checkIds: [one.id], recurrence: 'FREQ=SOMETIMES' }, 'recurrence'],
    [{ name: 'wall', checkIds: [one.id], startsAt: '2026-02-30T10:00' }, 'startsAt'],
  ] as const) {
    const { status, body: answer } = await post(body);
    t.is(status, 400);
    t.is(answer.details[0].path, path);
  }
  t.is(
    (await harness.request('POST', downtimes, { as: 'viewer', body: { ...times, name: 'x', checkIds: [one.id] } }))
      .status,
    403,
  );

  const { status, body: maintenanceWindow } = await post({ name: 'by label', labels: { team: 'downtimes' } });
  t.is(status, 200, JSON.stringify(maintenanceWindow));
  t.like(maintenanceWindow, {
    isActive: true,
    labels: { team: 'downtimes' },
    checkIds: [],
    checks: [{ id: one.id, name: one.name }],
  });
  t.is((await harness.request('GET', `${windows}/${maintenanceWindow.id}`)).body.name, 'by label');
  const listed = async (query = '') =>
    (await harness.request('GET', `${downtimes}${query}`, { as: 'viewer' })).body.items.map(
      ({ name }: { name: string }) => name,
    );
  await harness.request('POST', windows, {
    body: { ...times, name: 'seen from there', matchers: [{ name: 'check', value: other.name }] },
  });
  await harness.request('POST', windows, {
    body: { ...times, name: 'of hosts', matchers: [{ name: 'host', value: 'web-1' }] },
  });
  t.deepEqual(await listed(), ['by label', 'seen from there']);
  t.deepEqual(await listed(`?checkId=${other.id}`), ['seen from there']);
  const unknown = await harness.request('GET', `${downtimes}?checkId=${foreign.id}`);
  t.is(unknown.body.details[0].path, 'checkId');
  t.is((await harness.request('GET', `${checks}/${one.id}`)).body.state, 'maintenance');

  // An exclusion that is added afterwards also applies, and is in the audit log.
  const uptime = async () => (await harness.request('GET', `${checks}/${one.id}/uptime?from=now-2h`)).body.items[0];
  t.true(Math.abs((await uptime()).excludedMs - 3_600_000) < 120_000);
  const { items } = (await harness.request('GET', '/api/audit?limit=100', { as: 'auditor' })).body;
  t.true(
    items.some(
      ({ action, resource }: { action: string; resource: { id: string } }) =>
        action === 'maintenance-window.create' && resource.id === maintenanceWindow.id,
    ),
  );
  t.is((await harness.request('DELETE', `${downtimes}/${maintenanceWindow.id}`, elsewhere)).status, 404);
  const hosts = (await harness.request('GET', windows)).body.items.find(
    ({ name }: { name: string }) => name === 'of hosts',
  );
  t.is((await harness.request('DELETE', `${downtimes}/${hosts.id}`)).status, 404);
  t.is((await harness.request('DELETE', `${downtimes}/${maintenanceWindow.id}`, { as: 'editor' })).status, 200);
  t.is((await harness.request('GET', `${windows}/${maintenanceWindow.id}`)).status, 404);
  t.is((await uptime()).excludedMs, 0);
  t.is((await harness.request('GET', `${checks}/${one.id}`)).body.state, null);
});

test('an organization has the monthly runs of its plan, and a refusal contains the figures', async (t) => {
  const { items } = (await harness.request('GET', '/api/plans', elsewhere)).body;
  const maxRuns = items.find(({ current }: { current: boolean }) => current).limits.syntheticRunsPerMonth;
  const often = { every: '10s', timeout: '5s' };
  for (let left = Math.floor(maxRuns / 267_840); left > 0; left--) await create(check(often), elsewhere);
  const refused = await harness.request('POST', checks, { ...elsewhere, body: check(often) });
  t.is(refused.status, 409);
  const figures =
    /it would run 267,840 times a month, in addition to [\d,]+ runs of other checks, and the plan \w+ includes [\d,]+/;
  t.regex(refused.body.message, figures);
  const off = await create(check({ ...often, enabled: false }), elsewhere);
  t.is((await harness.request('PATCH', `${checks}/${off.id}`, { ...elsewhere, body: { enabled: true } })).status, 409);
});

test('a recording is converted to a check with a list of what is lost, and a repeated import changes only its steps', async (t) => {
  const click = { type: 'click', selectors: [['aria/Buy[role="button"]']] };
  const password = { type: 'change', selectors: [['aria/Pass word']], value: 'hunter2' };
  const recording = (title: string, ...more: object[]) =>
    JSON.stringify({ title, steps: [{ type: 'navigate', url: 'https://shop.example/' }, ...more] });
  const importRecording = async (source: string, more: object = {}) => {
    const response = await harness.request('POST', '/api/synthetics/import', { body: { source, ...more } });
    t.false(JSON.stringify(response.body).includes('hunter2'));
    return response.body.items[0];
  };
  const title = 'recorded';
  const { id, outcome, losses } = await importRecording(recording(title, click));
  t.deepEqual([outcome, losses], ['created', []]);
  const read = async (of: string) => (await harness.request('GET', `${checks}/${of}`)).body;
  const created = await read(id);
  t.deepEqual([created.type, created.enabled, created.browser.steps.length], ['browser', true, 2]);
  await harness.request('PATCH', `${checks}/${id}`, { body: { every: '5m', enabled: false } });
  t.is((await importRecording(recording(title, click))).outcome, 'unchanged');
  t.is((await importRecording(recording(title, click, click), { dryRun: true })).outcome, 'changed');
  t.is((await importRecording(recording(title, click, click))).outcome, 'changed');
  const again = await read(id);
  t.deepEqual([again.every, again.enabled, again.browser.steps.length], ['5m', false, 3]);

  const lossy = await importRecording(recording('lossy', { type: 'click', selectors: [['xpath//a']] }));
  t.regex(lossy.losses[0].message, /none of its selectors/);
  t.false((await read(lossy.id)).enabled);
  const secret = await importRecording(recording('secret', password));
  t.is(secret.outcome, 'refused');
  t.regex(JSON.stringify(secret), /pass_word/);
  await harness.request('PUT', `${variables}/pass_word`, {
    body: { value: 'hunter2', isSecret: true, hosts: ['shop.example'] },
  });
  t.is((await importRecording(recording('secret', password))).outcome, 'created');
  const { name } = await create(check());
  t.regex(JSON.stringify((await importRecording(recording(name))).problems), /is the name of a check of the type http/);
});

test('for each location the screenshots of the last passed and the last failed run are stored, visible to users who see the check', async (t) => {
  const { id: location, token } = (await harness.request('POST', locations, { body: { name: 'seen from' } })).body;
  const browser = { steps: [{ action: 'goto', url: 'https://shop.example/' }] };
  const { id } = await create({
    ...check(),
    type: 'browser',
    http: undefined,
    browser,
    every: '1m',
    locations: ['local', location],
  });
  const dueMs = findLastDueMs({ id, every: '1m' }, location, Date.now());
  const send = async (change: object, key = token): Promise<string> => {
    const body = { checkId: id, dueMs, startedAtMs: dueMs, outcome: 'passed', content: '/9j/good', ...change };
    const headers = { authorization: `Bearer ${key}` };
    const response = await harness.request('POST', '/api/synthetics/probe/pictures', { as: 'nobody', body, headers });
    return response.status === 200 ? response.body.reason : String(response.status);
  };
  const earlier = { dueMs: dueMs - 60_000, startedAtMs: dueMs - 60_000 };
  const seen = async () => (await harness.request('GET', `${checks}/${id}/pictures`, { as: 'viewer' })).body.items;
  t.is(await send({ ...earlier, content: '/9j/before' }), '');
  t.is(await send({}), '');
  t.regex(await send({ ...earlier, outcome: 'degraded' }), /later run already has/);
  t.is(await send({ ...earlier, outcome: 'failed', content: '/9j/failed' }), '');
  t.regex(await send({ dueMs: dueMs + 1 }), /not due at this location/);
  t.regex(await send({ checkId: 'none' }), /no check of this location/);
  t.is(await send({ content: 'PHNjcmlwdD4=' }), '400');
  t.is(await send({ content: `/9j/${'A'.repeat(280_000)}` }), '400');
  t.is(await send({}, 'wrong'), '401');
  const at = (ms: number) => new Date(ms).toISOString();
  t.deepEqual(await seen(), [
    { location, kind: 'failed', dueAt: at(dueMs - 60_000), content: '/9j/failed' },
    { location, kind: 'good', dueAt: at(dueMs), content: '/9j/good' },
  ]);
  t.is((await harness.request('GET', `${checks}/${id}/pictures`, elsewhere)).status, 404);
  t.is((await harness.request('GET', `${checks}/${id}/pictures?location=local`)).body.items.length, 0);
  t.is((await harness.request('DELETE', `${locations}/${location}`)).status, 200);
  t.deepEqual(await seen(), []);
  t.regex(await send({}), /401/);

  const other = (await harness.request('POST', locations, { body: { name: 'seen too' } })).body;
  const { id: second } = await create({
    ...check(),
    type: 'browser',
    http: undefined,
    browser,
    every: '1m',
    locations: [other.id],
  });
  const due = findLastDueMs({ id: second, every: '1m' }, other.id, Date.now());
  t.is(await send({ checkId: second, dueMs: due, startedAtMs: due }, other.token), '');
  const pictures = harness.documents.forTenant('a').collection(syntheticPictures);
  t.is(await pictures.count({ checkId: second }), 1);
  await harness.request('DELETE', `${checks}/${second}`);
  t.is(await pictures.count({ checkId: second }), 0);
});
