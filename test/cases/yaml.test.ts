/** YAML from users: what is parsed, and the limits. */
import '../../subjects/query-kinds.ts';
import test from 'ava';
import { parseYaml, YamlError } from '../../queries/yaml.ts';
import { AlertmanagerFileError, importAlertmanager } from '../../subjects/alerts/routing/alertmanager.ts';
import { readRuleFile } from '../../subjects/alerts/rule-file.ts';
import { readRules } from '../../subjects/detections/read.ts';
import { readCheckFiles } from '../../subjects/synthetics/as-code.ts';

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

test('a merge key takes the entries of maps that a map does not have itself', (t) => {
  const table: readonly (readonly [text: string, values: unknown])[] = [
    ['{<<: *a, y: 3}', { x: 1, y: 3 }],
    ['{y: 3, <<: *a}', { x: 1, y: 3 }],
    ['{<<: [*a, *b]}', { x: 1, y: 2, z: 5 }],
    ['{<<: [*b, *a]}', { x: 4, y: 2, z: 5 }],
    ['{<<: {x: 9}, z: 1}', { x: 9, z: 1 }],
    ['{<<: *c}', { x: 4, y: 7, z: 5 }],
    ['{d: &d {<<: *b, w: 0}, <<: *d}', { d: { x: 4, z: 5, w: 0 }, x: 4, z: 5, w: 0 }],
    ["{'<<': 1}", { '<<': 1 }],
  ];
  for (const [text, values] of table)
    t.deepEqual(
      (
        parseYaml(`a: &a {x: 1, y: 2}\nb: &b {x: 4, z: 5}\nc: &c {<<: *b, y: 7}\nv: ${text}\n`).value() as {
          v: unknown;
        }
      ).v,
      values,
      text,
    );
});

test('the line of a merged entry is the one where it is written', (t) => {
  const { getPathLine } = parseYaml('a: &a\n  x: 1\n  y:\n    - 2\nb:\n  <<: *a\n  x: 3\n');
  const lines = [
    ['b', 'x'],
    ['b', 'y'],
    ['b', 'y', 0],
    ['b', 'z'],
  ].map(getPathLine);
  t.deepEqual(lines, [7, 3, 4, 5]);
});

test('checks, alert rules and detection rules can use merge keys', async (t) => {
  const checks = `name: shop
type: http
http:
  steps:
    - &get
      url: https://shop.example/
      headers: {accept: text/html}
    - <<: *get
      url: https://shop.example/cart
`;
  const [check] = readCheckFiles(checks);
  t.deepEqual(check?.problems, []);
  t.deepEqual(
    check?.check?.http?.steps.map(({ url, headers }) => [url, headers]),
    [
      ['https://shop.example/', { accept: 'text/html' }],
      ['https://shop.example/cart', { accept: 'text/html' }],
    ],
  );
  const [wrong] = readCheckFiles(checks.replace('url: https://shop.example/cart', 'ulr: https://shop.example/cart'));
  t.deepEqual(
    wrong?.problems.map(({ path, line }) => [path, line]),
    [['http.steps.1.ulr', 9]],
  );
  const rules = readRuleFile(
    'groups:\n- name: g\n  rules:\n  - &a {alert: A, expr: up == 0, labels: {severity: page}}\n  - {<<: *a, alert: B}\n',
  );
  t.deepEqual(JSON.stringify(rules).match(/"severity":"page"/g)?.length, 2);
  const { documents, errors } = await readRules(
    'title: T\nlogsource: {product: linux}\ndetection:\n  one: &one {a: 1, b: 2}\n  two: {<<: *one, a: 3}\n  condition: two\n',
  );
  t.deepEqual(errors, []);
  t.deepEqual(JSON.stringify(documents).includes('"<<"'), false);
});

const refused: readonly [what: string, text: string, message: string][] = [
  ['a map with too many keys', keys(5001), 'a map has more than 5000 keys at line 1, column 1'],
  [
    'a flow map with too many keys',
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
    'aliases of long content',
    `- &a "${'x'.repeat(300_000)}"\n${'- *a\n'.repeat(4)}`,
    'aliases repeat more than 1000000 characters at line 5, column 3',
  ],
  [
    'an alias within its own anchor',
    'a: &a [1, *a]',
    'an alias refers to a node that contains it at line 1, column 11',
  ],
  ['a merge key with a string', 'a: {<<: x}', 'a merge key (<<) takes a map or a list of maps at line 1, column 9'],
  [
    'a merge key with a list of strings',
    'a: &a [1]\nb: {<<: *a}',
    'a merge key (<<) takes a map or a list of maps at line 2, column 9',
  ],
  [
    'a merge key with null',
    'a:\n  <<:\n  b: 1\n',
    'a merge key (<<) takes a map or a list of maps at line 2, column 6',
  ],
  [
    'merges with too many keys',
    `a: &a {${repeated(3000, (index) => `k${index}: 1, `)}}\nb: &b {${repeated(3000, (index) => `l${index}: 1, `)}}\nc: {<<: [*a, *b]}`,
    'a map has more than 5000 keys at line 3, column 4',
  ],
  ['maps as keys', '? '.repeat(40), 'a key of a map is not a string at line 1, column 3'],
  ['two documents', 'a: 1\n---\nb: 1\n', 'it contains several documents at line 2, column 1'],
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

for (const [what, text] of [
  ['list', '- a\n'],
  ['flow list', `[${'a,'.repeat(200_000)}`],
  ['quotes', '"'],
  ['map', 'a: b\n'],
] as const)
  test(`a long text of ${what} parts is refused before it is parsed as a whole`, (t) => {
    const error = t.throws(() => parseYaml(text.repeat(Math.ceil(900_000 / text.length))), { instanceOf: YamlError });
    t.is(error?.message, 'it has more than 400000 parts');
  });

test('a text ends at its first error, whatever follows', (t) => {
  const startedAt = process.cpuUsage();
  const error = t.throws(() => parseYaml('{{ range .Alerts }}'.repeat(50_000)), { instanceOf: YamlError });
  t.is(error?.line, 1);
  const { user, system } = process.cpuUsage(startedAt);
  t.true(user + system < 1_000_000, `${user + system} µs of CPU`);
});

test('routing, rule files and Sigma all refuse a map with too many keys', (t) => {
  const error = t.throws(() => importAlertmanager(keys(20_000)), { instanceOf: AlertmanagerFileError });
  t.regex(error?.message ?? '', /a map has more than 5000 keys/);
  t.regex(readRuleFile(keys(20_000)).problem ?? '', /a map has more than 5000 keys/);
  t.regex(readRules(keys(20_000)).errors[0]?.message ?? '', /a map has more than 5000 keys/);
});
