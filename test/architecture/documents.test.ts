/** Generated parts of documents are current: what the code says is what people read. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { formatSettingsTable } from '../../commands/settings.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** What stands between `<!-- NAME` and `<!-- /NAME -->`. */
const part = (text: string, name: string): string | undefined =>
  new RegExp(`<!-- ${name}:[^\\n]*-->\\n([\\s\\S]*?)<!-- /${name} -->`).exec(text)?.[1];

test('the settings table in the README is the output of `oiq settings --markdown`', (t) => {
  t.is(part(readFileSync(join(root, 'README.md'), 'utf8'), 'settings'), formatSettingsTable(true));
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
  const documents = globSync('**/*.md', { cwd: root, exclude: (name) => name === 'node_modules' || name === '.oiq' });
  const broken = documents.flatMap((document) =>
    [...readFileSync(join(root, document), 'utf8').matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)]
      .map(([, target = '']) => target)
      .filter((target) => !existsSync(join(root, dirname(document), target)))
      .map((target) => `${document} → ${target}`),
  );
  t.deepEqual(broken, []);
});

/** Paragraphs and items of lists of a document, each as its lines: what is no heading, table, comment or code. */
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
    exclude: (name) => name === 'node_modules' || name === '.oiq',
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
