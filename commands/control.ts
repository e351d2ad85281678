/**
 * The control socket of a running instance, for commands of the same operating-system user. It is a Unix socket in the
 * data directory that only its owner may open. A request is one JSON line; the response consists of lines of text
 * and a last line with the result.
 */
import { createHash } from 'node:crypto';
import { chmodSync, rmSync } from 'node:fs';
import { createConnection, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { type ControlPlatform, type ControlRequest, runControlRequest } from './control-request.ts';

/**
 * Returns the path of the socket. Socket paths are limited to about 100 bytes: for a deep data directory the socket is
 * in the temporary directory.
 */
export const getSocketPath = (dataDirectory: string): string => {
  const path = resolve(dataDirectory, 'control.sock');
  return path.length < 100
    ? path
    : join(tmpdir(), `oiq-${createHash('sha256').update(path).digest('hex').slice(0, 24)}.sock`);
};

interface ResultLine {
  readonly done: boolean;
  readonly error?: string;
}

export const startControlServer = async (platform: ControlPlatform): Promise<{ close(): Promise<void> }> => {
  const path = getSocketPath(platform.settings.DATA_DIR);
  rmSync(path, { force: true });
  const serve = async (socket: Socket): Promise<void> => {
    const send = (line: unknown): void => {
      socket.write(`${JSON.stringify(line)}\n`);
    };
    for await (const line of createInterface({ input: socket })) {
      try {
        await runControlRequest(platform, JSON.parse(line) as ControlRequest, send);
        send({ done: true } satisfies ResultLine);
      } catch (error) {
        send({ done: true, error: error instanceof Error ? error.message : String(error) } satisfies ResultLine);
      }
    }
  };
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    serve(socket).catch(() => socket.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
  chmodSync(path, 0o600);
  return {
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
};

/** Sends a request to a running instance; returns `false` if no instance responds on the socket. */
export const sendControlRequest = async (
  dataDirectory: string,
  request: ControlRequest,
  print: (line: string) => void,
): Promise<boolean> => {
  const socket = createConnection(getSocketPath(dataDirectory));
  const isConnected = await new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
  });
  if (!isConnected) return false;
  socket.write(`${JSON.stringify(request)}\n`);
  for await (const text of createInterface({ input: socket })) {
    const line = JSON.parse(text) as string | ResultLine;
    if (typeof line === 'string') {
      print(line);
      continue;
    }
    socket.end();
    if (line.error !== undefined) throw new Error(line.error);
    return true;
  }
  throw new Error('the running instance stopped before the command finished');
};
