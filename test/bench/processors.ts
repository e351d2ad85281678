/**
 * The cost of processors: acknowledgements of a standalone process while one burns a core, and the engine's own time
 * per record.
 *
 *     node bin/node.mjs test/bench/processors.ts
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineProcessor } from '../../processors/engine/definition.ts';
import { Task } from '../../processors/engine/task.ts';
import { iterateItems } from '../../schemas/records/source.ts';
import { logRecords } from '../../schemas/records/sources.ts';
import { encodeHeaders } from '../../schemas/telemetry-message.ts';
import { topics } from '../../schemas/topics.ts';
import { embeddedDeployment, withoutLimits } from '../end-to-end/deployment.ts';
import { startOiq } from '../end-to-end/oiq-process.ts';
import { runLoad } from './load.ts';
import { bodies, logsPayload } from './payloads.ts';
import { cpuSeconds } from './process-cost.ts';
import { type Row, table } from './report.ts';
import { scratch } from './scratch.ts';

const seconds = Number(process.env['BENCH_PROCESSORS_SECONDS'] ?? 20);
const recordsPerRequest = 100;
const requestsPerSecond = 100;

const payloads = bodies(30, (seed) => logsPayload({ seed, records: recordsPerRequest, nowMs: Date.now() }));

/** Measures receiving with a processor that uses this time per record. */
const receiving = async (name: string, microseconds: number): Promise<Row> => {
  const directory = scratch();
  const files = payloads.map((body, index) => {
    const file = join(directory, `${index}.pb`);
    writeFileSync(file, body);
    return file;
  });
  const dataDirectory = join(directory, 'data');
  const licenseKey = await embeddedDeployment(dataDirectory);
  const registry = fileURLToPath(new URL('./burning-registry.ts', import.meta.url));
  const oiq = await startOiq({
    dataDirectory,
    environment: {
      ...withoutLimits,
      NODE_OPTIONS: `--import ${registry}`,
      BENCH_BURN_MICROSECONDS: String(microseconds),
    },
  });
  const job = {
    files,
    recordsPerRequest,
    connections: 8,
    rate: requestsPerSecond,
    url: `${oiq.otlp}/v1/logs`,
    headers: { 'x-license-key': licenseKey, 'content-type': 'application/x-protobuf' },
  };
  await runLoad({ ...job, seconds: 5 });
  const before = cpuSeconds(oiq.pid);
  const load = await runLoad({ ...job, seconds });
  const cores = (cpuSeconds(oiq.pid) - before) / load.seconds;
  await oiq.kill();
  return {
    process: name,
    'records/s': load.records / load.seconds,
    'p50 ms': load.p50,
    'p99 ms': load.p99,
    'cores busy': cores,
  };
};

/** Nanoseconds per record for decoding, and for the engine with an empty step. */
const stepping = (): Row[] => {
  const messages = payloads.map((value, offset) => {
    const member = { length: value.length, size: value.length, records: recordsPerRequest, receivedAtMs: Date.now() };
    const headers = encodeHeaders({
      tenantId: 'acme',
      projectId: 'shop',
      keyId: 'key',
      signal: 'logs',
      format: 'otlp',
      encoding: 'identity',
      members: [{ ...member, source: '', traceparent: '' }],
    });
    return { offset, timestampMs: Date.now(), key: '', value, headers };
  });
  const place = { topic: topics.logs.name, partition: 0 };
  const summary = 'Does nothing';
  const empty = defineProcessor({ name: 'empty', summary, reads: logRecords, step: () => undefined });
  const timed = defineProcessor({
    name: 'timed',
    summary,
    reads: logRecords,
    latenessMs: 60_000,
    step: () => undefined,
  });
  const work: Readonly<Record<string, () => void>> = {
    'decoding alone': () => {
      for (const message of messages) for (const _ of iterateItems(logRecords, message, place));
    },
    'an empty step': () => void new Task(empty, place).batch(messages),
    'an empty step, with a watermark': () => void new Task(timed, place).batch(messages),
  };
  return Object.entries(work).map(([what, run]) => {
    for (let warm = 0; warm < 200; warm++) run();
    const times = Array.from({ length: 15 }, () => {
      const began = performance.now();
      for (let round = 0; round < 20; round++) run();
      return ((performance.now() - began) * 1e6) / (20 * payloads.length * recordsPerRequest);
    });
    return { what, 'ns a record': Math.min(...times) };
  });
};

console.log(table(stepping()));
console.log(table([await receiving('no processor', 0), await receiving('beside one that burns a core', 300)]));
process.exit(0);
