/** Pods of the chart as processes: commands and environments rendered by helm, on this machine. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { environmentOf, find, type Manifest } from '../cases/chart/chart.ts';
import { type Exchange, sourceReplacement } from '../security/without-guard.ts';
import { eventually, stretched } from '../waiting.ts';
import { busyMachine, nodeFlags } from './oiq-process.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const versionFile = new URL('../../runtime/version.ts', import.meta.url);

/** Makes the code report another version. */
const asVersion = (version: string): Readonly<Record<string, string>> => {
  const exchange: Exchange = {
    url: versionFile.href,
    original: ').version;',
    replacement: `).version && '${version}';`,
  };
  return { [sourceReplacement]: JSON.stringify(exchange) };
};
const flags = [...nodeFlags, `--import=${new URL('../security/without-guard.ts', import.meta.url)}`];

/** The timeout of a container that must exit by itself, such as a wait or a migration. */
const hangMs = 600_000;

/** Events in order. */
export interface PodEvent {
  readonly part: string;
  readonly what: 'waited' | 'ready' | 'ended';
  readonly version: string;
}

export interface Pod {
  readonly role: string;
  readonly http: string;
  readonly otlp: string;
  output(): string;
  /** Sends SIGTERM, and SIGKILL after the pod's grace period, like kubelet. Resolves with the exit code. */
  stop(): Promise<number | null>;
}

interface Ran {
  readonly code: number | null;
  readonly output: string;
}

/** The address at which a process reports that it listens. */
const addressIn = (output: string, before: string): string =>
  new RegExp(`^ +${before}(\\S+)$`, 'm').exec(output)?.[1] ?? '127.0.0.1:9';

/** A release of rendered manifests. Its Services lead to the processes on this machine. */
export class Release {
  readonly events: PodEvent[] = [];
  readonly #directory: string;
  readonly #pods = new Map<string, Pod[]>();
  /** Endpoints of the receivers' Services: pods that are ready and not terminating. */
  readonly #endpoints = new Set<Pod>();
  readonly #running = new Set<ChildProcess>();
  #isOver = false;
  #nextEndpoint = 0;
  #made = 0;

  constructor(directory: string) {
    this.#directory = directory;
    process.once('exit', () => this.kill());
  }

