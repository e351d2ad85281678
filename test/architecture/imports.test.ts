/** Who may import whom. One rule, one sentence. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';

const root = fileURLToPath(new URL('../..', import.meta.url));
const roles = ['receivers', 'processors', 'sinks', 'api'];
const drivers = [
  'kafkajs',
  '@platformatic/kafka',
  '@kafkajs/confluent-schema-registry',
  'mongodb',
  '@clickhouse/client',
  'chdb',
  'ioredis',
  'node:sqlite',
];

interface Import {
  readonly file: string;
  /** Path from the root for our own files, the package's or module's name for others. */
  readonly target: string;
  readonly own: boolean;
}

const sources = globSync('{main.ts,bin,schemas,receivers,processors,sinks,api,telemetry,commands,test}/**/*.{ts,mjs}', {
  cwd: root,
})
  .concat('main.ts')
  .filter((file) => !file.includes('node_modules'));

const packageOf = (specifier: string): string =>
  specifier.startsWith('node:')
    ? specifier
    : specifier
        .split('/')
        .slice(0, specifier.startsWith('@') ? 2 : 1)
        .join('/');

const importsOf = (file: string): Import[] => {
  const text = readFileSync(join(root, file), 'utf8');
  const found = text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'([^'\n]+)'/g);
  return [...found].map(([, specifier = '']) => {
    const own = specifier.startsWith('.');
    return { file, own, target: own ? relative(root, join(root, dirname(file), specifier)) : packageOf(specifier) };
  });
};

const folder = (path: string): string => path.split('/')[0] ?? '';
const isAdapter = (path: string): boolean => path.split('/').includes('adapters');
const isTest = (path: string): boolean => folder(path) === 'test';

const rules: Readonly<Record<string, (found: Import) => boolean>> = {
  'schemas imports nothing of ours but schemas': ({ file, own, target }) =>
    folder(file) !== 'schemas' || !own || folder(target) === 'schemas',
  'a role imports itself and schemas': ({ file, own, target }) =>
    !roles.includes(folder(file)) || !own || folder(target) === folder(file) || folder(target) === 'schemas',
  'only main.ts, commands and tests import a role': ({ file, own, target }) =>
    !own ||
    !roles.includes(folder(target)) ||
    roles.includes(folder(file)) ||
    file === 'main.ts' ||
    folder(file) === 'commands' ||
    isTest(file),
  'only main.ts and tests import adapters': ({ file, own, target }) =>
    !own || !isAdapter(target) || isAdapter(file) || file === 'main.ts' || isTest(file),
  'drivers are imported by adapters and tests only': ({ file, own, target }) =>
    own || !drivers.includes(target) || isAdapter(file) || isTest(file),
  'koa is imported by api/http only': ({ file, own, target }) =>
    own || !['koa', '@koa/router', 'koa-body'].includes(target) || file.startsWith('api/http/') || isTest(file),
  'nothing imports main.ts': ({ own, target }) => !own || target !== 'main.ts',
  'product code does not import tests': ({ file, own, target }) => isTest(file) || !own || !isTest(target),
};

const imports = sources.flatMap(importsOf);

for (const [sentence, holds] of Object.entries(rules)) {
  test(sentence, (t) => {
    t.deepEqual(
      imports.filter((found) => !holds(found)).map(({ file, target }) => `${file} imports ${target}`),
      [],
    );
  });
}

test('the rules read the imports of every folder', (t) => {
  for (const name of ['schemas', ...roles, 'telemetry', 'commands', 'test'])
    t.true(
      imports.some(({ file }) => folder(file) === name),
      name,
    );
  t.true(imports.some(({ target }) => target === 'kafkajs'));
});

test('names of files say what is in them', (t) => {
  const vague = /(^|[-/.])(utils?|helpers?|common|manager|service|data|info|misc)([-/.]|$)/;
  t.deepEqual(
    // A service account is a thing of its own, whatever a service is.
    sources.filter((file) => vague.test(file.replaceAll('service-account', 'account'))),
    [],
  );
});

test('no file names a path of a machine or the address of a registry', (t) => {
  const files = globSync('**/*.{ts,mjs,md,json,yaml,yml,sh,py}', {
    cwd: root,
    exclude: (name) => name === 'node_modules' || name === '.oiq',
  });
  const own = 'test/architecture/imports.test.ts';
  const forbidden = /registry\.npmjs\.org|\/work\/|\/home\/[a-z]|"resolved": "http/;
  t.deepEqual(
    files.filter((file) => file !== own && forbidden.test(readFileSync(join(root, file), 'utf8'))),
    [],
  );
});
