/** `bin/imports.mjs` finds the same modules as Node does without it. */
import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import test from 'ava';

const root = fileURLToPath(new URL('../..', import.meta.url));
const flag = `--import=${new URL('../../bin/imports.mjs', import.meta.url)}`;

/**
 * Reads pairs of a file and an import specifier, and prints the resolved path, or the reason why it cannot be resolved.
 */
const program = `
import { readFileSync } from 'node:fs';

const found = ([parent, specifier]) => {
  try {
    return import.meta.resolve(specifier, parent);
  } catch (error) {
    return error.code;
  }
};
console.log(JSON.stringify(JSON.parse(readFileSync(0, 'utf8')).map(found)));
`;

test('Every import of the project resolves to the same file with and without the import loader', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'oiq-imports-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const file = join(directory, 'program.mjs');
  writeFileSync(file, program);
  const pairs = globSync(
    '{main.ts,{schemas,adapters,runtime,queries,subjects,receivers,processors,sinks,api,commands,test}/**/*.ts}',
    {
      cwd: root,
    },
  ).flatMap((path) =>
    [...readFileSync(join(root, path), 'utf8').matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'([^'\n]+)'/g)].map(
      ([, specifier = '']) => [pathToFileURL(join(root, path)).href, specifier],
    ),
  );
  // Modules of packages import their own package by name, too.
  for (const path of globSync('node_modules/{zod/v4,jose/dist,@platformatic/kafka/dist,koa,kafkajs/src}/**/*.js', {
    cwd: root,
  }))
    for (const [, specifier = ''] of readFileSync(join(root, path), 'utf8').matchAll(/\bfrom\s*['"](\.[^'"\n]+)['"]/g))
      pairs.push([pathToFileURL(join(root, path)).href, specifier]);
  pairs.push([pathToFileURL(join(root, 'main.ts')).href, 'there-is-no-such-package']);
  const found = (flags: readonly string[]): string[] =>
    JSON.parse(
      execFileSync(process.execPath, [...flags, '--experimental-import-meta-resolve', file], {
        input: JSON.stringify(pairs),
        encoding: 'utf8',
        maxBuffer: 64 * 1024 ** 2,
        env: { ...process.env, NODE_OPTIONS: '' },
      }),
    );
  const without = found([]);
  t.true(without.length > 5_000);
  t.deepEqual(found([flag]), without);
});