  /** The base URL of a receiver, round-robin like connections through a Service. */
  otlp(): string {
    const ready = [...this.#endpoints].filter(({ role }) => role === 'receivers');
    return ready[this.#nextEndpoint++ % ready.length]?.otlp ?? 'http://127.0.0.1:9';
  }

  get pods(): readonly Pod[] {
    return [...this.#pods.values()].flat();
  }

  urlsOf(role: string): string[] {
    return this.pods.filter((pod) => pod.role === role).map(({ http }) => http);
  }

  /** Runs a container until it exits, with the URLs of Services replaced by those of the processes behind them. */
  async runToEnd(version: string, manifests: readonly Manifest[], container: Manifest, pod: Manifest): Promise<Ran> {
    const args = (container.args as string[]).flatMap((argument) => {
      const [, before = '', service = '', port = ''] =
        /^(.*?)http:\/\/oiq-([a-z]+)(?:-pods)?:(\d+)$/.exec(argument) ?? [];
      if (service === '') return [argument];
      const urls = port === '4318' ? [this.otlp()] : this.urlsOf(service);
      // A Service without pods has no address.
      return (urls.length === 0 ? ['http://127.0.0.1:9'] : urls).map((url) => `${before}${url}`);
    });
    const environment = container.envFrom === undefined ? {} : environmentOf(manifests, pod);
    const child = this.#spawn(version, args, { ...environment, ...this.#own() });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text) => (output += text));
    const hung = setTimeout(() => child.kill('SIGKILL'), stretched(hangMs));
    const [status] = (await once(child, 'close')) as [number | null];
    clearTimeout(hung);
    return { code: status, output };
  }

  /**
   * Updates every Deployment to these manifests like its controller: one pod more, none less; all Deployments at once.
   * The pods of a Deployment that no longer exists are terminated at once, as after a deletion by Helm.
   */
  async roll(version: string, manifests: readonly Manifest[]): Promise<void> {
    const deployments = manifests.filter(({ kind }) => kind === 'Deployment');
    const removedParts = [...this.#pods.keys()].filter(
      (part) => !deployments.some(({ metadata }) => metadata.name === part),
    );
    await Promise.all([
      ...removedParts.map(async (part) => {
        for (const pod of this.#pods.get(part) ?? []) await this.#end(part, pod, version);
        this.#pods.delete(part);
      }),
      ...deployments.map(async (deployment) => {
        const part = deployment.metadata.name as string;
        const before = [...(this.#pods.get(part) ?? [])];
        for (let index = 0; index < deployment.spec.replicas; index++) {
          await this.#startPod(version, manifests, deployment);
          const old = before.shift();
          if (old !== undefined) await this.#end(part, old, version);
        }
        for (const old of before) await this.#end(part, old, version);
      }),
    ]);
  }

  /** Kills all processes, including those that a failed roll would still start. */
  kill(): void {
    this.#isOver = true;
    for (const child of this.#running) child.kill('SIGKILL');
  }

  async #startPod(version: string, manifests: readonly Manifest[], deployment: Manifest): Promise<void> {
    const part = deployment.metadata.name as string;
    const { spec } = deployment.spec.template;
    for (const container of spec.initContainers ?? []) {
      const { code: status, output } = await this.runToEnd(version, manifests, container, spec);
      if (status !== 0 || output.includes('still runs after')) throw new Error(`${part} timed out:\n${output}`);
    }
    this.events.push({ part, what: 'waited', version });
    const child = this.#spawn(version, spec.containers[0].args, { ...environmentOf(manifests, spec), ...this.#own() });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => (output += text));
    const ended = once(child, 'exit').then(([status]) => status as number | null);
    const role = deployment.spec.template.metadata.labels['app.kubernetes.io/component'] as string;
    const pod: Pod = {
      role,
      output: () => output,
      get http() {
        return `http://${addressIn(output, 'HTTP +http://')}`;
      },
      get otlp() {
        return `http://${addressIn(output, 'OTLP/HTTP +')}`;
      },
      async stop() {
        child.kill('SIGTERM');
        const late = setTimeout(() => child.kill('SIGKILL'), stretched(spec.terminationGracePeriodSeconds * 1000));
        return ended.finally(() => clearTimeout(late));
      },
    };
    this.#pods.set(part, [...(this.#pods.get(part) ?? []), pod]);
    const listens = (): boolean => /OIQ is running/.test(output);
    const readyz = spec.containers[0].readinessProbe.httpGet.path as string;
    const isReady = async (): Promise<boolean> => {
      if (child.exitCode !== null) throw new Error(`${part} exited during its start:\n${output}`);
      return listens() && (await fetch(`${pod.http}${readyz}`).catch(() => undefined))?.status === 200;
    };
    await eventually(`${part} is ready`, isReady).catch((cause: Error) => {
      throw new Error(`${cause.message}\n${output}`, { cause });
    });
    this.#endpoints.add(pod);
    this.events.push({ part, what: 'ready', version });
  }

  async #end(part: string, pod: Pod, version: string): Promise<void> {
    // preStop sleeps while the Services remove the pod.
    this.#endpoints.delete(pod);
    await new Promise((resolve) => setTimeout(resolve, stretched(1_000)));
    const status = await pod.stop();
    if (status !== 0) throw new Error(`${part} exited with ${status}:\n${pod.output()}`);
    this.#pods.set(
      part,
      (this.#pods.get(part) ?? []).filter((each) => each !== pod),
    );
    this.events.push({ part, what: 'ended', version });
  }

  /** Settings of one pod: an empty data directory, free ports, and timeouts for this machine. */
  #own(): Record<string, string> {
    return {
      OIQ_HTTP_ADDRESS: '127.0.0.1:0',
      OIQ_OTLP_GRPC_ADDRESS: '127.0.0.1:0',
      OIQ_OTLP_HTTP_ADDRESS: '127.0.0.1:0',
      OIQ_DATA_DIR: join(this.#directory, `pod-${++this.#made}`),
      ...busyMachine(),
    };
  }

  #spawn(version: string, args: readonly string[], environment: Readonly<Record<string, string>>) {
    if (this.#isOver) throw new Error('the test is over');
    const child = spawn(process.execPath, [...flags, join(root, 'main.ts'), ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env['PATH'] ?? '',
        NODE_ENV: 'production',
        UV_THREADPOOL_SIZE: '16',
        NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'node'),
        ...asVersion(version),
        ...environment,
      },
    });
    this.#running.add(child);
    child.once('exit', () => this.#running.delete(child));
    return child;
  }
}

/** The pod of a Job or of a test. */
export const podNamed = (manifests: readonly Manifest[], kind: string, name: string): Manifest => {
  const manifest = find(manifests, kind, name);
  return kind === 'Pod' ? manifest.spec : manifest.spec.template.spec;
};
