/** What rules match, according to the Sigma 2.1 specification. */
import test from 'ava';
import { splitDocuments } from '../../queries/yaml-documents.ts';
import { matchesNamePattern } from '../../subjects/detections/condition.ts';
import { fieldTables } from '../../subjects/detections/fields/index.ts';
import { readDocument, readRules, readRulesInWorker } from '../../subjects/detections/read.ts';
import { compileRuleSet } from '../../subjects/detections/rule-set.ts';

/** A rule with these lines as its detection. */
const ruleOf = (detection: string, logsource = 'category: test'): string =>
  `title: made up\nid: 6e1f2d3c-0000-4000-8000-000000000001\nlogsource:\n  ${logsource.replaceAll('\n', '\n  ')}\ndetection:\n  ${detection.replaceAll('\n', '\n  ')}\n`;

const setOf = (...texts: readonly string[]) => setFor(texts, false);

const setFor = (texts: readonly string[], anySource: boolean) => {
  const read = texts.map(readRules);
  const errors = read.flatMap((each) => each.errors);
  if (errors.length > 0) throw new Error(JSON.stringify(errors));
  const documents = read.flatMap((each) => each.documents);
  return compileRuleSet(
    documents.map((document, at) => ({ id: document.id || `rule-${at}`, version: 1, document, anySource })),
    fieldTables,
    { placeholders: { admins: ['ann', 'adm_*'] } },
  );
};

/** Whether a detection matches an event, regardless of its log source. */
const isMatch = (detection: string, event: object): boolean =>
  setFor([ruleOf(detection)], true).match(event).length > 0;

