/**
 * How much work an open-ended test does in one run. Raise a limit for a long manual run: `TEST_KILL_ROUNDS=100 npm
 * test -- reliability processors-once`.
 */
import { selectRunPart } from './parts.ts';

/** How often a kill test kills each kind of process. */
export const killRounds = Number(process.env['TEST_KILL_ROUNDS'] ?? 4);

const propertyShare = Number(process.env['TEST_PROPERTY_SHARE'] ?? 0.25);

/** The number of generated cases that a property test runs: a quarter of `cases`. Each run generates new ones. */
export const propertyRuns = (cases: number): number => Math.max(1, Math.round(cases * propertyShare));

/** How often the only server of a shard is killed under load. */
export const shardKills = Number(process.env['TEST_SHARD_KILLS'] ?? 2);

/** The number of random requests that Schemathesis sends to each operation, in addition to its boundary cases. */
export const schemathesisExamples = Number(process.env['TEST_SCHEMATHESIS_EXAMPLES'] ?? 3);

/** One in this many operations receives random requests in a run. */
export const schemathesisFuzzed = Number(process.env['TEST_SCHEMATHESIS_FUZZED'] ?? 8);

/**
 * Schemathesis derives 165,000 boundary requests from the OpenAPI document, up to 12,000 of one operation. A run
 * covers one in this many operations. Of each operation, a run sends all of the first requests and a decreasing share
 * of the others.
 */
export const schemathesisParts = Number(process.env['TEST_SCHEMATHESIS_PARTS'] ?? 32);
export const schemathesisCases = Number(process.env['TEST_SCHEMATHESIS_CASES'] ?? 200);

/** Whether every evaluation of Prometheus' test language also runs over HTTP, instead of a sample. */
export const shouldRunAllPromql = process.env['TEST_PROMQL_EVALUATIONS'] === 'all';

/**
 * Duration of a ClickHouse outage: longer than the session timeout after which a group reassigns the partitions of a
 * consumer.
 */
export const outageMs = Number(process.env['TEST_OUTAGE_SECONDS'] ?? 15) * 1_000;

/**
 * CPU time for hostile texts in requests. A run covers a part of them; all take some minutes: `TEST_PARTS=1
 * TEST_HOSTILE_CPU_SECONDS=600 npm test -- handlers-hostile`.
 */
export const hostileCpuMs = Number(process.env['TEST_HOSTILE_CPU_SECONDS'] ?? 6) * 1000;

/** The number of ClickHouse shards for PromQL tests; 0 for the engine in the process. */
export const promqlShards = Number(process.env['TEST_PROMQL_SHARDS'] ?? 0);

/** The number of ClickHouse shards for other suites: three in one of four runs. */
export const shardCount = Number(process.env['TEST_SHARDS'] ?? (selectRunPart(4).part === 3 ? 3 : 2));
