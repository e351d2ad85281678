/** `oiq dashboards`: a folder of dashboards is planned, applied and written over the API, with a token. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { type Answer, type Harness, patient, startHarness } from './api-harness.ts';

const main = fileURLToPath(new URL('../../main.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'oiq-dashboards-'));
let harness: Harness;
let token = '';

test.before(async () => {
  harness = patient(await startHarness());
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
const read = (id: string): Promise<Answer> => harness.ask('GET', `/api/dashboards/${id}`, { as: 'viewer' });
const change = async (method: string, path: string, body?: object): Promise<Answer> => {
  const [id = ''] = path.split(/[/?]/);
  const { version } = (await read(id)).body;
  return harness.ask(method, `/api/dashboards/${path}`, {
    as: 'editor',
    ...(body === undefined ? {} : { body }),
    headers: { 'if-match': `"${version}"` },
  });
};

test.serial(
  'a folder is planned, applied, and then is as it is; a plan that finds differences exits with 2',
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

test.serial('what is kept as code is changed by hand only with force, and shows in the next plan', async (t) => {
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
    t.regex(refused.body.message, /kept as code in git:shop/);
  }
  t.is((await change('PUT', 'one', { name: 'One', panels })).status, 200, 'the same is no change');
  t.is((await change('PUT', 'one/panels/errors?force=true', body)).status, 200);
  t.is((await read('one')).body.source, 'git:shop');
  const planned = await run('plan');
  t.is(planned.code, 2);
  t.true(planned.out.includes('panel “Errors”: unit changed (panels.errors.fields.unit): "s" → "ms"'), planned.out);
  t.regex((await run('apply')).out, /0 created, 1 changed/);
  t.is((await read('one')).body.panels[0].fields.unit, 'ms');
});

test.serial('what a file says wrongly is told with file, line and field, and nothing of it is applied', async (t) => {
  write('bad.yaml', 'id: bad\nname: Bad\ncolour: red\npanels:\n  - id: a\n    visual: { kind: stat }\n    colour: red');
  write('twice.yaml', 'id: one\nname: Again');
  write('none.yaml', 'name: None');
  const { code, out } = await run('apply', '--prune');
  t.is(code, 1);
  t.true(out.includes('refused   bad.yaml:3: colour: is not a known field'), out);
  t.true(out.includes('refused   bad.yaml:7: panels.0.colour: is not a known field'), out);
  t.true(out.includes('refused   twice.yaml:1: id: one.yaml has the id one too'), out);
  t.true(out.includes('refused   none.yaml:1: id: is missing'), out);
  t.is((await read('bad')).status, 404);
  for (const file of ['bad.yaml', 'twice.yaml', 'none.yaml']) rmSync(join(folder, file));
});

test.serial(
  'what the source no longer has is named, and deleted with --prune; what is of no source is left alone',
  async (t) => {
    await harness.ask('POST', '/api/dashboards?id=by-hand', { as: 'editor', body: { name: 'By hand' } });
    rmSync(join(folder, 'shop', 'two.json'));
    t.regex((await run('apply')).out, /absent {4}Two \(two\)\n[\s\S]*1 absent/);
    t.is((await run('plan', '--prune')).code, 2);
    t.regex((await run('apply', '--prune')).out, /deleted {3}Two \(two\)/);
    t.is((await read('two')).status, 404);
    t.is((await read('by-hand')).status, 200);
  },
);

test.serial('dashboards are written as files, of which a plan finds no difference', async (t) => {
  const written = mkdtempSync(join(folder, 'written-'));
  t.is((await oiq('export', written)).code, 0);
  t.deepEqual(readdirSync(written).sort(), ['by-hand.yaml', 'one.yaml']);
  t.regex(readFileSync(join(written, 'one.yaml'), 'utf8'), /^id: one\nsource: git:shop\nname: One\n/);
  rmSync(join(written, 'by-hand.yaml'));
  const { code, out } = await oiq('plan', written, '--source', 'git:shop');
  t.is(code, 0, out);
});

test.serial('a wrong call exits with 2 and says what is missing', async (t) => {
  const { code, err } = await oiq('plan', folder);
  t.is(code, 2);
  t.regex(err, /--source is missing/);
});
