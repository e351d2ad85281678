/**
 * Random routing trees and label sets compared with `amtool config routes test`.
 *
 *     AMTOOL=/path/to/amtool node bin/node.mjs test/bench/alertmanager-routes.ts [trees]
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { importAlertmanager } from '../../subjects/alerts/routing/alertmanager.ts';
import { compileRoutes, findRoutes } from '../../subjects/alerts/routing/tree.ts';
import { type Random, seeded } from '../cases/random.ts';

const names = ['team', 'severity', 'env', 'service'];
const values = ['a', 'b', 'c', 'db-1', 'x y', ''];
const expressions = ['a|b', '.*', 'db-\\d+', '[ab].*', '', '.+', 'a', 'x.y'];
const setsOfLabels = 25;

const pick = (random: Random, from: readonly string[]): string => from[random(from.length)] ?? '';

const matcherOf = (random: Random): string => {
  const operator = pick(random, ['=', '!=', '=~', '!~']);
  return pick(random, names) + operator + JSON.stringify(pick(random, operator.includes('~') ? expressions : values));
};

const routeOf = (random: Random, receivers: string[], depth: number): object => {
  const receiver = `receiver-${receivers.length}`;
  const isNamed = random(4) > 0;
  if (isNamed) receivers.push(receiver);
  return {
    matchers: Array.from({ length: 1 + random(3) }, () => matcherOf(random)),
    continue: random(3) === 0,
    ...(isNamed && { receiver }),
    routes: Array.from({ length: depth < 4 ? random(4) : 0 }, () => routeOf(random, receivers, depth + 1)),
  };
};

const amtool = process.env['AMTOOL'];
if (amtool === undefined) throw new Error('AMTOOL must name the program');
const file = join(mkdtempSync(join(tmpdir(), 'routes-')), 'alertmanager.yml');
const trees = Number(process.argv[2] ?? 40);
let compared = 0;
let differing = 0;
for (let seed = 1; seed <= trees; seed++) {
  const random = seeded(seed);
  const receivers = ['root'];
  const routes = Array.from({ length: 1 + random(6) }, () => routeOf(random, receivers, 1));
  const yaml = stringify({ route: { receiver: 'root', routes }, receivers: receivers.map((name) => ({ name })) });
  writeFileSync(file, yaml);
  const root = compileRoutes(importAlertmanager(yaml).routing);
  for (let set = 0; set < setsOfLabels; set++) {
    const labels = Object.fromEntries(
      names.filter(() => random(3) > 0).map((name) => [name, pick(random, values.slice(0, -1))]),
    );
    const input = Object.entries(labels).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
    const amtoolReceivers = execFileSync(amtool, ['config', 'routes', 'test', `--config.file=${file}`, ...input], {
      encoding: 'utf8',
    }).trim();
    const oiqReceivers = findRoutes(root, labels)
      .map(({ receiver }) => receiver)
      .join(',');
    compared++;
    if (oiqReceivers === amtoolReceivers) continue;
    differing++;
    console.log(JSON.stringify({ seed, labels, oiqReceivers, amtoolReceivers }));
  }
}
console.log(JSON.stringify({ trees, compared, differing }));
