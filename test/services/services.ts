/**
 * Real servers for tests, without containers, from package registries alone. Tests call `startServices` for shared
 * instances and `startService` for an instance of their own that they may kill. The command line is `node bin/node.mjs
 * test/services/services.ts start|stop|status|wipe [names]`.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { mkdir, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually, stretched } from '../waiting.ts';
import { clickhouse } from './clickhouse.ts';
import { type ServiceDefinition, type ServiceName, serviceNames } from './definition.ts';
import { hang, resume } from './hanging.ts';
import { kafka } from './kafka.ts';
import { mongodb } from './mongodb.ts';
import { freePorts } from './ports.ts';
import { redis } from './redis.ts';
import { schemaRegistry } from './schema-registry.ts';
import { zookeeper } from './zookeeper.ts';

const definitions: Readonly<Record<ServiceName, ServiceDefinition>> = {
  kafka,
  mongodb,
  redis,
  'schema-registry': schemaRegistry,
  zookeeper,
  clickhouse,
};

/** Running shared instances. */
export interface Services {
  /** Returns the address of a service; throws if the service was not requested. */
  url(name: ServiceName): string;
  /**
   * Stops the instances if no other process uses them. Instances that a person started, or that the environment names,
   * continue to run.
   */
  stop(): Promise<void>;
}

/** A server of one test. The server ends with the process of the test at the latest. */
export interface Instance {
  readonly url: string;
  /** Process id of the last start. */
  readonly pid: number;
  /** Stops the server with SIGTERM, then SIGKILL after 20 seconds, or more on a busy machine. */
  stop(): Promise<void>;
  /** Starts the server again with the same port and directory. */
  start(): Promise<void>;
  /** Sends SIGKILL. */
  kill(): Promise<void>;
  /** Stops all threads until `resume`: connections stay open, and the server does not respond. */
  hang(): Promise<void>;
  resume(): void;
  /** Allows this process to exit while the server runs, which then ends. */
  unref(): void;
}

/** The directory of downloads and state. */
export const cacheDirectory = (): string => process.env.TEST_SERVICES_DIR ?? join(homedir(), '.cache', 'oiq-services');
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Whether a process runs, of any user. */
export const alive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

/** Runs `work` under a lock among all processes that use this cache. The lock of a dead process is released. */
export const exclusively = async <Result>(name: string, work: () => Promise<Result>): Promise<Result> => {
  const path = join(cacheDirectory(), `${name}.lock`);
  await mkdir(dirname(path), { recursive: true });
  for (;;) {
    try {
      const file = await open(path, 'wx');
      await file.writeFile(String(process.pid));
      await file.close();
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      const holder = Number(await readFile(path, 'utf8').catch(() => ''));
      if (holder > 0 && !alive(holder)) await rm(path, { force: true });
      else await pause(100);
    }
  }
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
};

/** Why a service cannot run here, for people; undefined if it can, or if the environment names a server. */
export const unavailable = (name: ServiceName): string | undefined =>
  process.env[definitions[name].variable] ? undefined : definitions[name].missing();

/** Installs and starts a server, and waits until it responds. */
const launch = async (
  definition: ServiceDefinition,
  port: number,
  directory: string,
  detached: boolean,
): Promise<ChildProcess> => {
  const problem = definition.missing();
  if (problem !== undefined) throw new Error(problem);
  const root = cacheDirectory();
  await exclusively(`install-${definition.name}`, () => definition.install(root));
  if (await definition.ready(port))
    throw new Error(
      `${definition.name} cannot start: something else answers on 127.0.0.1:${port} (stop it, or name it in ${definition.variable})`,
    );
  const command = await definition.command({ root, directory, port });
  const output = join(directory, 'output.log');
  const descriptor = openSync(output, 'a');
  const child = spawn(command.file, command.args, {
    cwd: command.cwd,
    env: { ...process.env, ...command.env },
    stdio: ['ignore', descriptor, descriptor],
    detached,
  });
  closeSync(descriptor);
  if (detached) child.unref();
  await waitUntilReady(definition, port, child, output);
  return child;
};

