/** Stacks of bundles, mapped to their sources, and source maps that are refused. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { originalPositionFor } from '@jridgewell/trace-mapping';
import test from 'ava';
import { strToU8, zipSync } from 'fflate';
import { openSqliteDocuments } from '../../../adapters/documents-sqlite/documents-sqlite.ts';
import type { TenantColumns } from '../../../schemas/ports/columns.ts';
import type { Documents } from '../../../schemas/ports/documents.ts';
import { sourceMapParts, sourceMaps } from '../../../schemas/resources/source-map.ts';
import { listFunctions } from '../../../subjects/rum/source-maps/functions.ts';
import {
  findMapOfFile,
  type MappedFrame,
  mapFrames,
  parseBrowserFrames,
} from '../../../subjects/rum/source-maps/map-frames.ts';
import { parseSourceMap } from '../../../subjects/rum/source-maps/parse-map.ts';
import { type PreparedMap, readArchiveMaps, readSingleMap } from '../../../subjects/rum/source-maps/read-upload.ts';
import { listExcessMaps, storeMap } from '../../../subjects/rum/source-maps/store-maps.ts';
import { toSourcePath } from '../../../subjects/rum/source-maps/stored-map.ts';

interface Bundle {
  readonly code: string;
  readonly map: string;
}

/** Sources, and the bundles that esbuild, webpack with terser, rollup and tsc create from them. */
const { sources, bundles } = JSON.parse(readFileSync(new URL('./bundles.json', import.meta.url), 'utf8')) as {
  readonly sources: Readonly<Record<string, string>>;
  readonly bundles: Readonly<Record<string, Readonly<Record<string, Bundle>>>>;
};

let directory = '';
let documents: Documents;
test.before(async () => {
  directory = mkdtempSync(join(tmpdir(), 'oiq-source-maps-'));
  documents = await openSqliteDocuments({ path: join(directory, 'documents.sqlite') });
  await documents.ensureCollections([sourceMaps, sourceMapParts]);
});
test.after.always(async () => {
  await documents.close();
  rmSync(directory, { recursive: true });
});

/** Runs a program of these files, and returns the stack of each scenario. */
const runScenarios = (name: string, files: Readonly<Record<string, string>>, entry: string): Record<string, string> => {
  const root = join(directory, name);
  for (const [file, text] of Object.entries({ ...files, 'package.json': '{"type":"module"}' })) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  const program = `Error.stackTraceLimit = 50; await import(${JSON.stringify(`file://${join(root, entry)}`)}); console.log(JSON.stringify(await globalThis.result));`;
  const output = execFileSync(process.execPath, ['--input-type=module', '--no-warnings', '-e', program]);
  return JSON.parse(output.toString('utf8')) as Record<string, string>;
};

const owner = (release: string) => ({ application: 'shop', release, bundleId: '', uploadedBy: 'u1' });

const createReader = (tenantId: string) => ({
  columns: { tenantId } as TenantColumns,
  documents: documents.forTenant(tenantId),
  requester: { tenantId },
});

/** A stack frame as text: file, line and function, without the additions of V8 to the name. */
const describeFrame = ({ file, line, function: name }: Pick<MappedFrame, 'file' | 'line' | 'function'>): string => {
  const plainName = (name ?? '')
    .replace(/^async /, '')
    .replace(/ \[as .*\]$/, '')
    // V8 prints the class of the receiver, which may be a subclass.
    .replace(/^\w+\./, '');
  return `${(file ?? '').split('/').at(-1)}:${line} ${plainName}`;
};

/** Returns the number of frames that occur in this order in the expected frames. Minifiers remove inlined functions. */
const countInOrder = (frames: readonly string[], expected: readonly string[]): number => {
  let at = 0;
  let count = 0;
  for (const frame of frames) {
    const found = expected.indexOf(frame, at);
    if (found < 0) continue;
    count++;
    at = found + 1;
  }
  return count;
};

const isOfSource = ({ file }: { readonly file: string | null }): boolean =>
  file?.startsWith(`file://${directory}`) === true;

const store = async (tenantId: string, release: string, maps: readonly PreparedMap[]): Promise<void> => {
  for (const map of maps)
    await documents.transaction((transaction) => storeMap(transaction.forTenant(tenantId), owner(release), map));
};

