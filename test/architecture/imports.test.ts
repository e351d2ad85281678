/** Which folders may import which others. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';

const root = fileURLToPath(new URL('../..', import.meta.url));
const roles = ['receivers', 'processors', 'sinks', 'probes', 'api'];
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
  /** Path from the root for files of the project; package or module name for others. */
  readonly target: string;
  readonly own: boolean;
  /** Whether the import is removed at run time. */
  readonly typesAlone: boolean;
  /** Whether the target runs in a thread or a process of its own. */
  readonly isStarted: boolean;
}

const rooms = ['schemas', 'adapters', 'runtime', 'queries', 'subjects', ...roles, 'commands', 'web'];

const sources = globSync(`{bin,${rooms.join(',')},test}/**/*.{ts,tsx,mjs}`, { cwd: root })
  .concat('main.ts')
  .filter((file) => !file.includes('node_modules'));

const packageOf = (specifier: string): string =>
  specifier.startsWith('node:')
    ? specifier
    : specifier
        .split('/')
        .slice(0, specifier.startsWith('@') ? 2 : 1)
        .join('/');

/** Imports, and modules that run in a thread or a process of their own: `new URL('./worker.ts', import.meta.url)`. */
const importPattern =
  /(?:(import type [^;']*)?\bfrom|\bimport)\s*\(?\s*'([^'\n]+)'|\bnew URL\('(\.[^'\n]+\.(?:ts|mjs))', import\.meta\.url\)/g;

const importsOf = (file: string): Import[] => {
  const found = readFileSync(join(root, file), 'utf8').matchAll(importPattern);
  return [...found].map(([, types, statement, started]) => {
    const specifier = statement ?? started ?? '';
    const own = specifier.startsWith('.');
    const typesAlone = types !== undefined;
    return {
      file,
      own,
      typesAlone,
      isStarted: started !== undefined,
      target: own ? relative(root, join(root, dirname(file), specifier)) : packageOf(specifier),
    };
  });
};

const folder = (path: string): string => path.split('/')[0] ?? '';
const isTest = (path: string): boolean => folder(path) === 'test';
/** Returns `api/groups/logs` for `api/groups/logs/list.ts`; undefined outside of groups. */
const groupOf = (path: string): string | undefined => /^api\/groups\/[^/]+(?=\/)/.exec(path)?.[0];

/** The top-level folders that each folder may import, besides itself. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  schemas: [],
  runtime: ['schemas'],
  adapters: ['schemas', 'runtime'],
  queries: ['schemas', 'runtime'],
  subjects: ['schemas', 'runtime', 'queries'],
  receivers: ['schemas', 'runtime', 'queries', 'subjects'],
  processors: ['schemas', 'runtime', 'queries', 'subjects'],
  sinks: ['schemas', 'runtime', 'queries', 'subjects'],
  probes: ['schemas', 'runtime', 'queries', 'subjects'],
  api: ['schemas', 'runtime', 'queries', 'subjects', 'web'],
  commands: ['schemas', 'runtime', 'queries', 'subjects', ...roles],
};

/** Files outside of `web/` that the page imports, besides types. */
const inThePage = [
  ...['queries/time.ts', 'queries/errors.ts', 'queries/series-names.ts', 'runtime/calendar.ts'],
  ...['parser', 'scanner', 'texts', 'values', 'tree'].map((name) => `queries/search/${name}.ts`),
  ...[
    'escape-sequences.ts',
    'fields.ts',
    'records/severity.ts',
    'tables/literal.ts',
    'tables/parts.ts',
    'tables/search.ts',
    'tables/search-text.ts',
  ].map((path) => `schemas/${path}`),
];
/** Files of `web/` that run on the server. */
const buildsThePage = ['web/index.ts', 'web/build.ts', 'web/components/gallery/build.ts'];

/** Files of groups that may be imported from outside their group: the table in `api/groups/README.md`. */
const publicGroupFiles = new Set(
  [...readFileSync(join(root, 'api/groups/README.md'), 'utf8').matchAll(/^\| `([\w-]+)` \| `([\w./-]+)` \|/gm)].map(
    ([, group = '', file = '']) => `api/groups/${group}/${file}`,
  ),
);

/** Whether a file outside of a group, or of another group, imports a file of this group. Tests may import all files. */
const entersGroup = ({ file, target }: Import): boolean =>
  groupOf(target) !== undefined && groupOf(file) !== groupOf(target) && !isTest(file);

/**
 * Returns the inner folder of a path: `queries/search` for each file below it, `api/groups/logs` for a group, and
 * `api/groups/audit/chain` for a folder of a group. A file next to such folders is returned as it is. A public file of
 * a group counts as a folder of its own, so it cannot import files of its group that import what imports it.
 */
const innerRoomOf = (path: string): string => {
  if (!path.startsWith('api/groups/')) return path.split('/').slice(0, 2).join('/');
  const folderOfGroup = /^api\/groups\/[^/]+\/[^/]+(?=\/)/.exec(path)?.[0];
  return folderOfGroup ?? (publicGroupFiles.has(path) ? path : (groupOf(path) ?? path));
};

/** Returns the folders that import each other, directly or indirectly. */
const circlesOf = (imports: readonly (readonly [from: string, to: string])[]): string[][] => {
  const next = Map.groupBy(imports, ([from]) => from);
  const reachable = (from: string): Set<string> => {
    const seen = new Set<string>();
    const open = [from];
    for (let room = open.pop(); room !== undefined; room = open.pop())
      for (const [, to] of next.get(room) ?? [])
        if (!seen.has(to)) {
          seen.add(to);
          open.push(to);
        }
    return seen;
  };
  const from = new Map([...next.keys()].map((room) => [room, reachable(room)]));
  const circles = [...from].flatMap(([room, to]) =>
    to.has(room) ? [[...to].filter((other) => from.get(other)?.has(room) === true).sort()] : [],
  );
  return [...new Map(circles.map((circle) => [circle.join(), circle])).values()];
};

/** Returns `alerts` for `subjects/alerts/rule.ts`; undefined outside of subjects. */
const subjectOf = (path: string): string | undefined => /^subjects\/([^/]+)\//.exec(path)?.[1];

/** Which subjects a subject may import: the table in `subjects/README.md`. */
const subjectsTable = new Map(
  [...readFileSync(join(root, 'subjects/README.md'), 'utf8').matchAll(/^\| `([\w-]+)` \| ([^|]+) \|/gm)].map(
    ([, subject = '', imported = '']) => [subject, [...imported.matchAll(/`([\w-]+)`/g)].map(([, name = '']) => name)],
  ),
);

const rules: Readonly<Record<string, (found: Import) => boolean>> = {
  'the page imports itself, types, and the parsers that it shares with the API': ({ file, own, target, typesAlone }) =>
    folder(file) !== 'web' || !own || folder(target) === 'web' || typesAlone || inThePage.includes(target),
  'the page imports no package but preact, uplot, icons, the PromQL editor and what lays out long lists': ({
    file,
    own,
    target,
    typesAlone,
  }) =>
    folder(file) !== 'web' ||
    own ||
    typesAlone ||
    !/^[@a-z]/.test(target) ||
    buildsThePage.includes(file) ||
    ['preact', '@preact/signals', '@tanstack/virtual-core', 'lucide', 'uplot'].includes(target) ||
    (file.startsWith('web/browser-script/') && ['web-vitals', '@rrweb/record', '@rrweb/replay'].includes(target)) ||
    (file === 'web/editors/promql-editor.ts' && /^@(?:codemirror|lezer|prometheus-io)\//.test(target)),
  'what the page shares with the API imports types, and what else is shared': ({ file, target, typesAlone }) =>
    !inThePage.includes(file) || typesAlone || inThePage.includes(target),
  'the page is imported through its index.ts, by the API': ({ file, own, target }) =>
    !own ||
    folder(target) !== 'web' ||
    folder(file) === 'web' ||
    isTest(file) ||
    (folder(file) === 'api' && target === 'web/index.ts'),
  ...Object.fromEntries(
    Object.entries(mayImport).map(([room, allowed]) => [
      `${room} imports ${allowed.length === 0 ? 'nothing of ours' : allowed.join(', ')} and itself`,
      ({ file, own, target }: Import) =>
        folder(file) !== room || !own || folder(target) === room || allowed.includes(folder(target)),
    ]),
  ),
  'from outside, a role is imported through its index.ts': ({ file, own, target, typesAlone }) =>
    !own ||
    (folder(file) === 'web' && typesAlone) ||
    !roles.includes(folder(target)) ||
    folder(file) === folder(target) ||
    isTest(file) ||
    target === `${folder(target)}/index.ts`,
  'only main.ts and tests import adapters': ({ file, own, target }) =>
    !own || folder(target) !== 'adapters' || folder(file) === 'adapters' || file === 'main.ts' || isTest(file),
  'drivers are imported by adapters and tests only': ({ file, own, target }) =>
    own || !drivers.includes(target) || folder(file) === 'adapters' || isTest(file),
  'koa is imported by api/kernel only': ({ file, own, target }) =>
    own || !['koa', '@koa/router', 'koa-body'].includes(target) || file.startsWith('api/kernel/') || isTest(file),
  'ws is imported by api/kernel, receivers/opamp, and by what probes WebSockets, only': ({ file, own, target }) =>
    own || target !== 'ws' || /^(?:api\/kernel|receivers\/opamp|probes\/runners)\//.test(file) || isTest(file),
  'from outside, a group is imported through files that api/groups/README.md lists; the page imports types': (found) =>
    !entersGroup(found) ||
    publicGroupFiles.has(found.target) ||
    (folder(found.file) === 'web' && found.typesAlone) ||
    (found.file === 'api/groups/index.ts' && found.target === `${groupOf(found.target)}/group.ts`),
  'a subject imports another only where subjects/README.md says so': ({ file, own, target }) => {
    const [from, to] = [subjectOf(file), subjectOf(target)];
    return (
      !own || from === undefined || to === undefined || from === to || subjectsTable.get(from)?.includes(to) === true
    );
  },
  'the kernel imports no group': ({ file, own, target }) =>
    !own || !file.startsWith('api/kernel/') || !target.startsWith('api/groups/'),
  'receivers/http2 imports nothing of ours outside of itself': ({ file, own, target }) =>
    !own || !file.startsWith('receivers/http2/') || target.startsWith('receivers/http2/'),
  'nothing imports main.ts, which tests start': ({ file, own, target, isStarted }) =>
    !own || target !== 'main.ts' || (isTest(file) && isStarted),
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
  for (const name of [...rooms, 'test'])
    t.true(
      imports.some(({ file }) => folder(file) === name),
      name,
    );
  t.true(imports.some(({ target }) => target === 'kafkajs'));
  t.true(imports.some(({ target, isStarted }) => isStarted && target === 'receivers/scan-worker.ts'));
});

test('no file imports itself in a cycle, not even for types', (t) => {
  const next = new Map<string, string[]>();
  for (const { file, own, target } of imports) if (own) next.set(file, [...(next.get(file) ?? []), target]);
  const circles: string[] = [];
  const done = new Set<string>();
  const walk = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' → '));
    if (done.has(file)) return;
    done.add(file);
    for (const target of next.get(file) ?? []) walk(target, [...path, file]);
  };
  for (const file of next.keys()) walk(file, []);
  t.deepEqual(circles, []);
});

const importsByFile = Map.groupBy(imports, ({ file }) => file);

/** Returns a file and all files that are loaded when it is imported. */
const loadedWith = (file: string): ReadonlySet<string> => {
  const loaded = new Set([file]);
  // The loop visits items that are added during the iteration.
  for (const each of loaded)
    for (const { own, target, typesAlone } of importsByFile.get(each) ?? []) if (own && !typesAlone) loaded.add(target);
  return loaded;
};

test('what uses the schema or the definitions of queries is loaded with the list of all kinds', (t) => {
  const workers = new Set(imports.flatMap(({ target, isStarted }) => (isStarted ? [target] : [])));
  const roots = sources.filter(
    (file) =>
      workers.has(file) ||
      roles.some((role) => file === `${role}/index.ts`) ||
      /^commands\/[^/]+\.ts$/.test(file) ||
      (/^test\/(cases|contract)\//.test(file) && file.endsWith('.test.ts')),
  );
  const hasList = (loaded: ReadonlySet<string>): boolean =>
    !loaded.has('queries/query.ts') || loaded.has('subjects/query-kinds.ts');
  t.deepEqual(
    roots.filter((file) => !hasList(loadedWith(file))),
    [],
  );
});

test('subjects/README.md names only existing imports, and every subject has a README', (t) => {
  const between = new Set(
    imports.flatMap(({ file, target }) => {
      const [from, to] = [subjectOf(file), subjectOf(target)];
      return from === undefined || to === undefined || from === to ? [] : [`${from} ${to}`];
    }),
  );
  t.deepEqual(
    [...subjectsTable].flatMap(([from, all]) => all.map((to) => `${from} ${to}`)).filter((each) => !between.has(each)),
    [],
  );
  const subjects = new Set(sources.map(subjectOf).filter((each) => each !== undefined));
  t.deepEqual(
    [...subjects].filter((subject) => !existsSync(join(root, 'subjects', subject, 'README.md'))),
    [],
  );
});

test('api/groups/README.md lists only files that are imported from outside their group', (t) => {
  const imported = new Set(
    imports.filter((found) => entersGroup(found) && folder(found.file) !== 'web').map(({ target }) => target),
  );
  t.true(publicGroupFiles.size > 0);
  t.deepEqual(
    [...publicGroupFiles].filter((file) => !imported.has(file)),
    [],
  );
});

test('file names describe their content', (t) => {
  const vague = /(^|[-/.])(utils?|helpers?|common|manager|service|data|info|misc)([-/.]|$)/;
  t.deepEqual(
    // A service account is a term of its own.
    sources.filter((file) => vague.test(file.replaceAll('service-account', 'account'))),
    [],
  );
});

test('no file contains a path of a local machine or a registry address', (t) => {
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

/** Files with SQL for tables that belong to the API and that no telemetry query reads. */
const ownTables = ['api/groups/audit/chain/tree-head-store.ts', 'api/identity/accounts/erase-organizations.ts'];

test('the API contains no SQL: telemetry queries live in queries/ and subjects/', (t) => {
  const isSql = (file: string): boolean => /\bSELECT\b[\s\S]*\bFROM\b/.test(readFileSync(join(root, file), 'utf8'));
  t.deepEqual(
    sources.filter((file) => file.startsWith('api/') && isSql(file) && !ownTables.includes(file)),
    [],
  );
  t.true(ownTables.every(isSql));
});

test('nested folders import in one direction', (t) => {
  const between = sources
    .filter((file) => !isTest(file))
    .flatMap(importsOf)
    .filter(({ own }) => own)
    .map(({ file, target }) => [innerRoomOf(file), innerRoomOf(target)] as const)
    .filter(([from, to]) => from !== to);
  t.true(between.length > 1_000);
  t.deepEqual(circlesOf(between), []);
});