/** A one-line selection, events that match it, and events that do not. */
const items: readonly (readonly [item: string, matching: readonly object[], others: readonly object[]])[] = [
  [
    'f: abc',
    [{ f: 'abc' }, { f: 'ABC' }, { f: ['x', 'abc'] }, { F: 'abc' }],
    [{ f: 'abcd' }, { g: 'abc' }, {}, { f: null }],
  ],
  ['f: a*c', [{ f: 'ac' }, { f: 'abbc' }, { f: 'a\nc' }], [{ f: 'abcd' }]],
  ['f: a?c', [{ f: 'abc' }], [{ f: 'ac' }, { f: 'abbc' }]],
  ["f: 'a\\*c'", [{ f: 'a*c' }], [{ f: 'abc' }]],
  ["f: 'a\\\\*c'", [{ f: 'a\\xc' }, { f: 'a\\c' }], [{ f: 'a*c' }]],
  ["f: 'a\\\\\\*c'", [{ f: 'a\\*c' }], [{ f: 'a\\xc' }]],
  ["f: 'C:\\Windows\\x'", [{ f: 'c:\\windows\\X' }], [{ f: 'C:Windowsx' }]],
  ['f: [a, b]', [{ f: 'a' }, { f: 'b' }], [{ f: 'c' }]],
  ['f: 5', [{ f: 5 }, { f: '5' }, { f: '5.0' }], [{ f: 55 }, { f: 'five' }]],
  ["f: ''", [{ f: '' }], [{}, { f: null }, { f: 'x' }]],
  ['f: null', [{}, { f: null }], [{ f: '' }, { f: 'x' }]],
  ['f: true', [{ f: true }, { f: 'True' }], [{ f: false }]],
  ['a.b: x', [{ a: { b: 'x' } }, { 'a.b': 'x' }, { a: [{ b: 'y' }, { b: 'x' }] }], [{ a: { c: 'x' } }]],
  ['f|contains: bc', [{ f: 'abcd' }], [{ f: 'acb' }]],
  ['f|startswith: ab', [{ f: 'ABcd' }], [{ f: 'cab' }]],
  ['f|endswith: cd', [{ f: 'abCD' }], [{ f: 'cda' }]],
  ['f|contains|all: [ab, cd]', [{ f: 'xcdxab' }], [{ f: 'ab' }]],
  ['f|cased: aB', [{ f: 'aB' }], [{ f: 'ab' }]],
  ['f|contains|cased: aB', [{ f: 'xaBx' }], [{ f: 'xabx' }]],
  ['f|exists: true', [{ f: '' }, { f: null }, { f: 0 }], [{}]],
  ['f|exists: false', [{}], [{ f: null }]],
  ['f|neq: x', [{ f: 'y' }], [{ f: 'X' }, {}, { f: ['y', 'x'] }]],
  ['f|lt: 5', [{ f: 4.9 }, { f: '-1' }], [{ f: 5 }, { f: 'x' }, {}]],
  ['f|lte: 5', [{ f: 5 }], [{ f: 5.1 }]],
  ['f|gt: 5', [{ f: 6 }], [{ f: 5 }]],
  ['f|gte: 5', [{ f: '5' }, { f: [1, 9] }], [{ f: 4 }]],
  ['f|re: ^a+b$', [{ f: 'aab' }], [{ f: 'AAB' }, { f: 'xab' }]],
  ['f|re|i: ^a+b$', [{ f: 'AAB' }], [{ f: 'xab' }]],
  ['f|re|m: ^b$', [{ f: 'a\nb\nc' }], [{ f: 'ab' }]],
  ['f|re|s: a.b', [{ f: 'a\nb' }], []],
  ['f|re: a.b', [{ f: 'axb' }], [{ f: 'a\nb' }]],
  ['f|re: x.{1000,}', [{ f: `x${'y'.repeat(1_000)}` }], [{ f: `x${'y'.repeat(999)}` }]],
  [
    "f|re: '^a.{1,400}b.{1,400}c.{1,400}d$'",
    [{ f: 'axbxcxd' }, { f: `a${'x'.repeat(400)}bxcxd` }],
    [{ f: 'abcd' }, { f: `a${'x'.repeat(401)}bxcxd` }],
  ],
  ["f|re: '(?i)x(yy|zz)+[0-9]{2}'", [{ f: 'aXYYzz42' }], [{ f: 'x42' }]],
  ['f|cidr: 10.0.0.0/8', [{ f: '10.255.1.2' }, { f: '::ffff:10.1.1.1' }], [{ f: '11.0.0.1' }, { f: 'x' }]],
  [
    "f|cidr: ['192.168.0.0/23', 'fe80::/10']",
    [{ f: '192.168.1.9' }, { f: 'fe80::1' }],
    [{ f: '192.168.2.1' }, { f: '::1' }],
  ],
  ['f|base64: foobar', [{ f: 'Zm9vYmFy' }], [{ f: 'xZm9vYmFy' }]],
  [
    'f|base64offset|contains: foobar',
    [{ f: 'Zm9vYmFy' }, { f: 'xZm9vYmFyx' }, { f: 'eGZvb2Jhcg' }, { f: 'eHhmb29iYXI' }],
    [{ f: 'foobar' }],
  ],
  ['f|utf16le|base64: ab', [{ f: 'YQBiAA==' }], [{ f: 'YWI=' }]],
  ['f|wide|base64offset|contains: ab', [{ f: 'xYQBiAx' }], [{ f: 'YWI' }]],
  ['f|utf16be|base64: ab', [{ f: 'AGEAYg==' }], []],
  ['f|utf16|base64: ab', [{ f: '//5hAGIA' }], []],
  ["f|windash|contains: ' -x'", [{ f: 'p -x' }, { f: 'p /x' }, { f: 'p –x' }, { f: 'p ―X' }], [{ f: 'p x' }]],
  ['f|fieldref: g', [{ f: 'a', g: 'A' }], [{ f: 'a', g: 'b' }, { f: 'a' }]],
  ['f|fieldref|startswith: g', [{ f: 'abc', g: 'ab' }], [{ f: 'ab', g: 'abc' }]],
  ['f|fieldref|neq: g', [{ f: 'a', g: 'b' }], [{ f: 'a', g: 'a' }]],
  ["f|expand: '%admins%'", [{ f: 'ann' }, { f: 'adm_7' }], [{ f: '%admins%' }, { f: 'bob' }]],
  ["f|expand: '%nobody%'", [], [{ f: 'ann' }, { f: '%nobody%' }]],
  ['f|hour: 13', [{ f: '2026-03-01T13:05:00Z' }, { f: 1_772_370_300 }], [{ f: '2026-03-01T12:05:00Z' }, { f: 'x' }]],
  ['f|minute: 5', [{ f: '2026-03-01 13:05:00' }], [{ f: '2026-03-01 13:06:00' }]],
  ['f|day: 1', [{ f: '2026-03-01' }], [{ f: '2026-03-02' }]],
  ['f|week: 9', [{ f: '2026-03-01' }], [{ f: '2026-03-02' }]],
  ['f|month|gte: 3', [{ f: '2026-03-01' }], [{ f: '2026-02-01' }]],
  ['f|year: 2026', [{ f: '2026-02-01' }], [{ f: '2025-02-01' }]],
];

