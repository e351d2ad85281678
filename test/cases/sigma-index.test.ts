/** The index loses no matches: it finds the same rules as an evaluation of every rule. */
import test from 'ava';
import { ByteTextSearcher } from '../../schemas/byte-texts.ts';
import { TextIndex } from '../../schemas/text-index.ts';
import { EventPaths, SigmaEvent } from '../../subjects/detections/event.ts';
import { fieldTables } from '../../subjects/detections/fields/index.ts';
import { LogSources } from '../../subjects/detections/log-sources.ts';
import { createPredicate, EventView } from '../../subjects/detections/predicate.ts';
import { readRules } from '../../subjects/detections/read.ts';
import { compileRuleSet } from '../../subjects/detections/rule-set.ts';
import { buildDetectionTree } from '../../subjects/detections/rule-tree.ts';
import { type Random, seeded } from './random.ts';
import { pick, ruleOf, words } from './sigma-made-up.ts';

const eventOf = (random: Random): object => ({
  ...(random(3) > 0 && { f: `${pick(random, words)}${pick(random, words)}` }),
  ...(random(3) > 0 && { g: random(3) === 0 ? [pick(random, words), pick(random, words)] : pick(random, words) }),
  ...(random(3) > 0 && { EventID: pick(random, [5, 42, '5', 7]) }),
  ...(random(3) > 0 && { a: { b: random(4) === 0 ? null : ` ${pick(random, words)} -${pick(random, words)}` } }),
});

test('an indexed rule set finds the same matches as its individual rules', (t) => {
  let matches = 0;
  for (let seed = 1; seed <= 30; seed++) {
    const random = seeded(seed);
    const documents = Array.from({ length: 60 }, () => readRules(ruleOf(random)).documents).flat();
    t.true(documents.length > 30, `seed ${seed}`);
    const set = compileRuleSet(
      documents.map((document, at) => ({ id: String(at), version: 1, document, anySource: true })),
      fieldTables,
    );
    const seenFields = new EventView();
    const predicates = documents.map((document) => {
      if (document.kind !== 'rule') throw new Error('made up rules are rules');
      const { detection, logsource } = document;
      return createPredicate(
        buildDetectionTree(detection, { logsource, tables: fieldTables, placeholders: {} }),
        seenFields,
      );
    });
    for (let round = 0; round < 100; round++) {
      const object = eventOf(random);
      const event = set.createEvent(object);
      seenFields.setEvent(event);
      const expected = predicates.flatMap((predicate, at) => (predicate() ? [String(at)] : []));
      const found = set.match(event).map(({ ruleId }) => ruleId);
      matches += found.length;
      t.deepEqual(found, expected, `seed ${seed}: ${JSON.stringify(object)}`);
    }
  }
  t.true(matches > 1_000);
});

test('the cost of an event and rule does not depend on earlier events', (t) => {
  const expression = `(?:${Array.from({ length: 400 }, (_, at) => `${(at * 7919) % 99_991}x`).join('|')}).*[0-9]{3,9}`;
  const { documents } = readRules(
    `title: Long expression\nlogsource: { product: test }\ndetection: { one: { f|re: '${expression}' }, condition: one }\n`,
  );
  const set = compileRuleSet(
    documents.map((document) => ({ id: 'rule', version: 1, document, anySource: true })),
    fieldTables,
  );
  const measure = (text: string): number[] => {
    const costs: number[] = [];
    set.match(set.createEvent({ f: text }), {
      isOff: () => false,
      onRuleCost: (_rule, _version, characters) => costs.push(characters),
      onEventKind: () => undefined,
    });
    return costs;
  };
  const text = 'word1 word2 word3 without digits';
  const [first] = measure(text);
  t.true(first !== undefined && !Number.isInteger(first), String(first));
  for (let round = 1; round <= 200; round++) {
    measure('word7'.repeat(round));
    t.deepEqual(measure(text), [first]);
  }
});

