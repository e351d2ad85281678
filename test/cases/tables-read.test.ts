/** Which of the declared tables a statement reads. */
import test from 'ava';
import { findTables, readsSingleSource } from '../../adapters/columns-clickhouse/find-tables.ts';

for (const [sql, expected] of [
  ['SELECT count() FROM logs WHERE a = 1', ['logs']],
  ['SELECT count() FROM oiq_all.logs', ['logs']],
  ['SELECT count() FROM oiq . `events`', ['events']],
  ['SELECT 1 FROM "series" FINAL', ['series']],
  ['SELECT events, fields FROM spans', ['spans']],
  ['SELECT s.events FROM spans AS s LEFT JOIN events ON 1', ['spans', 'events']],
  ['SELECT 1 FROM (SELECT x FROM samples WHERE series IN (SELECT a FROM series))', ['samples', 'series']],
  ['SELECT 1 FROM logs WHERE x IN resources', ['logs', 'resources']],
  ['SELECT 1 FROM logs WHERE x GLOBAL IN events', ['logs', 'events']],
  ['WITH logs AS (SELECT 1) SELECT 1 FROM /* x */\nlogs', ['logs']],
  ["SELECT 'FROM events' FROM logs -- FROM signals", ['logs']],
  ['SELECT usage FROM unknown', ['usage']],
] as const)
  test(`${sql.replaceAll('\n', ' ')} reads ${expected.join(' and ')}`, (t) =>
    t.deepEqual([...(findTables(sql) ?? [])].toSorted(), [...expected].toSorted()));

for (const sql of [
  'SELECT 1 FROM logs, events',
  'SELECT 1 FROM logs AS l, events',
  'SELECT 1 FROM oiq.logs l, events e',
])
  test(`${sql} can read anything`, (t) => t.is(findTables(sql), undefined));

for (const [sql, expected] of [
  ["SELECT 1 FROM logs WHERE a = 1 AND b IN ('x') AND c IN {ids:Array(UInt64)}", true],
  ['SELECT sum(n) FROM (SELECT count() AS n FROM fields FINAL GROUP BY key)', true],
  ['SELECT 1 FROM logs WHERE trace_id IN (SELECT trace_id FROM logs)', false],
  ['SELECT 1 FROM logs WHERE x IN resources', false],
  ['SELECT 1 FROM logs WHERE x IN oiq.resources', false],
  ['SELECT 1 FROM logs JOIN "logs" AS other USING id', false],
  ['SELECT 1 FROM logs UNION ALL SELECT 1 FROM logs', false],
] as const)
  test(`${sql} reads ${expected ? 'once' : 'more than once'}`, (t) => t.is(readsSingleSource(sql), expected));
