/**
 * The cost of 1,000 SLOs with 4,000 rules during ingest: the whole product in one process receives 20,000 log records
 * per second, alternately with and without SLOs; their cost is the difference.
 *
 *     node bin/node.mjs test/bench/slos-during-ingest.ts [objectives] [minutes] [rounds] [records a second]
 *
 * CPU-seconds of the process come from the accounting of Linux. Lateness and duration of rules and SLOs come from the
 * histograms of the process.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openChdbColumns } from '../../adapters/columns-chdb/columns-chdb.ts';
import { openSqliteDocuments } from '../../adapters/documents-sqlite/documents-sqlite.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { organizations, organizationsTenant } from '../../schemas/resources/organization.ts';
import { plans, plansTenant } from '../../schemas/resources/plan.ts';
import { migrate } from '../../sinks/migrations/index.ts';
import { embeddedDeployment, withoutLimits } from '../end-to-end/deployment.ts';
import { startOiq } from '../end-to-end/oiq-process.ts';
import { runLoad } from './load.ts';
import { fillObjectives, fillTelemetry } from './objectives.ts';
import { bodies, logsPayload } from './payloads.ts';
import { cpuSeconds } from './process-cost.ts';
import { scratch } from './scratch.ts';

const minuteMs = 60_000;
const recordsPerRequest = 500;
const self = fileURLToPath(import.meta.url);

/** Stores telemetry for this many SLOs, and optionally the SLOs. */
const fill = async (dataDirectory: string, count: number, withObjectives: boolean): Promise<void> => {
  const documents = await openSqliteDocuments({ path: join(dataDirectory, 'documents.sqlite') });
  const columns = await openChdbColumns({ directory: join(dataDirectory, 'columns') });
  await migrate(columns, silentLog);
  await documents
    .forTenant(plansTenant)
    .collection(plans)
    .update('enterprise', { retentionDays: { logs: 2, traces: 2, metrics: 2 } });
  const [organization] = (await documents.forTenant(organizationsTenant).collection(organizations).list({ limit: 2 }))
    .items;
  if (organization === undefined) throw new Error('there is no organization');
  const startMs = Math.floor(Date.now() / minuteMs) * minuteMs;
  const filled = { tenantId: organization.id, count, startMs };
  await fillTelemetry(columns, { ...filled, untilMs: startMs + 60 * minuteMs });
  if (withObjectives) await fillObjectives({ documents, columns }, filled);
  await columns.close();
  await documents.close();
};

/** Whether a series of the process metrics belongs to the schedules of SLOs or rules. */
const isOfObjectives = (labels: string): boolean => /schedule="(slo-measurement|alert-evaluation)"/.test(labels);

/** Cumulative counts of a histogram by upper bound, for both schedules together. */
const bucketsOf = (text: string, name: string): Map<number, number> => {
  const counts = new Map<number, number>();
  for (const [, labels = '', value] of text.matchAll(new RegExp(`^${name}_bucket\\{([^}]*)\\} (\\S+)`, 'gm'))) {
    if (!isOfObjectives(labels)) continue;
    const bound = Number(/(?:^|,)le="([^"]+)"/.exec(labels)?.[1]?.replace('+Inf', 'Infinity'));
    counts.set(bound, (counts.get(bound) ?? 0) + Number(value));
  }
  return counts;
};

/** The smallest bucket that contains 99 % of the values since then. */
const p99Of = (before: ReadonlyMap<number, number>, after: ReadonlyMap<number, number>) => {
  const since = [...after].map(([bound, count]) => [bound, count - (before.get(bound) ?? 0)] as const);
  const runs = Math.max(0, ...since.map(([, count]) => count));
  const bound = Math.min(...since.filter(([, count]) => count >= 0.99 * runs).map(([each]) => each));
  return { runs, p99: runs === 0 ? undefined : bound };
};

const failedIn = (text: string): number =>
  [...text.matchAll(/^oiq_schedule_runs_total\{([^}]*)\} (\S+)/gm)]
    .filter(([, labels = '']) => isOfObjectives(labels) && !labels.includes('outcome="success"'))
    .reduce((sum, [, , value]) => sum + Number(value), 0);

const histograms = ['oiq_schedule_delay_seconds', 'oiq_schedule_run_duration_seconds'] as const;

