/** A record that the byte prefilter rejects matches no rule: the complete event is evaluated for comparison. */
import { isDeepStrictEqual } from 'node:util';
import test from 'ava';
import type { LogRecord } from '../../schemas/records/log-record.ts';
import { logRecords } from '../../schemas/records/sources.ts';
import type { ValuePosition } from '../../subjects/detections/event.ts';
import { fieldTables } from '../../subjects/detections/fields/index.ts';
import { findPrefilterPositions, prefilterRecord } from '../../subjects/detections/prefilter.ts';
import { readRules } from '../../subjects/detections/read.ts';
import { fillEvent, getRecordValues } from '../../subjects/detections/record-event.ts';
import { compileRuleSet, type RuleSet } from '../../subjects/detections/rule-set.ts';
import { type Random, seeded } from './random.ts';
import { otlpMessage } from './run-task.ts';
import { pick, ruleOf, words } from './sigma-made-up.ts';

const texts = [
  ...words,
  'netKKK',
  'NETSH',
  'a\\"b',
  'Netsh add',
  'K',
  'x=net',
  'a\\"b net',
  '{"f":"net"}',
  ' [ "cmd" ]',
  '4624',
  'true',
  '4624.5',
  'é net',
  'İ=net',
  '\u{a0}{"f":"net"}',
  '\u001b[31mnetsh\u001b[0m add',
  'f=n\u001b[1met ',
  '\u001b[32m{"f":"netsh"}\u001b[0m',
];
const keys = [
  'f',
  'g',
  'F',
  'EventID',
  'EventID.value',
  'a.b',
  'a.value.b',
  'a',
  'other',
  'body',
  'winlog.event_data.f',
  'thread.name',
  'Channel',
];

const anyValue = (random: Random): object =>
  pick<() => object>(random, [
    () => ({ stringValue: `${pick(random, texts)}${pick(random, texts)}` }),
    () => ({ stringValue: pick(random, texts) }),
    () => ({ intValue: pick(random, ['5', '42', '4624', '-1']) }),
    () => ({ doubleValue: pick(random, [5, 4624.5, Number.NaN, -4624.5, 1.5e-46, 1.5e46]) }),
    () => ({ boolValue: random(2) === 0 }),
    () => ({ arrayValue: { values: [{ stringValue: pick(random, texts) }] } }),
    () => ({ bytesValue: Buffer.from(pick(random, texts)) }),
    () => ({}),
  ])();
const attributesOf = (random: Random, maxCount: number): object[] =>
  Array.from({ length: random(maxCount) }, () => ({ key: pick(random, keys), value: anyValue(random) }));
const bodyOf = (random: Random): object =>
  pick<() => object>(random, [
    () => ({
      stringValue: Array.from({ length: random(4) }, () => `${pick(random, keys)}=${pick(random, texts)}`).join(' '),
    }),
    () => ({
      stringValue: `${pick(random, keys)}="${pick(random, texts)}" said ${pick(random, keys)}='${pick(random, texts)}'`,
    }),
    () => ({ stringValue: ` ${JSON.stringify({ [pick(random, keys)]: pick(random, texts) })}` }),
    () => anyValue(random),
  ])();

/** A rule that the index finds by the required texts of its selections. */
const plainRule = (random: Random): string => {
  const item = (): string =>
    random(3) === 0
      ? `['${pick(random, ['netsh', 'power', '4624', '-46', '+46', 'rue', 'b" net', 'ünïcode', 'k'.repeat(3)])}']`
      : `{ '${pick(random, keys)}${pick(random, ['', '', '|contains', '|startswith'])}': '${pick(random, ['net', 'netsh', 'cmd.exe', 'cmd', '42', '5', '4624', 'true', 'ünïcode', 'a"b'])}' }`;
  const condition = pick(random, ['s1', 's1 and s2', 's1 or s2']);
  return `title: plain\nlogsource: { product: other }\ndetection:\n  s1: ${item()}\n  s2: ${item()}\n  condition: ${condition}\n`;
};

const opened = (attributes: readonly object[], created: readonly object[]) => {
  const request = { resourceLogs: [{ resource: { attributes }, scopeLogs: [{ logRecords: created }] }] };
  const message = { offset: 0, timestampMs: 0, key: '', ...otlpMessage('logs', request) };
  return logRecords.decode(message, { topic: '', partition: 0 });
};

const recordsOf = (random: Random, count: number) =>
  opened(
    attributesOf(random, 3),
    Array.from({ length: count }, () => ({ attributes: attributesOf(random, 4), body: bodyOf(random) })),
  );

