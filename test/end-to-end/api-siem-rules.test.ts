/** Detection rules through the API: saved with their tests, found, replaced, and tested with sample events. */
import test from 'ava';
import { retroHunting } from '../../processors/detections/retro-hunts.ts';
import { retroHunts } from '../../schemas/resources/retro-hunt.ts';
import { DetectionSignal } from '../../schemas/signals.ts';
import { type Harness, startHarness } from './api-harness.ts';

let harness: Harness;
test.before(async () => {
  harness = await startHarness();
});
test.after.always(() => harness.close());

const id = '5f1fd8f4-6a4b-4c0a-9d53-2b2e7d0f3a10';
const ruleText = (name: string, more: readonly string[] = []): string =>
  [
    `title: ${name}`,
    ...more,
    'status: test',
    'level: high',
    'logsource: { category: process_creation, product: windows }',
    'detection:',
    '  selection:',
    "    Image|endswith: '\\whoami.exe'",
    '  condition: selection',
    'tags: [attack.discovery, attack.t1033]',
  ].join('\n');
const event = { EventID: 1, Image: 'C:\\Windows\\System32\\whoami.exe', User: 'ann' };
const other = { EventID: 1, Image: 'C:\\Windows\\notepad.exe' };
const path = '/api/siem/rules';
const create = (body: object) => harness.request('POST', path, { as: 'editor', body });

test.serial('a rule is identified by its own ID, and returns its own metadata', async (t) => {
  const { status, body } = await create({
    source: ruleText('Who am I', [`id: ${id}`]),
    tests: { mustMatch: [event], mustNotMatch: [other] },
  });
  t.is(status, 200);
  t.is(body.id, id);
  t.deepEqual(
    [body.kind, body.title, body.severity, body.riskScore, body.status, body.tags],
    ['rule', 'Who am I', 'high', 75, 'test', ['attack.discovery', 'attack.t1033']],
  );
  t.deepEqual(body.logsource, { category: 'process_creation', product: 'windows' });
  t.is((await create({ source: ruleText('Another', [`id: ${id}`]) })).status, 409);
});

test.serial('a rule whose tests fail is saved only if this is allowed', async (t) => {
  const failing = { source: ruleText('Failing'), tests: { mustMatch: [other], mustNotMatch: [event] } };
  const refused = await create(failing);
  t.is(refused.status, 400);
  t.deepEqual(
    refused.body.details.map((detail: { path: string }) => detail.path),
    ['tests.mustMatch.0', 'tests.mustNotMatch.0'],
  );
  t.regex(refused.body.details[1].message, /Image is .*whoami/);
  t.is((await create({ ...failing, mayFailTests: true })).status, 200);
});

test.serial('other requests are served while a rule is parsed that takes long', async (t) => {
  const ends: string[] = [];
  const slow = create({ source: '{{ range .Alerts }}'.repeat(20_000) }).then(() => ends.push('slow'));
  for (const name of ['One', 'Two', 'Three'])
    t.is((await harness.request('POST', '/api/projects', { as: 'admin', body: { name } })).status, 200);
  ends.push('others');
  await slow;
  t.deepEqual(ends, ['others', 'slow']);
});

test.serial('an error in a rule is reported with its line and field', async (t) => {
  const { status, body } = await create({ source: ruleText('Broken').replace('Image|endswith', 'Image|ends') });
  t.is(status, 400);
  t.regex(body.details[0].message, /^line 7: .*ends/);
  const many = await create({ source: `${ruleText('One')}\n---\n${ruleText('Two')}` });
  t.regex(many.body.message, /several documents/);
});

test.serial('a rule can be replaced by another version of itself, never by another rule', async (t) => {
  const replaced = await harness.request('PUT', `${path}/${id}`, {
    as: 'editor',
    body: { source: ruleText('Who am I, again', [`id: ${id}`]), risk: 10 },
  });
  t.is(replaced.body.version, 2);
  t.is(replaced.body.riskScore, 10);
  const another = await harness.request('PUT', `${path}/${id}`, {
    as: 'editor',
    body: { source: ruleText('Another', ['id: 00000000-0000-4000-8000-000000000000']) },
  });
  t.is(another.status, 400);
});

test.serial('a test with sample events shows which fields matched and why', async (t) => {
  const { status, body } = await harness.request('POST', `${path}/${id}/test`, {
    as: 'editor',
    body: { events: [other, event] },
  });
  t.is(status, 200);
  t.deepEqual(
    body.matches.map((match: { event: number }) => match.event),
    [1],
  );
  t.is(body.matches[0].fields[0].field, 'Image');
  t.is(body.matches[0].fields[0].value, event.Image);
});

