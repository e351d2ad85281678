/**
 * 1,000 HTTP checks every ten seconds by one probe in its own process: CPU, lateness, memory, and how exactly the delay
 * of a target is measured. With `browser`: the CPU time of a run with three steps and a screenshot in Chromium.
 *
 *     node bin/node.mjs test/bench/checks.ts [browser]
 *
 * `BENCH_SECONDS` (60), `BENCH_CHECKS` (1000), `BENCH_RUNS` (5).
 */
import { fork } from 'node:child_process';
import { lookup } from 'node:dns';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadavg } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { BrowserProcess } from '../../probes/browser/browser-process.ts';
import { EgressProxy } from '../../probes/browser/egress-proxy.ts';
import { findProcesses, sumPrivateMemoryBytes } from '../../probes/browser/processes.ts';
import { Deadline } from '../../probes/deadline.ts';
import { memoryFlags } from '../../probes/local-process.ts';
import { RateLimiter } from '../../probes/pace.ts';
import { startProbe } from '../../probes/probe.ts';
import { resolveTarget } from '../../probes/reach.ts';
import { createEgressPolicy } from '../../runtime/egress-policy.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import type { ProbeResult, WorkItem } from '../../schemas/synthetic-work.ts';
import { CheckFields } from '../../subjects/synthetics/check.ts';
import { BrowserStep } from '../../subjects/synthetics/types/browser-steps.ts';
import { chromiumProgram } from '../services/chromium.ts';
import { table } from './report.ts';

const seconds = Number(process.env['BENCH_SECONDS'] ?? 60);
const count = Number(process.env['BENCH_CHECKS'] ?? 1000);
const runs = Number(process.env['BENCH_RUNS'] ?? 5);
const delayMs = 50;
/** Each address gets at most 20 requests per second. */
const addresses = 20;
const egressPolicy = createEgressPolicy({ allowedNetworks: ['127.0.0.0/8'], setting: 'x', resolve: lookup });

const part = (values: readonly number[], share: number): number =>
  values.toSorted((left, right) => left - right)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;

/** The retained part of a result, so that memory of the platform does not count as memory of the probe. */
type Counted = Pick<ProbeResult, 'checkId' | 'dueMs' | 'startedAtMs' | 'outcome'> & { readonly waitMs: number };

const countedOf = ({ checkId, dueMs, startedAtMs, outcome, phases }: ProbeResult): Counted => ({
  checkId,
  dueMs,
  startedAtMs,
  outcome,
  waitMs: phases['wait'] ?? 0,
});

interface Probed {
  readonly results: readonly Counted[];
  readonly cpuSeconds: number;
  readonly seconds: number;
  readonly peakMiB: number;
}

/** Runs the probe with a fake platform that assigns work and accepts results. */
const probe = async (port: number): Promise<Probed> => {
  const checks = Array.from({ length: count }, (_, index): WorkItem => {
    const url = `http://127.0.1.${1 + (index % addresses)}:${port}/`;
    const fields = { name: `check ${index}`, type: 'http', every: '10s', retries: { count: 0 }, locations: ['here'] };
    return {
      check: { id: `c${index}`, ...CheckFields.parse({ ...fields, http: { steps: [{ url }] } }) },
      variables: {},
    };
  });
  const results: Counted[] = [];
  const source = {
    fetchWork: (digest: string | undefined) =>
      Promise.resolve({
        location: 'here',
        probes: 1,
        atMs: Date.now(),
        digest: 'd',
        requestedRuns: [],
        checks: digest === 'd' ? null : checks,
      }),
    send: async (some: readonly ProbeResult[]) => void results.push(...some.map(countedOf)),
    sendAlarms: () => Promise.resolve(),
  };
  const chromium = { program: undefined, hasSandbox: true };
  const running = startProbe({ source, egressPolicy, pace: new RateLimiter(), chromium, log: silentLog });
  // Compilation and setup in the first interval do not count.
  await delay(10_000);
  const [before, began, from] = [process.cpuUsage(), performance.now(), Date.now()];
  let peak = 0;
  const sampling = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 500);
  await delay(seconds * 1000);
  clearInterval(sampling);
  const { user, system } = process.cpuUsage(before);
  const elapsedSeconds = (performance.now() - began) / 1000;
  await running.stop();
  const counted = results.filter(({ dueMs }) => dueMs >= from);
  return {
    results: counted,
    cpuSeconds: (user + system) / 1e6,
    seconds: elapsedSeconds,
    peakMiB: peak / 1024 / 1024,
  };
};