const waitUntilReady = async (
  definition: ServiceDefinition,
  port: number,
  child: ChildProcess,
  output: string,
): Promise<void> => {
  let failure: Error | undefined;
  child.once('error', (error) => {
    failure = error;
  });
  const isReady = async (): Promise<boolean> => {
    if (await definition.ready(port)) return true;
    const ended = failure !== undefined || child.exitCode !== null || child.signalCode !== null;
    if (ended) throw new Error('it ended at its start');
    return false;
  };
  await eventually('its first answer', isReady).catch(async (cause: Error) => {
    if (child.pid !== undefined) child.kill('SIGKILL');
    const log = (await readFile(output, 'utf8')).slice(-2000);
    throw new Error(`${definition.name}: ${cause.message}: ${failure?.message ?? log}`, { cause });
  });
  await definition.initialize?.(port);
};

/** Ends a process with SIGTERM, then SIGKILL. Resolves when the process has exited. */
const end = async (pid: number, hasExited: () => boolean, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> => {
  if (hasExited()) return;
  process.kill(pid, signal);
  const began = Date.now();
  while (!hasExited()) {
    if (Date.now() - began > stretched(20_000)) process.kill(pid, 'SIGKILL');
    await pause(50);
  }
};

const own = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of own) child.kill('SIGKILL');
});

/**
 * Starts a server for the caller on a free port, with its files under `directory`. `initialize: false` skips the
 * initialization.
 */
export const startService = async (
  name: ServiceName,
  { port, directory, initialize = true }: { port: number; directory: string; initialize?: boolean },
): Promise<Instance> => {
  const definition = initialize ? definitions[name] : { ...definitions[name], initialize: async () => undefined };
  await mkdir(directory, { recursive: true });
  let child = await launch(definition, port, directory, false);
  own.add(child);
  const finish = async (signal: NodeJS.Signals): Promise<void> => {
    const ending = child;
    await end(ending.pid ?? 0, () => ending.exitCode !== null || ending.signalCode !== null, signal);
    own.delete(ending);
  };
  return {
    url: definition.url(port),
    get pid() {
      return child.pid ?? 0;
    },
    stop: () => finish('SIGTERM'),
    kill: () => finish('SIGKILL'),
    hang: () => hang(child.pid ?? 0),
    resume: () => resume(child.pid ?? 0),
    unref: () => child.unref(),
    async start() {
      child = await launch(definition, port, directory, false);
      own.add(child);
    },
  };
};

interface Running {
  readonly url: string;
  readonly pid: number;
  readonly port: number;
  /** Whether a person started the instance, which then runs until a person stops it. */
  readonly isPersistent: boolean;
}

/** Directory of the shared instances of this checkout. Two checkouts on one machine share downloads, and no server. */
const checkoutDirectory = (): string =>
  join(cacheDirectory(), 'checkouts', hash('sha256', fileURLToPath(new URL('../..', import.meta.url))).slice(0, 12));
const stateFile = (name: ServiceName): string => join(checkoutDirectory(), `${name}.json`);
const sharedDirectory = (name: ServiceName): string => join(checkoutDirectory(), 'shared', name);
const exclusivelyHere = <Result>(name: ServiceName, work: () => Promise<Result>): Promise<Result> =>
  exclusively(join('checkouts', basename(checkoutDirectory()), name), work);

const usersDirectory = (): string => join(checkoutDirectory(), 'users');

/** Registers this process as a user of the shared instances. */
const registerUser = async (): Promise<void> => {
  await mkdir(usersDirectory(), { recursive: true });
  await writeFile(join(usersDirectory(), String(process.pid)), '');
};

/** Ends the registration of this process; returns whether other processes use the shared instances. */
const removeUser = async (): Promise<boolean> => {
  let hasOthers = false;
  for (const user of await readdir(usersDirectory()).catch(() => [])) {
    if (Number(user) !== process.pid && alive(Number(user))) hasOthers = true;
    else await rm(join(usersDirectory(), user), { force: true });
  }
  return hasOthers;
};

/** Returns the shared instance that this checkout started, if it still responds. */
const running = async (name: ServiceName): Promise<Running | undefined> => {
  try {
    const state = JSON.parse(await readFile(stateFile(name), 'utf8')) as Running;
    return alive(state.pid) && (await definitions[name].ready(state.port)) ? state : undefined;
  } catch {
    return undefined;
  }
};

