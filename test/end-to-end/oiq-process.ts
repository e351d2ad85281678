/** Real processes of the platform: `main.ts` under this Node, with their own environment. */
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

/** Ports of the main address, OTLP over gRPC, and OTLP over HTTP. */
export type Ports = readonly [number, number, number];

export interface OiqProcess {
  readonly pid: number;
  /** Main address, OTLP over gRPC, and OTLP over HTTP. */
  readonly http: string;
  readonly grpc: string;
  readonly otlp: string;
  /** The output so far. */
  output(): string;
  /** Sends SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
  /** Sends SIGKILL. */
  kill(): Promise<void>;
  /** Resolves with the exit code when the process exits. */
  readonly ended: Promise<number | null>;
}

export interface OiqOptions {
  readonly args?: readonly string[];
  readonly dataDirectory: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Reuses the ports of an earlier process of the same deployment. */
  readonly ports?: Ports;
}

/** Timeouts so long that a working process never reaches them, even on a slow machine. */
export const busyMachine = (): Readonly<Record<string, string>> => ({
  OIQ_QUERY_WAIT_SECONDS: '120',
  OIQ_QUERY_SECONDS: '120',
  OIQ_SHUTDOWN_SECONDS: String(Math.ceil(stretched(25_000) / 1000)),
});

/** The environment of a process: that of the tests without OIQ settings, plus the given settings. */
const environmentOf = (settings: Readonly<Record<string, string>>): NodeJS.ProcessEnv => ({
  ...runtime.environment,
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('OIQ_'))),
  NODE_COMPILE_CACHE: compileCache,
  OIQ_BOOTSTRAP_EMAIL: owner.email,
  OIQ_BOOTSTRAP_PASSWORD: owner.password,
  ...busyMachine(),
  // All processes of a cluster share the key.
  ...(settings['OIQ_MONGODB_URL'] !== undefined && { OIQ_SECRET_KEY: 'the key of the processes of a test cluster' }),
  ...settings,
});

/** Flags for child processes, as in `bin/node.mjs`. */
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

/** The exit code and output of a command. */
export interface Ran {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

/** Runs a command until it exits. */
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

/** Starts a process without waiting for anything. */
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
  // The process may exit before all of its output has arrived.
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

/** Starts a process, and waits until `/readyz` is ready and the start message is printed. */
export const startOiq = async (options: OiqOptions): Promise<OiqProcess> => {
  const { args = ['start'] } = options;
  const ports = options.ports ?? ((await freePorts(3)) as [number, number, number]);
  const running = spawnOiq({ ...options, ports });
  let exited = false;
  void running.ended.then(() => {
    exited = true;
  });
  const isReady = async (): Promise<boolean> => {
    if (exited) throw new Error('it exited during its start');
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

/** Retries responses with 503, which a process may return on a busy machine. */
const withRetries = async (what: string, send: () => Promise<Response>): Promise<Response> => {
  let response = await send();
  await eventually(`a response other than 503 to ${what}`, async () => {
    if (response.status !== 503) return true;
    await response.arrayBuffer();
    response = await send();
    return response.status !== 503;
  });
  return response;
};

/** Signs in the owner. Returns the bearer token and the organization. */
export const signedIn = async (http: string): Promise<{ readonly token: string; readonly tenantId: string }> => {
  const response = await withRetries('a sign-in', () =>
    fetch(`${http}/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(owner),
    }),
  );
  if (response.status !== 200) throw new Error(`login returned ${response.status}: ${await response.text()}`);
  const { token, tenant } = (await response.json()) as { token: string; tenant: string | { id: string } };
  return { token, tenantId: typeof tenant === 'string' ? tenant : tenant.id };
};

/** Signs in the owner. Returns the bearer token. */
export const signIn = async (http: string): Promise<string> => (await signedIn(http)).token;

/** Gets JSON from the management API. Retries on 503, throws on any other status except 200. */
export const read = async <Body>(
  http: string,
  path: string,
  token: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Body> => {
  const response = await withRetries(`GET ${path}`, () =>
    fetch(`${http}${path}`, { headers: { authorization: `Bearer ${token}`, ...headers } }),
  );
  if (response.status !== 200) throw new Error(`GET ${path} returned ${response.status}: ${await response.text()}`);
  return (await response.json()) as Body;
};