test('stacks of bundles are mapped to the files, lines and functions of their sources', async (t) => {
  const expected = runScenarios('sources', sources, 'main.ts');
  for (const [tool, files] of Object.entries(bundles)) {
    const entry = Object.keys(files).find((file) => file === 'main.js' || !file.includes('.js/')) ?? '';
    const code = Object.fromEntries(Object.entries(files).map(([file, bundle]) => [file, bundle.code]));
    const stacks = runScenarios(tool, code, 'main.js' in files ? 'main.js' : entry);
    const archive = zipSync(
      Object.fromEntries(
        Object.entries(files).flatMap(([file, bundle]) => [
          [file, strToU8(bundle.code)],
          [`${file}.map`, strToU8(bundle.map)],
        ]),
      ),
    );
    const maps = readArchiveMaps(archive) as readonly PreparedMap[];
    t.deepEqual(
      maps.map(({ file }) => file),
      Object.keys(files),
      tool,
    );
    await store('a', tool, maps);
    let [total, correct] = [0, 0];
    for (const [scenario, stack] of Object.entries(stacks)) {
      const frames = parseBrowserFrames(stack).filter(isOfSource);
      const [mapped = []] = await mapFrames(createReader('a'), [
        { application: 'shop', release: tool, url: null, attributes: {}, frames },
      ]);
      // The wrapper function of a bundle has no source. Some tools map its call to the last line of the program.
      const isCallOfBundle = (text: string, at: number, all: readonly string[]): boolean =>
        at === all.length - 1 && (mapped[at]?.unmappedReason === 'position-outside' || text === all[at - 1]);
      const texts = mapped.map(describeFrame).filter((text, at, all) => !isCallOfBundle(text, at, all));
      const expectedTexts = parseBrowserFrames(expected[scenario] ?? '')
        .filter(isOfSource)
        .map(describeFrame);
      const count = countInOrder(texts, expectedTexts);
      if (count < texts.length && tool !== 'esbuild-no-sources') t.log(tool, scenario, texts, expectedTexts, stack);
      total += texts.length;
      correct += count;
    }
    t.log(`${tool}: ${correct} of ${total}`);
    t.true(total > 30, tool);
    // Without the source texts, functions have the names from the map at their calls.
    const expectedShare = tool === 'esbuild-no-sources' ? 0.8 : 0.99;
    t.true(correct / total >= expectedShare, `${tool}: ${correct} of ${total}`);
  }
});

const { code: appCode, map: appMap } = (bundles['esbuild'] as Readonly<Record<string, Bundle>>)['app.js'] as Bundle;
const appStack = 'Error\n    at s (https://cdn.example.com/assets/app.js:1:62)';
const debugId = '85314830-023f-4cf1-a267-535f4e37bb17';

const prepare = (text: string, file: string): PreparedMap => {
  const [result] = readSingleMap(Buffer.from(text), file);
  if (result === undefined || 'problem' in result) throw new Error(result?.problem ?? 'no result');
  return result;
};

const mapStack = async (
  tenantId: string,
  source: { stack?: string; release?: string | null; url?: string; attributes?: Record<string, string> },
) => {
  const { stack = appStack, release = '1.0', url = 'https://www.example.com/cart', attributes = {} } = source;
  const [frames = []] = await mapFrames(createReader(tenantId), [
    { application: 'shop', release, url, attributes, frames: parseBrowserFrames(stack) },
  ]);
  return frames.map(({ file, line, function: name, unmappedReason }) => unmappedReason ?? `${file}:${line} ${name}`);
};

test('a frame that cannot be mapped has the reason', async (t) => {
  t.deepEqual(await mapStack('reasons', {}), ['no-map']);
  t.deepEqual(await mapStack('reasons', { release: null }), ['no-release']);
  await store('reasons', '1.0', [prepare(appMap, 'assets/app.js')]);
  const at = (place: string) => mapStack('reasons', { stack: `Error\n    at s (${place})` });
  t.deepEqual(await at('https://cdn.example.com/assets/app.js:1:62'), ['src/money.ts:9 parseAmount']);
  t.deepEqual(await at('https://cdn.example.com/assets/other.js:1:62'), ['file-not-found']);
  t.deepEqual(await at('https://www.tracker.test/tag.js:1:62'), ['third-party']);
  t.deepEqual(await at('chrome-extension://abcdef/content.js:1:62'), ['third-party']);
  t.deepEqual(await at('https://cdn.example.com/assets/app.js:900:1'), ['position-outside']);
  t.deepEqual(await mapStack('reasons', { stack: 'Error\n    at Array.map (<anonymous>)' }), ['no-position']);
  t.deepEqual(await mapStack('reasons', { release: '2.0' }), ['no-map']);
  t.deepEqual(await mapStack('another', {}), ['no-map']);
});

