/** The PromQL tests of Prometheus, in its test language, run against the engine alone. */
import { readdirSync, readFileSync } from 'node:fs';
import test from 'ava';
import { commandsOf } from './promql-language/commands.ts';
import { run } from './promql-language/run.ts';

const folder = new URL('promql/', import.meta.url);

const files = readdirSync(folder).filter((name) => name.endsWith('.test'));
let evaluations = 0;

for (const file of files)
  test.serial(`every evaluation of ${file} gives the same result as Prometheus`, (t) => {
    const result = run(commandsOf(readFileSync(new URL(file, folder), 'utf8')));
    evaluations += result.evaluations;
    t.deepEqual(result.failures, []);
  });

test.serial('the files have the expected number of evaluations', (t) => {
  t.is(files.length, 21);
  t.is(evaluations, 2_214);
});
