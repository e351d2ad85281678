/**
 * `node test/bench/browser-kills.ts [kills]`: a process that runs a check in Chromium again and again is killed at any moment, and what is
 * left of its browsers is counted. One in ten kills is of the browser, beneath a process that goes on.
 */
import { fork } from 'node:child_process';
import { lookup } from 'node:dns';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { processesOf } from '../../probes/browser/processes.ts';
import { Pace } from '../../probes/pace.ts';
import { runCheck } from '../../probes/run-check.ts';
import { openFence } from '../../runtime/fence.ts';
import { CheckFields } from '../../subjects/synthetics/check.ts';
import { chromiumProgram } from '../services/chromium.ts';
import { table } from './report.ts';
import { scratch } from './scratch.ts';

const endedWithinMs = 30_000;
const page = `<title>Shop</title><label>Name <input></label><button onclick="document.title='In'">Sign in</button>`;

/** Runs until it is killed, and tells of each run. */
const run = async (url: string, program: string): Promise<void> => {
  const steps = [
    { action: 'goto', url },
    { action: 'fill', target: { by: 'label', label: 'Name' }, text: 'ann' },
    { action: 'click', target: { by: 'role', role: 'button', name: 'Sign in' } },
  ];
  const fields = {
    name: 'shop',
    type: 'browser',
    every: '1m',
    timeout: '60s',
    retries: { count: 0 },
    browser: { steps },
  };
  const check = { id: 'c', ...CheckFields.parse(fields) };
  const fence = openFence({ allowedNetworks: ['127.0.0.0/8'], setting: 'x', resolve: lookup });
  const { signal } = new AbortController();
  const around = { fence, pace: new Pace(), signal, chromium: { program, hasSandbox: false } };
  for (;;) {
    const { outcome } = await runCheck({ check, variables: {}, location: 'here' }, around);
    process.send?.(outcome);
  }
};

/** Processes that were started with the directory, in whatever group. */
const left = (directory: string): number =>
  readdirSync('/proc').filter((name) => {
    try {
      if (!/^\d+$/.test(name) || !readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(directory)) return false;
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      return !['Z', 'X'].includes(stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3));
    } catch {
      return false;
    }
  }).length;

const measure = async (kills: number): Promise<void> => {
  const server = createServer((_, answer) => answer.setHeader('content-type', 'text/html').end(page));
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const program = await chromiumProgram();
  const directory = join(scratch(), 'killed');
  mkdirSync(directory);
  const env = { ...process.env, TMPDIR: directory };
  const outcomes = new Map<string, number>();
  const counts = { 'kills of the probe': 0, 'kills of the browser': 0, 'processes left': 0, 'longest s to be gone': 0 };
  const start = () => {
    const child = fork(fileURLToPath(import.meta.url), ['run', url, program], {
      env,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    child.on('message', (outcome) => void outcomes.set(String(outcome), (outcomes.get(String(outcome)) ?? 0) + 1));
    return child;
  };
  let child = start();
  for (let kill = 1; kill <= kills; kill++) {
    await sleep(Math.random() * 12_000);
    if (kill % 10 === 0) {
      counts['kills of the browser']++;
      for (const pid of processesOf(directory)) process.kill(pid, 'SIGKILL');
      continue;
    }
    counts['kills of the probe']++;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    const began = performance.now();
    while (left(directory) > 0 && performance.now() - began < endedWithinMs) await sleep(50);
    counts['processes left'] += left(directory);
    counts['longest s to be gone'] = Math.max(counts['longest s to be gone'], (performance.now() - began) / 1000);
    child = start();
  }
  child.kill('SIGKILL');
  await once(child, 'exit');
  await sleep(endedWithinMs / 10);
  server.close();
  const told = Object.fromEntries([...outcomes].map(([outcome, count]) => [`runs ${outcome}`, count]));
  console.log(table([{ ...counts, 'directories left': readdirSync(directory).length, ...told }]));
};

const [first = '10', url = '', program = ''] = process.argv.slice(2);
if (first === 'run') await run(url, program);
else await measure(Number(first));
