/** Prometheus' own tests of PromQL through a running process: samples by remote-write, queries over HTTP. */
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { generateLicenseKey } from '../../schemas/license-key-format.ts';
import { buildLicenseKey, licenseKeys } from '../../schemas/resources/license-key.ts';
import { organizations, organizationsTenant } from '../../schemas/resources/organization.ts';
import { plans, plansTenant } from '../../schemas/resources/plan.ts';
import { promqlShards, shouldRunAllPromql } from '../budget.ts';
import { commandsOf, type Evaluation } from '../cases/promql-language/commands.ts';
import type { ComparableAnswer, JsonHistogram } from '../cases/promql-language/compare.ts';
import { answerProblem, refusalProblem } from '../cases/promql-language/run.ts';
import { runSeed, selectPart } from '../parts.ts';
import { clusterName, startShards } from '../services/clickhouse-shards.ts';
import type { Instance } from '../services/services.ts';
import { eventually } from '../waiting.ts';
import { contentTypes, snappy, writeRequestOf } from './conformance.ts';
import { embeddedDeployment, withoutLimits } from './deployment.ts';
import { type OiqProcess, signIn, startOiq } from './oiq-process.ts';
import { distinctEvaluations } from './promql-evaluations.ts';
import { type Part, partsOf } from './promql-parts.ts';
import { fetchStoredRows } from './reliability.ts';

const folder = new URL('../cases/promql/', import.meta.url);
const files = readdirSync(folder).filter((name) => name.endsWith('.test'));
const everyPart = new Map<string, readonly Part[]>(
  files.map((file) => [file, partsOf(commandsOf(readFileSync(new URL(file, folder), 'utf8')))]),
);

/** Evaluations over HTTP. In-process tests (`cases/promql-language`) cover all, so a run sends only some parts. */
const among = new Map(
  [...everyPart.values()]
    .flat()
    .map((part) => [part, shouldRunAllPromql ? part.evaluations : distinctEvaluations(part.evaluations)] as const)
    .filter(([, evaluations]) => evaluations.length > 0),
);
const drawnParts = new Set(selectPart([...among.keys()], shouldRunAllPromql ? 1 : 4));
const parts = new Map([...everyPart].map(([file, all]) => [file, all.filter((part) => drawnParts.has(part))] as const));

/** Evaluations with known deviations; `queries/promql/README.md` has the reasons. */
const known: Readonly<Record<string, readonly string[]>> = {};

/** All features that Prometheus' own runner enables. */
const features = [
  ...['promql-experimental-functions', 'promql-extended-range-selectors', 'promql-binop-fill-modifiers'],
  ...['promql-delayed-name-removal', 'use-start-timestamps'],
];
const unlimited = {
  ...withoutLimits,
  OIQ_API_REQUESTS_PER_SECOND: '100000',
  OIQ_QUERY_WAIT_SECONDS: '120',
  OIQ_QUERY_SECONDS: '120',
};
/** Samples have timestamps in 1970. */
const retentionDays = 40_000;

let dataDirectory = '';
let oiq: OiqProcess;
let token = '';

/** Addresses of the ClickHouse shards that store the series; without shards the embedded engine stores them. */
const startedShards = async (): Promise<Readonly<Record<string, string>>> => {
  if (promqlShards === 0) return {};
  shards = await startShards(promqlShards, join(dataDirectory, 'shards'));
  return { OIQ_CLICKHOUSE_URL: shards.map(({ url }) => `${url}/oiq`).join(','), OIQ_CLICKHOUSE_CLUSTER: clusterName };
};
let shards: readonly Instance[] = [];

const projectOf = (file: string, index: number): string => `${file}-${index}`;

/** A license key for each part, with its own project. */
const makeKeys = async (): Promise<ReadonlyMap<string, string>> => {
  const documents = await openSqliteDocuments({ path: join(dataDirectory, 'documents.sqlite') });
  const keys = new Map<string, string>();
  try {
    await documents
      .forTenant(plansTenant)
      .collection(plans)
      .update('enterprise', { retentionDays: { logs: 1, metrics: retentionDays, traces: 1 } });
    // Messages are spread over partitions, and so over the shards of ClickHouse.
    if (promqlShards > 0)
      await documents.forTenant(organizationsTenant).collection(organizations).update('default', { shards: 12 });
    for (const [file, all] of parts)
      for (const index of all.keys()) {
        const projectId = projectOf(file, index);
        const key = generateLicenseKey();
        keys.set(projectId, key);
        await documents
          .forTenant('default')
          .collection(licenseKeys)
          .insert(buildLicenseKey(key, { name: projectId, projectId, expiresAt: null }));
      }
  } finally {
    await documents.close();
  }
  return keys;
};

const send = async (key: string, { series, evaluations }: Part): Promise<void> => {
  const requests = promqlShards > 0 ? series.map((one) => [one]) : [series];
  for (const request of requests) await sendSeries(key, request, evaluations[0]?.line);
};

