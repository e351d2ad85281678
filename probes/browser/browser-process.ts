/** A browser for one run, in processes of its own, with limits. Nothing of it is left when it has ended. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { StepFailure } from '../runner.ts';
import type { FromDriver, Opening, Stepped, ToDriver } from './driver-messages.ts';
import { killAll, memoryOf, processesOf } from './processes.ts';
import { placeForRun, removeDirectory, removeLeft } from './run-directory.ts';

const driver = fileURLToPath(new URL('./driver.ts', import.meta.url));
const driverMemory = '--max-old-space-size=256';
/** Of the browser. A page of a shop takes a quarter. */
export const maxMemoryBytes = 1024 * 1024 * 1024;
const checkIntervalMs = 1000;
/** How long a picture is waited for. */
const pictureMs = 5000;
/** Before what does not end by itself is killed. */
const endMs = 3000;

/** Of this process, what a browser needs: no token and no secret is in reach of a page that broke out. */
const environmentOf = (directory: string): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(
    ['PATH', 'LD_LIBRARY_PATH', 'FONTCONFIG_PATH', 'NODE_COMPILE_CACHE'].flatMap((name) => {
      // biome-ignore lint/style/noProcessEnv: where programs and libraries lie is the machine's, and no setting
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

type Answer<Name extends string> = Extract<FromDriver, Readonly<Record<Name, unknown>>>;

export class BrowserProcess {
  readonly #child: ChildProcess;
  /** Where its files are, once it is open: all its processes are started with it. */
  readonly directory: string;
  readonly #maxBytes: number;
  readonly #checkTimer: NodeJS.Timeout;
  /** Why it was ended, where that was for what it did. */
  #reason: string | undefined;

  private constructor(directory: string, maxBytes: number) {
    this.directory = directory;
    this.#maxBytes = maxBytes;
    this.#child = fork(driver, [directory], {
      execArgv: [...process.execArgv, driverMemory],
      serialization: 'advanced',
      env: environmentOf(directory),
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    this.#checkTimer = setInterval(() => this.#checkMemory(), checkIntervalMs);
  }

  static async start(maxBytes = maxMemoryBytes): Promise<BrowserProcess> {
    await removeLeft();
    return new BrowserProcess(placeForRun(), maxBytes);
  }

  /** Rejects where it does not start. */
  async open(opening: Opening, signal: AbortSignal): Promise<void> {
    await this.#request({ open: opening }, 'opened', signal);
  }

  /** Rejects where there is no answer: it was ended, or its time is over. */
  async step(message: ToDriver & { readonly step: object }, signal: AbortSignal): Promise<Stepped> {
    return (await this.#request(message, 'stepped', signal)).stepped;
  }

  /** How the page looks without some texts; undefined where that cannot be seen. */
  async picture(hidden: readonly string[]): Promise<Uint8Array | undefined> {
    return this.#request({ hidden }, 'picture', AbortSignal.timeout(pictureMs)).then(
      ({ picture }) => picture,
      () => undefined,
    );
  }

  /** Why there is no answer. Where nothing is known of it, the page is not to blame. */
  #ending(): StepFailure {
    return this.#reason === undefined
      ? new StepFailure('the browser ended', { outcome: 'unknown' })
      : new StepFailure(this.#reason);
  }

  #checkMemory(): void {
    const processes = processesOf(this.directory);
    if (memoryOf(processes) <= this.#maxBytes) return;
    this.#reason = `the page takes more than ${Math.round(this.#maxBytes / 1024 / 1024)} MB of memory`;
    this.#child.kill('SIGKILL');
    void killAll(this.directory);
  }

  /** Answers what is called so: that of a step which nobody waited for may come before it. */
  async #request<Name extends string>(message: ToDriver, name: Name, signal: AbortSignal): Promise<Answer<Name>> {
    const answered = Promise.withResolvers<Answer<Name> | Extract<FromDriver, { error: string }>>();
    const onMessage = (answer: FromDriver): void => {
      if (name in answer || 'error' in answer) answered.resolve(answer as Answer<Name>);
    };
    const onExit = (): void => answered.reject(this.#ending());
    const onError = (error: Error): void => answered.reject(error);
    const onAbort = (): void => answered.reject(signal.reason);
    this.#child.on('message', onMessage).once('exit', onExit).once('error', onError);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      signal.throwIfAborted();
      if (!this.#child.connected) throw this.#ending();
      this.#child.send(message, (error) => {
        if (error !== null) answered.reject(error);
      });
      const answer = await answered.promise;
      // A page whose process was killed says that it crashed.
      if ('error' in answer) throw new Error(this.#reason ?? answer.error);
      return answer;
    } finally {
      this.#child.off('message', onMessage).off('exit', onExit).off('error', onError);
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Resolves when nothing of it is left. */
  async end(): Promise<void> {
    clearInterval(this.#checkTimer);
    const child = this.#child;
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit');
      const late = setTimeout(() => child.kill('SIGKILL'), endMs);
      if (child.connected) child.disconnect();
      await ended;
      clearTimeout(late);
    }
    await removeDirectory(this.directory);
  }
}