/** CPU-seconds per minute of one installation during ingest, and accepted records per second. */
const measured = async (count: number, withObjectives: boolean, minutes: number, rate: number) => {
  const directory = scratch();
  const dataDirectory = join(directory, 'data');
  const licenseKey = await embeddedDeployment(dataDirectory);
  const args = [self, 'fill', dataDirectory, String(count), String(withObjectives)];
  // The engine opens only one directory per process.
  execFileSync(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], { stdio: 'inherit' });
  const oiq = await startOiq({ dataDirectory, environment: withoutLimits });
  const metrics = async (): Promise<string> => (await fetch(`${oiq.http}/metrics`)).text();
  /** Sends records for about a minute. */
  const minute = async (): Promise<number> => {
    const started = performance.now();
    const nowMs = Date.now() + minuteMs;
    const files = bodies(40, (seed) => logsPayload({ seed, records: recordsPerRequest, nowMs })).map((body, index) => {
      const file = join(directory, `${index}.pb`);
      writeFileSync(file, body);
      return file;
    });
    const seconds = 60 - (performance.now() - started) / 1000;
    const { records, failed, firstFailure } = await runLoad({
      url: `${oiq.otlp}/v1/logs`,
      files,
      recordsPerRequest,
      connections: 8,
      seconds,
      headers: { 'x-license-key': licenseKey, 'content-type': 'application/x-protobuf' },
      // Compensates for the time in which records were generated.
      rate: (rate / recordsPerRequest) * (60 / seconds),
    });
    if (failed > 0) console.error(`${failed} requests failed: ${firstFailure}`);
    return records;
  };
  // The first minute includes startup costs.
  await minute();
  const before = await metrics();
  const cpu: number[] = [];
  let records = 0;
  const started = performance.now();
  for (let at = 0; at < minutes; at++) {
    const used = cpuSeconds(oiq.pid);
    records += await minute();
    cpu.push(cpuSeconds(oiq.pid) - used);
    console.error(`${withObjectives ? count : 'no'} objectives, ${at + 1}: ${cpu.at(-1)?.toFixed(2)} CPU-s`);
  }
  const seconds = (performance.now() - started) / 1000;
  const after = await metrics();
  const [late, runDuration] = histograms.map((name) => p99Of(bucketsOf(before, name), bucketsOf(after, name)));
  const failed = failedIn(after) - failedIn(before);
  await oiq.stop();
  return {
    perMinute: cpu.reduce((sum, each) => sum + each, 0) / minutes,
    cpu,
    rate: records / seconds,
    late,
    runDuration,
    failed,
  };
};

const [given = '1000', ...others] = process.argv.slice(2);
if (given === 'fill') {
  const [dataDirectory = '', count, withObjectives] = others;
  await fill(dataDirectory, Number(count), withObjectives === 'true');
  process.exit();
}
const [minutes = 5, rounds = 2, rate = 20_000] = others.map(Number);
const count = Number(given);
const min = { without: Number.POSITIVE_INFINITY, with: Number.POSITIVE_INFINITY };
for (let round = 1; round <= rounds; round++) {
  const withObjectives = await measured(count, true, minutes, rate);
  // A busy machine accepts fewer records. Then both installations get the lower rate.
  const without = await measured(count, false, minutes, withObjectives.rate);
  min.without = Math.min(min.without, without.perMinute);
  min.with = Math.min(min.with, withObjectives.perMinute);
  const extraCpu = withObjectives.perMinute - without.perMinute;
  console.log(
    `round ${round}: ${without.rate.toFixed(0)} and ${withObjectives.rate.toFixed(0)} records/s; ${without.perMinute.toFixed(2)} CPU-s a minute without, ${withObjectives.perMinute.toFixed(2)} with ${count} objectives: ${extraCpu.toFixed(2)}, ${((extraCpu / 60) * 100).toFixed(1)} % of a core; ${((withObjectives.runDuration?.runs ?? 0) / minutes).toFixed(0)} runs a minute, ${withObjectives.failed} failed, begun late p99 ≤ ${withObjectives.late?.p99} s, took p99 ≤ ${withObjectives.runDuration?.p99} s`,
  );
}
const extraCpu = min.with - min.without;
console.log(
  `least of ${rounds}: ${extraCpu.toFixed(2)} CPU-s a minute, ${((extraCpu / 60) * 100).toFixed(1)} % of a core`,
);
process.exit();
