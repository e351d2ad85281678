/**
 * The cost of each log processor in CPU-µs per record, all over the same messages as in a thread of the product,
 * without detection rules and with 300.
 *
 *     node bin/node.mjs test/bench/rules.ts RULES_FOLDER
 *
 * `BENCH_ONLY` names some of the processors. Rules are the first 300 of a folder that are not correlations and can be
 * parsed. They match no record of the shop.
 */
import { FollowedDocuments } from '../../processors/engine/documents.ts';
import { Task } from '../../processors/engine/task.ts';
import { processors } from '../../processors/registry.ts';
import { logRecords } from '../../schemas/records/sources.ts';
import { detectionRules } from '../../schemas/resources/detection-rule.ts';
import { topics } from '../../schemas/topics.ts';
import { sigmaRulesIn } from './active-rules.ts';
import { logMessages } from './payloads.ts';
import { table } from './report.ts';

const perMessage = 500;
const rounds = 15;

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  console.error('usage: node bin/node.mjs test/bench/rules.ts RULES_FOLDER');
  process.exit(2);
}

const sources = sigmaRulesIn(folder);
const messages = logMessages(perMessage);
const only = process.env['BENCH_ONLY']?.split(',');
const reader = processors.filter(
  ({ reads, name }) => (reads as unknown) === logRecords && only?.includes(name) !== false,
);

/** CPU-µs per record by processor, the minimum of several rounds. */
const costs = (rules: readonly string[]): Map<string, number> => {
  const documents = new FollowedDocuments();
  const at = new Date(0).toISOString();
  for (const [number, source] of rules.entries()) {
    const id = `rule-${number}`;
    const stored = { id, version: 1, createdAt: at, updatedAt: at };
    const rule = { source, enabled: true, exceptions: [], suppression: null, title: id, severity: 'low', riskScore: 1 };
    documents.applyChange(detectionRules.name, 'bench', id, { ...stored, ...rule });
  }
  const tasks = reader.map((processor) => ({
    name: processor.name,
    task: new Task(processor, { topic: topics.logs.name, partition: 0, documents }),
    figures: [] as number[],
  }));
  let offset = 0;
  for (let round = 0; round < rounds; round++) {
    const spent = tasks.map(() => 0);
    for (const message of messages) {
      const fresh = { ...message, offset: offset++, timestampMs: Date.now() };
      for (const [index, { task }] of tasks.entries()) {
        const before = process.cpuUsage();
        task.batch([fresh]);
        const { user, system } = process.cpuUsage(before);
        spent[index] = (spent[index] ?? 0) + user + system;
      }
    }
    for (const [index, { figures }] of tasks.entries())
      figures.push((spent[index] ?? 0) / (messages.length * perMessage));
  }
  return new Map(tasks.map(({ name, figures }) => [name, Math.min(...figures)]));
};

const without = costs([]);
const withRules = costs(sources);
const rows = reader.map(({ name }) => ({
  processor: name,
  'without rules': without.get(name) ?? 0,
  [`with ${sources.length} rules`]: withRules.get(name) ?? 0,
}));
const sum = (figures: ReadonlyMap<string, number>): number =>
  [...figures.values()].reduce((all, each) => all + each, 0);
rows.push({ processor: 'all', 'without rules': sum(without), [`with ${sources.length} rules`]: sum(withRules) });
console.log(table(rows));
