/** How much of what could go on for ever a run does. A long run by hand finds more: `TEST_KILL_ROUNDS=100 npm test -- reliability processors-once`. */
import { drawnPart } from './drawing.ts';

/** How often a test of kills kills each kind of process. */
export const killRounds = Number(process.env['TEST_KILL_ROUNDS'] ?? 4);

const propertyShare = Number(process.env['TEST_PROPERTY_SHARE'] ?? 0.25);

/** How many made-up cases a test of a property tries, of those that it might: a run tries a quarter of them, and each run makes up others. */
export const propertyRuns = (cases: number): number => Math.max(1, Math.round(cases * propertyShare));

/** How often a server that alone has a shard is killed under load. */
export const shardKills = Number(process.env['TEST_SHARD_KILLS'] ?? 2);

/** How many made-up requests Schemathesis asks of each operation beside those that it works out. */
export const schemathesisExamples = Number(process.env['TEST_SCHEMATHESIS_EXAMPLES'] ?? 3);

/** A run draws one operation in so many for those. */
export const schemathesisFuzzed = Number(process.env['TEST_SCHEMATHESIS_FUZZED'] ?? 8);

/**
 * Schemathesis works out 165,000 requests from the document, 12,000 of a single operation. A run draws one operation in so many for them, and
 * of its requests all of the first so many, then fewer and fewer: 200 give 1,000 of 12,000.
 */
export const schemathesisParts = Number(process.env['TEST_SCHEMATHESIS_PARTS'] ?? 32);
export const schemathesisCases = Number(process.env['TEST_SCHEMATHESIS_CASES'] ?? 200);

/** Whether each evaluation of Prometheus' test language is asked over HTTP, too, and not only a part of those that read something else. */
export const shouldRunAllPromql = process.env['TEST_PROMQL_EVALUATIONS'] === 'all';

/** How long ClickHouse is gone: longer than a consumer may be silent before its group gives its partitions away. */
export const outageMs = Number(process.env['TEST_OUTAGE_SECONDS'] ?? 15) * 1_000;

/** Processor time for nasty texts in requests, of which a run draws the first; all of them take some minutes: `TEST_PARTS=1 TEST_HOSTILE_CPU_SECONDS=600 npm test -- handlers-hostile`. */
export const hostileCpuMs = Number(process.env['TEST_HOSTILE_CPU_SECONDS'] ?? 6) * 1000;

/** Over how many shards of ClickHouse PromQL is asked; 0 for the engine in the process. */
export const promqlShards = Number(process.env['TEST_PROMQL_SHARDS'] ?? 0);

/** Over how many shards of ClickHouse suites are spread: three in one of four runs. */
export const shardCount = Number(process.env['TEST_SHARDS'] ?? (drawnPart(4).part === 3 ? 3 : 2));
