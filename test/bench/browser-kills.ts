/**
 * Kills a process that repeatedly runs a check in Chromium at random times, and counts the remaining browser processes.
 * Of ten kills, seven affect that process, and one each the browser, its driver, and probe and driver together.
 *
 *     node bin/node.mjs test/bench/browser-kills.ts [kills] [runs]
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { findProcesses } from '../../probes/browser/processes.ts';
import type { RunMessage } from '../cases/probes/endless-runs.ts';
import { chromiumProgram } from '../services/chromium.ts';
import { table } from './report.ts';
import { scratch } from './scratch.ts';

const endless = fileURLToPath(new URL('../cases/probes/endless-runs.ts', import.meta.url));
const endedWithinMs = 30_000;
const maxPauseMs = 24_000;
const page = `<title>Shop</title><label>Name <input></label><button onclick="document.title='In'">Sign in</button>`;

/** Processes that were started with the directory, in any process group. */
const left = (directory: string): readonly number[] =>
  readdirSync('/proc')
    .filter((name) => {
      try {
        if (!/^\d+$/.test(name) || !readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(directory)) return false;
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
        return !['Z', 'X'].includes(stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3));
      } catch {
        return false;
      }
    })
    .map(Number);

const browsersIn = (directory: string): readonly number[] =>
  readdirSync(directory).flatMap((name) => findProcesses(join(directory, name)));

const driversIn = (directory: string): readonly number[] =>
  left(directory).filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('driver.ts'));

/** A probe and the outcomes of its runs. A run is disturbed if one of its child processes was killed. */
class Runs {
  readonly outcomes = new Map<string, number>();
  readonly #directory: string;
  readonly #given: readonly string[];
  #child: ChildProcess;
  #isDisturbed = false;

  constructor(directory: string, input: readonly string[]) {
    this.#directory = directory;
    this.#given = input;
    this.#child = this.#start();
  }

  #start(): ChildProcess {
    const env = { ...process.env, TMPDIR: this.#directory };
    const child = fork(endless, this.#given, { env, detached: true, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    child.on('message', (message: RunMessage) => {
      if (message !== 'began') {
        const name = this.#isDisturbed ? `disturbed ${message.outcome}` : message.outcome;
        this.outcomes.set(name, (this.outcomes.get(name) ?? 0) + 1);
        if (!this.#isDisturbed && message.outcome !== 'passed') console.error(message);
      }
      this.#isDisturbed = false;
    });
    return child;
  }

  get whole(): number {
    return this.outcomes.get('passed') ?? 0;
  }

  /** Kills processes of a run while the probe continues. */
  disturb(pids: readonly number[]): void {
    if (pids.length > 0) this.#isDisturbed = true;
    for (const pid of pids) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has already exited.
      }
    }
  }

  /** Kills the probe alone or with its driver. Returns the seconds until all processes and files are gone. */
  async kill(isGroup = false): Promise<number> {
    const ended = once(this.#child, 'exit');
    process.kill((isGroup ? -1 : 1) * (this.#child.pid ?? 0), 'SIGKILL');
    await ended;
    const began = performance.now();
    // Processes alone are not sufficient: a newly forked one does not have its name yet.
    const isThere = (): boolean =>
      left(this.#directory).length > 0 || (!isGroup && readdirSync(this.#directory).length > 0);
    while (isThere() && performance.now() - began < endedWithinMs) await sleep(50);
    return (performance.now() - began) / 1000;
  }

  restart(): void {
    this.#child = this.#start();
  }
}

const measure = async (kills: number, maxRuns: number): Promise<void> => {
  const server = createServer((_, response) => response.setHeader('content-type', 'text/html').end(page));
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const directory = join(scratch(), 'killed');
  mkdirSync(directory);
  const runs = new Runs(directory, [url, await chromiumProgram()]);
  const counts = {
    'of the probe': 0,
    'of the browser': 0,
    'of the driver': 0,
    'of probe and driver': 0,
    'processes left': 0,
    'directories left by a driver': 0,
    'longest s to be gone': 0,
  };
  for (let kill = 1; kill <= kills; kill++) {
    await sleep(Math.random() * maxPauseMs);
    if (kill % 10 === 2 || kill % 10 === 5) {
      const isBrowser = kill % 10 === 2;
      counts[isBrowser ? 'of the browser' : 'of the driver']++;
      runs.disturb(isBrowser ? browsersIn(directory) : driversIn(directory));
      continue;
    }
    const isGroup = kill % 10 === 8;
    counts[isGroup ? 'of probe and driver' : 'of the probe']++;
    counts['longest s to be gone'] = Math.max(counts['longest s to be gone'], await runs.kill(isGroup));
    counts['processes left'] += left(directory).length;
    if (!isGroup) counts['directories left by a driver'] += readdirSync(directory).length;
    runs.restart();
    console.error(`${kill} kills, ${runs.whole} runs`, JSON.stringify(counts));
  }
  while (runs.whole < maxRuns) await sleep(1000);
  await runs.kill();
  counts['processes left'] += left(directory).length;
  server.close();
  const outcomeCounts = Object.fromEntries([...runs.outcomes].map(([outcome, count]) => [`runs ${outcome}`, count]));
  console.log(table([{ ...counts, 'directories left': readdirSync(directory).length, ...outcomeCounts }]));
};

const [kills = '10', maxRunsText = '0'] = process.argv.slice(2);
await measure(Number(kills), Number(maxRunsText));
