/** `oiq dashboards`: a folder of dashboards is planned, applied and written over the API, with a token. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { DashboardsApi } from '../../commands/dashboards/api.ts';
import { applySteps } from '../../commands/dashboards/apply.ts';
import { createPlan, type Deployment, readDashboardFolder, type Step } from '../../commands/dashboards/plan.ts';
import { type Answer, type Harness, startHarness, withRetries } from './api-harness.ts';

const main = fileURLToPath(new URL('../../main.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'oiq-dashboards-'));
let harness: Harness;
let token = '';

test.before(async () => {
  harness = withRetries(await startHarness());
  token = await harness.signIn('editor@a.example');
});
test.after.always(async () => {
  await harness.close();
  rmSync(folder, { recursive: true, force: true });
});

const oiq = (...args: readonly string[]) =>
  new Promise<{ code: number; out: string; err: string }>((resolve) => {
    execFile(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', main, 'dashboards', ...args, '--api', harness.url],
      { env: { PATH: process.env['PATH'], DASHBOARDS_TOKEN: token } },
      (error, out, err) => resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
  });
const run = (verb: string, ...more: string[]) => oiq(verb, folder, '--source', 'git:shop', ...more);

const panel = (unit: string): string =>
  [
    'panels:',
    '  - id: errors',
    '    title: Errors',
    '    visual: { kind: stat }',
    '    queries: [{ name: A, query: { kind: promql, expression: up } }]',
    `    fields: { unit: ${unit} }`,
  ].join('\n');
const write = (file: string, text: string) => writeFileSync(join(folder, file), text);
const read = (id: string): Promise<Answer> => harness.request('GET', `/api/dashboards/${id}`, { as: 'viewer' });
const change = async (method: string, path: string, body?: object): Promise<Answer> => {
  const [id = ''] = path.split(/[/?]/);
  const { version } = (await read(id)).body;
  return harness.request(method, `/api/dashboards/${path}`, {
    as: 'editor',
    ...(body === undefined ? {} : { body }),
    headers: { 'if-match': `"${version}"` },
  });
};

test.serial(
  'a folder is planned and applied, and then has no difference; a plan that finds differences exits with 2',
  async (t) => {
    mkdirSync(join(folder, 'shop'));
    write('one.yaml', `id: one\nname: One\n${panel('ms')}`);
    write('shop/two.json', JSON.stringify({ id: 'two', name: 'Two', visibility: 'organization' }));
    write('notes.txt', 'no dashboard');
    const planned = await run('plan');
    t.is(planned.code, 2, planned.err);
    t.regex(planned.out, /created\s+One \(one\)\n[\s\S]*2 would be created, 0 would be changed/);
    t.is((await read('one')).status, 404);
    const applied = await run('apply');
    t.is(applied.code, 0, applied.err);
    t.regex(applied.out, /2 created, 0 changed/);
    t.like((await read('one')).body, { name: 'One', source: 'git:shop', version: 1 });
    const again = await run('plan');
    t.deepEqual(
      [again.code, again.out],
      [0, '0 would be created, 0 would be changed, 0 would be deleted, 0 absent, 2 unchanged, 0 refused\n'],
    );
    t.is((await run('apply')).code, 0);
    t.is((await read('one')).body.version, 1);
  },
);

test.serial(
  'a dashboard managed as code can be changed by hand only with force, and the change shows in the next plan',
  async (t) => {
    const { panels } = (await read('one')).body;
    const [errors] = panels;
    const { id: _, ...body } = { ...errors, fields: { unit: 's' } };
    for (const [method, path, given] of [
      ['PUT', 'one/panels/errors', body],
      ['POST', 'one/panels', { visual: { kind: 'text' } }],
      ['DELETE', 'one/panels/errors', undefined],
      ['PUT', 'one', { name: 'Other' }],
      ['PUT', 'one?source=another', { name: 'Other' }],
      ['DELETE', 'one', undefined],
    ] as const) {
      const refused = await change(method, path, given);
      t.is(refused.status, 409, `${method} ${path}`);
      t.regex(refused.body.message, /managed as code in git:shop/);
    }
    t.is((await change('PUT', 'one', { name: 'One', panels })).status, 200, 'an equal document is no change');
    t.is((await change('PUT', 'one/panels/errors?force=true', body)).status, 200);
    t.is((await read('one')).body.source, 'git:shop');
    const planned = await run('plan');
    t.is(planned.code, 2);
    t.true(planned.out.includes('panel “Errors”: unit changed (panels.errors.fields.unit): "s" → "ms"'), planned.out);
    t.regex((await run('apply')).out, /0 created, 1 changed/);
    t.is((await read('one')).body.panels[0].fields.unit, 'ms');
  },
);

test.serial(
  'an error in a file is reported with file, line and field, and nothing of that file is applied',
  async (t) => {
    write(
      'bad.yaml',
      'id: bad\nname: Bad\ncolour: red\npanels:\n  - id: a\n    visual: { kind: stat }\n    colour: red',
    );
    write('twice.yaml', 'id: one\nname: Again');
    write('none.yaml', 'name: None');
    const { code, out } = await run('apply', '--prune');
    t.is(code, 1);
    t.true(out.includes('refused   bad.yaml:3: colour: is not a known field'), out);
    t.true(out.includes('refused   bad.yaml:7: panels.0.colour: is not a known field'), out);
    t.true(out.includes('refused   twice.yaml:1: id: one.yaml also has the id one'), out);
    t.true(out.includes('refused   none.yaml:1: id: is missing'), out);
    t.is((await read('bad')).status, 404);
    for (const file of ['bad.yaml', 'twice.yaml', 'none.yaml']) rmSync(join(folder, file));
  },
);

test.serial(
  'dashboards missing from the source are named, and deleted with --prune; dashboards without a source are not touched',
  async (t) => {
    await harness.request('POST', '/api/dashboards?id=by-hand', { as: 'editor', body: { name: 'By hand' } });
    rmSync(join(folder, 'shop', 'two.json'));
    t.regex((await run('apply')).out, /absent {4}Two \(two\)\n[\s\S]*1 absent/);
    t.is((await run('plan', '--prune')).code, 2);
    t.regex((await run('apply', '--prune')).out, /deleted {3}Two \(two\)/);
    t.is((await read('two')).status, 404);
    t.is((await read('by-hand')).status, 200);
  },
);

test.serial('dashboards are exported as files, for which a plan finds no difference', async (t) => {
  const written = mkdtempSync(join(folder, 'written-'));
  t.is((await oiq('export', written)).code, 0);
  t.deepEqual(readdirSync(written).sort(), ['by-hand.yaml', 'one.yaml']);
  t.regex(readFileSync(join(written, 'one.yaml'), 'utf8'), /^id: one\nsource: git:shop\nname: One\n/);
  rmSync(join(written, 'by-hand.yaml'));
  const { code, out } = await oiq('plan', written, '--source', 'git:shop');
  t.is(code, 0, out);
});

const shared = (
  id: string,
  source = 'git:team',
): {
  readonly folder: string;
  readonly plan: (takesOver?: boolean) => Promise<Step[]>;
  readonly deployment: Deployment;
} => {
  const own = mkdtempSync(join(folder, `${id}-`));
  const api = new DashboardsApi(harness.url, token);
  const deployment = { api, source, shouldPrune: true, shouldTakeOver: false };
  return {
    folder: own,
    deployment,
    plan: async (shouldTakeOver = false) =>
      createPlan(await readDashboardFolder(own, source), { ...deployment, shouldTakeOver }),
  };
};
const collectSteps = async (steps: AsyncIterable<Step> | Iterable<Step>): Promise<string[]> => {
  const lines: string[] = [];
  for await (const step of steps)
    lines.push(`${step.outcome} ${step.id}${'message' in step ? `: ${step.message}` : ''}`);
  return lines;
};

test.serial('a dashboard managed by another source is refused, is not deleted, and can be taken over', async (t) => {
  const one = shared('first', 'git:first');
  writeFileSync(join(one.folder, 'a.yaml'), 'id: taken\nname: Taken');
  writeFileSync(join(one.folder, 'b.yaml'), 'id: left\nname: Left');
  t.deepEqual(await collectSteps(applySteps(await one.plan(), one.deployment)), ['created taken', 'created left']);
  const other = shared('second', 'git:second');
  writeFileSync(join(other.folder, 'a.yaml'), 'id: taken\nname: Mine');
  const refused = 'refused taken: is managed as code in git:first: choose another id, or take it over with --take';
  t.deepEqual(await collectSteps(await other.plan()), [refused]);
  // Also nothing is deleted while the dashboard is refused.
  writeFileSync(join(other.folder, 'b.yaml'), 'id: mine\nname: Mine');
  await collectSteps(applySteps(await other.plan(), other.deployment));
  rmSync(join(other.folder, 'b.yaml'));
  t.deepEqual(await collectSteps(await other.plan()), [refused, 'absent mine']);

  const takingOver = { ...other.deployment, shouldTakeOver: true };
  t.deepEqual(await collectSteps(applySteps(await other.plan(true), takingOver)), ['changed taken', 'deleted mine']);
  t.like((await read('taken')).body, { name: 'Mine', source: 'git:second' });
  t.deepEqual(await collectSteps(await one.plan()), [
    'refused taken: is managed as code in git:second: choose another id, or take it over with --take',
    'unchanged left',
  ]);
});

test.serial('changes, creations and deletions by others between plan and apply prevent only deletions', async (t) => {
  const { folder: own, plan, deployment } = shared('between');
  const ids = ['changed', 'gone', 'made', 'pruned', 'same'];
  for (const id of ids.filter((each) => each !== 'made'))
    writeFileSync(join(own, `${id}.yaml`), `id: b-${id}\nname: One`);
  await collectSteps(applySteps(await plan(), deployment));
  rmSync(join(own, 'pruned.yaml'));
  for (const id of ['changed', 'gone', 'made', 'same'])
    writeFileSync(join(own, `${id}.yaml`), `id: b-${id}\nname: Two`);
  const planned = await plan();
  t.is((await change('PUT', 'b-changed?force=true', { name: 'By hand' })).status, 200);
  t.is((await change('DELETE', 'b-gone?force=true')).status, 200);
  // A private dashboard of another user occupies its ID, even for users who cannot see it.
  const body = { name: 'Private', visibility: 'private' };
  t.is((await harness.request('POST', '/api/dashboards?id=b-made', { as: 'owner', body })).status, 200);
  t.deepEqual(await collectSteps(applySteps(planned, deployment)), [
    'refused b-changed: it was changed in the meantime: plan and apply again',
    'refused b-gone: the dashboard does not exist in this organization',
    'refused b-made: a dashboard with the id "b-made" already exists: choose another',
    'changed b-same',
    'absent b-pruned',
  ]);
  t.is((await read('b-changed')).body.name, 'By hand');
  t.is((await read('b-same')).body.name, 'Two');
  rmSync(join(own, 'made.yaml'));
  const again = await plan();
  t.is((await change('DELETE', 'b-pruned?force=true')).status, 200);
  t.deepEqual(await collectSteps(applySteps(again, deployment)), [
    'changed b-changed',
    'created b-gone',
    'unchanged b-same',
    'deleted b-pruned',
  ]);
});

test.serial(
  'a dashboard whose file was renamed is the same, and one with a new ID is created before the old one is deleted',
  async (t) => {
    const { folder: own, plan, deployment } = shared('renamed', 'git:renamed');
    writeFileSync(join(own, 'one.yaml'), 'id: former\nname: One');
    await collectSteps(applySteps(await plan(), deployment));
    renameSync(join(own, 'one.yaml'), join(own, 'other.yml'));
    t.deepEqual(await collectSteps(await plan()), ['unchanged former']);
    writeFileSync(join(own, 'other.yml'), 'id: later\nname: One');
    t.deepEqual(await collectSteps(applySteps(await plan(), deployment)), ['created later', 'deleted former']);
  },
);

test.serial(
  'a plan reports what the API will refuse: saved queries that do not exist, and IDs that are taken',
  async (t) => {
    const { folder: own, plan, deployment } = shared('refused');
    const body = { name: 'Mine', visibility: 'private' };
    t.is((await harness.request('POST', '/api/dashboards?id=r-private', { as: 'owner', body })).status, 200);
    const dashboardWithQuery = (savedQueryId: string): string =>
      `panels: [{ id: a, visual: { kind: stat }, queries: [{ name: A, savedQueryId: ${savedQueryId} }] }]`;
    const saved = { name: 'Up', query: { kind: 'promql', expression: 'up' } };
    const shown = await harness.request('POST', '/api/saved-queries', {
      as: 'owner',
      body: { ...saved, visibility: 'organization' },
    });
    const hidden = await harness.request('POST', '/api/saved-queries', {
      as: 'owner',
      body: { ...saved, name: 'Mine', visibility: 'private' },
    });
    writeFileSync(join(own, 'a.yaml'), `id: r-changed\nname: Changed`);
    await collectSteps(applySteps(await plan(), deployment));
    writeFileSync(join(own, 'a.yaml'), `id: r-changed\nname: Changed\n${dashboardWithQuery('none')}`);
    writeFileSync(join(own, 'b.yaml'), `id: r-hidden\nname: Hidden\n${dashboardWithQuery(hidden.body.id)}`);
    writeFileSync(join(own, 'c.yaml'), 'id: r-private\nname: Private');
    writeFileSync(join(own, 'd.yaml'), `id: r-shown\nname: Shown\n${dashboardWithQuery(shown.body.id)}`);
    const missing = (id: string): string => `panels.queries.savedQueryId: ${id} does not exist in saved-queries`;
    const planned = await plan();
    t.deepEqual(await collectSteps(planned), [
      `refused r-changed: ${missing('none')}`,
      `refused r-hidden: ${missing(hidden.body.id)}`,
      'refused r-private: a dashboard that you cannot see has this id: choose another one',
      'created r-shown',
    ]);
    t.is((await read('r-shown')).status, 404, 'a plan writes nothing');
    t.deepEqual((await collectSteps(applySteps(planned, deployment))).at(-1), 'created r-shown');
    // A user with read permission can also plan, and gets the result for what is readable.
    const api = new DashboardsApi(harness.url, await harness.signIn('viewer@a.example'));
    t.deepEqual(
      (await collectSteps(await createPlan(await readDashboardFolder(own, 'git:team'), { ...deployment, api }))).at(0),
      'changed r-changed',
    );
  },
);

test.serial('an API that refuses all requests ends the command', async (t) => {
  const { folder: own, plan, deployment } = shared('denied');
  writeFileSync(join(own, 'one.yaml'), 'id: denied\nname: One');
  const planned = await plan();
  const api = new DashboardsApi(harness.url, await harness.signIn('viewer@a.example'));
  const error = await t.throwsAsync(collectSteps(applySteps(planned, { ...deployment, api })));
  t.regex(error.message, /returned 403/);
});

test.serial('an invalid call exits with 2 and states what is missing', async (t) => {
  const { code, err } = await oiq('plan', folder);
  t.is(code, 2);
  t.regex(err, /--source is missing/);
});