/** Whether the prefilter result is correct; `skipped` and `candidates` count how often each kind occurred. */
const isPrefilterCorrect = (
  set: RuleSet,
  record: LogRecord,
  counted: { skipped: number; candidates: number; others: number },
): boolean => {
  const event = fillEvent(set.newEvent(), getRecordValues(record));
  const matches = set.match(event);
  const prefilterResult = prefilterRecord(set, record);
  if (prefilterResult === undefined) {
    counted.others++;
    return true;
  }
  const isOfKind = set.classifyEvent(event) === prefilterResult.kind;
  if (prefilterResult.candidates.length > 0) {
    counted.candidates++;
    return isOfKind && isDeepStrictEqual(set.match(event, undefined, prefilterResult), matches);
  }
  counted.skipped++;
  const names = (places: readonly ValuePosition[]): string =>
    [...new Set(places.flatMap((place) => place.names))].join('\n');
  return isOfKind && matches.length === 0 && names(findPrefilterPositions(set, record)) === names(event.leaves);
};

test('the kind, candidate rules and, without any, value names read from record bytes are correct', (t) => {
  const counted = { skipped: 0, candidates: 0, others: 0 };
  for (let seed = 1; seed <= 500; seed++) {
    const random = seeded(seed);
    const documents = Array.from(
      { length: 1 + random(4) },
      () => readRules(random(6) === 0 ? ruleOf(random) : plainRule(random)).documents,
    ).flat();
    const anySource = random(4) === 0;
    const set = compileRuleSet(
      documents.map((document, at) => ({ id: String(at), version: 1, document, anySource })),
      fieldTables,
    );
    const records = recordsOf(random, 40);
    for (let ordinal = 0; ordinal < records.count; ordinal++) {
      const record = records.getItem(ordinal);
      const held = isPrefilterCorrect(set, record, counted);
      t.true(held, `seed ${seed}: ${JSON.stringify(record.body)} ${JSON.stringify(record.attributes)}`);
    }
  }
  t.true(counted.skipped > 1_000 && counted.candidates > 200 && counted.others > 1_000, JSON.stringify(counted));
});

/** Texts of key-value pairs, and whether a rule that searches for `netsh` in `f` may match them. */
const pairs: readonly (readonly [string, boolean])[] = [
  ['f=netsh x=1', true],
  ['f=éxnetsh x=1', true],
  ['f="run netsh" x=1', true],
  ["f='run, netsh' x=1", true],
  ['x=1 f=a=netsh', true],
  ['winlog.event_data.f=netsh x=1', true],
  ['winlog.value.event_data.f=netsh x=1', true],
  ['f=1 x=netsh', false],
  ['f=1,netsh x=1', false],
  ['netsh f= x=1', false],
  ['netsh ff=netsh x=1', false],
];
test('texts are searched only in values of body keys that rules name', (t) => {
  const source =
    "title: one\nlogsource: { product: other }\ndetection:\n  s: { 'f|contains': netsh }\n  condition: s\n";
  const { documents } = readRules(source);
  const set = compileRuleSet(
    documents.map((document) => ({ id: '1', version: 1, document, anySource: true })),
    fieldTables,
  );
  const records = opened(
    [],
    pairs.map(([body]) => ({ body: { stringValue: body } })),
  );
  for (const [ordinal, [body, isMatching]] of pairs.entries())
    t.is(prefilterRecord(set, records.getItem(ordinal))?.candidates.length, isMatching ? 1 : 0, body);
});

for (const record of [
  { body: { stringValue: '\u001b[32mnet\u001b[0msh add' } },
  { body: { stringValue: '{"f":"\\u001b[32mnetsh\\u001b[0m"}' } },
  { attributes: [{ key: 'g', value: { stringValue: '\u001b[1mnetsh' } }] },
])
  test(`a rule matches what people read, without escape sequences: ${JSON.stringify(record)}`, (t) => {
    const { documents } = readRules(
      "title: plain\nlogsource: { product: other }\ndetection:\n  s1: ['netsh']\n  condition: s1\n",
    );
    const set = compileRuleSet(
      documents.map((document) => ({ id: 'plain', version: 1, document, anySource: true })),
      fieldTables,
    );
    const item = opened([], [record]).getItem(0);
    t.is(set.match(fillEvent(set.newEvent(), getRecordValues(item))).length, 1);
    t.not(prefilterRecord(set, item)?.candidates.length, 0);
  });