test.serial('a filter narrows the matches of a rule, also in tests', async (t) => {
  const filter = [
    'title: Ann may',
    'logsource: { category: process_creation, product: windows }',
    'filter:',
    `  rules: [${id}]`,
    '  selection: { User: ann }',
    '  condition: not selection',
  ].join('\n');
  const { body: created } = await create({ source: filter });
  t.is(created.kind, 'filter');
  const tried = await harness.request('POST', `${path}/${id}/test`, { as: 'editor', body: { events: [event] } });
  t.deepEqual(tried.body.matches, []);
  t.is((await harness.request('DELETE', `${path}/${created.id}`, { as: 'editor' })).status, 200);
});

test.serial('validation parses many documents, and lists what each needs', async (t) => {
  const { body } = await harness.request('POST', `${path}/validate`, {
    as: 'editor',
    body: { source: `${ruleText('One')}\n---\n${ruleText('Two').replace('condition: selection', 'condition: other')}` },
  });
  t.false(body.isValid);
  t.deepEqual(
    body.errors.map((error: { document: number; title: string }) => [error.document, error.title]),
    [[2, 'Two']],
  );
  t.is(body.documents[0].title, 'One');
  t.is(body.documents[0].fields[0].field, 'Image');
});

test.serial('a rule is disabled by one field, and its other fields stay unchanged', async (t) => {
  const source = 'title: Off\nlogsource: { product: cisco }\ndetection:\n  a: { f: x }\n  condition: a';
  const tests = { mustMatch: [{ f: 'x' }], mustNotMatch: [] };
  const before = (await harness.request('POST', path, { as: 'editor', body: { source, tests } })).body;
  const own = `${path}/${before.id}`;
  const { status, body } = await harness.request('PATCH', own, { as: 'editor', body: { enabled: false } });
  t.is(status, 200, JSON.stringify(body));
  t.false(body.enabled);
  t.deepEqual([body.source, body.tests, body.version], [before.source, before.tests, before.version + 1]);
  await harness.request('DELETE', own, { as: 'editor' });
});

test.serial('validation and import warn about rules that can run but are probably not intended', async (t) => {
  const text = (title: string, detection: readonly string[], tags = '[]') =>
    [`title: ${title}`, 'logsource: { product: zeek }', `tags: ${tags}`, 'detection:', ...detection].join('\n');
  const source = [
    text('Excludes', ['  a: { f: x }', '  condition: not a']),
    text('Words', ['  a: [shutdown]', '  b: { f: x }', '  condition: a'], '[attack.t9999, attack.t1064]'),
    text('Good', ['  a: { f: x }', '  condition: a'], '[attack.t1033]'),
  ].join('\n---\n');
  const { body } = await harness.request('POST', `${path}/validate`, { as: 'editor', body: { source } });
  const [excludes, words, good] = body.documents.map(({ warnings }: { warnings: string[] }) => warnings);
  t.regex(excludes.join(), /^detection\.condition: it matches an event without fields/);
  t.is(words.length, 4);
  t.regex(words.join('\n'), /no technique T9999[\s\S]*T1064[\s\S]*detection\.b: no condition[\s\S]*only keywords/);
  t.deepEqual(good, []);
  const imported = await harness.request('POST', `${path}/import?dryRun=true`, {
    as: 'editor',
    body: { files: [{ name: 'x.yml', source }] },
  });
  t.regex(imported.body.items[0].message, /matches an event without fields/);
});

test.serial(
  'a rule without a log source is refused by its tests with a hint, and may be allowed to match all sources',
  async (t) => {
    const source = 'title: Words\nlogsource: { product: cisco }\ndetection:\n  a: [shutdown]\n  condition: a';
    const tests = { mustMatch: [{ message: 'shutdown now' }], mustNotMatch: [] };
    const refused = await harness.request('POST', path, { as: 'editor', body: { source, tests } });
    t.is(refused.status, 400);
    t.regex(refused.body.details[0].message, /does not identify its log source.*anySource/);
    const { status, body } = await harness.request('POST', path, {
      as: 'editor',
      body: { source, tests, anySource: true },
    });
    t.is(status, 200, JSON.stringify(body));
    t.true(body.anySource);
    const tried = await harness.request('POST', `${path}/${body.id}/test`, {
      as: 'editor',
      body: { events: [{ message: 'shutdown' }, { message: 'start' }] },
    });
    t.deepEqual(
      tried.body.matches.map(({ event: at }: { event: number }) => at),
      [0],
    );
    await harness.request('DELETE', `${path}/${body.id}`, { as: 'editor' });
    const wrapped = { tests: { mustMatch: [{ name: 'x', event: { message: 'shutdown' } }], mustNotMatch: [] } };
    const response = await harness.request('POST', path, {
      as: 'editor',
      body: { source, ...wrapped, anySource: true },
    });
    t.regex(JSON.stringify(response.body.details), /pass the event itself/);
  },
);

