/**
 * Everything in one process on the whole machine: log records sustained for a minute, and CPU-seconds for a million of
 * them from acknowledgement to queryable, beside VictoriaLogs fed with the same bodies.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { embeddedDeployment, withoutLimits } from '../end-to-end/deployment.ts';
import { startOiq } from '../end-to-end/oiq-process.ts';
import { freePorts } from '../services/ports.ts';
import { type LoadResult, runLoad } from './load.ts';
import { bodies, logsPayload } from './payloads.ts';
import { startPinned, victoriaLogsPath } from './peers.ts';
import { cpuSeconds, memory } from './process-cost.ts';
import type { Row } from './report.ts';
import { scratch } from './scratch.ts';

const seconds = Number(process.env['BENCH_STANDALONE_SECONDS'] ?? 60);
const recordsPerRequest = 500;
/** Offered, so that two peers are given the same; 0 is as fast as it goes. */
const rate = Number(process.env['BENCH_STANDALONE_RATE'] ?? 110_000);

/** Messages that no sink has committed, from the process' own metrics. */
const lagOf = async (http: string): Promise<number> => {
  const text = await (await fetch(`${http}/metrics`)).text();
  let lag = 0;
  for (const [, value] of text.matchAll(/^oiq_consumer_lag_messages\{[^}]*group="sinks\.logs"[^}]*\} (\S+)/gm))
    lag += Number(value);
  return lag;
};

const row = (peer: string, load: LoadResult, cpu: number, drainSeconds: number, pid: number): Row => ({
  peer,
  'records/s': load.records / load.seconds,
  'p99 ms': load.p99,
  failed: load.failed,
  'drained after s': drainSeconds,
  'CPU-s per million': (cpu / load.records) * 1e6,
  'RSS MiB': memory(pid).rss,
  'peak RSS MiB': memory(pid).peak,
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

  const dataDirectory = join(directory, 'data');
  const licenseKey = await embeddedDeployment(dataDirectory);
  const oiq = await startOiq({ dataDirectory, environment: withoutLimits });
  await delay(1_000);
  const before = cpuSeconds(oiq.pid);
  const sent = await runLoad({
    ...load,
    url: `${oiq.otlp}/v1/logs`,
    headers: { 'x-license-key': licenseKey, 'content-type': 'application/x-protobuf' },
  });
  const ended = performance.now();
  await delay(6_000);
  while ((await lagOf(oiq.http)) > 0) await delay(500);
  results.push(row('oiq', sent, cpuSeconds(oiq.pid) - before, (performance.now() - ended) / 1_000, oiq.pid));
  console.error(JSON.stringify(results.at(-1)));
  await oiq.stop();

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
  // It makes rows visible within a few seconds; its merges go on, as ours do.
  await delay(6_000);
  results.push(row('VictoriaLogs', peerSent, cpuSeconds(peer.pid) - peerBefore, 6, peer.pid));
  console.error(JSON.stringify(results.at(-1)));
  await peer.stop();
  return results;
};
