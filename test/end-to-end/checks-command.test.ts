/** `oiq checks`: a folder of synthetic checks is planned, applied and pruned over the API, with a token. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { checksCommand } from '../../commands/checks.ts';
import { startHarness } from './api-harness.ts';

const folder = mkdtempSync(join(tmpdir(), 'oiq-checks-'));
const harness = await startHarness({ environment: { OIQ_SECRET_KEY: 'k'.repeat(40) } });
const token = await harness.signIn('editor@a.example');
test.after.always(async () => {
  await harness.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs the command in this process: starting another takes longer than the command itself. */
const oiq = async (...args: readonly string[]): Promise<{ code: number; out: string; err: string }> => {
  const { write } = process.stdout;
  let out = '';
  let err = '';
  process.stdout.write = (text: string | Uint8Array): boolean => {
    out += String(text);
    return true;
  };
  try {
    const open = () => Promise.reject(new Error('it opens no store'));
    await checksCommand({ args: [...args, folder, '--api', harness.url], environment: { CHECKS_TOKEN: token }, open });
  } catch (error) {
    err = (error as Error).message;
  } finally {
    process.stdout.write = write;
  }
  const code = Number(process.exitCode ?? 0);
  process.exitCode = undefined;
  return { code, out, err };
};

const put = (file: string, ...lines: readonly string[]): void => writeFileSync(join(folder, file), lines.join('\n'));
const tcp = (name: string, port: number) => [
  ...[`name: ${name}`, 'type: tcp', 'labels: { team: shop }', 'tcp:', '  host: shop.example', `  port: ${port}`],
];
const names = async (): Promise<string[]> =>
  (await harness.request('GET', '/api/synthetics/checks', { as: 'viewer' })).body.items.map(
    ({ name }: { name: string }) => name,
  );

test.serial('a folder is planned and applied, and the next plan finds no difference', async (t) => {
  mkdirSync(join(folder, 'shop'));
  put('shop/two.yaml', ...tcp('Mail', 25), '---', ...tcp('Cart', 443));
  put('ping.yml', 'name: Router', 'type: icmp', 'icmp: { host: router.example }');
  put('notes.txt', 'no check');
  put('.hidden', 'no check');
  put('soon.yaml', '# Nothing yet');
  const planned = await oiq('plan');
  t.is(planned.code, 2, planned.err);
  t.regex(planned.out, /created {3}Mail\n/);
  t.regex(
    planned.out,
    /3 would be created, 0 would be changed, 0 unchanged, 0 refused, 0 would be deleted, 0 absent, 2 ignored\n$/,
  );
  t.regex(
    planned.out,
    /ignored {3}soon\.yaml\n {10}has no document\nignored {3}notes\.txt\n {10}is not a YAML or JSON file\n/,
  );
  t.deepEqual(await names(), []);
  t.regex((await oiq('apply')).out, /3 created, 0 changed/);
  t.regex(
    (await oiq('apply')).out,
    /\n0 created, 0 changed, 3 unchanged, 0 refused, 0 deleted, 0 absent, 2 ignored\n$/,
  );
  t.is((await oiq('plan')).code, 0);
});

test.serial('a refused document is reported with file, line and field, and nothing is pruned then', async (t) => {
  put('shop/two.yaml', ...tcp('Mail', 2525), '  colour: red', '---', ...tcp('Cart', 444));
  const { code, out } = await oiq('apply', '--label', 'team=shop', '--prune');
  t.is(code, 1);
  t.regex(out, /refused {3}Mail\n {10}shop\/two\.yaml:7: tcp\.colour: is not a known field\n/);
  t.regex(out, /refused {3}Router\n {10}ping\.yml:1: labels: must have team=shop\n/);
  t.deepEqual((await names()).toSorted(), ['Cart', 'Mail', 'Router']);
  put('shop/two.yaml', ...tcp('Mail', 25), '---', ...tcp('Mail', 26));
  t.regex((await oiq('plan')).out, /shop\/two\.yaml:\d+: name: is already the name of a check in shop\/two\.yaml:1/);
});

test.serial('checks with the label and without a file are named, and deleted by --prune', async (t) => {
  put('shop/two.yaml', ...tcp('Mail', 25));
  rmSync(join(folder, 'ping.yml'));
  const label = ['--label', 'team=shop'];
  t.regex((await oiq('apply', ...label)).out, /absent {4}Cart\n/);
  const planned = await oiq('plan', ...label, '--prune');
  t.is(planned.code, 2);
  t.regex(planned.out, /deleted {3}Cart\n[\s\S]*1 would be deleted/);
  t.is((await names()).length, 3);
  t.regex((await oiq('apply', ...label, '--prune')).out, /1 unchanged, 0 refused, 1 deleted, 0 absent, 2 ignored/);
  t.deepEqual((await names()).toSorted(), ['Mail', 'Router'], 'checks without the label stay unchanged');
  t.regex((await oiq('plan', '--prune')).err, /--prune needs --label/);
});

test.serial('a JSON file is a check or a recording, and any other file is refused with its line', async (t) => {
  const check = { name: 'Search', type: 'tcp', labels: { team: 'find' }, tcp: { host: 'find.example', port: 443 } };
  put('find.json', JSON.stringify(check, null, '\t'));
  const steps = [{ type: 'navigate', url: 'https://shop.example/' }];
  put('shop/bought.JSON', JSON.stringify({ title: 'Bought', steps }));
  const applied = await oiq('apply');
  t.is(applied.code, 0, applied.out);
  t.regex(applied.out, /created {3}Search\ncreated {3}Bought\n/);
  t.regex((await oiq('plan')).out, /\n0 would be created, 0 would be changed, 3 unchanged, 0 refused/);
  put('package.json', JSON.stringify({ name: 'shop', version: '1.0.0' }, null, 2));
  put('find.json', JSON.stringify({ ...check, tcp: { host: 'find.example', port: 443, colour: 'red' } }, null, 2));
  const { code, out } = await oiq('plan');
  t.is(code, 1);
  t.regex(out, /refused {3}shop\n[\s\S]* {10}package\.json:3: version: is not a known field\n/);
  t.regex(out, /refused {3}Search\n {10}find\.json:10: tcp\.colour: is not a known field\n/);
});
