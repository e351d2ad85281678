/** Prometheus' own tests of PromQL, in its test language, against the engine alone. */
import { readdirSync, readFileSync } from 'node:fs';
import test from 'ava';
import { commandsOf } from './promql-language/commands.ts';
import { run } from './promql-language/run.ts';

const folder = new URL('promql/', import.meta.url);

/** Evaluations that do not answer as expected yet; `queries/promql/README.md` says why. */
const known: Readonly<Record<string, readonly string[]>> = {
  'start_timestamps.test': ['144 increase(series[5m])'],
};

const files = readdirSync(folder).filter((name) => name.endsWith('.test'));
let evaluations = 0;

for (const file of files)
  test.serial(`every evaluation of ${file} answers as Prometheus does`, (t) => {
    const result = run(commandsOf(readFileSync(new URL(file, folder), 'utf8')));
    evaluations += result.evaluations;
    const failed = result.failures.filter(({ line, expression }) => !known[file]?.includes(`${line} ${expression}`));
    t.deepEqual(failed, []);
    t.is(result.failures.length, known[file]?.length ?? 0, 'what is answered now is still named as unanswered');
  });

test.serial('the files have as many evaluations as they had', (t) => {
  t.is(files.length, 21);
  t.is(evaluations, 2_214);
});
