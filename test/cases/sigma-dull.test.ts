/** What bytes tell to be dull is matched by no rule: the event that would be made of it is asked for the same. */
import { isDeepStrictEqual } from 'node:util';
import test from 'ava';
import type { LogRecord } from '../../schemas/records/log-record.ts';
import { logRecords } from '../../schemas/records/sources.ts';
import { dullPlacesOf, toldOf } from '../../subjects/detections/dull-records.ts';
import type { Place } from '../../subjects/detections/event.ts';
import { fieldTables } from '../../subjects/detections/fields/index.ts';
import { readRules } from '../../subjects/detections/read.ts';
import { fillEvent, valuesOfRecord } from '../../subjects/detections/record-event.ts';
import { compile, type RuleSet } from '../../subjects/detections/rule-set.ts';
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
];
const keys = [
  'f',
  'g',
  'F',
  'EventID',
  'EventID.value',
  'a.b',
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
const attributesOf = (random: Random, most: number): object[] =>
  Array.from({ length: random(most) }, () => ({ key: pick(random, keys), value: anyValue(random) }));
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

/** A rule that is found by what its selections must have. */
const plainRule = (random: Random): string => {
  const item = (): string =>
    random(3) === 0
      ? `['${pick(random, ['netsh', 'power', '4624', '-46', '+46', 'rue', 'b" net', 'ünïcode', 'k'.repeat(3)])}']`
      : `{ '${pick(random, keys)}${pick(random, ['', '', '|contains', '|startswith'])}': '${pick(random, ['net', 'netsh', 'cmd.exe', 'cmd', '42', '5', '4624', 'true', 'ünïcode', 'a"b'])}' }`;
  const condition = pick(random, ['s1', 's1 and s2', 's1 or s2']);
  return `title: plain\nlogsource: { product: other }\ndetection:\n  s1: ${item()}\n  s2: ${item()}\n  condition: ${condition}\n`;
};

const recordsOf = (random: Random, count: number) => {
  const made = Array.from({ length: count }, () => ({ attributes: attributesOf(random, 4), body: bodyOf(random) }));
  const resource = { attributes: attributesOf(random, 3) };
  const request = { resourceLogs: [{ resource, scopeLogs: [{ logRecords: made }] }] };
  const message = { offset: 0, timestampMs: 0, key: '', ...otlpMessage('logs', request) };
  return logRecords.open(message, { topic: '', partition: 0 });
};

/** Whether what bytes tell is so: `dull` and `told` count of what. */
const holds = (set: RuleSet, record: LogRecord, counted: { dull: number; told: number; others: number }): boolean => {
  const event = fillEvent(set.newEvent(), valuesOfRecord(record));
  const matches = set.match(event);
  const told = toldOf(set, record);
  if (told === undefined) {
    counted.others++;
    return true;
  }
  const isOfKind = set.kindOf(event) === told.kind;
  if (told.candidates.length > 0) {
    counted.told++;
    return isOfKind && isDeepStrictEqual(set.match(event, undefined, told), matches);
  }
  counted.dull++;
  const names = (places: readonly Place[]): string => [...new Set(places.flatMap((place) => place.names))].join('\n');
  return isOfKind && matches.length === 0 && names(dullPlacesOf(set, record)) === names(event.leaves);
};

test('what bytes of a record tell is so: its kind, the rules that it may match, and of one without any the names of its values', (t) => {
  const counted = { dull: 0, told: 0, others: 0 };
  for (let seed = 1; seed <= 500; seed++) {
    const random = seeded(seed);
    const documents = Array.from(
      { length: 1 + random(4) },
      () => readRules(random(6) === 0 ? ruleOf(random) : plainRule(random)).documents,
    ).flat();
    const anySource = random(4) === 0;
    const set = compile(
      documents.map((document, at) => ({ id: String(at), version: 1, document, anySource })),
      fieldTables,
    );
    const opened = recordsOf(random, 40);
    for (let ordinal = 0; ordinal < opened.count; ordinal++) {
      const record = opened.at(ordinal);
      const held = holds(set, record, counted);
      t.true(held, `seed ${seed}: ${JSON.stringify(record.body)} ${JSON.stringify(record.attributes)}`);
    }
  }
  t.true(counted.dull > 1_000 && counted.told > 200 && counted.others > 1_000, JSON.stringify(counted));
});
