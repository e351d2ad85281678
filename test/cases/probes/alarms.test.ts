/** A probe reports a failure at once, before its retry, and a lasting failure once. */
import { lookup } from 'node:dns';
import test from 'ava';
import { RateLimiter } from '../../../probes/pace.ts';
import { startProbe } from '../../../probes/probe.ts';
import { createEgressPolicy } from '../../../runtime/egress-policy.ts';
import { silentLog } from '../../../schemas/ports/log.ts';
import type { ProbeAlarm, ProbeReport, ProbeResult, WorkItem } from '../../../schemas/synthetic-work.ts';
import { CheckFields } from '../../../subjects/synthetics/check.ts';
import { isDueAt } from '../../../subjects/synthetics/due-times.ts';
import { eventually } from '../../waiting.ts';
import { serveHttp } from './targets.ts';

test('a probe reports its clock offset from the platform after it has measured the offset', async (t) => {
  const aheadMs = 90_000;
  const seen: (number | undefined)[] = [];
  const egressPolicy = createEgressPolicy({ allowedNetworks: [], setting: 'x', resolve: lookup });
  const source = {
    fetchWork(_: string | undefined, __: AbortSignal, { clockAheadMs }: ProbeReport) {
      seen.push(clockAheadMs);
      const atMs = Date.now() + (seen.length < 3 ? -aheadMs : aheadMs);
      return Promise.resolve({ location: 'here', probes: 1, atMs, digest: 'd', checks: [], requestedRuns: [] });
    },
    send: () => Promise.resolve(),
    sendAlarms: () => Promise.resolve(),
  };
  const chromium = { program: undefined, hasSandbox: true };
  const probe = startProbe({ source, egressPolicy, pace: new RateLimiter(), chromium, log: silentLog, pollMs: 50 });
  t.teardown(() => probe.stop());
  await eventually('it polled several times', () => seen.length >= 5);
  t.is(seen[0], undefined);
  const about = (ms: number | undefined): number => Math.round((ms ?? 0) / 10_000) * 10_000;
  t.deepEqual(seen.slice(1, 5).map(about), [aheadMs, aheadMs, -aheadMs, -aheadMs]);
});

test('a failure is reported before its retry, once while it lasts, and again after a success', async (t) => {
  let isUp = false;
  const port = await serveHttp(t, (_, response) => response.writeHead(isUp ? 200 : 500).end());
  const checkOf = (id: string, locations: string[], count: number) => ({
    id,
    ...CheckFields.parse({
      name: id,
      type: 'http',
      every: '10s',
      timeout: '1s',
      locations,
      retries: { count, wait: '20s' },
      http: { steps: [{ url: `http://127.0.0.1:${port}/` }] },
    }),
  });
  const alone = checkOf('alone', ['here'], 0);
  const shared = checkOf('shared', ['here', 'there'], 0);
  const slow = checkOf('slow', ['here', 'there'], 1);
  const checks = [alone, shared, slow].map((check): WorkItem => ({ check, variables: {} }));
  // The clock of the platform runs so fast that each poll has a due run.
  let atMs = Date.now();
  const alarms: ProbeAlarm[] = [];
  const results: ProbeResult[] = [];
  const egressPolicy = createEgressPolicy({ allowedNetworks: ['127.0.0.0/8'], setting: 'x', resolve: lookup });
  const source = {
    fetchWork: () => {
      atMs += 10_000;
      return Promise.resolve({ location: 'here', probes: 1, atMs, digest: 'd', checks, requestedRuns: [] });
    },
    send: async (some: readonly ProbeResult[]) => void results.push(...some),
    sendAlarms: async (some: readonly ProbeAlarm[]) => void alarms.push(...some),
  };
  const probe = startProbe({
    source,
    egressPolicy,
    pace: new RateLimiter(),
    chromium: { program: undefined, hasSandbox: true },
    log: silentLog,
    pollMs: 200,
  });
  t.teardown(() => probe.stop());
  const of = <Item extends { readonly checkId: string }>(items: readonly Item[], id: string) =>
    items.filter(({ checkId }) => checkId === id);
  await eventually('it failed some times', () => of(results, 'shared').length >= 3);
  t.is(of(alarms, 'alone').length, 0, 'nobody else has it');
  t.is(of(alarms, 'shared').length, 1);
  t.is(of(alarms, 'slow').length, 1);
  t.is(of(results, 'slow').length, 0, 'it waits for its second attempt');
  t.true(isDueAt(shared, 'here', of(alarms, 'shared')[0]?.dueMs ?? 0));
  isUp = true;
  await eventually('it passed', () => of(results, 'shared').at(-1)?.outcome === 'passed');
  isUp = false;
  await eventually('it failed again', () => of(results, 'shared').at(-1)?.outcome === 'failed');
  t.is(of(alarms, 'shared').length, 2);
});
