/** Real processes of the platform, as an operator runs them: `main.ts` under this Node, with an environment of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { freePorts } from '../services/ports.ts';
import { eventually, stretched } from '../waiting.ts';

const main = fileURLToPath(new URL('../../main.ts', import.meta.url));
const runtime = JSON.parse(readFileSync(new URL('../../bin/node.json', import.meta.url), 'utf8')) as {
  readonly flags: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
};
const compileCache = fileURLToPath(new URL('../../node_modules/.cache/node', import.meta.url));

export const owner = { email: 'owner@example.com', password: 'correct horse battery' };

/** Of the main address, OTLP over gRPC, bare OTLP over HTTP. */
export type Ports = readonly [number, number, number];

export interface OiqProcess {
  readonly pid: number;
  /** Main address, OTLP over gRPC, bare OTLP over HTTP. */
  readonly http: string;
  readonly grpc: string;
  readonly otlp: string;
  /** All that it printed so far. */
  output(): string;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
  /** SIGKILL. */
  kill(): Promise<void>;
  /** Resolves with the exit code when it ends by itself. */
  readonly ended: Promise<number | null>;
}

export interface OiqOptions {
  readonly args?: readonly string[];
  readonly dataDirectory: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Reuses the ports of an earlier process of the same deployment. */
  readonly ports?: Ports;
}

/** Limits of time that nothing runs into which works, also where it works slowly. */
export const busyMachine = (): Readonly<Record<string, string>> => ({
  OIQ_QUERY_WAIT_SECONDS: '120',
  OIQ_QUERY_SECONDS: '120',
  OIQ_SHUTDOWN_SECONDS: String(Math.ceil(stretched(25_000) / 1000)),
});

/** The environment of a process: the tests' own, without settings, and what is given. */
const environmentOf = (settings: Readonly<Record<string, string>>): NodeJS.ProcessEnv => ({
  ...runtime.environment,
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('OIQ_'))),
  NODE_COMPILE_CACHE: compileCache,
  OIQ_BOOTSTRAP_EMAIL: owner.email,
  OIQ_BOOTSTRAP_PASSWORD: owner.password,
  ...busyMachine(),
  // The processes of a cluster share it.
  ...(settings['OIQ_MONGODB_URL'] !== undefined && { OIQ_SECRET_KEY: 'the key of the processes of a test cluster' }),
  ...settings,
});

/** How Node runs what is spawned here, as `bin/node.mjs` does. */
export const nodeFlags: readonly string[] = [
  ...runtime.flags,
  `--import=${new URL('../../bin/imports.mjs', import.meta.url)}`,
];

const spawnMain = (args: readonly string[], settings: Readonly<Record<string, string>>): ChildProcess => {
  const child = spawn(process.execPath, [...nodeFlags, main, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: environmentOf(settings),
  });
  const end = (): void => void child.kill('SIGKILL');
  process.once('exit', end);
  child.once('exit', () => process.off('exit', end));
  return child;
};

/** How a command ended, and what it printed. */
export interface Ran {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

/** Runs a command to its end. */
export const runOiq = async (args: readonly string[], settings: Readonly<Record<string, string>>): Promise<Ran> => {
  const child = spawnMain(args, settings);
  let output = '';
  let errors = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output, errors };
};

/** Starts a process and does not wait for anything. */
export const spawnOiq = ({
  args = ['start'],
  dataDirectory,
  environment = {},
  ports: [http, grpc, otlp],
}: OiqOptions & { readonly ports: Ports }): OiqProcess => {
  const child = spawnMain(args, {
    OIQ_DATA_DIR: dataDirectory,
    OIQ_HTTP_ADDRESS: `127.0.0.1:${http}`,
    OIQ_OTLP_GRPC_ADDRESS: `127.0.0.1:${grpc}`,
    OIQ_OTLP_HTTP_ADDRESS: `127.0.0.1:${otlp}`,
    ...environment,
  });
  let output = '';
  const appendOutput = (text: string): void => {
    output = (output + text).slice(-200_000);
  };
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', appendOutput);
  // When it has exited, some of what it printed may still be on the way.
  const ended = once(child, 'close').then(([code]) => code as number | null);
  const signal = (name: NodeJS.Signals): Promise<number | null> => {
    if (child.exitCode === null && child.signalCode === null) child.kill(name);
    return ended;
  };
  return {
    pid: child.pid ?? 0,
    http: `http://127.0.0.1:${http}`,
    grpc: `127.0.0.1:${grpc}`,
    otlp: `http://127.0.0.1:${otlp}`,
    output: () => output,
    ended,
    stop: () => signal('SIGTERM'),
    kill: async () => void (await signal('SIGKILL')),
  };
};

/** Starts a process and waits until `/readyz` says ready and it has printed all of its start. */
export const startOiq = async (options: OiqOptions): Promise<OiqProcess> => {
  const { args = ['start'] } = options;
  const ports = options.ports ?? ((await freePorts(3)) as [number, number, number]);
  const running = spawnOiq({ ...options, ports });
  let exited = false;
  void running.ended.then(() => {
    exited = true;
  });
  const isReady = async (): Promise<boolean> => {
    if (exited) throw new Error('it ended at its start');
    const ready = await fetch(`${running.http}/readyz`, { signal: AbortSignal.timeout(30_000) }).catch(() => undefined);
    await ready?.arrayBuffer().catch(() => undefined);
    return ready?.status === 200 && running.output().includes('OIQ is running');
  };
  await eventually('it is ready', isReady).catch(async (cause: Error) => {
    await running.kill();
    throw new Error(`oiq ${args.join(' ')}: ${cause.message}\n${running.output()}`, { cause });
  });
  return running;
};

/** Asks again where the answer is 503: on a busy machine a process says so now and then. */
const patiently = async (what: string, send: () => Promise<Response>): Promise<Response> => {
  let response = await send();
  await eventually(`another answer than 503 to ${what}`, async () => {
    if (response.status !== 503) return true;
    await response.arrayBuffer();
    response = await send();
    return response.status !== 503;
  });
  return response;
};

/** Signs the owner in; answers the bearer token and the organization. */
export const signedIn = async (http: string): Promise<{ readonly token: string; readonly tenantId: string }> => {
  const response = await patiently('a sign-in', () =>
    fetch(`${http}/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(owner),
    }),
  );
  if (response.status !== 200) throw new Error(`login answered ${response.status}: ${await response.text()}`);
  const { token, tenant } = (await response.json()) as { token: string; tenant: string | { id: string } };
  return { token, tenantId: typeof tenant === 'string' ? tenant : tenant.id };
};

/** Signs the owner in; answers the bearer token. */
export const signIn = async (http: string): Promise<string> => (await signedIn(http)).token;

/** GETs JSON from the management API; throws on anything but 200, and asks again where that is 503. */
export const read = async <Body>(
  http: string,
  path: string,
  token: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Body> => {
  const response = await patiently(`GET ${path}`, () =>
    fetch(`${http}${path}`, { headers: { authorization: `Bearer ${token}`, ...headers } }),
  );
  if (response.status !== 200) throw new Error(`GET ${path} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as Body;
};
