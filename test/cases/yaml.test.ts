/** YAML that people send: what is read, and what is more than is read. */
import '../../subjects/query-kinds.ts';
import test from 'ava';
import { parseYaml, YamlError } from '../../queries/yaml.ts';
import { AlertmanagerFileError, importAlertmanager } from '../../subjects/alerts/routing/alertmanager.ts';
import { readRuleFile } from '../../subjects/alerts/rule-file.ts';
import { readRules } from '../../subjects/detections/read.ts';

const repeated = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => line(index)).join('');
const keys = (count: number): string => repeated(count, (index) => `k${index}: 1\n`);

test('an alias refers to the latest preceding anchor of its name, in any position', (t) => {
  t.deepEqual(parseYaml('a: &x {b: 1}\nc: *x\nd: &x [2]\ne: *x\n').value(), {
    a: { b: 1 },
    c: { b: 1 },
    d: [2],
    e: [2],
  });
});

const refused: readonly [what: string, text: string, message: string][] = [
  ['a map of too many keys', keys(5001), 'a map has more than 5000 keys at line 1, column 1'],
  [
    'a map of too many keys in a line',
    `a: {${repeated(5001, (index) => `k${index}: 1, `)}}`,
    'a map has more than 5000 keys at line 1, column 4',
  ],
  ['two keys of one name', 'a: 1\nb: {c: 1,\n  c: 2}', 'keys of a map must be unique at line 3, column 3'],
  ['too many aliases', `- &a 1\n${'- *a\n'.repeat(1001)}`, 'there are more than 1000 aliases at line 1002, column 3'],
  [
    'aliases that multiply',
    `a0: &a0 [${'xy,'.repeat(50)}]\n${repeated(9, (index) => `a${index + 1}: &a${index + 1} [${`*a${index},`.repeat(9)}]\n`)}`,
    'aliases repeat more than 1000000 characters at line 5, column 38',
  ],
  [
    'aliases of what is long',
    `- &a "${'x'.repeat(300_000)}"\n${'- *a\n'.repeat(4)}`,
    'aliases repeat more than 1000000 characters at line 5, column 3',
  ],
  [
    'an alias within what it stands for',
    'a: &a [1, *a]',
    'an alias refers to a node that contains it at line 1, column 11',
  ],
  ['maps as keys', '? '.repeat(40), 'a key of a map is not a string at line 1, column 3'],
  [
    'two documents',
    'a: 1\n---\nb: 1\n',
    'Source contains multiple documents; please use YAML.parseAllDocuments() at line 2, column 1',
  ],
];
for (const [what, text, message] of refused)
  test(`YAML with ${what} is refused with its position`, (t) => {
    t.is(t.throws(() => parseYaml(text), { instanceOf: YamlError })?.text, message);
  });

test('YAML that is nested too deep for the stack is refused', (t) => {
  t.is(t.throws(() => parseYaml('['.repeat(100_000)), { instanceOf: YamlError })?.message, 'it is nested too deeply');
});

test('aliases with fewer repetitions are read, including nested aliases', (t) => {
  const text = `a: &a [${'x, '.repeat(100)}]\nb: &b [${'*a, '.repeat(100)}]\nc: [*b, *b]\n`;
  t.is((parseYaml(text).value() as { c: string[][][] }).c.flat(2).length, 20_000);
});

test('a map with the maximum number of keys is read', (t) => {
  t.is(Object.keys(parseYaml(keys(5000)).value() as object).length, 5000);
});

test('routing, rule files and Sigma all refuse a map with too many keys', (t) => {
  const error = t.throws(() => importAlertmanager(keys(60_000)), { instanceOf: AlertmanagerFileError });
  t.regex(error?.message ?? '', /a map has more than 5000 keys/);
  t.regex(readRuleFile(keys(60_000)).problem ?? '', /a map has more than 5000 keys/);
  t.regex(readRules(keys(60_000)).errors[0]?.message ?? '', /a map has more than 5000 keys/);
});
