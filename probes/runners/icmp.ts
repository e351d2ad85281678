import { spawn } from 'node:child_process';
import type { z } from 'zod';
import type { icmp } from '../../subjects/synthetics/types/icmp.ts';
import { StepFailure } from '../runner.ts';
import { createOneStepRunner } from './one-step.ts';

/** Maximum characters that are read from the output of `ping` */
const maxOutputLength = 16_384;
/** Interval between packets; without root a shorter one is rejected. */
const intervalSeconds = '0.2';
/** Wait for the reply to the last packet. The timeout of the attempt may end it earlier. */
const waitSeconds = '2';

interface PingOutput {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly error: string;
}

/** Runs `ping` with arguments and without a shell. `env` sets English output. */
const runPing = async (args: readonly string[], signal: AbortSignal): Promise<PingOutput> => {
  const child = spawn('env', ['LC_ALL=C', 'ping', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
    killSignal: 'SIGKILL',
  });
  const output = { stdout: '', error: '' };
  child.stdout.on('data', (chunk) => {
    output.stdout = (output.stdout + String(chunk)).slice(0, maxOutputLength);
  });
  child.stderr.on('data', (chunk) => {
    output.error = (output.error + String(chunk)).slice(0, maxOutputLength);
  });
  return new Promise((ended, failed) => {
    child.once('error', failed);
    child.once('close', (exitCode) => ended({ exitCode, ...output }));
  });
};

/** Exit code of a missing command */
const commandNotFound = 127;

const createPingFailure = (reason: string): StepFailure =>
  new StepFailure(`this location cannot send echo requests: ${reason}`, { outcome: 'unknown' });

/** Parses the output of `ping`: percentage of lost packets, and the average time of the others. */
export const parsePingOutput = ({
  exitCode,
  stdout,
  error,
}: PingOutput): { readonly loss: number; readonly averageMs: number | undefined } => {
  const [, sent, received] = /^(\d{1,9}) packets transmitted, (\d{1,9})(?: packets)? received/m.exec(stdout) ?? [];
  if (exitCode === commandNotFound) throw createPingFailure('`ping` was not found');
  // 0: replies received; 1: no reply. Any other code means that the test itself failed.
  if (sent === undefined || received === undefined || sent === '0' || (exitCode !== 0 && exitCode !== 1))
    throw createPingFailure((error.trim() || stdout.trim() || `ping ended with ${exitCode}`).split('\n')[0] ?? '');
  const average = /= [\d.]+\/([\d.]+)\//.exec(stdout)?.[1];
  return {
    loss: Math.round((100 * (Number(sent) - Number(received))) / Number(sent)),
    averageMs: average === undefined ? undefined : Number(average),
  };
};

/** Returns why this location cannot send echo requests; undefined if it can. Tests with the loopback address. */
export const describePingProblem = async (): Promise<string | undefined> => {
  try {
    parsePingOutput(await runPing(['-n', '-q', '-c', '1', '-W', '1', '127.0.0.1'], AbortSignal.timeout(5000)));
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
};

export const runIcmp = createOneStepRunner<z.output<(typeof icmp)['settings']>>(
  'lookup',
  ({ host }) => host,
  async ({ host, packets, assertions }, { clock, reached, signal }) => {
    clock.enter('wait');
    const args = ['-n', '-q', '-c', String(packets), '-i', intervalSeconds, '-W', waitSeconds, reached.address];
    const { loss, averageMs } = parsePingOutput(await runPing(args, signal));
    const phases = clock.phases();
    const hasLossAssertion = assertions.some(({ source }) => source === 'loss');
    return {
      observation: { loss },
      ...(averageMs !== undefined && { phases: { ...phases, wait: averageMs } }),
      ...(!hasLossAssertion && loss === 100 && { message: `${host} answered none of ${packets} echo requests` }),
    };
  },
);