test.serial('rules are filtered by severity, kind and text', async (t) => {
  const titles = async (query: string): Promise<string[]> =>
    (await harness.request('GET', `${path}?${query}`, { as: 'viewer' })).body.items.map(
      (item: { title: string }) => item.title,
    );
  t.true((await titles('severity=high')).includes('Who am I, again'));
  t.deepEqual(await titles('kind=correlation'), []);
  t.deepEqual(await titles('search=again'), ['Who am I, again']);
});

test.serial('coverage counts rules by technique, and is also available as an ATT&CK Navigator layer', async (t) => {
  const { body } = await harness.request('GET', '/api/siem/mitre/coverage', { as: 'viewer' });
  const discovery = body.tactics.find(({ name }: { name: string }) => name === 'Discovery');
  const technique = discovery.techniques.find((each: { id: string }) => each.id === 'T1033');
  t.true(technique.rules >= 2);
  t.is(technique.signals, 0);
  t.regex(body.notice, /MITRE/);
  const layer = await harness.request('GET', '/api/siem/mitre/coverage?format=navigator', { as: 'viewer' });
  t.is(layer.body.domain, 'enterprise-attack');
  t.deepEqual(
    layer.body.techniques.map(({ techniqueID }: { techniqueID: string }) => techniqueID),
    ['T1033'],
  );
});

test.serial('a backtest of a rule over stored records shows what it would have found', async (t) => {
  const rows = [event, other].map((each, index) => {
    const body = JSON.stringify(each).replaceAll('\\', '\\\\').replaceAll("'", "\\'");
    return `('a', 'default', now64(3), 0, ${index}, 0, now64(9) - ${10 - index}, now64(9), 'agent', 9, 'INFO', '${body}', 's')`;
  });
  await harness.columns.execute(
    `INSERT INTO logs (tenant_id, project_id, received_at, partition, offset, ordinal, timestamp, observed_timestamp, service, severity_number, severity_text, body, body_type) VALUES ${rows.join(', ')}`,
  );
  const { status, body } = await harness.request('POST', `${path}/${id}/backtest`, {
    as: 'editor',
    body: { from: 'now-5m' },
  });
  t.is(status, 200, JSON.stringify(body));
  t.deepEqual([body.records, body.isComplete, body.signals], [2, true, 1]);
  t.is(body.items[0].events[0].fields[0].value, event.Image);
  const cut = await harness.request('POST', `${path}/${id}/backtest`, {
    as: 'editor',
    body: { from: 'now-5m', limit: 1 },
  });
  t.false(cut.body.isComplete);
});

test.serial('an organization can map the fields of its events with its own table of field names', async (t) => {
  const doors = [
    'title: Door',
    'logsource: { product: badges }',
    'detection: { selection: { User: ann }, condition: selection }',
  ].join('\n');
  const { body: created } = await create({ source: doors });
  const opened = { vendor: 'Acme Doors', payload: { card: { holder: 'ann' } } };
  const tried = async (): Promise<unknown> =>
    (await harness.request('POST', `${path}/${created.id}/test`, { as: 'editor', body: { events: [opened] } })).body
      .matches;
  t.deepEqual(await tried(), []);
  const table = {
    name: 'badge readers',
    rules: [{ product: 'badges' }],
    fields: { User: ['card.holder'] },
    roots: ['payload'],
    sources: [{ when: [{ names: ['vendor'], values: ['acme doors'] }], is: { product: 'badges' } }],
  };
  const { status, body } = await harness.request('POST', '/api/siem/field-tables', { as: 'editor', body: table });
  t.is(status, 200, JSON.stringify(body));
  t.is(((await tried()) as object[]).length, 1);
  await harness.request('DELETE', `/api/siem/field-tables/${body.id}`, { as: 'editor' });
  await harness.request('DELETE', `${path}/${created.id}`, { as: 'editor' });
});

