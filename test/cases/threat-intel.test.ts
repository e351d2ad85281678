/** Which indicators are parsed from STIX, MISP and CSV, and how long they are valid. */
import test from 'ava';
import type { IndicatorType } from '../../schemas/resources/threat-intel.ts';
import { readCsv, readList } from '../../subjects/threat-intel/csv.ts';
import {
  computeScore,
  createIndicator,
  detectType,
  normalizeValue,
  parseFeedTime,
  toScoreInputs,
} from '../../subjects/threat-intel/indicator.ts';
import { readMisp } from '../../subjects/threat-intel/misp.ts';
import { readDocument } from '../../subjects/threat-intel/read-document.ts';
import { parsePattern, readStix } from '../../subjects/threat-intel/stix.ts';

const values: readonly [written: string, type: IndicatorType | undefined, value?: string][] = [
  ['192.0.2.7', 'ip', '192.0.2.7'],
  ['192[.]0[.]2[.]7', 'ip', '192.0.2.7'],
  ['2001:DB8:0:0::1', 'ip', '2001:db8::1'],
  ['::ffff:192.0.2.7', 'ip', '192.0.2.7'],
  ['192.0.2.77/24', 'network', '192.0.2.0/24'],
  ['2001:db8::1/32', 'network', '2001:db8::/32'],
  ['EVIL.Example.', 'domain', 'evil.example'],
  ['bücher.example', 'domain', 'xn--bcher-kva.example'],
  ['hxxps://evil[.]example/a?b=c#d', 'url', 'https://evil.example/a?b=c'],
  ['Somebody@Evil.example', 'email', 'somebody@evil.example'],
  ['D41D8CD98F00B204E9800998ECF8427E', 'md5', 'd41d8cd98f00b204e9800998ecf8427e'],
  ['a'.repeat(40), 'sha1', 'a'.repeat(40)],
  ['A'.repeat(64), 'sha256', 'a'.repeat(64)],
  ['1', undefined],
  ['a sentence', undefined],
  ['localhost', undefined],
];
for (const [written, type, value] of values)
  test(`${JSON.stringify(written)} is ${type === undefined ? 'no indicator' : `the ${type} ${value}`}`, (t) => {
    t.is(detectType(written), type);
    if (type !== undefined) t.is(normalizeValue(type, written), value);
  });

const patterns: readonly [pattern: string, expected: string | [IndicatorType, string][]][] = [
  ["[ipv4-addr:value = '192.0.2.1']", [['ip', '192.0.2.1']]],
  ["[ipv4-addr:value = '192.0.2.0/24']", [['network', '192.0.2.0/24']]],
  ["[file:hashes.'SHA-256' = '" + 'a'.repeat(64) + "']", [['sha256', 'a'.repeat(64)]]],
  [
    "[domain-name:value = 'a.example' OR url:value = 'http://b.example/']",
    [
      ['domain', 'a.example'],
      ['url', 'http://b.example/'],
    ],
  ],
  [
    "[domain-name:value = 'a.example'] OR [domain-name:value = 'b.example']",
    [
      ['domain', 'a.example'],
      ['domain', 'b.example'],
    ],
  ],
  [
    "[domain-name:value IN ('a.example', 'b.example')]",
    [
      ['domain', 'a.example'],
      ['domain', 'b.example'],
    ],
  ],
  [String.raw`[file:name = 'it\'s.exe']`, [['file-name', "it's.exe"]]],
  ["[file:name = 'a' AND file:size = 3]", 'comparisons joined with AND cannot be matched by a value'],
  ["[process:name = 'a']", 'process:name cannot be matched'],
  [
    "[ipv4-addr:value = '1.2.3.4'] FOLLOWEDBY [url:value = 'http://a.example']",
    'only alternatives of values are supported: no sequence, repetition or time',
  ],
  ["[ipv4-addr:value = 'x']", '"x" is not a valid ip'],
];
for (const [pattern, expected] of patterns)
  test(`the pattern ${pattern} gives ${JSON.stringify(expected)}`, (t) => {
    const found = parsePattern(pattern);
    t.deepEqual(typeof found === 'string' ? found : found.map(({ type, value }) => [type, value]), expected);
  });

test('a bundle yields its indicators with their validity, and lists its other objects', (t) => {
  const { indicators, rejected } = readStix({
    type: 'bundle',
    objects: [
      {
        type: 'indicator',
        id: 'indicator--1',
        pattern_type: 'stix',
        pattern: "[domain-name:value = 'a.example']",
        name: 'A',
        labels: ['malicious-activity'],
        confidence: 80,
        valid_from: '2026-01-01T00:00:00Z',
        valid_until: '2026-02-01T00:00:00.5Z',
        revoked: true,
      },
      { type: 'indicator', id: 'indicator--2', pattern_type: 'yara', pattern: 'rule x {}' },
      { type: 'malware', id: 'malware--1', name: 'B' },
    ],
  });
  t.deepEqual(indicators, [
    {
      type: 'domain',
      value: 'a.example',
      name: 'A',
      description: '',
      tags: ['malicious-activity'],
      confidence: 80,
      validFrom: '2026-01-01T00:00:00.000Z',
      validUntil: '2026-02-01T00:00:00.500Z',
      isRevoked: true,
      givenId: 'indicator--1',
    },
  ]);
  t.deepEqual(rejected, [{ at: 'indicator--2', message: 'patterns of the type yara are not supported' }]);
});

