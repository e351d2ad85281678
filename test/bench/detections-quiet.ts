/**
 * The signals of rules over ordinary logs, of which there should be almost none, with reasons; and regression tests, of
 * which each should match. Lines are log records with a body and a service, as a collector sends a file.
 *
 *     node bin/node.mjs test/bench/detections-quiet.ts RULES_FOLDER [LOG_FILE …]
 *
 * RULES_FOLDER has rules in the layout of SigmaHQ. Its `regression_index.json` is used if it exists.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fieldTables } from '../../subjects/detections/fields/index.ts';
import { readRules } from '../../subjects/detections/read.ts';
import { fillEvent } from '../../subjects/detections/record-event.ts';
import { compileRuleSet } from '../../subjects/detections/rule-set.ts';
import { jsonObjects } from '../cases/json-objects.ts';

const [folder, ...files] = process.argv.slice(2);
if (folder === undefined) {
  console.error('usage: node bin/node.mjs test/bench/detections-quiet.ts RULES_FOLDER [LOG_FILE …]');
  process.exit(2);
}
const documents = globSync('**/*.yml', { cwd: folder })
  .sort()
  .flatMap((file) => readRules(readFileSync(join(folder, file), 'utf8')).documents);
const set = compileRuleSet(
  documents.map((document) => ({ id: document.id, version: 1, document })),
  fieldTables,
);

/** Signals of one rule. */
interface Noise {
  readonly title: string;
  readonly example: string;
  readonly reason: string;
  count: number;
}
const noise = new Map<string, Noise>();
let lines = 0;
let signals = 0;
for (const file of files)
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    if (line.trim() === '') continue;
    lines++;
    const event = fillEvent(set.newEvent(), {
      body: line,
      attributes: [],
      resource: [['service.name', basename(file)]],
    });
    for (const { ruleId, rule, fields } of set.match(event)) {
      signals++;
      const key = `${ruleId} ${basename(file)}`;
      const reason = fields
        .map(({ field, path, condition: explanation }) => `${field || 'keyword'} in ${path}: ${explanation}`)
        .join(', ');
      const known = noise.get(key) ?? { title: rule.title, example: line.slice(0, 160), reason, count: 0 };
      known.count++;
      noise.set(key, known);
    }
  }
console.log(`${set.size} rules, ${lines} lines of ${files.length} files: ${signals} signals`);
console.log('| rule | signals | why | first line |\n| --- | --- | --- | --- |');
for (const { title, count, reason, example } of noise.values())
  console.log(`| ${title} | ${count} | ${reason} | ${example} |`);

const index = join(folder, 'regression_index.json');
if (existsSync(index)) {
  const cases = JSON.parse(readFileSync(index, 'utf8')) as { readonly rule_id: string; readonly json: string }[];
  const missed = cases.filter(({ rule_id, json }) => {
    const events = jsonObjects(readFileSync(join(folder, json), 'utf8')) as object[];
    return !events.some((event) => set.match(event).some(({ ruleId }) => ruleId === rule_id));
  });
  console.log(`\n${cases.length - missed.length} of ${cases.length} regression cases match`);
  for (const { rule_id, json } of missed) console.log(`not matched: ${rule_id} ${json}`);
}
