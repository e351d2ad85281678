/** Shared by the reliability tests: durations and waiting. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import type { Bus } from '../../schemas/ports/bus.ts';
import { sinkGroups } from '../../sinks/index.ts';
import { eventually, stretched } from '../waiting.ts';
import { embeddedDeployment, withoutLimits } from './deployment.ts';
import { runOiq } from './oiq-process.ts';
import type { Oracle } from './oracle.ts';

/** A long test prints nothing for longer than ava waits. After this time per round it hangs. */
export const roundHangMs = 5 * 60_000;

/** The load while processes are killed: always a request in flight, but little CPU besides the starts. */
export const pace = { connections: 4, pauseMs: 100, recordsPerRequest: 10 } as const;

/** A directory that is deleted after the test, after all other teardowns. */
export const temporaryDirectory = async (t: ExecutionContext, name: string): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), `oiq-${name}-`));
  t.teardown(() => rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }));
  return directory;
};

/** An embedded installation for one test: set up, migrated, with high limits. */
export const installation = async (t: ExecutionContext, name: string) => {
  const dataDirectory = await temporaryDirectory(t, name);
  const licenseKey = await embeddedDeployment(dataDirectory);
  const environment = { ...withoutLimits, OIQ_DATA_DIR: dataDirectory };
  t.is((await runOiq(['migrate'], environment)).code, 0);
  return { dataDirectory, environment, licenseKey };
};

export const between = (min: number, max: number): number => min + Math.random() * (max - min);

/** The total lag of the sinks' groups, or of one. */
export const lagOf = async (bus: Bus, only?: string): Promise<number> => {
  let sum = 0;
  for (const { group, topics } of sinkGroups) {
    if (only !== undefined && group !== only) continue;
    for (const { lag } of await bus.lag(group, topics)) sum += lag;
  }
  return sum;
};

/** Waits until the sinks have stored everything on the bus. Retries while the bus does not respond. */
export const waitUntilStored = (bus: Bus): Promise<void> =>
  eventually('lag 0', async () => (await lagOf(bus).catch(() => Number.NaN)) === 0);

/** The lag that a running process reports. */
export const fetchLag = async (http: string): Promise<number> => {
  const text = await (await fetch(`${http}/metrics`, { signal: AbortSignal.timeout(stretched(10_000)) })).text();
  const values = [...text.matchAll(/^oiq_consumer_lag_messages\{[^}]*\} (\S+)/gm)];
  if (values.length === 0) return Number.NaN;
  return values.reduce((sum, [, value]) => sum + Number(value), 0);
};

/** A process measures its lag every five seconds: reports later than this include everything sent before. */
const reportMs = 5_500;

/** Waits until a running process has stored what it received before this call. */
export const waitUntilDrained = async (http: string): Promise<void> => {
  await delay(stretched(reportMs));
  await eventually('lag 0', async () => (await fetchLag(http).catch(() => Number.NaN)) === 0);
};

/** Checks the oracle's sums and its verdict, and prints what was checked. */
export const assertReadBack = (t: ExecutionContext, oracle: Oracle, readBack: ReadonlyMap<string, number>): void => {
  const { sent, acknowledged, refused, unknown } = oracle.counts();
  const responses = [...oracle.responses()].map(([answer, times]) => `${answer}: ${times}`).join(', ');
  t.log(`${sent} records: ${acknowledged} acknowledged, ${refused} refused, ${unknown} unknown (${responses})`);
  t.is(acknowledged + refused + unknown, sent);
  t.true(acknowledged > 0, 'nothing was acknowledged, so nothing was tested');
  t.deepEqual(oracle.verdict(readBack).slice(0, 20), []);
};

/** Rows that a process has stored since its start, in all tables or in one; 0 while it does not respond. */
export const fetchStoredRows = async (http: string, table = '[^"]*'): Promise<number> => {
  const text = await fetch(`${http}/metrics`, { signal: AbortSignal.timeout(stretched(10_000)) })
    .then((response) => response.text())
    .catch(() => '');
  const counters = text.matchAll(new RegExp(`^oiq_landed_rows_total\\{[^}]*table="${table}"[^}]*\\} (\\S+)`, 'gm'));
  return [...counters].reduce((sum, [, value]) => sum + Number(value), 0);
};
