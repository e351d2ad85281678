/** Other products, measured in the same run. Environment variables set their paths; without one it is not measured. */
import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** An OpenTelemetry Collector with otlp and kafka receivers, and kafka and clickhouse exporters. */
export const collectorPath = process.env['BENCH_COLLECTOR'];
export const victoriaLogsPath = process.env['BENCH_VICTORIALOGS'];

export interface Peer {
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts a program, pinned to `cpu` if given, and waits until `ready` resolves to true. */
export const startPinned = async (
  cpu: number | undefined,
  command: readonly string[],
  ready: () => Promise<boolean>,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<Peer> => {
  const [file = '', ...args] = cpu === undefined ? command : ['taskset', '-c', String(cpu), ...command];
  let output = '';
  const child: ChildProcess = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], env: environment });
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (part: Buffer) => (output = (output + part.toString()).slice(-20_000)));
  process.once('exit', () => child.kill('SIGKILL'));
  for (let tries = 0; tries < 600; tries++) {
    if (child.exitCode !== null) throw new Error(`${command[0]} ended at its start:\n${output}`);
    if (await ready().catch(() => false)) {
      return {
        pid: child.pid ?? 0,
        stop: () =>
          new Promise((resolve) => {
            child.once('exit', () => resolve());
            child.kill('SIGTERM');
            setTimeout(() => child.kill('SIGKILL'), 20_000).unref();
          }),
      };
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  child.kill('SIGKILL');
  throw new Error(`${command[0]} was not ready within a minute:\n${output}`);
};

/** A collector with one pipeline; `config` is its YAML (JSON is YAML). */
export const startCollector = (
  directory: string,
  config: object,
  cpu: number | undefined,
  readyUrl: string,
): Promise<Peer> => {
  if (collectorPath === undefined) throw new Error('BENCH_COLLECTOR is not set');
  const file = join(directory, `collector-${Math.random().toString(36).slice(2)}.yaml`);
  writeFileSync(file, JSON.stringify(config));
  return startPinned(cpu, [collectorPath, '--config', file], async () => {
    await fetch(readyUrl, { signal: AbortSignal.timeout(1_000) });
    return true;
  });
};
