/** Which telemetry the stream saw, and what this means for rules. */
import test from 'ava';
import type { SeenTelemetry } from '../../schemas/signals.ts';
import { topics } from '../../schemas/topics.ts';
import { parseDocument } from '../../subjects/detections/deployment.ts';
import { fieldTables } from '../../subjects/detections/fields/index.ts';
import { findRuleTelemetry, type Telemetry } from '../../subjects/detections/telemetry.ts';
import { deployedRule, stored } from './detection-rules.ts';
import { DetectionStream } from './detection-stream.ts';
import { firstMs } from './run-task.ts';

const dayMs = 86_400_000;
const log = (body: object | string) => ({
  timeUnixNano: `${BigInt(firstMs) * 1_000_000n}`,
  body: { stringValue: typeof body === 'string' ? body : JSON.stringify(body) },
});
const rule = (logsource: string, selection: string): string =>
  `title: r\nname: r\nlogsource: { ${logsource} }\ndetection:\n  s: ${selection}\n  condition: s\n`;
const security = { Channel: 'Security', EventID: 4688, NewProcessName: 'C:\\cmd.exe' };
const stream = (): DetectionStream => new DetectionStream([stored(deployedRule(rule('product: linux', '{ a: b }')))]);
const seenBy = ({ detections }: DetectionStream): SeenTelemetry[] =>
  detections.emitted<SeenTelemetry>(topics.detectionTelemetry);

test('log sources and fields are emitted once a day, and not again after a restart', (t) => {
  const running = stream();
  running.logs([log(security), log(security), log({ ...security, CommandLine: 'cmd' })]);
  running.restart();
  running.logs([log(security)]);
  const [first, second, third] = seenBy(running);
  t.like(first, { day: new Date(Math.floor(firstMs / dayMs) * dayMs).toISOString(), knowsCategories: true });
  t.true(first?.products.includes('windows'));
  t.true(first?.services.includes('security'));
  t.true(first?.categories.includes('process_creation'));
  t.true(first?.fields.includes('newprocessname'));
  t.deepEqual(second?.fields, ['commandline']);
  t.is(third, undefined);
  running.logs([log(security)], {}, firstMs + dayMs);
  t.is(seenBy(running).length, 3);
});

test('nothing is emitted if no rule is deployed', (t) => {
  const running = new DetectionStream();
  running.logs([log(security)]);
  t.deepEqual(seenBy(running), []);
});

/** The telemetry that the stream reports for some records, as it is read. */
const telemetryAfter = (bodies: readonly (object | string)[], attributes: readonly string[] = []): Telemetry => {
  const running = stream();
  running.logs(bodies.map(log));
  return {
    days: 30,
    sources: seenBy(running).map(({ products, services, categories, knowsCategories, fields, day }) => ({
      kind: {
        key: '',
        products: new Set(products),
        services: new Set(services),
        categories: knowsCategories ? new Set(categories) : undefined,
      },
      names: new Set(fields),
      lastDay: day.slice(0, 10),
    })),
    attributes: new Map(attributes.map((name) => [name, '2026-01-01'])),
  };
};

type Sent = readonly (object | string)[];
const cases: readonly (readonly [
  what: string,
  source: string,
  sent: Sent,
  isSeen: boolean | null,
  missing: readonly string[],
])[] = [
  [
    'process creation of Windows, from Security events',
    rule('category: process_creation, product: windows', '{ Image: x, CommandLine: y }'),
    [security],
    true,
    ['CommandLine'],
  ],
  [
    'the same if such events have all fields',
    rule('category: process_creation, product: windows', '{ Image: x, CommandLine: y }'),
    [{ ...security, CommandLine: 'cmd' }],
    true,
    [],
  ],
  [
    'registry events, which nobody sends',
    rule('category: registry_set, product: windows', '{ TargetObject: x }'),
    [security],
    false,
    ['TargetObject'],
  ],
  ['another product', rule('product: linux', '{ Image: x }'), [security], false, ['Image']],
  [
    'records of unknown origin that have a field of the rule',
    rule('category: application', '{ user.name: ann, secret: x }'),
    [{ user: { name: 'ann' } }],
    true,
    ['secret'],
  ],
  [
    'records of unknown origin that have none',
    rule('category: application', '{ user.name: ann }'),
    ['hello'],
    false,
    ['user.name'],
  ],
  ['keywords, in records of unknown origin', rule('category: application', '[failed]'), ['hello'], null, []],
  ['attributes only, without observed telemetry', rule('product: linux', '{ known: x }'), [], true, []],
  ['fields that are not attributes, without observed telemetry', rule('product: linux', '{ other: x }'), [], null, []],
];
for (const [what, source, sent, isSeen, missing] of cases)
  test(`telemetry of ${what} is ${isSeen === null ? 'unknown' : isSeen ? 'seen' : 'not seen'}`, (t) => {
    const document = parseDocument(source);
    if (typeof document === 'string') return t.fail(document);
    const found = findRuleTelemetry(document, fieldTables, telemetryAfter(sent, ['known']));
    t.is(found.isSeen, isSeen);
    t.deepEqual(found.missingFields, [...missing]);
    t.is(found.reason === null, isSeen === true);
    t.is(found.lastSeen === null, isSeen !== true);
    return undefined;
  });