for (const [item, matching, others] of items)
  test(`matches by ${item}`, (t) => {
    for (const event of matching) t.true(isMatch(`s:\n  ${item}\ncondition: s`, event), JSON.stringify(event));
    for (const event of others) t.false(isMatch(`s:\n  ${item}\ncondition: s`, event), JSON.stringify(event));
  });

const conditions: readonly (readonly [detection: string, matching: readonly object[], others: readonly object[]])[] = [
  ['a: [foo, b*r]\ncondition: a', [{ x: 'a FOO b' }, { x: { y: ['bxr'] } }], [{ foo: 'x' }]],
  ["a:\n  '|all': [foo, bar]\ncondition: a", [{ x: 'foo', y: 'bar' }], [{ x: 'foo' }]],
  ['a:\n  - f: x\n    g: y\n  - f: z\ncondition: a', [{ f: 'x', g: 'y' }, { f: 'z' }], [{ f: 'x' }]],
  ['a:\n  - f: x\n  - word\ncondition: a', [{ f: 'x' }, { g: 'a word' }], [{ f: 'y' }]],
  ['a1: { f: x }\na2: { g: y }\nb: { h: z }\ncondition: 1 of a*', [{ f: 'x' }, { g: 'y' }], [{ h: 'z' }]],
  ['a1: { f: x }\na2: { g: y }\ncondition: all of a*', [{ f: 'x', g: 'y' }], [{ f: 'x' }]],
  ['a: { f: x }\n_b: { g: y }\ncondition: all of them', [{ f: 'x' }], [{ g: 'y' }]],
  ['a: { f: x }\nb: { g: y }\ncondition: a and not b', [{ f: 'x' }], [{ f: 'x', g: 'y' }]],
  ['a: { f: x }\nb: { g: y }\nc: { h: z }\ncondition: a or b and c', [{ f: 'x' }, { g: 'y', h: 'z' }], [{ g: 'y' }]],
  ['a: { f: x }\nb: { g: y }\nc: { h: z }\ncondition: (a or b) and c', [{ f: 'x', h: 'z' }], [{ f: 'x' }]],
  ['a: { f: x }\nb: { g: y }\ncondition: [a, b]', [{ f: 'x' }, { g: 'y' }], [{}]],
  ['a: { f: x }\ncondition: not a', [{ f: 'y' }, {}], [{ f: 'x' }]],
];

for (const [detection, matching, others] of conditions)
  test(`matches by ${JSON.stringify(detection)}`, (t) => {
    for (const event of matching) t.true(isMatch(detection, event), JSON.stringify(event));
    for (const event of others) t.false(isMatch(detection, event), JSON.stringify(event));
  });

