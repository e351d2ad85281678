/** The index loses no rule: what it finds is what asking every rule finds. */
import test from 'ava';
import { TextIndex } from '../../schemas/text-index.ts';
import { EventPaths, SigmaEvent } from '../../subjects/detections/event.ts';
import { fieldTables } from '../../subjects/detections/fields/index.ts';
import { LogSources } from '../../subjects/detections/log-sources.ts';
import { Looked, predicateOf } from '../../subjects/detections/predicate.ts';
import { readRules } from '../../subjects/detections/read.ts';
import { compile } from '../../subjects/detections/rule-set.ts';
import { detectionTree } from '../../subjects/detections/rule-tree.ts';
import { type Random, seeded } from './random.ts';
import { pick, ruleOf, words } from './sigma-made-up.ts';

const eventOf = (random: Random): object => ({
  ...(random(3) > 0 && { f: `${pick(random, words)}${pick(random, words)}` }),
  ...(random(3) > 0 && { g: random(3) === 0 ? [pick(random, words), pick(random, words)] : pick(random, words) }),
  ...(random(3) > 0 && { EventID: pick(random, [5, 42, '5', 7]) }),
  ...(random(3) > 0 && { a: { b: random(4) === 0 ? null : ` ${pick(random, words)} -${pick(random, words)}` } }),
});

test('an indexed set finds what every rule by itself finds', (t) => {
  let matches = 0;
  for (let seed = 1; seed <= 30; seed++) {
    const random = seeded(seed);
    const documents = Array.from({ length: 60 }, () => readRules(ruleOf(random)).documents).flat();
    t.true(documents.length > 30, `seed ${seed}`);
    const set = compile(
      documents.map((document, at) => ({ id: String(at), version: 1, document, anySource: true })),
      fieldTables,
    );
    const looked = new Looked();
    const predicates = documents.map((document) => {
      if (document.kind !== 'rule') throw new Error('made up rules are rules');
      const { detection, logsource } = document;
      return predicateOf(detectionTree(detection, { logsource, tables: fieldTables, placeholders: {} }), looked);
    });
    for (let round = 0; round < 100; round++) {
      const object = eventOf(random);
      const event = set.eventOf(object);
      looked.at(event);
      const expected = predicates.flatMap((predicate, at) => (predicate() ? [String(at)] : []));
      const found = set.match(event).map(({ ruleId }) => ruleId);
      matches += found.length;
      t.deepEqual(found, expected, `seed ${seed}: ${JSON.stringify(object)}`);
    }
  }
  t.true(matches > 1_000);
});

test('a text index finds all texts that occur', (t) => {
  for (let seed = 1; seed <= 200; seed++) {
    const random = seeded(seed);
    const made = (length: number): string => Array.from({ length }, () => 'abé'[random(3)]).join('');
    const texts = new Map(Array.from({ length: 20 }, () => made(3 + random(6))).map((text, at) => [text, at]));
    const index = new TextIndex(texts);
    const text = made(60);
    const found = new Set<number>();
    index.scan(text, (id) => found.add(id));
    t.deepEqual(
      [...found].sort((left, right) => left - right),
      [...texts]
        .filter(([each]) => text.includes(each))
        .map(([, id]) => id)
        .sort((left, right) => left - right),
    );
  }
});

test('which log source an event is of does not depend on the events before it', (t) => {
  const random = seeded(9);
  const conditions = fieldTables.flatMap(({ sources = [] }) => sources.flatMap(({ when }) => when));
  const names = conditions.flatMap((condition) => condition.names);
  const values = [
    ...conditions.flatMap((condition) => condition.values ?? []).map((value) => value.replace('*', ' and more')),
    ...['other', '1'],
  ];
  const known = new LogSources(fieldTables);
  const paths = new EventPaths(fieldTables);
  for (let round = 0; round < 400; round++) {
    const event = new SigmaEvent(paths);
    for (let count = random(5); count >= 0; count--)
      event.addIfAbsent(pick(random, names), random(5) === 0 ? [pick(random, values), 'x'] : pick(random, values));
    t.deepEqual(known.kindOf(event), new LogSources(fieldTables).kindOf(event));
  }
});
