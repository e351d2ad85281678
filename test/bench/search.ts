/**
 * CPU time of searches as predicates over the record views, compared with stepping over the records alone. Prints
 * minimum and median of the rounds in nanoseconds per record, as a table.
 *
 *     node bin/node.mjs test/bench/search.ts [rounds]
 */
import { buildSearchPredicate } from '../../queries/search/predicate.ts';
import type { LogRecord } from '../../schemas/records/log-record.ts';
import { iterateItems } from '../../schemas/records/source.ts';
import { logRecords } from '../../schemas/records/sources.ts';
import { logMessages } from './payloads.ts';

const rounds = Number(process.argv[2] ?? 15);
const perMessage = 500;
const messages = logMessages(perMessage);
const from = { topic: 'otlp.logs', partition: 0 };

const [first] = iterateItems(logRecords, messages[0] as (typeof messages)[number], from);
if (first === undefined) throw new Error('the payload has no records');
const [attribute] = (first.copy() as LogRecord).attributes;
const [word = 'order'] = /[a-z]{4,}/.exec(first.body) ?? [];
const searches: readonly (readonly [string, string])[] = [
  ['everything', ''],
  ['service', 'service:nobody'],
  ['severity', 'severity:>=fatal'],
  ['attribute', `${attribute?.key}:nothing`],
  ['attribute, number', `${attribute?.key}:>10`],
  ['name that no record has', 'missing:1'],
  ['word of many bodies', word],
  ['word of none', 'nowhere'],
  ['three words', `${word} nowhere needle`],
  ['phrase', `"${word} nowhere"`],
  ['pattern', 'nowh*re'],
  ['expression', '/nowhere [0-9]+/'],
  ['expression without a literal', '/[0-9]{3}ms$/'],
  ['service AND word', 'service:nobody nowhere'],
  ['five conditions', `severity:>=error (${attribute?.key}:a OR ${attribute?.key}:b) NOT nowhere /[0-9]{3}ms$/`],
];

const predicates = searches.map(([name, text]) => ({
  name,
  text,
  isFound: buildSearchPredicate(text, 'logs'),
  ns: [] as number[],
  found: 0,
}));
const records = messages.length * perMessage;
for (let round = 0; round < rounds + 3; round++)
  for (const each of predicates) {
    const { user, system } = process.cpuUsage();
    let found = 0;
    for (const message of messages)
      for (const record of iterateItems(logRecords, message, from)) if (each.isFound(record)) found++;
    const spent = process.cpuUsage({ user, system });
    if (round >= 3) each.ns.push(((spent.user + spent.system) * 1_000) / records);
    each.found = found;
  }

console.log('| search | | least ns | median ns | found |\n| --- | --- | --- | --- | --- |');
for (const { name, text, ns, found } of predicates) {
  const sorted = ns.toSorted((one, other) => one - other);
  const figures = [sorted[0] ?? 0, sorted[sorted.length >> 1] ?? 0].map((value) => value.toFixed(0));
  console.log(
    `| ${name} | ${text === '' ? '' : `\`${text}\``} | ${figures.join(' | ')} | ${((100 * found) / records).toFixed(1)} % |`,
  );
}
