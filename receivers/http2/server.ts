/** An HTTP/2 server without TLS, for peers that know that it speaks HTTP/2. */
import { createServer, type Server, type Socket } from 'node:net';
import { Connection } from './connection.ts';
import { defaultOptions, type Http2Options } from './options.ts';
import type { Http2Stream, StreamHandler } from './stream.ts';
import { sweepUntilClosed } from './sweep.ts';

export type { Http2Options } from './options.ts';
export type { Http2Stream, StreamHandler } from './stream.ts';

const sweepMs = 250;
/** A peer whose machine vanished is noticed by the kernel. */
const keepAliveMs = 60_000;

export interface Http2Server {
  /** To listen with. */
  readonly server: Server;
  /** Takes no connection and no request any more; resolves when the requests in hand are answered and the connections gone. */
  close(): Promise<void>;
  /** Cuts all connections. */
  destroy(): void;
}

/** `accept` is called with every request as soon as its headers are there, and may answer at once. */
export const createHttp2Server = (
  accept: (stream: Http2Stream) => StreamHandler,
  options: Partial<Http2Options> = {},
): Http2Server => {
  const all = { ...defaultOptions, ...options };
  /** With each, when it is gone. */
  const connections = new Map<Connection, Promise<void>>();
  const server = createServer({ noDelay: true, keepAlive: true, keepAliveInitialDelay: keepAliveMs });
  server.on('connection', (socket: Socket) => {
    const connection = new Connection(socket, accept, all);
    const whenClosed = new Promise<void>((resolve) => {
      socket.once('close', () => {
        connections.delete(connection);
        resolve();
      });
    });
    connections.set(connection, whenClosed);
  });
  sweepUntilClosed(server, sweepMs, connections);
  return {
    server,
    async close() {
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      for (const connection of connections.keys()) connection.drain();
      await closed;
      // The server forgets a connection before its calls get `closed`.
      await Promise.all(connections.values());
    },
    destroy() {
      server.close();
      for (const connection of connections.keys()) connection.destroy();
    },
  };
};