const writeState = (name: ServiceName, state: Running): Promise<void> =>
  writeFile(stateFile(name), JSON.stringify(state));

const startShared = (name: ServiceName, isPersistent: boolean): Promise<string> =>
  exclusivelyHere(name, async () => {
    const before = await running(name);
    if (before !== undefined) {
      if (isPersistent) await writeState(name, { ...before, isPersistent });
      return before.url;
    }
    const definition = definitions[name];
    // The files of an instance contain its port.
    await rm(sharedDirectory(name), { recursive: true, force: true });
    await mkdir(sharedDirectory(name), { recursive: true });
    const [port = 0] = await freePorts(1);
    const child = await launch(definition, port, sharedDirectory(name), true);
    const url = definition.url(port);
    await writeState(name, { url, pid: child.pid ?? 0, port, isPersistent });
    return url;
  });

/** Stops a shared instance and removes its files; returns whether it ran. */
const stopShared = (name: ServiceName, mayStop: (state: Running) => boolean = () => true): Promise<boolean> =>
  exclusivelyHere(name, async () => {
    const state = await running(name);
    if (state !== undefined && !mayStop(state)) return false;
    if (state !== undefined) await end(state.pid, () => !alive(state.pid));
    await rm(stateFile(name), { force: true });
    await rm(sharedDirectory(name), { recursive: true, force: true });
    return state !== undefined;
  });

/** Stops the instances without users, except those that a person started. */
const leave = async (): Promise<void> => {
  if (await removeUser()) return;
  await Promise.all(serviceNames.map((name) => stopShared(name, ({ isPersistent }) => !isPersistent)));
};

/**
 * Makes the shared instances available: those that the environment names, those that run already, and new ones. They
 * run until the last process that uses them has called `stop` or exited. Rejects with the missing tools of this
 * machine.
 */
export const startServices = async (names: readonly ServiceName[], isPersistent = false): Promise<Services> => {
  const urls = new Map<ServiceName, string>();
  await registerUser();
  const results = await Promise.allSettled(
    names.map(async (name) => {
      const input = process.env[definitions[name].variable];
      urls.set(name, input ? input : await startShared(name, isPersistent));
    }),
  );
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) {
    await leave();
    throw failed.reason;
  }
  return {
    url(name) {
      const url = urls.get(name);
      if (url === undefined) throw new Error(`${name} was not asked for in startServices`);
      return url;
    },
    stop: leave,
  };
};

/**
 * Returns a function that stops the shared instances that processes start from now on, such as suites that run one by
 * one.
 */
export const stopperOfStarted = async (): Promise<Pick<Services, 'stop'>> => {
  await registerUser();
  return { stop: leave };
};

const describe = async (name: ServiceName): Promise<string> => {
  const input = process.env[definitions[name].variable];
  if (input) return `${name}: ${input} (${definitions[name].variable})`;
  const state = await running(name);
  return `${name}: ${state === undefined ? (unavailable(name) ?? 'stopped') : `${state.url} (pid ${state.pid})`}`;
};

const commands: Readonly<Record<string, (name: ServiceName) => Promise<string>>> = {
  async start(name) {
    await startServices([name], true);
    await removeUser();
    return describe(name);
  },
  async stop(name) {
    return `${name}: ${(await stopShared(name)) ? 'stopped' : 'was not running'}`;
  },
  status: describe,
  async wipe(name) {
    await stopShared(name);
    return `${name}: stopped and its files removed`;
  },
};

if (import.meta.main) {
  const [verb = '', ...words] = process.argv.slice(2);
  const command = commands[verb];
  const unknown = words.find((word) => !serviceNames.some((name) => name === word));
  if (command === undefined || unknown !== undefined) {
    console.error(`usage: services.ts start|stop|status|wipe [${serviceNames.join('|')} …]`);
    process.exit(2);
  }
  const chosen = serviceNames.filter((name) => words.length === 0 || words.includes(name));
  for (const result of await Promise.allSettled(chosen.map(command))) {
    if (result.status === 'fulfilled') console.log(result.value);
    else {
      console.error(result.reason instanceof Error ? result.reason.message : result.reason);
      process.exitCode = 1;
    }
  }
}