test('a MISP event yields the attributes for detection, each part of a composite value separately', (t) => {
  const { indicators, rejected } = readMisp({
    response: [
      {
        Event: {
          info: 'Campaign',
          Tag: [{ name: 'tlp:green' }],
          Attribute: [
            { type: 'ip-dst|port', value: '192.0.2.9|443', to_ids: true },
            { type: 'domain', value: 'context.example', to_ids: false },
            { type: 'mutex', value: 'x', to_ids: true, uuid: 'u1' },
          ],
          Object: [{ Attribute: [{ type: 'filename|md5', value: `Evil.exe|${'b'.repeat(32)}`, to_ids: true }] }],
        },
      },
    ],
  });
  t.deepEqual(
    indicators.map(({ type, value, name, tags }) => [type, value, name, tags.join()]),
    [
      ['ip', '192.0.2.9', 'Campaign', 'tlp:green'],
      ['file-name', 'evil.exe', 'Campaign', 'tlp:green'],
      ['md5', 'b'.repeat(32), 'Campaign', 'tlp:green'],
    ],
  );
  t.deepEqual(rejected, [{ at: 'u1', message: 'mutex "x" cannot be matched' }]);
});

test('CSV is read with and without a header, with comments, quotes and times without a time zone', (t) => {
  const named = readCsv(
    '# a feed\r\n"first_seen_utc","ioc_type","ioc_value","confidence_level","tags"\r\n' +
      '"2026-01-02 03:04:05","ip:port","192.0.2.1:8080","75","a,b"\r\n"","bitcoin","1A","",""\r\n',
  );
  t.deepEqual(
    named.indicators.map(({ type, value, confidence, tags, validFrom }) => [type, value, confidence, tags, validFrom]),
    [['ip', '192.0.2.1', 75, ['a', 'b'], '2026-01-02T03:04:05.000Z']],
  );
  t.deepEqual(named.rejected, [{ at: 'line 4', message: 'the type "bitcoin" is unknown' }]);

  const plain = readCsv('# a list\nevil.example\n\n192.0.2.0/24\nnothing of the kind\n');
  t.deepEqual(
    plain.indicators.map(({ type, value }) => `${type} ${value}`),
    ['domain evil.example', 'network 192.0.2.0/24'],
  );
  t.deepEqual(plain.rejected, [{ at: 'line 5', message: '"nothing of the kind" is not an indicator' }]);
});

test('CSV that consists only of quotation marks is read in one pass, and an unclosed quotation mark is reported with its position', (t) => {
  t.deepEqual(readCsv('"'.repeat(65)).rejected, [
    { at: 'line 1', message: 'a quotation mark is not closed: the following lines were not read' },
  ]);
  t.is(readCsv('"'.repeat(1_000_001)).rejected.length, 1);
  const { indicators, rejected } = readCsv('evil.example\n# it\'s "so\n"a.example\nb.example\n');
  t.deepEqual(
    indicators.map(({ value }) => value),
    ['evil.example'],
  );
  t.deepEqual(rejected, [
    { at: 'line 3', message: 'a quotation mark is not closed: the following lines were not read' },
  ]);
});

test('a quotation mark within a cell is text, and a quoted cell may contain newlines, commas and doubled quotation marks', (t) => {
  const { indicators, rejected } = readCsv('value,name\na.example,5" disk\n "b.example" , "a ""b"",\nc"\nno,\n');
  t.deepEqual(
    indicators.map(({ value, name }) => [value, name]),
    [
      ['a.example', '5" disk'],
      ['b.example', 'a "b",\nc'],
    ],
  );
  t.deepEqual(rejected, [{ at: 'line 5', message: '"no" is not an indicator' }]);
});

test('a line that consists only of comment signs is read in one pass', (t) => {
  t.deepEqual(readList(`x${'#\t'.repeat(500_000)}\r\n192.0.2.1`).indicators.length, 1);
});

test('a STIX pattern with too many values is refused', (t) => {
  const values = (count: number) =>
    `[ipv4-addr:value IN (${Array.from({ length: count }, () => "'192.0.2.1'").join(', ')})]`;
  t.is(parsePattern(values(1000)).length, 1000);
  t.is(parsePattern(values(1001)), 'a pattern must have at most 1000 values: split it');
  t.is(parsePattern(values(150_000)), 'a pattern must have at most 1000000 characters: split it');
});

