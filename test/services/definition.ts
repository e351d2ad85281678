/** The definition of a server for tests. One file of this folder defines each server. */
import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { stretched } from '../waiting.ts';

export const serviceNames = ['kafka', 'mongodb', 'redis', 'schema-registry', 'clickhouse', 'zookeeper'] as const;
export type ServiceName = (typeof serviceNames)[number];

/** Directories of an instance. `root` contains downloads and is shared by all instances. */
export interface Place {
  readonly root: string;
  readonly directory: string;
  readonly port: number;
}

export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface ServiceDefinition {
  readonly name: ServiceName;
  /** Environment variable with the address of an existing server to use instead. */
  readonly variable: string;
  /** Why the server cannot start on this machine, for people; undefined if it can. */
  missing(): string | undefined;
  /** Downloads the program. Called under a lock; fast if it is downloaded already. */
  install(root: string): Promise<void>;
  /** Prepares the directory of the instance and returns its command line. */
  command(place: Place): Promise<Command>;
  url(port: number): string;
  /** Whether the server responds to a request of its own protocol. */
  ready(port: number): Promise<boolean>;
  /** Initializes a server after its first start, for example a replica set. Idempotent. */
  initialize?(port: number): Promise<void>;
}

const run = promisify(execFile);

/** Runs a program to completion. The error contains its output. */
export const execute = async (
  file: string,
  args: readonly string[],
  options: { cwd?: string; env?: Readonly<Record<string, string>> } = {},
): Promise<string> => {
  try {
    const { stdout } = await run(file, args, {
      ...options,
      env: { ...process.env, ...options.env },
      maxBuffer: 16 * 1024 * 1024,
    });
    return stdout;
  } catch (cause) {
    const { stdout = '', stderr = '' } = cause as { stdout?: string; stderr?: string };
    throw new Error(`${file} ${args.join(' ')} failed: ${`${stderr}\n${stdout}`.trim().slice(-2000)}`, { cause });
  }
};

/** Returns the full path of a program in `PATH`. */
export const programOf = (name: string): string | undefined => {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const candidate = join(folder, name);
    try {
      accessSync(candidate, constants.X_OK);
      return candidate;
    } catch {
      // Not in this folder.
    }
  }
  return undefined;
};

/** Returns a sentence that names the tools a service needs and does not find. */
export const missingTools = (service: ServiceName, variable: string, tools: readonly string[]): string | undefined => {
  const absent = tools.filter((tool) => programOf(tool) === undefined);
  return absent.length === 0
    ? undefined
    : `${service} cannot start here: ${absent.join(', ')} not found on the PATH (install it, or name a running server in ${variable})`;
};

export const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** Fills `target` through a temporary directory, so that an incomplete download is never used. */
export const installInto = async (target: string, fill: (folder: string) => Promise<void>): Promise<void> => {
  if (await exists(target)) return;
  await mkdir(dirname(target), { recursive: true });
  const folder = await mkdtemp(`${target}.part-`);
  try {
    await fill(folder);
    await rename(folder, target);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/** Time after which a server that accepts connections and does not respond counts as hanging. */
export const answerMs = 10_000;

/** Whether a process accepts connections on a port of this machine. */
export const listens = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });

/**
 * Sends bytes to a port of this machine and returns whether `accept` accepts the first response; false without a
 * response.
 */
export const probe = (port: number, request: Uint8Array, accept: (answer: Buffer) => boolean): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(request));
    const settle = (answered: boolean): void => {
      socket.destroy();
      resolve(answered);
    };
    socket.setTimeout(stretched(answerMs), () => settle(false));
    socket.on('error', () => settle(false));
    socket.on('close', () => settle(false));
    socket.on('data', (answer) => settle(accept(answer)));
  });

/** Whether a GET request succeeds. */
export const answers = async (url: string): Promise<boolean> => {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(stretched(answerMs)) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
};
