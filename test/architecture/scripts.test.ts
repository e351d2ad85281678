/** Checks inline scripts of small pages, which the compiler does not read. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { smallPages } from '../../api/page/page.ts';
import { referencePage } from '../../api/page/reference.ts';

const tsc = fileURLToPath(new URL('../../node_modules/typescript/bin/tsc', import.meta.url));
const scriptIn = (body: string): string => /<script type="module">([\s\S]*)<\/script>/.exec(body)?.[1] ?? '';

/** Returns names that the scripts use without a declaration, as messages of the compiler. */
const undeclaredNames = async (scripts: ReadonlyMap<string, string>): Promise<readonly string[]> => {
  const directory = await mkdtemp(join(tmpdir(), 'oiq-scripts-'));
  const flags = ['--allowJs', '--checkJs', '--noEmit', '--target', 'esnext', '--module', 'esnext', '--types', ''];
  try {
    for (const [name, script] of scripts) await writeFile(join(directory, `${name}.js`), `${script}\nexport {};\n`);
    const output = await new Promise<string>((resolve) => {
      execFile(
        process.execPath,
        [tsc, ...flags, ...[...scripts.keys()].map((name) => `${name}.js`)],
        { cwd: directory },
        (_, out) => resolve(out),
      );
    });
    return output.split('\n').filter((line) => /error TS(?:1\d{3}|2304|2552|2663):/.test(line));
  } finally {
    await rm(directory, { recursive: true });
  }
};

test('the scripts of small pages use only declared names', async (t) => {
  const bodies = new Map([...smallPages.entries(), ['/api/docs', referencePage] as const]);
  const scripts = new Map(
    [...bodies].map(([path, { body }]) => [path.slice(1).replaceAll('/', '-'), scriptIn(body)] as const),
  );
  t.true(scripts.size > 5);
  for (const [path, script] of scripts) t.true(script.length > 100, path);
  t.deepEqual(await undeclaredNames(scripts), []);
  t.regex((await undeclaredNames(new Map([['wrong', 'say(document.body);']]))).join(), /Cannot find name 'say'/);
});
