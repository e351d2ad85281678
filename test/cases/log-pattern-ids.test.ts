/** The pattern displayed with a log record, and the records found by that pattern. */

import test from 'ava';
import fc from 'fast-check';
import { Miner } from '../../processors/log-patterns/miner.ts';
import { OTHER_ID } from '../../queries/log-patterns/pattern-id.ts';
import { readLogs } from '../../queries/logs/pages.ts';
import { createCondition } from '../../queries/records.ts';
import type { LogPosition, LogWithPosition } from '../../queries/signals/log-record.ts';
import { readCatalogue } from '../../subjects/log-patterns/pattern-catalogue.ts';
import { findSurvivingPattern, readPatternLogs } from '../../subjects/log-patterns/pattern-records.ts';
import { propertyRuns } from '../budget.ts';
import { type Line, MinedLogs } from './mined-logs.ts';
import { openTables, type Tables } from './sink-tables.ts';

let tables: Tables;
test.before(async () => {
  tables = await openTables();
});
test.after.always(() => tables.close());

const firstMs = Date.UTC(2026, 2, 1, 10);
const everything = 'logs.timestamp > 0';
const idOf = ({ record }: LogWithPosition): string => record.id;

/** Words that escaping, truncation and the engine's tokenizer handle differently. */
const word = fc.constantFrom(
  ...[
    'user',
    'Order',
    'café',
    'naïve',
    'x',
    'null',
    'GET',
    'retry-later',
    'a.b',
    '\u00a0',
    '日本',
    '😀',
    'end.',
    '"',
    '\\',
    '\t',
    '<number>',
  ],
);
const name = fc.constantFrom('ann', 'bob', 'cleo', 'dan', 'eve', 'fay', 'gus');
const value = fc.constantFrom('7', '192.0.2.1', 'u-81', '/var/x', '"some text"', '12 ms', 'https://x.example/a');
const sentence = fc
  .record({ words: fc.array(word, { minLength: 0, maxLength: 4 }), who: name, what: value })
  .map(({ words, who, what }) => [...words, `for ${who}`, what].join(' '));
/** Bodies with few forms, so that patterns merge. */
const frequent = fc
  .record({
    form: fc.nat(2),
    who: name,
    verb: fc.constantFrom('open', 'close', 'move', 'keep', 'drop', 'lock'),
    what: value,
  })
  .map(({ form, who, verb, what }) =>
    form === 0
      ? `Login of ${who} from ${what}`
      : form === 1
        ? `user ${who} may ${verb} box ${what}`
        : `${verb} for ${who}`,
  );
const body = fc.oneof(
  { arbitrary: frequent, weight: 12 },
  { arbitrary: sentence, weight: 6 },
  {
    arbitrary: fc
      .record({ text: sentence, n: fc.nat(99) })
      .map(({ text, n }) => JSON.stringify({ msg: text, k8s: n, 'a.b': { c1: text } })),
    weight: 2,
  },
  { arbitrary: sentence.map((text) => `level=info k8s=5 msg=${JSON.stringify(text)}`), weight: 2 },
  {
    arbitrary: fc.constantFrom(
      '{"msg":"\\u0041larm in hall 7"}',
      '',
      '   ',
      '{',
      '{"a":',
      'w'.repeat(5_000),
      `${'long words '.repeat(500)}end`,
    ),
    weight: 1,
  },
);
const lines = fc.array(fc.record({ service: fc.constantFrom('cart', 'pay'), body, shard: fc.nat(1) }), {
  minLength: 1,
  maxLength: 60,
});

