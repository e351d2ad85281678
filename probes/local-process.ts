/** Keeps the process of the probes of `local` while there are checks for it: what they do takes no time of the stores beside it. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Log } from '../schemas/ports/log.ts';
import type { Role } from '../schemas/ports/role.ts';
import type { LocalWork } from './local.ts';
import type { Asked, FromProbes, LocalOptions, ToProbes } from './local-messages.ts';

const entry = fileURLToPath(new URL('./local-entry.ts', import.meta.url));
const lookMs = 2000;
/** What is left is sent in this time. */
const stopMs = 10_000;
/** A thousand checks take less; the nursery is that of `oiq probe` (`bin/oiq.mjs`). */
export const memoryFlags = ['--max-old-space-size=256', '--max-semi-space-size=4'];

interface Options extends LocalOptions {
  readonly log: Log;
}

const answerTo = async (asked: Asked, work: LocalWork, signal: AbortSignal): Promise<unknown> => {
  switch (asked.what) {
    case 'tenants':
      return work.tenants();
    case 'work':
      return work.source(asked.tenantId).work(asked.digest, signal, asked.told);
    case 'send':
      return work.source(asked.tenantId).send(asked.results, signal);
    case 'show':
      return work.source(asked.tenantId).show?.(asked.picture, signal);
    default:
      return work.source(asked.tenantId).alarm(asked.alarms, signal);
  }
};

class LocalProcess {
  readonly #work: LocalWork;
  readonly #options: Options;
  readonly #stopping = new AbortController();
  #child: ChildProcess | undefined;
  #looking: Promise<void> | undefined;

  constructor(work: LocalWork, options: Options) {
    this.#work = work;
    this.#options = options;
  }

  /** Undefined while nothing is to be run. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  lookOnce(): void {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
  }

  async #look(): Promise<void> {
    try {
      const { length } = await this.#work.tenants();
      if (length > 0 && !this.#stopping.signal.aborted) this.#child ??= this.#start();
      else if (length === 0) await this.#end();
    } catch (error) {
      this.#options.log.warn({ error: String(error) }, 'which organizations have checks here cannot be read');
    }
  }

  #start(): ChildProcess {
    const { networks, chromium, log } = this.#options;
    const execArgv = [...process.execArgv, ...memoryFlags];
    const child = fork(entry, [JSON.stringify({ networks, chromium } satisfies LocalOptions)], {
      execArgv,
      serialization: 'advanced',
    });
    child.on('message', (message) => void this.#hear(child, message as FromProbes));
    child.once('error', (error) => log.error({ error }, 'the probes of local could not be started'));
    child.once('exit', (code, signal) => {
      if (this.#child !== child) return;
      // The next look starts another.
      this.#child = undefined;
      log.error({ code, signal }, 'the probes of local ended');
    });
    return child;
  }

  async #hear(child: ChildProcess, message: FromProbes): Promise<void> {
    if ('level' in message) return this.#options.log[message.level](message.fields, message.message);
    const { id, asked } = message;
    const tell = (answer: ToProbes): void => {
      if (child.connected) child.send(answer, () => undefined);
    };
    try {
      tell({ id, answer: (await answerTo(asked, this.#work, this.#stopping.signal)) as undefined });
    } catch (error) {
      tell({ id, error: String(error) });
    }
  }

  async #end(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    const late = setTimeout(() => child.kill('SIGKILL'), stopMs);
    child.send({ stop: true } satisfies ToProbes, () => undefined);
    await ended;
    clearTimeout(late);
  }

  async stop(): Promise<void> {
    await this.#looking;
    await this.#end();
    this.#stopping.abort();
    await this.#work.close();
  }
}

/** The role: a process of its own while any organization has checks here. One that ends is started again. */
export const startLocalProcess = (work: LocalWork, options: Options): Role & { pid(): number | undefined } => {
  const own = new LocalProcess(work, options);
  const stopped = Promise.withResolvers<void>();
  own.lookOnce();
  const timer = setInterval(() => own.lookOnce(), lookMs);
  return {
    name: 'probes',
    ready: () => Promise.resolve(),
    pid: () => own.pid,
    async stop() {
      clearInterval(timer);
      await own.stop();
      stopped.resolve();
    },
    failed: stopped.promise,
  };
};
