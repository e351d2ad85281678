/**
 * The location `local` runs in a separate process: it exists while there are checks to run, and is restarted after a
 * crash.
 */
import test from 'ava';
import { startLocalProcess } from '../../../probes/local-process.ts';
import { silentLog } from '../../../schemas/ports/log.ts';
import type { ProbeAlarm, ProbeResult } from '../../../schemas/synthetic-work.ts';
import { CheckFields } from '../../../subjects/synthetics/check.ts';
import { eventually } from '../../waiting.ts';
import { serveHttp } from './targets.ts';

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test('checks run in another process, which is replaced if it crashes, and ends when no work is left', async (t) => {
  const port = await serveHttp(t, (_, response) => response.end('ok'));
  const fields = { name: 'c', type: 'http', http: { steps: [{ url: `http://127.0.0.1:${port}/` }] } };
  const check = { id: 'c', ...CheckFields.parse(fields) };
  let tenants = ['a', 'b'];
  let requestId = 'first';
  const results: (ProbeResult & { readonly tenantId: string })[] = [];
  const work = {
    tenants: () => Promise.resolve(tenants),
    source: (tenantId: string) => ({
      fetchWork: () => {
        const atMs = Date.now();
        const requestedRuns = [{ check, variables: {}, requestId, requestedAtMs: atMs }];
        return Promise.resolve({ location: 'local', probes: 1, atMs, digest: 'd', checks: [], requestedRuns });
      },
      send: async (some: readonly ProbeResult[]) => void results.push(...some.map((one) => ({ ...one, tenantId }))),
      sendAlarms: async (_: readonly ProbeAlarm[]) => undefined,
    }),
    close: () => Promise.resolve(),
  };
  const role = startLocalProcess(work, {
    networks: ['127.0.0.0/8'],
    chromium: { program: undefined, hasSandbox: true },
    log: silentLog,
  });
  t.teardown(() => role.stop());
  const ranBy = (id: string, tenantId: string) =>
    results.find((one) => one.requestId === id && one.tenantId === tenantId);
  await eventually('both organizations’ checks ran', () => !!ranBy('first', 'a') && !!ranBy('first', 'b'));
  t.is(ranBy('first', 'a')?.outcome, 'passed', ranBy('first', 'a')?.message);
  const first = role.pid() ?? 0;
  t.not(first, process.pid);
  process.kill(first, 'SIGTERM');
  t.true(isRunning(first), 'a signal to a terminal is not its to hear');
  requestId = 'second';
  process.kill(first, 'SIGKILL');
  await eventually('another one runs them', () => !!ranBy('second', 'a'));
  const second = role.pid() ?? 0;
  t.not(second, first);
  tenants = [];
  await eventually('it ended', () => role.pid() === undefined && !isRunning(second));
});