test('maps are found by debug id and by bundle id in other releases too', async (t) => {
  const withId = JSON.stringify({ ...JSON.parse(appMap), debugId });
  await store('ids', '', [prepare(withId, 'x.js')]);
  const mapped = ['src/money.ts:9 parseAmount'];
  const url = 'https://cdn.example.com/assets/app.js';
  t.deepEqual(
    await mapStack('ids', { attributes: { 'exception.debug_ids': JSON.stringify({ [url]: debugId }) } }),
    mapped,
  );
  t.deepEqual(await mapStack('ids', { attributes: { debug_id: debugId.toUpperCase() } }), mapped);
  t.deepEqual(await mapStack('ids', { attributes: { 'exception.debug_ids': '{"https://cdn.exam' } }), ['no-map']);
  const faroBundle = `!function(){globalThis["__faroBundleId_shop"]="b-1"}();${appCode.replace(/\/\/# sourceMappingURL.*/, '')}`;
  const archive = zipSync({
    'app.js': strToU8(`${faroBundle}\n//# sourceMappingURL=maps/app.js.map\n//# debugId=${debugId}\n`),
    'maps/app.js.map': strToU8(appMap),
  });
  const maps = readArchiveMaps(archive) as readonly PreparedMap[];
  t.like(maps, [{ name: 'maps/app.js.map', file: 'app.js', bundleId: 'b-1', debugId }]);
  await store('bundle', '', maps);
  t.deepEqual(await mapStack('bundle', { attributes: { app_bundle_id: 'b-1' } }), mapped);
  t.deepEqual(await mapStack('bundle', { attributes: { app_bundle_id: 'b-2' } }), ['no-map']);
});

test('a file is found by the end of its path, and by its name alone only if that is unique', (t) => {
  const find = (url: string, ...files: readonly string[]) =>
    findMapOfFile(
      url,
      files.map((file) => ({ file, baseName: file.split('/').at(-1) ?? '' })),
    )?.file;
  t.is(find('https://cdn.example.com/v1/assets/app.js?v=2', 'assets/app.js', 'admin/app.js'), 'assets/app.js');
  t.is(find('https://cdn.example.com/app.js', 'dist/app.js'), 'dist/app.js');
  t.is(find('https://cdn.example.com/v1/app.js', 'dist/app.js'), 'dist/app.js');
  t.is(find('https://cdn.example.com/v1/index.js', 'a/index.js', 'b/index.js'), undefined);
  t.is(find('https://cdn.example.com/v1/index.js', 'index.js', 'v1/index.js'), 'v1/index.js');
  t.is(find('https://cdn.example.com/app.js', 'app2.js'), undefined);
});

test('a repeated upload changes nothing, and another map of the file replaces the first', async (t) => {
  const tenant = documents.forTenant('repeated');
  const upload = (map: PreparedMap) =>
    documents.transaction((transaction) => storeMap(transaction.forTenant('repeated'), owner('1.0'), map));
  t.is(await upload(prepare(appMap, 'app.js')), 'created');
  t.is(await upload(prepare(appMap, 'app.js')), 'unchanged');
  const other = JSON.stringify({ version: 3, sources: ['a.js'], names: [], mappings: 'AAAA' });
  t.is(await upload(prepare(other, 'app.js')), 'replaced');
  t.is(await tenant.collection(sourceMaps).count(), 1);
  t.is(await tenant.collection(sourceMapParts).count(), 1);
  t.is(await upload(prepare(other, 'second.js')), 'created');
  const excess = await listExcessMaps(tenant, { maxMaps: 1, maxBytes: 1_000_000 });
  t.deepEqual(
    excess.map(({ file }) => file),
    ['app.js'],
  );
  t.is((await listExcessMaps(tenant, { maxMaps: 9, maxBytes: 10 })).length, 2);
});

