/**
 * Everything in one process on the whole machine: log records sustained for a minute, and CPU-seconds per million of
 * them from acknowledgement to queryable, compared with VictoriaLogs with the same bodies.
 *
 * With `BENCH_RULES`, a folder of Sigma rules, it runs once more with 200 alert rules and 300 of those. With
 * `BENCH_SILENCE_SECONDS` its memory is measured again after this time without load. `BENCH_STANDALONE_SECONDS` (60),
 * `BENCH_STANDALONE_RATE` (110,000 records a second), `BENCH_NODE_OPTIONS` for the process (such as `--cpu-prof`).
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { topics } from '../../schemas/topics.ts';
import { embeddedDeployment, withoutLimits } from '../end-to-end/deployment.ts';
import { startOiq } from '../end-to-end/oiq-process.ts';
import { freePorts } from '../services/ports.ts';
import { makeRules } from './active-rules.ts';
import { type LoadResult, runLoad } from './load.ts';
import { bodies, logsPayload } from './payloads.ts';
import { startPinned, victoriaLogsPath } from './peers.ts';
import { cpuSeconds, memory, threadSeconds } from './process-cost.ts';
import type { Row } from './report.ts';
import { scratch } from './scratch.ts';

const seconds = Number(process.env['BENCH_STANDALONE_SECONDS'] ?? 60);
const recordsPerRequest = 500;
const silenceSeconds = Number(process.env['BENCH_SILENCE_SECONDS'] ?? 0);
const nodeOptions = process.env['BENCH_NODE_OPTIONS'];
const rules = process.env['BENCH_RULES'];
/** The offered rate, so that both products get the same load; 0 means as fast as possible. */
const rate = Number(process.env['BENCH_STANDALONE_RATE'] ?? 110_000);

/** Uncommitted messages of a consumer of logs, from the process metrics; NaN while unknown. */
const lagOf = async (http: string, group: string): Promise<number> => {
  const text = await (await fetch(`${http}/metrics`)).text();
  let lag = 0;
  for (const [, labels = '', value] of text.matchAll(/^oiq_consumer_lag_messages\{([^}]*)\} (\S+)/gm))
    if (labels.includes(`topic="${topics.logs.name}"`) && labels.includes(`group="${group}`)) lag += Number(value);
  return lag;
};

/** Seconds from `ended` until no consumer with this name has any lag. */
const drained = async (http: string, group: string, ended: number): Promise<number> => {
  while ((await lagOf(http, group)) !== 0) await delay(500);
  return (performance.now() - ended) / 1_000;
};

interface Measured {
  readonly load: LoadResult;
  readonly cpu: number;
  readonly pid: number;
  /** Until all records are stored. */
  readonly landedSeconds: number;
  /** Until all processors have read all records. */
  readonly processedSeconds?: number;
  readonly silentMiB?: number;
}

const row = (peer: string, { load, cpu, pid, landedSeconds, processedSeconds, silentMiB }: Measured): Row => ({
  peer,
  'records/s': load.records / load.seconds,
  'p99 ms': load.p99,
  failed: load.failed,
  'drained after s': landedSeconds,
  'processors drained after s': processedSeconds ?? '',
  'records/s kept up with': processedSeconds === undefined ? '' : load.records / (load.seconds + processedSeconds),
  'CPU-s per million': (cpu / load.records) * 1e6,
  'RSS MiB': memory(pid).rss,
  'peak RSS MiB': memory(pid).peak,
  'after silence MiB': silentMiB ?? '',
});

export const standalone = async (): Promise<Row[]> => {
  const directory = scratch();
  const files = bodies(60, (seed) => logsPayload({ seed, records: recordsPerRequest, nowMs: Date.now() })).map(
    (body, index) => {
      const file = join(directory, `${index}.pb`);
      writeFileSync(file, body);
      return file;
    },
  );
  const load = {
    files,
    recordsPerRequest,
    connections: 8,
    seconds,
    ...(rate > 0 ? { rate: rate / recordsPerRequest } : {}),
  };
  const results: Row[] = [];

  const own = async (name: string, rulesFolder?: string): Promise<void> => {
    const dataDirectory = join(directory, name);
    const licenseKey = await embeddedDeployment(dataDirectory);
    const oiq = await startOiq({
      dataDirectory,
      environment: { ...withoutLimits, ...(nodeOptions !== undefined && { NODE_OPTIONS: nodeOptions }) },
    });
    if (rulesFolder !== undefined) console.error(JSON.stringify(await makeRules(oiq.http, rulesFolder)));
    await delay(1_000);
    const before = cpuSeconds(oiq.pid);
    const threadsBefore = threadSeconds(oiq.pid);
    const sent = await runLoad({
      ...load,
      url: `${oiq.otlp}/v1/logs`,
      headers: { 'x-license-key': licenseKey, 'content-type': 'application/x-protobuf' },
    });
    const ended = performance.now();
    await delay(6_000);
    const landedSeconds = await drained(oiq.http, 'sinks.logs', ended);
    const processedSeconds = await drained(oiq.http, '', ended);
    const measured = { load: sent, cpu: cpuSeconds(oiq.pid) - before, pid: oiq.pid, landedSeconds, processedSeconds };
    results.push(row(name, measured));
    console.error(JSON.stringify(results.at(-1)));
    const perMillion = [...threadSeconds(oiq.pid)].map(
      ([thread, used]) => [thread, ((used - (threadsBefore.get(thread) ?? 0)) / sent.records) * 1e6] as const,
    );
    perMillion.sort(([, one], [, other]) => other - one);
    console.error(
      perMillion
        .slice(0, 12)
        .map(([thread, used]) => `${thread} ${used.toFixed(2)}`)
        .join(', '),
    );
    if (silenceSeconds > 0) {
      await delay(silenceSeconds * 1_000);
      results[results.length - 1] = row(name, { ...measured, silentMiB: memory(oiq.pid).rss });
      console.error(JSON.stringify(results.at(-1)));
    }
    await oiq.stop();
  };
  await own('oiq');
  if (rules !== undefined) await own('oiq with rules', rules);

  if (victoriaLogsPath === undefined) return results;
  const [port = 0] = await freePorts(1);
  const peer = await startPinned(
    undefined,
    [victoriaLogsPath, `-httpListenAddr=127.0.0.1:${port}`, `-storageDataPath=${join(directory, 'victoria')}`],
    async () => (await fetch(`http://127.0.0.1:${port}/health`)).ok,
  );
  const peerBefore = cpuSeconds(peer.pid);
  const peerSent = await runLoad({
    ...load,
    url: `http://127.0.0.1:${port}/insert/opentelemetry/v1/logs`,
    headers: { 'content-type': 'application/x-protobuf' },
  });
  // It makes rows visible within a few seconds. Its merges continue, like those of OIQ.
  await delay(6_000);
  const cpu = cpuSeconds(peer.pid) - peerBefore;
  results.push(row('VictoriaLogs', { load: peerSent, cpu, pid: peer.pid, landedSeconds: 6 }));
  console.error(JSON.stringify(results.at(-1)));
  await peer.stop();
  return results;
};
