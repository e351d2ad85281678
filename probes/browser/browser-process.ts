/** A browser for one run, in separate processes, with limits. It leaves nothing behind. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { StepFailure } from '../runner.ts';
import type { BrowserOptions, FromDriver, Stepped, ToDriver } from './driver-messages.ts';
import { findProcesses, killAll, sumPrivateMemoryBytes } from './processes.ts';
import { createRunDirectoryPath, removeAbandoned, removeDirectory } from './run-directory.ts';

const driverPath = fileURLToPath(new URL('./driver.ts', import.meta.url));
const driverMemory = '--max-old-space-size=256';
/** Memory limit of the browser. The page of a typical shop needs a quarter of it. */
export const maxMemoryBytes = 1024 * 1024 * 1024;
const checkIntervalMs = 1000;
/** Timeout for a screenshot */
const screenshotTimeoutMs = 5000;
/** Grace period before remaining processes are killed */
const exitTimeoutMs = 3000;

/**
 * The environment variables that a browser needs: no token or secret is accessible to a page that escapes the sandbox.
 */
const buildBrowserEnvironment = (directory: string): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(
    ['PATH', 'LD_LIBRARY_PATH', 'FONTCONFIG_PATH', 'NODE_COMPILE_CACHE'].flatMap((name) => {
      // biome-ignore lint/style/noProcessEnv: the machine determines where programs and libraries are; it is not a setting
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  ),
  HOME: directory,
  TMPDIR: directory,
  XDG_CONFIG_HOME: directory,
  XDG_CACHE_HOME: directory,
  LANG: 'C.UTF-8',
});

type Response<Name extends string> = Extract<FromDriver, Readonly<Record<Name, unknown>>>;

export class BrowserProcess {
  readonly #child: ChildProcess;
  /** Directory of its files while it is open: all its processes are started with it. */
  readonly directory: string;
  readonly #maxBytes: number;
  readonly #checkTimer: NodeJS.Timeout;
  /** Why it was ended, if its own behavior was the cause. */
  #endReason: string | undefined;

  private constructor(directory: string, maxBytes: number) {
    this.directory = directory;
    this.#maxBytes = maxBytes;
    this.#child = fork(driverPath, [directory], {
      execArgv: [...process.execArgv, driverMemory],
      serialization: 'advanced',
      env: buildBrowserEnvironment(directory),
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    this.#checkTimer = setInterval(() => this.#checkMemory(), checkIntervalMs);
  }

  static async start(maxBytes = maxMemoryBytes): Promise<BrowserProcess> {
    await removeAbandoned();
    return new BrowserProcess(createRunDirectoryPath(), maxBytes);
  }

  /** Opens the browser. Rejects if it does not start. */
  async open(options: BrowserOptions, signal: AbortSignal): Promise<void> {
    await this.#request({ open: options }, 'opened', signal);
  }

  /** Runs a step. Rejects if there is no response, because the browser was ended or the time is over. */
  async step(message: ToDriver & { readonly handleStep: object }, signal: AbortSignal): Promise<Stepped> {
    return (await this.#request(message, 'stepped', signal)).stepped;
  }

  /** Returns a screenshot of the page with `hiddenTexts` masked; undefined if none can be taken. */
  async takeScreenshot(hiddenTexts: readonly string[]): Promise<Uint8Array | undefined> {
    return this.#request({ hiddenTexts }, 'picture', AbortSignal.timeout(screenshotTimeoutMs)).then(
      ({ picture }) => picture,
      () => undefined,
    );
  }

  /** Returns why there is no response. If the cause is unknown, the outcome is `unknown` instead of a failure of the page. */
  #createEndError(): StepFailure {
    return this.#endReason === undefined
      ? new StepFailure('the browser ended', { outcome: 'unknown' })
      : new StepFailure(this.#endReason);
  }

  #checkMemory(): void {
    const processes = findProcesses(this.directory);
    if (sumPrivateMemoryBytes(processes) <= this.#maxBytes) return;
    this.#endReason = `the page takes more than ${Math.round(this.#maxBytes / 1024 / 1024)} MB of memory`;
    this.#child.kill('SIGKILL');
    void killAll(this.directory);
  }

  /** Returns the response with this name; the response to an abandoned step may arrive before it. */
  async #request<Name extends string>(message: ToDriver, name: Name, signal: AbortSignal): Promise<Response<Name>> {
    const response = Promise.withResolvers<Response<Name> | Extract<FromDriver, { error: string }>>();
    const onMessage = (message: FromDriver): void => {
      if (name in message || 'error' in message) response.resolve(message as Response<Name>);
    };
    const onExit = (): void => response.reject(this.#createEndError());
    const onError = (error: Error): void => response.reject(error);
    const onAbort = (): void => response.reject(signal.reason);
    this.#child.on('message', onMessage).once('exit', onExit).once('error', onError);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      signal.throwIfAborted();
      if (!this.#child.connected) throw this.#createEndError();
      this.#child.send(message, (error) => {
        if (error !== null) response.reject(error);
      });
      const reply = await response.promise;
      // A page whose process was killed reports a crash.
      if ('error' in reply) throw new Error(this.#endReason ?? reply.error);
      return reply;
    } finally {
      this.#child.off('message', onMessage).off('exit', onExit).off('error', onError);
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Resolves when all processes and files of the browser are gone. */
  async end(): Promise<void> {
    clearInterval(this.#checkTimer);
    const child = this.#child;
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
      const exited = once(child, 'exit');
      const killTimer = setTimeout(() => child.kill('SIGKILL'), exitTimeoutMs);
      if (child.connected) child.disconnect();
      await exited;
      clearTimeout(killTimer);
    }
    await removeDirectory(this.directory);
  }
}