test.serial(
  'a placeholder is replaced by the values of the organization, and a rule with an undefined placeholder is reported',
  async (t) => {
    const source = [
      'title: Administrators',
      'logsource: { product: linux }',
      "detection: { selection: { 'User|expand': '%admins%' }, condition: selection }",
    ].join('\n');
    const { body: created } = await create({ source });
    const unknown = async (): Promise<unknown> =>
      (await harness.request('POST', `${path}/validate`, { as: 'editor', body: { source } })).body.documents[0]
        .unknownPlaceholders;
    const tried = async (): Promise<number> =>
      (
        await harness.request('POST', `${path}/${created.id}/test`, {
          as: 'editor',
          body: { events: [{ User: 'svc_7' }, { User: 'bob' }] },
        })
      ).body.matches.length;
    t.deepEqual([await unknown(), await tried()], [['admins'], 0]);
    const placeholder = { name: 'admins', values: ['ann', 'svc_*'] };
    const { body } = await harness.request('POST', '/api/siem/placeholders', { as: 'editor', body: placeholder });
    t.deepEqual([await unknown(), await tried()], [[], 1]);
    const renamed = { ...placeholder, name: 'others' };
    await harness.request('PUT', `/api/siem/placeholders/${body.id}`, { as: 'editor', body: renamed });
    t.deepEqual([await unknown(), await tried()], [['admins'], 0]);
    await harness.request('DELETE', `${path}/${created.id}`, { as: 'editor' });
  },
);

test.serial('a rule shows whether its telemetry is sent, and when it was disabled', async (t) => {
  const read = async (): Promise<{ telemetry: object; switchedOff: object | null }> =>
    (await harness.request('GET', `${path}/${id}`, { as: 'viewer' })).body;
  t.is((await read()).switchedOff, null);
  await harness.columns.execute(
    `INSERT INTO detection_telemetry (tenant_id, received_at, partition, offset, day, products, services, categories, knows_categories, fields)
    VALUES ('a', now64(3), 0, 0, toStartOfDay(now('UTC')), ['windows'], ['sysmon'], ['process_creation'], true, ['commandline'])`,
  );
  await harness.columns.execute(
    `INSERT INTO events (tenant_id, received_at, partition, offset, id, kind, time, severity, actor_type, actor_id, details)
    SELECT 'a', now64(3), 0, number, concat('off-', toString(number)), 'signal', now64(3), 'warning', 'system', 'detections',
      concat('{"ruleId":"${id}","ruleVersion":', toString(number), ',"reason":"too-slow"}') FROM numbers(1, 2)`,
  );
  const { telemetry, switchedOff } = await read();
  t.like(telemetry, { isSeen: true, reason: null, missingFields: ['Image'] });
  t.like(switchedOff, { reason: 'too-slow', partitions: 1 });
  const registry = ruleText('Registry').replace('process_creation', 'registry_set');
  const { body } = await harness.request('POST', `${path}/import?dryRun=true`, {
    as: 'editor',
    body: { files: [{ source: registry }] },
  });
  t.regex(body.items[0].message, /not sent: no records of the last 30 days were of .*registry_set/);
  const coverage = await harness.request('GET', '/api/siem/mitre/coverage', { as: 'viewer' });
  const discovery = coverage.body.tactics.find(({ name }: { name: string }) => name === 'Discovery');
  t.true(discovery.techniques.find((each: { id: string }) => each.id === 'T1033').seenRules >= 1);
  await harness.request('PUT', `${path}/${id}`, {
    as: 'editor',
    body: { source: ruleText('Who am I, changed', [`id: ${id}`]) },
  });
  t.is((await read()).switchedOff, null);
});

test.serial('an exception shows what it would have covered before it is saved', async (t) => {
  const { body: logs } = await harness.request('GET', '/api/logs?from=now-5m', { as: 'viewer' });
  const record = logs.items.find((item: { body: { Image?: string } | string }) =>
    JSON.stringify(item).includes('whoami'),
  );
  const events = (recordId: string): string =>
    JSON.stringify([{ recordId, timeMs: 0, service: 'agent', ruleId: id, fields: [] }]);
  const rows = [
    ['x1', id, 'rule', record.id],
    ['x2', id, 'rule', '1700000000000000000-0-1-0'],
    ['x3', 'often', 'correlation', record.id],
  ].map(
    ([signal, of, kind, recordId], index) =>
      `('a', 'default', now64(3), 0, ${900 + index}, '${signal}', '${kind}', now64(3) - ${60 + index}, '${of}', 1, 'T', 'high', 75, '${events(String(recordId))}', 1, ['user ann'], [], [], map(), '')`,
  );
  await harness.columns.execute(
    `INSERT INTO signals (tenant_id, project_id, received_at, partition, offset, id, kind, time, rule_id, rule_version, rule_title, severity, risk_score, events, event_count, entities, tactics, techniques, group_by, suppressed_by) VALUES ${rows.join(', ')}`,
  );
  const preview = (when: object) =>
    harness.request('POST', `${path}/${id}/exceptions/preview`, { as: 'editor', body: { when, from: 'now-1h' } });
  const { status, body } = await preview({ User: 'ann' });
  t.is(status, 200, JSON.stringify(body));
  t.deepEqual(
    body.rules.map(({ ruleId, signals, covered, unknown }: Record<string, unknown>) => [
      ...[ruleId, signals, covered, unknown],
    ]),
    [
      [id, 2, 1, 1],
      ['often', 1, 1, 0],
    ],
  );
  t.is(body.rules[0].examples[0].signalId, 'x1');
  t.is((await preview({ User: 'bob' })).body.rules[0].covered, 0);
  const wrong = await preview({ 'User|nothing': 'ann' });
  t.deepEqual([wrong.status, wrong.body.details[0].path], [400, 'when.User|nothing']);
  const exceptions = [{ id: 'e', reason: '', when: {}, expiresAt: null }];
  const saved = await harness.request('PUT', `${path}/${id}`, {
    as: 'editor',
    body: { source: ruleText('Who am I', [`id: ${id}`]), exceptions },
  });
  t.deepEqual([saved.status, saved.body.details[0].path], [400, 'exceptions.0.when']);
});

