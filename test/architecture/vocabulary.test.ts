/** Names and texts use the words of the glossary. */
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { groups, operations } from '../../api/groups/index.ts';
import { createOpenApiDocument } from '../../api/kernel/openapi.ts';
import { readTexts } from './texts.ts';
import { betterNameOf, deniedPhrases, exceptions, identifiersOfProject, sentencesOf, wordsOf } from './vocabulary.ts';

const document = JSON.parse(JSON.stringify(await createOpenApiDocument(operations, groups))) as object;
const root = fileURLToPath(new URL('../..', import.meta.url));
const allowed = exceptions();

const maxWords = 25;

/** The number of exceptions, which may only decrease. */
const maxExceptions = 100;

test('words in a name are split at capitals, underscores and hyphens', (t) => {
  t.deepEqual(wordsOf('#askedHTTPUrl_of-x2'), ['asked', 'http', 'url', 'of', 'x2']);
  t.is(betterNameOf('mostRules'), 'max');
  t.is(betterNameOf('almostDone'), undefined);
  t.is(betterNameOf('mask'), undefined);
  t.true(betterNameOf('toldEvent')?.startsWith('reported'));
});

test('no identifier uses a word that the glossary replaces', (t) => {
  const denied = [...identifiersOfProject()].filter(([name]) => betterNameOf(name) !== undefined);
  t.deepEqual(
    denied
      .filter(([name]) => !Object.hasOwn(allowed.identifiers, name))
      .map(([name, file]) => `${file}: ${name}: write ${betterNameOf(name)}`),
    [],
  );
  const names = new Set(denied.map(([name]) => name));
  t.deepEqual(
    Object.keys(allowed.identifiers).filter((name) => !names.has(name)),
    [],
    'Take these out of vocabulary-exceptions.json.',
  );
  t.true(Object.keys(allowed.identifiers).length <= maxExceptions);
});

test('no file name uses a word that the glossary replaces', (t) => {
  const files = globSync(
    '{api,adapters,bin,charts,commands,probes,processors,queries,receivers,runtime,schemas,sinks,subjects,test,web}/**/*.{ts,tsx,mjs}',
    {
      cwd: root,
    },
  );
  const named = files.filter((file) => betterNameOf(basename(file)) !== undefined);
  t.deepEqual(
    named.filter((file) => !Object.hasOwn(allowed.identifiers, basename(file))),
    [],
  );
});

interface Schema {
  readonly [key: string]: unknown;
}

/** Calls `onSchema` for each object in a document. */
const visit = (value: unknown, onObject: (found: Schema) => void): void => {
  if (Array.isArray(value)) for (const one of value) visit(one, onObject);
  else if (typeof value === 'object' && value !== null) {
    onObject(value as Schema);
    for (const one of Object.values(value)) visit(one, onObject);
  }
};

test('no field or parameter of the API uses a word that the glossary replaces', (t) => {
  const names = new Set<string>();
  visit(document, (found) => {
    if (typeof found['properties'] === 'object' && found['properties'] !== null)
      for (const name of Object.keys(found['properties'])) names.add(name);
    if (typeof found['in'] === 'string' && typeof found['name'] === 'string') names.add(found['name']);
  });
  const denied = [...names].filter((name) => betterNameOf(name) !== undefined);
  t.deepEqual(
    denied.filter((name) => !Object.hasOwn(allowed.fields, name)),
    [],
  );
  t.deepEqual(
    Object.keys(allowed.fields).filter((name) => !denied.includes(name)),
    [],
  );
});

/** Returns denied phrases and long sentences of a text, without markup and code. */
const problemsOf = (text: string): string[] => {
  const prose = text.replace(/`[^`]*`/g, 'code').replace(/<[^>]*>/g, ' ');
  const long = prose
    .split('\n')
    .flatMap(sentencesOf)
    .filter((sentence) => sentence.split(/\s+/).length > maxWords);
  const denied = deniedPhrases.exec(prose);
  return [
    ...long.map((sentence) => `more than ${maxWords} words: ${sentence}`),
    ...(denied === null ? [] : [`${denied[0]}: ${text}`]),
  ];
};

test('API texts are short sentences of standard English that begin with a capital, a code or a number', (t) => {
  const texts = new Set<string>();
  visit(document, (found) => {
    for (const name of ['summary', 'description']) if (typeof found[name] === 'string') texts.add(found[name]);
  });
  t.deepEqual([...texts].filter((text) => !Object.hasOwn(allowed.texts, text)).flatMap(problemsOf), []);
});

test('settings, metrics, the command line and the page use short sentences of standard English', (t) => {
  t.deepEqual(
    readTexts().flatMap(({ at, text }) => problemsOf(text).map((problem) => `${at}: ${problem}`)),
    [],
  );
});

test('the documentation uses no phrase that the glossary replaces, and short sentences', (t) => {
  const pages = globSync('{*.md,docs/**/*.md}', { cwd: root }).filter(
    (path) => !/CHANGELOG|reference|glossary/.test(path),
  );
  const prose = (path: string): string =>
    readFileSync(join(root, path), 'utf8')
      .split('```')
      .filter((_, index) => index % 2 === 0)
      .join('')
      .replace(/^\|.*$/gm, '')
      .replace(/\]\([^)]*\)/g, ']');
  t.deepEqual(
    pages.flatMap((path) =>
      prose(path)
        .split('\n')
        .flatMap(sentencesOf)
        .filter((sentence) => deniedPhrases.test(sentence) || sentence.split(/\s+/).length > maxWords)
        .map((sentence) => `${path}: ${sentence}`),
    ),
    [],
  );
});
