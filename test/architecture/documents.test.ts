/** Generated parts of documents are current, links resolve, and texts are within their word budgets. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { buildReferencePages } from '../../docs/generate.ts';
import { readVersions, versionFiles } from '../../release/version.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const isExcluded = (name: string): boolean => ['node_modules', '.oiq', 'dist'].includes(name);
const documents = globSync('**/*.md', { cwd: root, exclude: isExcluded });

test('reference pages are what the code declares: npm run docs writes them', (t) => {
  for (const [name, content] of Object.entries(buildReferencePages()))
    t.is(read(`docs/reference/${name}`), content, name);
});

test('package, lock file and chart have one version', (t) => {
  const versions = versionFiles.flatMap((file) => readVersions(file, read(file.path)));
  t.is(
    versions.length,
    versionFiles.reduce((count, { places }) => count + places, 0),
  );
  t.deepEqual([...new Set(versions)], [versions[0]]);
});

/** Returns the anchors of a document, as GitHub forms them. */
const anchorsOf = (document: string): string[] =>
  [...read(document).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replace(/\s/g, '-'),
  );

test('anchors of links between documents exist', (t) => {
  const broken = documents.flatMap((document) =>
    [...read(document).matchAll(/\]\(([^)#:\s]*\.md)?#([^)\s]+)\)/g)]
      .filter(([, target = '', anchor = '']) => {
        const file = target === '' ? document : join(dirname(document), target);
        return existsSync(join(root, file)) && !anchorsOf(file).includes(anchor);
      })
      .map(([link]) => `${document} → ${link}`),
  );
  t.deepEqual(broken, []);
});

test('each page of the documentation is in its contents, and each area of the page has one', (t) => {
  const contents = read('docs/README.md');
  const pages = documents.filter((path) => path.startsWith('docs/') && !path.startsWith('docs/decisions/'));
  t.deepEqual(
    pages.filter((path) => path !== 'docs/README.md' && !contents.includes(`(${path.slice('docs/'.length)})`)),
    [],
  );
  const linked = [...read('web/areas.ts').matchAll(/ docs: '(.*)'/g)].map(([, name = '']) => `docs/${name}.md`);
  t.true(linked.length > 20);
  t.deepEqual(
    linked.filter((path) => !pages.includes(path)),
    [],
  );
});

/** Maximum number of words in a folder README, without tables and code, which are for reference. */
const maxWordsOfFolderReadme = 600;

test('READMEs of folders have at most 600 words besides tables and code', (t) => {
  const countProse = (path: string): number =>
    read(path)
      .replace(/^(`{3,})[\s\S]*?^\1/gm, '')
      .split('\n')
      .filter((line) => !/^\||^ {4}[^ -]/.test(line))
      .join(' ')
      .split(/\s+/).length;
  t.deepEqual(
    documents
      .filter((path) => path.endsWith('/README.md') && path !== 'test/bench/README.md')
      .map((path) => ({ path, words: countProse(path) }))
      .filter(({ words }) => words > maxWordsOfFolderReadme),
    [],
  );
});

/** Maximum number of words by document. Reference pages may be longer. */
const wordBudgets: readonly (readonly [path: RegExp, words: number])[] = [
  [/^README\.md$/, 1_800],
  [/^test\/bench\/README\.md$/, 3_000],
  [/^CHANGELOG\.md$/, 3_000],
  [/^CONTRIBUTING\.md$/, 1_200],
  [/^docs\/architecture\.md$/, 1_800],
  [/^docs\/(?:reference\/|glossary|operate\/(?:alerts|clickhouse|kafka|kubernetes)\.md)/, Number.POSITIVE_INFINITY],
  [/^docs\//, 900],
];

test('documents keep to their number of words', (t) => {
  const countWords = (path: string): number => read(path).split(/\s+/).length;
  t.deepEqual(
    documents.flatMap((path) => {
      const [, budget = Number.POSITIVE_INFINITY] = wordBudgets.find(([pattern]) => pattern.test(path)) ?? [];
      return countWords(path) > budget ? [`${path}: ${countWords(path)} words of ${budget}`] : [];
    }),
    [],
  );
});

test('every code folder has a README', (t) => {
  const folders = new Set(
    globSync('{schemas,adapters,runtime,queries,subjects,receivers,processors,sinks,api,commands,test,bin}/**/*.ts', {
      cwd: root,
    }).map((file) => file.split('/')[0] ?? ''),
  );
  t.deepEqual(
    [...folders].filter((folder) => !existsSync(join(root, folder, 'README.md'))),
    [],
  );
});

test('links between documents resolve', (t) => {
  const broken = documents.flatMap((document) =>
    [...readFileSync(join(root, document), 'utf8').matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)]
      .map(([, target = '']) => target)
      .filter((target) => !existsSync(join(root, dirname(document), target)))
      .map((target) => `${document} → ${target}`),
  );
  t.deepEqual(broken, []);
});

/** Returns the paragraphs and list items of a document, each as lines, without headings, tables, comments and code. */
const textsOf = (document: string): readonly (readonly string[])[] => {
  const texts: string[][] = [[]];
  let fenced = false;
  let indented = false;
  let before = '';
  for (const line of document.split('\n')) {
    const fence = line.startsWith('```');
    if (fence) fenced = !fenced;
    indented = line.startsWith('    ') ? indented || before === '' : indented && line === '';
    const isSeparate = fence || fenced || indented || line === '' || /^(?:#|\||<!--)/.test(line);
    if (isSeparate || /^ *(?:[-*]|\d+\.) /.test(line)) texts.push([]);
    if (!isSeparate) texts.at(-1)?.push(line);
    before = line;
  }
  return texts;
};

test('README paragraphs and list items have at most five lines, and no line has more than 300 characters', (t) => {
  const figures = 'test/bench/README.md';
  const readmes = globSync('**/README.md', {
    cwd: root,
    exclude: isExcluded,
  }).filter((file) => file !== figures);
  t.deepEqual(
    readmes.flatMap((file) =>
      textsOf(readFileSync(join(root, file), 'utf8'))
        .filter((lines) => lines.length > 5 || lines.some((line) => line.length > 300))
        .map(([line = '']) => `${file}: ${line.slice(0, 60)}`),
    ),
    [],
    'Say one fact a line: make a list, a table or shorter sentences of it.',
  );
});