test.serial(
  'a new rule runs over earlier stored records; its findings have the same IDs as in the stream',
  async (t) => {
    const hunts = async () => (await harness.request('GET', '/api/siem/retro-hunts', { as: 'viewer' })).body.items;
    const { body: created } = await create({ source: ruleText('Hunted') });
    const [hunt] = await hunts();
    t.like(hunt, { status: 'running', ruleIds: [created.id], rules: 1 });
    const before = (await hunts()).length;
    await create({ source: ruleText('Not enabled'), enabled: false });
    const { body: imported } = await harness.request('POST', `${path}/import`, {
      as: 'editor',
      body: { files: [{ source: `${ruleText('Third')}\n---\n${ruleText('Fourth')}` }] },
    });
    const [newest, ...others] = await hunts();
    t.deepEqual([newest.rules, others.length], [2, before]);
    t.deepEqual(
      newest.ruleIds,
      imported.items.map(({ ruleId }: { ruleId: string }) => ruleId),
    );

    const own = harness.documents.forTenant('a').collection(retroHunts);
    const extendedHunt = await own.update(hunt.id, { toMs: Date.now() - 20_000, fromMs: Date.now() - 3_600_000 });
    await harness.columns.execute(
      `INSERT INTO logs (tenant_id, project_id, received_at, partition, offset, ordinal, timestamp, observed_timestamp, service, severity_number, severity_text, body, body_type)
    SELECT tenant_id, project_id, received_at, 3, offset, ordinal, timestamp - 600, observed_timestamp, service, severity_number, severity_text, body, body_type FROM logs WHERE tenant_id = 'a'`,
    );
    const emitted: DetectionSignal[] = [];
    const run = (state: unknown) =>
      retroHunting.run(extendedHunt, {
        tenantId: 'a',
        dueMs: Date.now(),
        canWait: false,
        state,
        signal: new AbortController().signal,
        emit: { signals: (value: unknown) => void emitted.push(DetectionSignal.parse(value)) },
        ports: harness,
      });
    const state = await run(null);
    const found = emitted.length;
    t.like(state, { status: 'finished', signals: found, isComplete: true });
    t.true(emitted.every(({ ruleId }) => ruleId === created.id));
    t.is(emitted.filter(({ events }) => events[0]?.recordId.split('-')[1] === '3').length, 1);
    await run(state);
    t.is(emitted.length, found);
    t.like(
      (await hunts()).find(({ id: of }: { id: string }) => of === hunt.id),
      { status: 'finished', signals: found },
    );
  },
);

test.serial('a correlation lists its referenced rules that are not enabled', async (t) => {
  const correlation = (names: string): string =>
    `title: Twice\ncorrelation:\n  type: event_count\n  rules: [${names}]\n  timespan: 1m\n  condition: { gte: 2 }`;
  const { body: created } = await create({ source: correlation(`${id}, nobody`) });
  t.deepEqual(created.unknownRules, ['nobody']);
  const named = ruleText('Named', ['name: nobody']);
  const { body } = await harness.request('POST', `${path}/validate`, {
    as: 'editor',
    body: { source: `${correlation(`${id}, nobody, other`)}\n---\n${named}` },
  });
  t.deepEqual(body.documents[0].unknownRules, ['other']);
  await create({ source: named });
  t.deepEqual((await harness.request('GET', `${path}/${created.id}`, { as: 'viewer' })).body.unknownRules, []);
});