test('the text of sources is not stored', async (t) => {
  const { content } = prepare(appMap, 'app.js');
  t.true(appMap.includes('is no amount'));
  t.false(zstdDecompressSync(Buffer.from(content, 'base64')).includes('is no amount'));
});

const mapOf = (fields: object): string =>
  JSON.stringify({ version: 3, sources: ['a.js'], names: ['f'], mappings: 'AAAAA', ...fields });
const section = (line: number, map: unknown = { version: 3, sources: [], names: [], mappings: '' }) => ({
  offset: { line, column: 0 },
  map,
});
const refused: readonly (readonly [title: string, text: string | Buffer, problem: RegExp])[] = [
  ['truncated JSON', '{"version":3,"sources":["a.js"', /sources/],
  ['deeply nested JSON', `{"version":3,"sources":${'['.repeat(100_000)}`, /nest deeper/],
  ['text that is not UTF-8', Buffer.from([0x7b, 0x22, 0xff]), /not UTF-8/],
  ['a list', '[]', /is a JSON object/],
  ['another version', mapOf({ version: 2 }), /^version: must be 3/],
  ['sources that are not a list', mapOf({ sources: 'a.js' }), /^sources: must be a list/],
  ['a source that is a number', mapOf({ sources: ['a.js', 1] }), /^sources\[1\]: has the wrong type/],
  ['mappings that are not a string', mapOf({ mappings: [] }), /^mappings: must be a text/],
  [
    'a character that is not a digit',
    mapOf({ mappings: 'AAAA,A!AA' }),
    /^mappings: expected a base64 digit at character 6/,
  ],
  [
    'a source that does not exist',
    mapOf({ mappings: 'ACAA' }),
    /^mappings: the source 1 does not exist at character 2/,
  ],
  ['a name that does not exist', mapOf({ mappings: 'AAAAC' }), /^mappings: the name 1 does not exist/],
  ['a negative column', mapOf({ mappings: 'DAAA' }), /^mappings: the column -1 does not exist/],
  ['a number of more than 32 bits', mapOf({ mappings: 'gggggggggggB' }), /^mappings: a number has more than 32 bits/],
  ['a column of more than 31 bits', mapOf({ mappings: 'ggggggE' }), /^mappings: the column 2147483648 does not exist/],
  ['a segment without a number', mapOf({ mappings: ';,AAAA' }), /^mappings: expected a base64 digit at character 1/],
  [
    'a comma without a segment behind it',
    mapOf({ mappings: 'AAAA,' }),
    /^mappings: expected a base64 digit at character 5/,
  ],
  ['an ignored source that does not exist', mapOf({ ignoreList: [0, 1] }), /^ignoreList\[1\]: has the wrong type/],
  [
    'mappings in addition to sections',
    JSON.stringify({ version: 3, mappings: '', sections: [section(0)] }),
    /^mappings: must not be beside sections/,
  ],
  ['a segment of two numbers', mapOf({ mappings: 'AA' }), /^mappings: expected a base64 digit at character 2/],
  ['ten million segments', mapOf({ mappings: 'A,'.repeat(10_000_000) }), /^mappings: there are more than 4000000/],
  [
    'a section with a URL',
    JSON.stringify({ version: 3, sections: [{ offset: { line: 0, column: 0 }, url: 'https://example.com/a.map' }] }),
    /^sections\[0\]\.url: maps are not fetched/,
  ],
  [
    'sections in sections',
    JSON.stringify({ version: 3, sections: [section(0, { version: 3, sections: [section(0)] })] }),
    /^sections\[0\]\.map: must be a source map without sections/,
  ],
  [
    'sections that overlap',
    JSON.stringify({ version: 3, sections: [section(5), section(5)] }),
    /^sections\[1\]\.offset: must be behind/,
  ],
  [
    'a fault in a section',
    JSON.stringify({ version: 3, sections: [section(0, { version: 3, sources: [], mappings: 'AAAA' })] }),
    /^sections\[0\]\.map\.mappings: the source 0 does not exist/,
  ],
];

for (const [title, text, problem] of refused)
  test(`${title} is refused with its position`, (t) => {
    const [result] = readSingleMap(Buffer.from(text), 'app.js');
    t.regex(result !== undefined && 'problem' in result ? result.problem : 'accepted', problem);
  });