const wrong: readonly (readonly [text: string, line: number, field: string, message: RegExp])[] = [
  ['title: x\nlogsource: { product: windows }', 1, 'detection', /missing/],
  [ruleOf('s:\n  f|endswit: x\ncondition: s'), 7, 'detection.s.f|endswit', /modifier "endswit" does not exist/],
  [ruleOf('s:\n  f|re: "(a"\ncondition: s'), 7, 'detection.s.f|re', /not a valid regular expression/],
  [ruleOf('s:\n  f|cidr: 10.0.0.0/40\ncondition: s'), 7, 'detection.s.f|cidr', /not a network/],
  [ruleOf('s:\n  f|gt: x\ncondition: s'), 7, 'detection.s.f|gt', /not a number/],
  [ruleOf('s:\n  f|re|contains: x\ncondition: s'), 7, 'detection.s.f|re|contains', /cannot be combined/],
  [ruleOf('s: { f: x }\ncondition: s and t'), 7, 'detection.condition', /selection "t" does not exist/],
  [ruleOf('s: { f: x }\ncondition: s | count() > 5'), 7, 'detection.condition', /correlation/],
  [ruleOf('s: { f: x }\ncondition: 1 of x*'), 7, 'detection.condition', /no selection matches/],
  [ruleOf('s: { f: x }'), 6, 'detection.condition', /missing/],
  ['title: [x', 1, '', /not valid YAML/],
  [`${ruleOf('s: { f: x }\ncondition: s')}level: loud\n`, 8, 'level', /not one of/],
  ['title: c\ncorrelation:\n  type: often\n  rules: [a]', 3, 'correlation.type', /not one of event_count/],
  [
    'title: c\ncorrelation:\n  type: event_count\n  rules: [a]\n  timespan: 5x\n  condition: { gte: 2 }',
    5,
    'correlation.timespan',
    /not a timespan/,
  ],
];

for (const [text, line, field, message] of wrong)
  test(`reports the error position: ${field} ${message}`, (t) => {
    const { documents, errors } = readRules(
      `title: good\nlogsource: { product: x }\ndetection:\n  s: { f: x }\n  condition: s\n---\n${text}`,
    );
    t.is(documents.length, 1);
    t.like(errors[0], { document: 2, line: line + 6, field });
    t.regex(errors[0]?.message ?? '', message);
  });

const repeated = (text: string, times: number, between: string): string =>
  Array.from({ length: times }, () => text).join(between);
const numbered = (count: number): string => Array.from({ length: count }, (_, at) => at).join(', ');
const tooMuch: readonly (readonly [what: string, detection: string, message: RegExp])[] = [
  ['a long condition', `s: { f: x }\ncondition: ${repeated('s', 30_000, ' or ')}`, /149996 characters.*4096/],
  ['many terms', `s: { f: x }\ncondition: ${repeated('s', 501, ' or ')}`, /more than 500 times/],
  ['terms of several conditions', `s: { f: x }\ncondition: [${repeated('s', 501, ', ')}]`, /more than 500 times/],
  [
    'terms that "of" names',
    `${Array.from({ length: 300 }, (_, at) => `s${at}: { f: x }`).join('\n')}\ncondition: 1 of them or all of s*`,
    /more than 500 times/,
  ],
  [
    'a long list that is referenced many times',
    `s: { f: [${numbered(10_000)}] }\ncondition: ${repeated('s', 6, ' or ')}`,
    /60000 values/,
  ],
];
for (const [what, detection, message] of tooMuch)
  test(`rejects an excessive condition: ${what}`, (t) => {
    const { documents, errors } = readRules(ruleOf(detection));
    t.deepEqual(documents, []);
    t.is(errors[0]?.field, 'detection.condition');
    t.is(errors[0]?.line, 6 + detection.slice(0, detection.indexOf('condition')).split('\n').length - 1);
    t.regex(errors[0]?.message ?? '', message);
  });

test('a condition with 500 terms is parsed', (t) => {
  t.true(isMatch(`s: { f: x }\ncondition: ${repeated('s', 500, ' or ')}`, { f: 'x' }));
});

test('selection names are matched with patterns part by part', (t) => {
  const pattern = `a${'*a'.repeat(1_000)}*b`;
  t.false(matchesNamePattern('a'.repeat(5_000), pattern));
  t.true(matchesNamePattern(`${'a'.repeat(5_000)}b`, pattern));
  for (const name of ['ab', 'aab', 'a.b', 'a\nb']) t.true(matchesNamePattern(name, 'a*b'));
  for (const [name, other] of [
    ['aba', 'ab*ba'],
    ['xab', 'a*b'],
    ['ab', 'a'],
    ['abc', '*b'],
  ] as const)
    t.false(matchesNamePattern(name, other), `${name} ${other}`);
});

