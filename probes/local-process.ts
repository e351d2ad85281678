/**
 * Runs the process of the probes of `local` while it has checks, so that they take no time from the process with the
 * stores.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Log } from '../schemas/ports/log.ts';
import type { Role } from '../schemas/ports/role.ts';
import type { LocalWork } from './local.ts';
import type { FromProbes, LocalOptions, ProbeRequest, ToProbes } from './local-messages.ts';

const entryPath = fileURLToPath(new URL('./local-entry.ts', import.meta.url));
const checkIntervalMs = 2000;
/** Time limit for sending the remaining results */
const stopTimeoutMs = 10_000;
/**
 * Memory limits of the process; a thousand checks need less. The size of the semi-space is the same as for `oiq probe`
 * (`bin/oiq.mjs`).
 */
export const memoryFlags = ['--max-old-space-size=256', '--max-semi-space-size=4'];

interface Options extends LocalOptions {
  readonly log: Log;
}

const handleRequest = async (request: ProbeRequest, work: LocalWork, signal: AbortSignal): Promise<unknown> => {
  switch (request.what) {
    case 'tenants':
      return work.tenants();
    case 'work':
      return work.source(request.tenantId).fetchWork(request.digest, signal, request.probeState);
    case 'send':
      return work.source(request.tenantId).send(request.results, signal);
    case 'show':
      return work.source(request.tenantId).sendScreenshot?.(request.picture, signal);
    default:
      return work.source(request.tenantId).sendAlarms(request.alarms, signal);
  }
};

class LocalProcess {
  readonly #work: LocalWork;
  readonly #options: Options;
  readonly #stopping = new AbortController();
  #child: ChildProcess | undefined;
  #checking: Promise<void> | undefined;

  constructor(work: LocalWork, options: Options) {
    this.#work = work;
    this.#options = options;
  }

  /** Undefined while there is nothing to run */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  checkOnce(): void {
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined;
    });
  }

  async #check(): Promise<void> {
    try {
      const { length } = await this.#work.tenants();
      if (length > 0 && !this.#stopping.signal.aborted) this.#child ??= this.#start();
      else if (length === 0) await this.#end();
    } catch (error) {
      this.#options.log.warn({ error: String(error) }, 'organizations with checks at this location cannot be read');
    }
  }

  #start(): ChildProcess {
    const { networks, chromium, log } = this.#options;
    const execArgv = [...process.execArgv, ...memoryFlags];
    const child = fork(entryPath, [JSON.stringify({ networks, chromium } satisfies LocalOptions)], {
      execArgv,
      serialization: 'advanced',
    });
    child.on('message', (message) => void this.#handleMessage(child, message as FromProbes));
    child.once('error', (error) =>
      log.error({ error }, 'the probe process of the location local could not be started'),
    );
    child.once('exit', (code, signal) => {
      if (this.#child !== child) return;
      // The next check starts another one.
      this.#child = undefined;
      log.error({ code, signal }, 'the probe process of the location local exited');
    });
    return child;
  }

  async #handleMessage(child: ChildProcess, message: FromProbes): Promise<void> {
    if ('level' in message) return this.#options.log[message.level](message.fields, message.message);
    const { id, request } = message;
    const reply = (message: ToProbes): void => {
      if (child.connected) child.send(message, () => undefined);
    };
    try {
      reply({ id, answer: (await handleRequest(request, this.#work, this.#stopping.signal)) as undefined });
    } catch (error) {
      reply({ id, error: String(error) });
    }
  }

  async #end(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    const killTimer = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs);
    child.send({ stop: true } satisfies ToProbes, () => undefined);
    await exited;
    clearTimeout(killTimer);
  }

  async stop(): Promise<void> {
    await this.#checking;
    await this.#end();
    this.#stopping.abort();
    await this.#work.close();
  }
}

/** The role: a separate process while any organization has checks here. It is restarted when it exits. */
export const startLocalProcess = (work: LocalWork, options: Options): Role & { pid(): number | undefined } => {
  const localProcess = new LocalProcess(work, options);
  const stopped = Promise.withResolvers<void>();
  localProcess.checkOnce();
  const timer = setInterval(() => localProcess.checkOnce(), checkIntervalMs);
  return {
    name: 'probes',
    checkReady: () => Promise.resolve(),
    pid: () => localProcess.pid,
    async stop() {
      clearInterval(timer);
      await localProcess.stop();
      stopped.resolve();
    },
    failure: stopped.promise,
  };
};