/** Cases of ECMA-426, in the form of the suite of TC39: a position of the bundle, and its original. */
const positions: readonly (readonly [title: string, map: string, bundle: [number, number], original: object])[] = [
  [
    'a number with digits of zero beyond 32 bits',
    mapOf({ mappings: 'gggggggggggggA,EAAA' }),
    [1, 2],
    { source: 'a.js', line: 1, column: 0, name: null },
  ],
  [
    'the largest column and line',
    mapOf({ mappings: 'AA+/////D+/////D' }),
    [1, 0],
    { source: 'a.js', line: 2 ** 31, column: 2 ** 31 - 1, name: null },
  ],
  [
    'lines without segments, and a negative step',
    mapOf({ mappings: ';;;AAEG;AADA' }),
    [5, 0],
    { source: 'a.js', line: 2, column: 3, name: null },
  ],
  ['a source without a name', mapOf({ sources: [null] }), [1, 0], { source: '', line: 1, column: 0, name: 'f' }],
  [
    'a section that starts within a line',
    JSON.stringify({
      version: 3,
      sections: [
        { offset: { line: 0, column: 0 }, map: JSON.parse(mapOf({})) },
        { offset: { line: 0, column: 62 }, map: JSON.parse(mapOf({ sources: ['b.js'], mappings: 'AAAA,KACEA' })) },
      ],
    }),
    [1, 67],
    { source: 'b.js', line: 2, column: 2, name: 'f' },
  ],
];
for (const [title, map, [line, column], original] of positions)
  test(`${title} is read`, (t) => {
    const { map: traced } = parseSourceMap(Buffer.from(map));
    const { source, ...found } = originalPositionFor(traced, { line, column });
    t.deepEqual({ source: source ?? '', ...found }, original);
    const [prepared] = readSingleMap(Buffer.from(map), 'app.js');
    t.false(prepared !== undefined && 'problem' in prepared);
  });

test('a map with sections and one with a guard line are read', (t) => {
  const indexed = { version: 3, sections: [section(0, JSON.parse(mapOf({}))), section(7, JSON.parse(mapOf({})))] };
  t.is(parseSourceMap(Buffer.from(JSON.stringify(indexed))).map.sources.length, 2);
  t.deepEqual(parseSourceMap(Buffer.from(`)]}'\n${mapOf({ file: 'a.min.js' })}`)).file, 'a.min.js');
});

test('an archive that decompresses to more than the limit, or is damaged, is refused', (t) => {
  const bomb = zipSync(
    Object.fromEntries(Array.from({ length: 5 }, (_, index) => [`${index}.map`, new Uint8Array(45_000_000)])),
  );
  t.deepEqual(readArchiveMaps(bomb), { problem: 'the archive decompresses to more than 201326592 bytes' });
  t.like(readArchiveMaps(zipSync({ 'a.map': strToU8(mapOf({})) }).subarray(0, 60)), {
    problem: 'this is not a valid zip archive: invalid zip data',
  });
  t.like(readArchiveMaps(strToU8('no archive')), { problem: 'this is not a zip archive: the signature is missing' });
});

test('sources are named without what bundlers add', (t) => {
  const cases = {
    'webpack://shop/./src/cart.ts': 'src/cart.ts',
    'webpack:///./src/cart.ts?a1b2': 'src/cart.ts',
    'webpack-internal:///(app-pages)/./src/cart.ts': 'src/cart.ts',
    '../../src/cart.ts': 'src/cart.ts',
    '/build/src/cart.ts': '/build/src/cart.ts',
  };
  for (const [source, path] of Object.entries(cases)) t.is(toSourcePath(source), path);
});

test('functions have the names that V8 prints', (t) => {
  const text = `class A { static b() {} get c() { return 1 } #d() {} e = () => 1; constructor() {} async f<T>(x: T) {} }
const g = { h() {}, i: () => 2, 'j k': function () {} }, l = class { m() {} };
const n = async <T>(x: T): Promise<T> => x;
o.p = function () {}; export default function () {}
list.map((x) => x); list.map(function q() {});`;
  t.deepEqual(
    listFunctions('a.ts', text)?.map(({ name }) => name),
    ['A.b', 'get c', '#d', 'A.e', 'new A', 'A.f', 'h', 'i', 'j k', 'l.m', 'n', 'p', '', '', 'q'],
  );
  t.is(listFunctions('a.vue', '<template>'), undefined);
});