test('a text index finds all occurring texts', (t) => {
  for (let seed = 1; seed <= 200; seed++) {
    const random = seeded(seed);
    const create = (length: number): string => Array.from({ length }, () => 'abé'[random(3)]).join('');
    const texts = new Map(Array.from({ length: 20 }, () => create(3 + random(6))).map((text, at) => [text, at]));
    const index = new TextIndex(texts);
    const text = create(60);
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

test('a text index finds all occurring texts in bytes, for any search bounds', (t) => {
  let all = 0;
  for (let seed = 1; seed <= 400; seed++) {
    const random = seeded(seed);
    const create = (length: number): string => Array.from({ length }, () => 'abC='[random(4)]).join('');
    const texts = new Map(
      Array.from({ length: 20 }, () => create(3 + random(5)).toLowerCase()).map((text, at) => [text, at]),
    );
    const [before, text] = [create(random(9)), create(random(60))];
    const found = new Set<number>();
    const bytes = Buffer.from(`${before}${text}${create(random(9))}`);
    new TextIndex(texts).scanBytes(bytes, before.length, before.length + text.length, (id) => found.add(id));
    const expected = [...texts].filter(([each]) => text.toLowerCase().includes(each)).map(([, id]) => id);
    t.deepEqual([...found].toSorted(), expected.toSorted(), `seed ${seed}`);
    all += found.size;
  }
  t.true(all > 400);
});

test('a text index stops looking at words that lead to no text, and finds the same texts as before', (t) => {
  const index = new TextIndex(new Map(['user.exe', '/statuses', 'requests='].map((text, at) => [text, at])));
  const foundIn = (text: string): number[] => {
    const bytes = Buffer.from(text);
    const found = new Set<number>();
    index.scanBytes(bytes, 0, bytes.length, (id) => found.add(id));
    return [...found].sort();
  };
  const countLookups = (rounds: number): number => {
    const before = index.comparisons;
    for (let round = 0; round < rounds; round++)
      t.deepEqual(foundIn('a user, the user of a request: /status 200, request 17'), []);
    return index.comparisons - before;
  };
  t.true(countLookups(100) > 100);
  countLookups(8_000);
  t.is(countLookups(100), 0);
  for (const padding of ['', ' ', '  '])
    t.deepEqual(foundIn(`${padding}a user: user.exe /statuses requests=`), [0, 1, 2]);
});

test('texts in bytes are found at any position', (t) => {
  let all = 0;
  for (let seed = 1; seed <= 400; seed++) {
    const random = seeded(seed);
    const create = (length: number): string => Array.from({ length }, () => 'abé'[random(3)]).join('');
    const minLength = 3 + random(10);
    const texts = [...new Set(Array.from({ length: 12 }, () => create(minLength + random(6))))];
    const [before, text] = [create(random(9)), `${create(random(30))}${pick(random, texts)}${create(random(30))}`];
    const bytes = Buffer.from(`${before}${text}${create(random(9))}`);
    const from = Buffer.byteLength(before);
    const found = new Set<string>();
    new ByteTextSearcher(texts).scan(bytes, from, from + Buffer.byteLength(text), (id) =>
      found.add(texts[id] as string),
    );
    const expected = texts.filter((each) => text.includes(each));
    t.deepEqual([...found].sort(), expected.sort(), `seed ${seed}`);
    all += found.size;
  }
  t.true(all > 400);
  t.throws(() => new ByteTextSearcher(['ab']), { instanceOf: TypeError });
});

test('the log source of an event does not depend on earlier events', (t) => {
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
    t.deepEqual(known.classify(event), new LogSources(fieldTables).classify(event));
  }
});

test('events that are filled consecutively have the same values as separate events', (t) => {
  const paths = new EventPaths(fieldTables);
  const names = ['f', 'F', 'f.value', 'winlog.event_data.f', 'g', 'a.b'];
  for (let seed = 1; seed <= 50; seed++) {
    const random = seeded(seed);
    const events = [new SigmaEvent(paths), new SigmaEvent(paths)];
    const alone = [new SigmaEvent(new EventPaths(fieldTables)), new SigmaEvent(new EventPaths(fieldTables))];
    for (let count = 0; count < 8; count++) {
      const which = random(2);
      const name = pick(random, names);
      const value = random(3) === 0 ? [String(count), 'x'] : String(count);
      for (const event of [events[which], alone[which]])
        if (seed % 2 === 0) event?.add(name, value);
        else event?.addIfAbsent(name, value);
    }
    const valuesOfEvent = (event: SigmaEvent) => [event.leaves, names.map((name) => event.get(name))];
    t.deepEqual(events.map(valuesOfEvent), alone.map(valuesOfEvent), `seed ${seed}`);
  }
});