test('a document of 300 kB is parsed, and one above a megabyte is rejected by its line and title only', (t) => {
  const good = ruleOf('s: { f: x }\ncondition: s');
  const text = `${good}# ${'x'.repeat(300_000)}\n---\n${good}# ${'x'.repeat(1_100_000)}\n---\n${good}`;
  const { documents, errors } = readRules(text);
  t.deepEqual(
    documents.map(({ document }) => document),
    [1, 3],
  );
  t.like(errors, { length: 1, 0: { document: 2, line: 10, field: '', title: 'made up' } });
  t.regex(errors[0]?.message ?? '', /the maximum is 1048576/);
});

test('a filter restricts the rules that it names', (t) => {
  const filter =
    'title: no admins\nlogsource: { category: test }\nfilter:\n  rules: [6e1f2d3c-0000-4000-8000-000000000001]\n  admin:\n    user|startswith: adm_\n  condition: not admin\n';
  const set = setOf(ruleOf('s: { f: x }\ncondition: s'), filter);
  t.is(set.match({ f: 'x', user: 'ann' }).length, 1);
  t.is(set.match({ f: 'x', user: 'adm_1' }).length, 0);
  const ofOthers = setOf(ruleOf('s: { f: x }\ncondition: s'), filter.replace('000001', '000002'));
  t.is(ofOthers.match({ f: 'x', user: 'adm_1' }).length, 1);
});

test('a match reports the matched fields, their location in the event, and the reason', (t) => {
  const [match] = setOf(
    ruleOf("s:\n  Image|endswith: ['\\a.exe', '\\cmd.exe']\n  User: ann\ncondition: s", 'product: windows'),
  ).match({
    Event: { EventData: { Image: 'C:\\cmd.exe', User: 'ann' } },
  });
  t.deepEqual(match?.fields, [
    {
      field: 'Image',
      path: 'Event.EventData.Image',
      value: 'C:\\cmd.exe',
      selection: 's',
      condition: 'endswith \\cmd.exe',
    },
    { field: 'User', path: 'Event.EventData.User', value: 'ann', selection: 's', condition: 'ann' },
  ]);
});

test('aliases cannot create more values than a rule can need', (t) => {
  const values = Array.from({ length: 1_000 }, (_, at) => `x${at}`).join(', ');
  const items = Array.from({ length: 100 }, (_, at) => `      f${at}: *v`).join('\n');
  const { documents, errors } = readRules(
    ruleOf(`a:\n  f: &v [${values}]\nb:\n${items.replaceAll('    f', 'f')}\ncondition: a or b`),
  );
  t.is(documents.length, 0);
  t.regex(errors[0]?.message ?? '', /50,000 values/);
});

test('regular expressions run in linear time', (t) => {
  const set = setOf(
    ...['(a+)+$', '(.*a){20}', '^(a|aa)+$', 'a*a*a*a*b'].map((re, at) =>
      ruleOf(`s:\n  f|re: '${re}'\ncondition: s`).replace('000001', `00000${at}`),
    ),
  );
  t.is(set.match({ f: `${'a'.repeat(50_000)}!` }).length, 1);
});

