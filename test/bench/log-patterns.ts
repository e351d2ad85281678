/**
 * Grouping accuracy of the log pattern miner over labelled sets in the format of loghub: folders with a
 * `*_structured.csv`, of which the columns `Content` and `EventId` are read.
 *
 *     node bin/node.mjs test/bench/log-patterns.ts FOLDER…
 */
import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { Miner } from '../../processors/log-patterns/miner.ts';
import { groupingAccuracy, groupsOf, samePairs, shuffled } from '../cases/grouping.ts';

interface Line {
  readonly body: string;
  readonly event: string;
}

/** Rows of a CSV file by RFC 4180. */
const rowsOf = (text: string): string[][] => {
  const rows: string[][] = [];
  let row: string[] = [];
  const pattern = /("(?:[^"]|"")*"|[^",\r\n]*)(,|\r?\n|$)/gy;
  for (let match = pattern.exec(text); match !== null && pattern.lastIndex <= text.length; match = pattern.exec(text)) {
    const [whole, cell = '', end] = match;
    if (whole === '' && pattern.lastIndex >= text.length) break;
    row.push(cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell);
    if (end !== ',') {
      rows.push(row);
      row = [];
    }
  }
  return rows;
};

const linesOf = (folder: string): Line[] => {
  const [file] = globSync('*_structured.csv', { cwd: folder });
  if (file === undefined) throw new Error(`${folder} has no file *_structured.csv.`);
  const [head = [], ...rows] = rowsOf(readFileSync(`${folder}/${file}`, 'utf8'));
  const body = head.indexOf('Content');
  const event = head.indexOf('EventId');
  return rows.map((row) => ({ body: row[body] ?? '', event: row[event] ?? '' }));
};

const minePatterns = (bodies: readonly string[]): { ids: string[]; templates: Map<string, string> } => {
  const miner = new Miner();
  const templates = new Map<string, string>();
  const ids = bodies.map((body) => {
    const { id, template } = miner.add('bench', body);
    templates.set(id, template);
    return id;
  });
  return { ids: ids.map((id) => miner.resolve('bench', id)), templates };
};

/** The minimum share of equal pairs over ten other orders of the same lines. */
const orderStability = (bodies: readonly string[], ids: readonly string[]): number => {
  let min = 1;
  for (let seed = 1; seed <= 10; seed++) {
    const order = shuffled([...bodies.keys()], seed);
    const mined = minePatterns(order.map((line) => bodies[line] as string)).ids;
    const again: string[] = [];
    for (const [at, line] of order.entries()) again[line] = mined[at] as string;
    min = Math.min(min, samePairs(ids, again));
  }
  return min;
};

const wrongOnes = (lines: readonly Line[], ids: readonly string[], templates: Map<string, string>): void => {
  const truth = groupsOf(lines.map(({ event }) => event));
  const mined = groupsOf(ids);
  for (const [event, group] of [...truth].sort(([, one], [, two]) => two.length - one.length)) {
    const found = new Set(group.map((line) => ids[line] as string));
    const total = [...found].reduce((sum, id) => sum + (mined.get(id)?.length ?? 0), 0);
    if (found.size === 1 && total === group.length) continue;
    console.log(`  ${event}: ${group.length} lines in ${found.size} patterns of ${total} lines`);
    for (const id of [...found].slice(0, 3))
      console.log(`      ${mined.get(id)?.length} ${templates.get(id)?.slice(0, 150)}`);
  }
};

const folders = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const sets = folders.map((folder) => ({ name: basename(folder), lines: linesOf(folder) }));
const show = process.argv.includes('--wrong');
let sum = 0;
for (const { name, lines } of sets) {
  const { ids, templates } = minePatterns(lines.map(({ body }) => body));
  const accuracy = groupingAccuracy(
    ids,
    lines.map(({ event }) => event),
  );
  const pairs = orderStability(
    lines.map(({ body }) => body),
    ids,
  );
  sum += accuracy;
  console.log(
    `${name.padEnd(16)} accuracy ${accuracy.toFixed(4)}, pairs in other orders ${pairs.toFixed(4)}, ${new Set(ids).size} patterns, ${new Set(lines.map(({ event }) => event)).size} labels`,
  );
  if (show) wrongOnes(lines, ids, templates);
}
console.log(`mean ${(sum / sets.length).toFixed(4)}`);
