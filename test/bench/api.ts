/**
 * The management API on one core over embedded stores: authenticated reads of small resources per second with their
 * latency, and the time of a start until it is ready. Server on core 0, generator on core 1.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { signIn, startOiq } from '../end-to-end/oiq-process.ts';
import { runLoad } from './load.ts';
import { cpuSeconds, memory } from './process-cost.ts';
import type { Row } from './report.ts';
import { scratch } from './scratch.ts';

const seconds = Number(process.env['BENCH_SECONDS'] ?? 10);
const serverCore = 0;
const loadCore = 1;
const paths = (process.env['BENCH_PATHS'] ?? '/auth/session,/api/projects/default,/api/projects').split(',');

/** Milliseconds from the start of the process to the first `/readyz` that is ready. The stores are set up before. */
const startMs = async (dataDirectory: string): Promise<number> => {
  const started = performance.now();
  const oiq = await startOiq({ dataDirectory });
  const elapsedMs = performance.now() - started;
  await oiq.stop();
  return elapsedMs;
};

export const api = async (): Promise<Row[]> => {
  const directory = scratch();
  const dataDirectory = join(directory, 'data');
  try {
    const first = await startMs(dataDirectory);
    const again = await startMs(dataDirectory);
    const oiq = await startOiq({ dataDirectory, environment: { OIQ_API_REQUESTS_PER_SECOND: '1000000' } });
    execFileSync('taskset', ['-acp', String(serverCore), String(oiq.pid)], { stdio: 'ignore' });
    const token = await signIn(oiq.http);
    const rows: Row[] = [];
    for (const path of paths) {
      const job = {
        url: `${oiq.http}${path}`,
        headers: { authorization: `Bearer ${token}` },
        files: [],
        recordsPerRequest: 1,
        connections: 16,
      };
      await runLoad({ ...job, seconds: 3 }, loadCore);
      const before = cpuSeconds(oiq.pid);
      const load = await runLoad({ ...job, seconds }, loadCore);
      rows.push({
        GET: path,
        'requests/s': load.acknowledged / load.seconds,
        'p50 ms': load.p50,
        'p99 ms': load.p99,
        failed: load.failed,
        'CPU-ms a request': ((cpuSeconds(oiq.pid) - before) / load.acknowledged) * 1_000,
        'RSS MiB': memory(oiq.pid).rss,
        'first start s': first / 1_000,
        'start s': again / 1_000,
      });
      if (load.failed > 0) console.error(load.firstFailure);
    }
    await oiq.stop();
    return rows;
  } finally {
  }
};