/** Events of several sources, a detection with Sigma field names, and the log source. */
const sources: readonly (readonly [what: string, event: object, detection: string, logsource: string])[] = [
  [
    'Security 4688 as process creation',
    {
      Event: {
        System: { EventID: 4688, Channel: 'Security' },
        EventData: { NewProcessName: 'C:\\x.exe', ParentProcessName: 'C:\\p.exe' },
      },
    },
    's: { Image|endswith: \\x.exe, ParentImage|endswith: \\p.exe }',
    'product: windows\ncategory: process_creation',
  ],
  [
    'Sysmon through winlogbeat',
    { winlog: { channel: 'Microsoft-Windows-Sysmon/Operational', event_id: 1, event_data: { CommandLine: 'whoami' } } },
    's: { CommandLine: whoami, EventID: 1 }',
    'product: windows\ncategory: process_creation',
  ],
  [
    "OpenTelemetry's receiver of Windows events",
    { channel: 'Security', event_id: { id: 4625, qualifiers: 0 }, event_data: { data: [{ TargetUserName: 'ann' }] } },
    's: { EventID: 4625, TargetUserName: ann }',
    'product: windows\nservice: security',
  ],
  [
    'Defender, whose names have spaces',
    {
      Event: {
        System: { EventID: 1116, Channel: 'Microsoft-Windows-Windows Defender/Operational' },
        EventData: { 'Threat Name': 'EICAR' },
      },
    },
    's: { ThreatName: EICAR }',
    'product: windows\nservice: windefend',
  ],
  [
    'XML in lists of names and texts',
    {
      Event: {
        System: { EventID: { '#text': 7045 } },
        EventData: { Data: [{ '@Name': 'ServiceName', '#text': 'evil' }] },
      },
    },
    's: { EventID: 7045, ServiceName: evil }',
    'product: windows\nservice: system',
  ],
  [
    'ECS',
    { process: { command_line: 'nc -e', executable: '/bin/nc' }, host: { os: { type: 'linux' } } },
    's: { CommandLine: nc -e, Image|endswith: /nc }',
    'product: linux\ncategory: process_creation',
  ],
  [
    'OpenTelemetry',
    { 'process.command_line': 'nc -e', 'process.executable.path': '/bin/nc' },
    's: { CommandLine: nc -e, Image: /bin/nc }',
    'product: linux\ncategory: process_creation',
  ],
  [
    'OCSF',
    { class_uid: 1007, activity_id: 1, process: { cmd_line: 'nc -e', file: { path: '/bin/nc' } } },
    's: { CommandLine: nc -e, Image: /bin/nc }',
    'product: linux\ncategory: process_creation',
  ],
  [
    'Kubernetes audit',
    { apiVersion: 'audit.k8s.io/v1', verb: 'create', objectRef: { resource: 'pods', subresource: 'exec' } },
    's: { verb: create, objectRef.subresource: exec }',
    'product: kubernetes\nservice: audit',
  ],
  [
    'CloudTrail',
    { eventVersion: '1.08', eventSource: 'iam.amazonaws.com', eventName: 'CreateUser', userIdentity: { type: 'Root' } },
    's: { eventSource: iam.amazonaws.com, userIdentity.type: Root }',
    'product: aws\nservice: cloudtrail',
  ],
  [
    'nginx',
    { request_method: 'GET', request_uri: '/?q=../../etc/passwd', status: 200, http_user_agent: 'sqlmap' },
    's: { cs-uri-query|contains: etc/passwd, c-useragent: sqlmap }',
    'category: webserver',
  ],
  [
    'Zeek',
    { _path: 'dns', 'id.orig_h': '10.0.0.1', query: 'evil.example' },
    's: { id.orig_h: 10.0.0.1, query|endswith: evil.example }',
    'product: zeek\nservice: dns',
  ],
];

for (const [what, event, detection, logsource] of sources)
  test(`field names are those of Sigma: ${what}`, (t) => {
    t.is(setOf(ruleOf(`${detection}\ncondition: s`, logsource)).match(event).length, 1);
  });

test('an event of another log source is not evaluated', (t) => {
  const sysmon = { EventID: 11, Channel: 'Microsoft-Windows-Sysmon/Operational', Image: 'C:\\x.exe' };
  const detection = 's: { Image|endswith: x.exe }\ncondition: s';
  const counts = [
    'product: windows\ncategory: file_event',
    'product: windows\ncategory: process_creation',
    'product: linux',
    'product: windows\nservice: security',
  ].map((logsource) => setOf(ruleOf(detection, logsource)).match(sysmon).length);
  t.deepEqual(counts, [1, 0, 0, 0]);
});