test('a MISP attribute whose type has very many parts is read', (t) => {
  const many = (part: string): string => Array.from({ length: 150_000 }, () => part).join('|');
  const attribute = { type: many('ip'), value: many('192.0.2.1'), to_ids: true };
  t.is(readMisp({ Event: { Attribute: [attribute] } }).indicators.length, 150_000);
});

const other = { toString: 1 };

test('STIX and MISP fields of a wrong type are ignored', (t) => {
  const pattern = "[domain-name:value = 'a.example']";
  const fields = { name: other, description: 1, labels: other, modified: other, valid_from: other, confidence: other };
  const stix = { type: 'indicator', id: other, pattern, ...fields };
  t.deepEqual(readStix([stix, stix, { ...stix, pattern_type: other }, { ...stix, pattern: other }, null, 1]), {
    indicators: [createIndicator('domain', 'a.example')],
    rejected: ['', 'stix'].map((kind) => ({ at: '', message: `patterns of the type ${kind} are not supported` })),
  });
  const attribute = { type: 'domain', value: 'a.example', to_ids: true, comment: other, uuid: other, Tag: [other, 1] };
  const attributes = [attribute, { ...attribute, value: other }, { ...attribute, type: other }, null, 1];
  const { indicators, rejected } = readMisp([{ Event: { info: other, Tag: other, Attribute: attributes, Object: 1 } }]);
  t.deepEqual(indicators, [createIndicator('domain', 'a.example')]);
  t.is(rejected.length, 2);
  t.deepEqual(readMisp({ Attribute: other, response: null }), { indicators: [], rejected: [] });
});

test('the result of a document is bounded: excess indicators are only counted, and the list of refusals is truncated', (t) => {
  const lines = (count: number): string => Array.from({ length: count }, (_, index) => `a${index}.example`).join('\n');
  t.deepEqual(readDocument('list', lines(11), { max: 10 }), { tooMany: 11 });
  const read = readDocument('list', `${lines(10)}\n${`${'x'.repeat(5_000)}\n`.repeat(1_500)}`, { max: 10 });
  if (!('rejected' in read)) throw new Error('it was read');
  t.deepEqual([read.indicators.length, read.rejected.length, read.rejectedCount], [10, 1_000, 1_500]);
  t.true(read.rejected.every(({ message }) => message.length <= 1_000));
});

test('the score of an indicator halves with each half-life, and is zero outside its validity or once it is revoked', (t) => {
  const day = 86_400_000;
  const one = createIndicator('ip', '192.0.2.1', { confidence: 80, validUntil: new Date(100 * day).toISOString() });
  const seenAt = new Date(0).toISOString();
  const at = (days: number, more: object = {}): number =>
    computeScore(toScoreInputs({ ...one, seenAt, ...more }), days * day);
  t.deepEqual(
    [0, 30, 60, 99, 100].map((days) => at(days)),
    [80, 40, 20, 8, 0],
  );
  t.is(at(0, { isRevoked: true }), 0);
  t.is(at(0, { validFrom: new Date(day).toISOString() }), 0);
  t.is(at(60, { type: 'sha256', validUntil: null }), 76);
  t.is(at(10, { halfLifeDays: 10 }), 40);
});

test('times are parsed in the same way in all formats', (t) => {
  const expected = '2026-01-02T03:04:05.000Z';
  for (const input of [
    '2026-01-02 03:04:05',
    '2026-01-02T03:04:05Z',
    '2026-01-02T05:04:05+02:00',
    1767323045,
    '1767323045',
  ])
    t.is(parseFeedTime(input), expected, String(input));
  for (const inputValue of ['', 'soon', null, undefined, {}]) t.is(parseFeedTime(inputValue), null, String(inputValue));
});

test('a plain list has one value per line, and can be a hosts file', (t) => {
  const { indicators, rejected } = readList(
    '# feed\n192.0.2.1 ; seen twice\n0.0.0.0 Evil.Example # c2\r\n\n198.51.100.0/24\nnonsense\n',
  );
  t.deepEqual(
    indicators.map(({ type, value }) => `${type} ${value}`),
    ['ip 192.0.2.1', 'domain evil.example', 'network 198.51.100.0/24'],
  );
  t.deepEqual(rejected, [{ at: 'line 6', message: '"nonsense" is not an indicator' }]);
});

test('the latest version of a STIX object counts', (t) => {
  const version = (modified: string, value: string) => ({
    type: 'indicator',
    id: 'indicator--1',
    modified,
    pattern: `[domain-name:value = '${value}']`,
  });
  const { indicators } = readStix([
    version('2026-01-02T00:00:00Z', 'new.example'),
    version('2026-01-01T00:00:00Z', 'old.example'),
  ]);
  t.deepEqual(
    indicators.map(({ value, givenId }) => [value, givenId]),
    [['new.example', 'indicator--1']],
  );
});
