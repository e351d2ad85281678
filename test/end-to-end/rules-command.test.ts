/** `oiq rules`: a folder of detection rules is planned and applied over the API, with a token. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { type Harness, startHarness } from './api-harness.ts';

const main = fileURLToPath(new URL('../../main.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'oiq-rules-'));
let harness: Harness;
let token = '';

test.before(async () => {
  harness = await startHarness();
  token = await harness.signIn('editor@a.example');
});
test.after.always(async () => {
  await harness.close();
  rmSync(folder, { recursive: true, force: true });
});

const oiq = (args: readonly string[], environment: Readonly<Record<string, string>>) =>
  new Promise<{ code: number; out: string; err: string }>((resolve) => {
    execFile(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', main, 'rules', ...args],
      { env: { PATH: process.env['PATH'], ...environment } },
      (error, out, err) => resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
  });

const rule = (title: string, condition = 'selection'): string =>
  [
    `title: ${title}`,
    'level: low',
    'logsource: { product: linux }',
    'detection:',
    '  selection: { User: root }',
    `  condition: ${condition}`,
  ].join('\n');

test.serial('a folder is planned and applied, and the next plan finds no difference', async (t) => {
  mkdirSync(join(folder, 'linux'));
  writeFileSync(join(folder, 'one.yml'), rule('One'));
  writeFileSync(join(folder, 'linux', 'two.yaml'), rule('Two'));
  writeFileSync(join(folder, 'notes.txt'), 'no rule');
  const run = (verb: string) => oiq([verb, folder, '--api', harness.url], { RULES_TOKEN: token });
  const planned = await run('plan');
  t.is(planned.code, 0, planned.err);
  t.regex(planned.out, /created\s+Two .*\n[\s\S]*2 would be created, 0 would be changed, 0 unchanged, 0 refused/);
  t.deepEqual((await harness.request('GET', '/api/siem/rules', { as: 'viewer' })).body.items, []);
  t.regex((await run('apply')).out, /2 created, 0 changed/);
  t.is((await run('apply')).out, '0 created, 0 changed, 2 unchanged, 0 refused\n');
});

test.serial('a refused document is reported with its file, and the exit status is 1', async (t) => {
  writeFileSync(join(folder, 'linux', 'bad.yml'), rule('Bad', 'other'));
  const { code, out } = await oiq(['apply', folder, '--api', harness.url], { RULES_TOKEN: token });
  t.is(code, 1);
  t.regex(out, /refused\s+Bad: linux\/bad\.yml: line 6: detection\.condition/);
});

test.serial('validation, saving, import and a pipeline apply the same size limit to a document', async (t) => {
  const sized = mkdtempSync(join(folder, 'sized-'));
  const fits = `${rule('Fits')}\n# ${'x'.repeat(300_000)}`;
  const large = `${rule('Large')}\n# ${'x'.repeat(1_100_000)}`;
  const long = rule('Long', 'selection or '.repeat(10_000).concat('selection'));
  const sources = { fits, large, long };
  for (const [name, source] of Object.entries(sources)) writeFileSync(join(sized, `${name}.yml`), source);
  const post = (path: string, body: object) =>
    harness.request('POST', `/api/siem/rules${path}`, { as: 'editor', body });
  const verdicts: unknown[] = [];
  for (const source of Object.values(sources))
    verdicts.push([
      (await post('/validate', { source })).body.isValid,
      (await post('/import?dryRun=true', { files: [{ source }] })).body.items[0].outcome,
      (await post('', { source, enabled: false })).status,
    ]);
  t.deepEqual(verdicts, [
    [true, 'created', 200],
    [false, 'refused', 400],
    [false, 'refused', 400],
  ]);
  const { code, out } = await oiq(['apply', sized, '--api', harness.url], { RULES_TOKEN: token });
  t.is(code, 1);
  t.regex(out, /refused\s+Large: large\.yml: line 1: this document has \d+ characters/);
  t.regex(out, /refused\s+Long: long\.yml: line 6: detection\.condition: has \d+ characters/);
  t.regex(out, /1 created, 0 changed, 0 unchanged, 2 refused/);
});

test.serial('rules of a scope that are missing from its folder are named, and deleted on request', async (t) => {
  const owned = mkdtempSync(join(folder, 'owned-'));
  const other = mkdtempSync(join(folder, 'other-'));
  for (const title of ['Stays', 'Goes']) writeFileSync(join(owned, `${title}.yml`), rule(title));
  writeFileSync(join(other, 'Foreign.yml'), rule('Foreign'));
  const run = (verb: string, of: string, ...more: string[]) =>
    oiq([verb, of, '--api', harness.url, ...more], { RULES_TOKEN: token });
  const titles = async (): Promise<string[]> =>
    (await harness.request('GET', '/api/siem/rules?limit=100', { as: 'viewer' })).body.items
      .map(({ title }: { title: string }) => title)
      .filter((title: string) => ['Stays', 'Goes', 'Foreign'].includes(title))
      .sort();
  t.regex((await run('apply', owned, '--scope', 'team')).out, /2 created/);
  t.regex((await run('apply', other, '--scope', 'others')).out, /1 created/);
  t.is((await run('apply', owned, '--scope', 'team')).out, '0 created, 0 changed, 2 unchanged, 0 refused\n');
  rmSync(join(owned, 'Goes.yml'));
  t.regex((await run('plan', owned, '--scope', 'team')).out, /absent\s+Goes .*team\n[\s\S]*1 absent/);
  t.regex((await run('plan', owned, '--scope', 'team', '--prune')).out, /deleted\s+Goes .*\n[\s\S]*1 would be deleted/);
  t.deepEqual(await titles(), ['Foreign', 'Goes', 'Stays']);

  writeFileSync(join(owned, 'bad.yml'), rule('Bad', 'nothing'));
  t.regex((await run('apply', owned, '--scope', 'team', '--prune')).out, /absent\s+Goes .*nothing is deleted/);
  t.deepEqual(await titles(), ['Foreign', 'Goes', 'Stays']);
  rmSync(join(owned, 'bad.yml'));
  t.regex((await run('apply', owned, '--scope', 'team', '--prune')).out, /1 unchanged, 0 refused, 1 deleted/);
  t.deepEqual(await titles(), ['Foreign', 'Stays']);

  const applied = await run('apply', other, '--scope', 'team');
  t.regex(applied.out, /refused\s+Foreign .*the scope others/);
  const unscoped = await run('apply', owned, '--prune');
  t.is(unscoped.code, 2);
  t.regex(unscoped.err, /--prune needs --scope/);
});

test.serial('without a token, a folder or a server, the command states what is missing', async (t) => {
  const none = await oiq(['plan', folder], {});
  t.is(none.code, 2);
  t.regex(none.err, /RULES_TOKEN is not set/);
  t.is((await oiq(['plan'], { RULES_TOKEN: token })).code, 2);
  const nobody = await oiq(['plan', folder, '--api', 'http://127.0.0.1:1'], { RULES_TOKEN: token });
  t.is(nobody.code, 1);
  t.regex(nobody.err, /127\.0\.0\.1:1/);
});