const sysmonProcess = { EventID: 1, Channel: 'Microsoft-Windows-Sysmon/Operational', CommandLine: 'x' };
const sudo = { SYSLOG_IDENTIFIER: 'sudo', MESSAGE: 'shutdown' };
const prose = { body: 'please format the disk, then shutdown' };
/** A detection, its log source, and events with whether they match. */
const ofUnknown: readonly (readonly [
  what: string,
  detection: string,
  logsource: string,
  events: readonly (readonly [object, boolean])[],
])[] = [
  [
    'a rule that only excludes',
    'a: { f: x }\ncondition: not a',
    'category: test',
    [
      [{}, false],
      [prose, false],
      [{ f: 'y' }, true],
      [{ f: 'x' }, false],
    ],
  ],
  [
    'a rule of an absent field',
    's: { f: null, g: null }\ncondition: s',
    'category: test',
    [
      [prose, false],
      [{ g: null }, true],
    ],
  ],
  [
    'keywords alone',
    'k: [format, shutdown]\ncondition: k',
    'product: cisco\nservice: aaa',
    [
      [prose, false],
      [{ message: 'shutdown' }, false],
    ],
  ],
  [
    'only keywords, with a partly known source',
    'k: [shutdown]\ncondition: k',
    'product: linux\nservice: sudo',
    [
      [sudo, true],
      [prose, false],
    ],
  ],
  [
    'keywords and fields',
    'k: [shutdown]\nf: { f: x }\ncondition: k and not f',
    'product: cisco',
    [
      [prose, false],
      [{ ...prose, f: 'y' }, true],
    ],
  ],
  [
    'a rule with only exclusions, with a partly known source',
    'a: { Image: x }\ncondition: not a',
    'product: linux\ncategory: network_connection',
    [
      [{ SYSLOG_IDENTIFIER: 'sudo' }, false],
      [{ SYSLOG_IDENTIFIER: 'sudo', Image: 'y' }, true],
    ],
  ],
  [
    'a rule with only exclusions, with a known source',
    'a: { Image: x }\ncondition: not a',
    'product: windows\ncategory: process_creation',
    [[sysmonProcess, true]],
  ],
];
for (const [what, detection, logsource, events] of ofUnknown)
  test(`an event of unknown source matches a rule by a field that the rule names: ${what}`, (t) => {
    const set = setOf(ruleOf(detection, logsource));
    for (const [event, isMatched] of events) t.is(set.match(event).length, Number(isMatched), JSON.stringify(event));
  });

test('documents are split at lines of three hyphens or dots, and empty documents are ignored', (t) => {
  for (const [text, expected] of [
    [
      'a: 1\n---\nb: 2\n...\nc: 3\n',
      [
        [1, 'a: 1'],
        [3, 'b: 2'],
        [5, 'c: 3\n'],
      ],
    ],
    [
      '\uFEFF---\r\na: 1\r\n---\r\n# none\r\n---  b: 2\r\n\r\nc: 3',
      [
        [2, 'a: 1'],
        [6, '\nc: 3'],
      ],
    ],
    ['a: ---\n ---\n----\n', [[1, 'a: ---\n ---\n----\n']]],
    ['\n \n # none\n', []],
    ['', []],
  ] as const)
    t.deepEqual(
      splitDocuments(text).map((part) => [part.line, part.text]),
      expected.map(([...part]) => part),
      JSON.stringify(text),
    );
});

test('for a text with too many documents the first 20,000 are read, and a problem reports the limit', (t) => {
  const parts = splitDocuments('a: 1\n---\n'.repeat(20_002));
  t.deepEqual([parts.length, parts.at(-1)?.line], [20_001, 40_001]);
  const { errors } = readDocument('a: 1', 40_001, 20_001);
  const message = 'a text must contain at most 20000 documents: it was not read from this line on';
  t.deepEqual(errors, [{ document: 20_001, line: 40_001, field: '', title: '', message }]);
});

test('parsing many documents yields to other work, and gives the same result as parsing them at once', async (t) => {
  const text = Array.from(
    { length: 200 },
    (_, number) =>
      `title: Rule ${number}\nlogsource: { product: linux }\ndetection: { selection: { User: u${number} }, condition: selection${number % 50 === 7 ? ' and' : ''} }`,
  ).join('\n---\n');
  let loopIterations = 0;
  const others = setInterval(() => loopIterations++, 0);
  const [first, second] = await readRulesInWorker({ tenantId: 'a' }, [text, text]);
  clearInterval(others);
  t.true(loopIterations > 1);
  t.deepEqual(first, readRules(text));
  t.deepEqual(second, first);
  t.is(first?.errors.length, 4);
});