const sendSeries = async (key: string, series: Part['series'], line: number | undefined): Promise<void> => {
  const response = await fetch(`${oiq.http}/api/v1/prom/write`, {
    method: 'POST',
    headers: {
      'content-type': contentTypes[2],
      'content-encoding': 'snappy',
      'x-license-key': key,
      'x-prometheus-remote-write-version': '2.0.0',
    },
    body: new Uint8Array(snappy(writeRequestOf(2, series))),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`samples before line ${line} are refused: ${text}`);
};

test.before(async () => {
  dataDirectory = await mkdtemp(join(tmpdir(), 'oiq-promql-'));
  await embeddedDeployment(dataDirectory);
  const keys = await makeKeys();
  oiq = await startOiq({
    dataDirectory,
    environment: { ...unlimited, ...(await startedShards()), OIQ_PROMQL_FEATURES: features.join(',') },
  });
  const sent = { samples: 0, histograms: 0 };
  // Concurrently, so that they share messages and inserts.
  await Promise.all(
    [...parts].flatMap(([file, all]) =>
      all.map(async (part, index) => {
        for (const { samples = [], histograms = [] } of part.series) {
          sent.samples += samples.length;
          sent.histograms += histograms.length;
        }
        if (part.series.length > 0) await send(keys.get(projectOf(file, index)) ?? '', part);
      }),
    ),
  );
  for (const table of ['samples', 'histograms'] as const)
    await eventually(
      `${sent[table]} ${table} are stored`,
      async () => (await fetchStoredRows(oiq.http, table)) >= sent[table],
    );
});
test.after.always(async () => {
  await oiq?.kill();
  for (const shard of shards) await shard.stop();
  await rm(dataDirectory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
});

type Pair = readonly [seconds: number, value: string];
type HistogramPair = readonly [
  seconds: number,
  value: {
    readonly count: string;
    readonly sum: string;
    readonly buckets?: readonly (readonly [number, ...string[]])[];
  },
];
interface Item {
  readonly metric: Readonly<Record<string, string>>;
  readonly value?: Pair;
  readonly histogram?: HistogramPair;
  readonly values?: readonly Pair[];
  readonly histograms?: readonly HistogramPair[];
}

const numberIn = (text: string): number => Number(text.replace('Inf', 'Infinity'));
const msOf = (seconds: number): number => Math.round(seconds * 1000);
const histogramIn = ([, { count, sum, buckets = [] }]: HistogramPair): JsonHistogram => ({
  count: numberIn(count),
  sum: numberIn(sum),
  buckets: buckets.map(
    ([ends, ...texts]) => [ends, ...texts.map(numberIn)] as unknown as [number, number, number, number],
  ),
});

/** The data of a response in the form that the runner compares. */
const toRunnerAnswer = ({
  resultType,
  result,
}: {
  readonly resultType: string;
  readonly result: unknown;
}): ComparableAnswer => {
  switch (resultType) {
    case 'scalar':
      return { type: 'scalar', value: numberIn((result as Pair)[1]) };
    case 'string':
      return { type: 'string', value: (result as Pair)[1] };
    case 'vector':
      return {
        type: 'vector',
        elements: (result as readonly Item[]).map(({ metric, value, histogram }) => ({
          labels: metric,
          value: histogram ? histogramIn(histogram) : numberIn(value?.[1] ?? ''),
        })),
      };
    default:
      return {
        type: 'matrix',
        series: (result as readonly Item[]).map(({ metric, values = [], histograms = [] }) => ({
          labels: metric,
          points: new Map<number, number | JsonHistogram>([
            ...values.map(([time, value]): [number, number] => [msOf(time), numberIn(value)]),
            ...histograms.map((pair): [number, JsonHistogram] => [msOf(pair[0]), histogramIn(pair)]),
          ]),
        })),
      };
  }
};

interface Body {
  readonly status: string;
  readonly error?: string;
  readonly data: { readonly resultType: string; readonly result: unknown };
  readonly warnings?: readonly string[];
  readonly infos?: readonly string[];
}

const problemOf = async (projectId: string, evaluation: Evaluation): Promise<string | undefined> => {
  const { instant, atMs, startMs, endMs, stepMs, expression } = evaluation;
  const times: Readonly<Record<string, number>> = instant
    ? { time: atMs / 1000 }
    : { start: startMs / 1000, end: endMs / 1000, step: stepMs / 1000 };
  const form = new URLSearchParams({ query: expression, projectId });
  for (const [name, value] of Object.entries(times)) form.set(name, String(value));
  const response = await fetch(`${oiq.http}/api/prom/api/v1/${instant ? 'query' : 'query_range'}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: form,
  });
  const { status, error = '', data, warnings = [], infos = [] } = (await response.json()) as Body;
  if (status !== 'success') return refusalProblem(evaluation, error.replace(/^invalid parameter "query": /, ''));
  return answerProblem(evaluation, { value: toRunnerAnswer(data), warnings, infos });
};

for (const [file, all] of [...parts].filter(([, each]) => each.length > 0))
  test.serial(`the queries in ${file} get the same results over HTTP as in Prometheus`, async (t) => {
    const failed: string[] = [];
    // On a busy machine all files together take longer than a token is valid.
    token = await signIn(oiq.http);
    for (const [index, part] of all.entries())
      for (const evaluation of among.get(part) ?? []) {
        const problem = await problemOf(projectOf(file, index), evaluation);
        if (problem !== undefined) failed.push(`${evaluation.line} ${evaluation.expression}: ${problem}`);
      }
    const isKnown = (text: string): boolean => known[file]?.some((start) => text.startsWith(start)) ?? false;
    t.deepEqual(
      failed.filter((text) => !isKnown(text)),
      [],
    );
    if (shouldRunAllPromql) t.is(failed.length, known[file]?.length ?? 0, 'a known deviation now passes');
  });

test('the expected number of evaluations is run, or sampled from', (t) => {
  const drawnCount = [...drawnParts].reduce((sum, part) => sum + (among.get(part)?.length ?? 0), 0);
  const all = [...among.values()].flat().length;
  t.log(`${drawnCount} of ${all} evaluations are selected (TEST_SEED=${runSeed})`);
  t.is(all, shouldRunAllPromql ? 2_214 : 1_073);
});