const measureProbe = async (): Promise<void> => {
  /** The real duration of each response by check, in order. */
  const durations = new Map<string, { readonly at: number; readonly ms: number }[]>();
  const server = createServer((request, response) => {
    const [began, at] = [performance.now(), Date.now()];
    const id = String(request.headers['x-oiq-check']);
    setTimeout(() => {
      durations.set(id, [...(durations.get(id) ?? []), { at, ms: performance.now() - began }]);
      response.end('ok');
    }, delayMs);
  });
  await new Promise<void>((ready) => server.listen(0, '0.0.0.0', ready));
  const { port } = server.address() as AddressInfo;
  const child = fork(fileURLToPath(import.meta.url), ['probe', String(port)], {
    serialization: 'advanced',
    execArgv: [...process.execArgv, ...memoryFlags],
  });
  const [probed] = (await once(child, 'message')) as [Probed];
  server.close();
  const { results } = probed;
  const lateness = results.map(({ startedAtMs, dueMs }) => startedAtMs - dueMs);
  const errors = results.flatMap(({ checkId, startedAtMs, waitMs }) => {
    const real = durations.get(checkId)?.find(({ at }) => at >= startedAtMs - 5);
    return real === undefined ? [] : [Math.abs(waitMs - real.ms)];
  });
  console.log(
    table([
      {
        checks: count,
        'runs a second': results.length / probed.seconds,
        'not passed': results.filter(({ outcome }) => outcome !== 'passed').length,
        'CPU, share of a core': probed.cpuSeconds / probed.seconds,
        'CPU ms a run': (probed.cpuSeconds * 1000) / results.length,
        'late p50 ms': part(lateness, 0.5),
        'late p99 ms': part(lateness, 0.99),
        'peak MiB': probed.peakMiB,
        'error of a delay p50 ms': part(errors, 0.5),
        'p99 ms': part(errors, 0.99),
        'load of the machine': loadavg()[0] ?? 0,
      },
    ]),
  );
};

/** CPU seconds of all processes of a run, including its drivers and those that have exited. */
const cpuOf = (directory: string): number => {
  const read = (pid: number, file: string): string => {
    try {
      return readFileSync(`/proc/${pid}/${file}`, 'utf8');
    } catch {
      return '';
    }
  };
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
  const own = all.filter((pid) => read(pid, 'cmdline').includes(directory));
  const ticks = [...new Set([...own, ...findProcesses(directory)])].map((pid) => {
    const stat = read(pid, 'stat');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  });
  return ticks.reduce((sum, some) => sum + some, 0) / 100;
};

const page = `<title>Shop</title><h1>Shop</h1><label>Name <input></label><button onclick="document.title='In'">Sign in</button>`;

const measureBrowser = async (): Promise<void> => {
  const server = createServer((_, response) => response.setHeader('content-type', 'text/html').end(page));
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const steps = [
    { action: 'goto', url },
    { action: 'fill', target: { by: 'label', label: 'Name' }, text: 'ann' },
    { action: 'click', target: { by: 'role', role: 'button', name: 'Sign in' } },
  ].map((step) => BrowserStep.parse(step));
  const program = await chromiumProgram();
  const rows = [];
  for (let run = 0; run < runs; run++) {
    const deadline = new Deadline(120_000, new AbortController().signal);
    const pace = new RateLimiter();
    const proxy = await EgressProxy.open({
      signal: deadline.signal,
      resolveAddress: (host, clock) => resolveTarget(host, { egressPolicy, pace, deadline, clock }),
    });
    const [began, before] = [performance.now(), process.cpuUsage()];
    const browser = await BrowserProcess.start();
    const opening = { program, hasSandbox: false, proxyPort: proxy.port, headers: {}, secrets: [] };
    await browser.open(
      { ...opening, viewport: { width: 1280, height: 720 }, verifyCertificate: true },
      deadline.signal,
    );
    const openedMs = performance.now() - began;
    const outcomes = [];
    for (const handleStep of steps)
      outcomes.push((await browser.step({ handleStep, boundHosts: [] }, deadline.signal)).outcome);
    const picture = await browser.takeScreenshot([]);
    const { user, system } = process.cpuUsage(before);
    rows.push({
      run: String(run + 1),
      outcomes: [...new Set(outcomes)].join(),
      'bytes of its picture': picture?.length ?? 0,
      'CPU-s of browser and driver': cpuOf(browser.directory),
      'CPU-s of the probe': (user + system) / 1e6,
      'MiB of the browser': sumPrivateMemoryBytes(findProcesses(browser.directory)) / 1024 / 1024,
      'start s': openedMs / 1000,
      'whole s': (performance.now() - began) / 1000,
      'load of the machine': loadavg()[0] ?? 0,
    });
    const { directory } = browser;
    await browser.end();
    deadline.end();
    proxy.close();
    const left = findProcesses(directory).length;
    if (left > 0) throw new Error(`${left} processes are left`);
  }
  server.close();
  console.log(table(rows));
};

const [what = '', port = ''] = process.argv.slice(2);
if (what === 'probe') process.send?.(await probe(Number(port)), () => process.disconnect());
else if (what === 'browser') await measureBrowser();
else await measureProbe();