test('a record is shown with the surviving pattern, and is found only by that pattern and its aliases', async (t) => {
  await fc.assert(
    fc.asyncProperty(lines, async (sent) => {
      const logs = new MinedLogs(tables, 2);
      const miners = [new Miner(), new Miner()];
      const mined: [service: string, id: string][] = [];
      for (const [at, { service, body, shard }] of sent.entries()) {
        await logs.send([{ service, body, timeMs: firstMs + at }], shard);
        mined.push([service, (miners[shard] as Miner).add(service, body).id]);
      }
      const all = await readLogs(logs.reader, everything, {}, 1_000);
      t.is(all.length, sent.length);
      const ids = new Set(all.map(({ record }) => record.patternId ?? 'none'));
      t.false(ids.has('none'));
      for (const id of ids) {
        const { found, nextPosition } = await readPatternLogs(logs.reader, id, createCondition(everything), {
          limit: 1_000,
        });
        t.deepEqual(found.map(idOf), all.filter(({ record }) => record.patternId === id).map(idOf), id);
        t.is(nextPosition, undefined);
        t.is((await findSurvivingPattern(logs.reader, id))?.id, id);
      }
      const catalogue = await readCatalogue(logs.reader);
      // Lists are newest first.
      for (const [at, [service, id]] of mined.toReversed().entries())
        t.is(all[at]?.record.patternId, catalogue.resolve(service, id), all[at]?.record.id);
    }),
    { numRuns: propertyRuns(12) },
  );
});

const names = ['ann', 'bob', 'cleo', 'dan', 'eve', 'fay'];
const line = (body: string, at = 0, service = 'cart'): Line => ({ service, body, timeMs: firstMs + at });

test('records from before a merge, and from a shard without the merge, are shown with the surviving pattern', async (t) => {
  const logs = new MinedLogs(tables, 2);
  await logs.send([line('Failed login of ann'), line('Failed login of bob', 1)], 1);
  const before = await readLogs(logs.reader, everything, {}, 10);
  t.is(new Set(before.map(({ record }) => record.patternId)).size, 2);
  await logs.send(
    names.map((who, at) => line(`Failed login of ${who}`, 10 + at)),
    0,
  );
  const all = await readLogs(logs.reader, everything, {}, 100);
  const ids = new Set(all.map(({ record }) => record.patternId));
  t.is(ids.size, 1);
  const alias = before[0]?.record.patternId as string;
  t.false(ids.has(alias));
  t.like(await findSurvivingPattern(logs.reader, alias), {
    id: [...ids][0] as string,
    template: 'Failed login of <*>',
  });
  const { found } = await readPatternLogs(logs.reader, alias, createCondition(everything), { limit: 100 });
  t.is(found.length, 8);
});

test('pages of a pattern neither skip nor repeat records, however few records match it', async (t) => {
  const logs = new MinedLogs(tables);
  // Every tenth line has the pattern; the others have the same words in another order.
  const sent = Array.from({ length: 600 }, (_, at) =>
    line(at % 10 === 0 ? `alpha beta ${at}` : `beta ${at} alpha`, at),
  );
  await logs.send(sent);
  const all = await readLogs(logs.reader, everything, {}, 1_000);
  const id = all.at(-1)?.record.patternId as string;
  const pages: string[] = [];
  let after: LogPosition | undefined;
  for (let page = 0; page < 100; page++) {
    const { found, nextPosition } = await readPatternLogs(logs.reader, id, createCondition(everything), {
      limit: 7,
      after,
    });
    pages.push(...found.map(idOf));
    after = nextPosition;
    if (nextPosition === undefined) break;
  }
  t.is(pages.length, 60);
  t.deepEqual(pages, all.filter(({ record }) => record.patternId === id).map(idOf));
});

test('a record of a service without patterns has no pattern; a record of a flood has `other`', async (t) => {
  const logs = new MinedLogs(tables);
  const toLetters = (number: number): string =>
    [...String(number)].map((digit) => 'abcdefghij'[Number(digit)]).join('');
  const random = Array.from({ length: 1_200 }, (_, at) =>
    line([...String(at * 7919)].map((_, part) => toLetters(at * (part + 3))).join(' '), at),
  );
  await logs.send(random);
  const all = await readLogs(logs.reader, everything, {}, 2_000);
  const others = all.filter(({ record }) => record.patternId === OTHER_ID);
  t.true(others.length >= 190 && others.length <= 200, `${others.length}`);
  const { found } = await readPatternLogs(logs.reader, OTHER_ID, createCondition(everything), { limit: 1_000 });
  t.deepEqual(found.map(idOf), others.map(idOf));
  const [unknown] = await readLogs(new MinedLogs(tables).reader, everything, {}, 1);
  t.is(unknown, undefined);
  await tables.columns.execute(`DELETE FROM log_patterns WHERE tenant_id = '${logs.tenantId}'`);
  const [record] = await readLogs(logs.reader, everything, {}, 1);
  t.is(record?.record.patternId, null);
});
