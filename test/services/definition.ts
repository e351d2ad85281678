/** What the runner must know about one server. One file of this folder defines each. */
import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { connect } from 'node:net';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { stretched } from '../waiting.ts';

export const serviceNames = ['kafka', 'mongodb', 'redis', 'schema-registry', 'clickhouse', 'zookeeper'] as const;
export type ServiceName = (typeof serviceNames)[number];

/** Where one instance lives. `root` holds what was downloaded and is shared by all instances. */
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
  /** Environment variable that names an existing server instead. */
  readonly variable: string;
  /** Why it cannot start on this machine, for people; `undefined` when it can. */
  missing(): string | undefined;
  /** Downloads the program. Called under a lock; quick when it is there already. */
  install(root: string): Promise<void>;
  /** Prepares the instance's directory and says what to run. */
  command(place: Place): Promise<Command>;
  url(port: number): string;
  /** Whether the server answers a request of its own protocol. */
  ready(port: number): Promise<boolean>;
  /** What is to be done once after it answers, for example initiating a replica set. Idempotent. */
  initialize?(port: number): Promise<void>;
}

const run = promisify(execFile);

/** Runs a program to its end; the error carries what it said. */
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

/** Full path of a program on the PATH. */
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

/** Sentence about the tools that a service lacks. */
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

/** Fills `target` by way of a temporary folder, so that a half-finished download is never taken for a whole one. */
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

/** After so long without an answer a server that takes connections counts as one that hangs. */
export const answerMs = 10_000;

/** Whether anything takes connections on a port of this machine. */
export const listens = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });

/** Sends bytes to a port of this machine and hands the first answer to `accept`; `false` when there is none. */
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

/** Whether a GET is answered with a success. */
export const answers = async (url: string): Promise<boolean> => {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(stretched(answerMs)) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
};
