/** An HTTP/1.1 server that does not wait for slow senders and closes politely. */
import { createServer, type RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { bind } from '../../runtime/bind.ts';
import { PlainConnection, type PlainOptions } from './plain-connection.ts';
import type { Listener, Listens } from './receiver.ts';
import { sweepUntilClosed } from './sweep.ts';

/** A body of the largest size passes in this time at 0.5 MB/s. */
const requestTimeoutMs = 120_000;
const headersTimeoutMs = 15_000;
/** Longer than load balancers keep connections, so that they are the ones to close. */
const keepAliveTimeoutMs = 75_000;
const checkingMs = 5_000;

/** Plain requests that `serves` knows are read here; `listener` gets all others, from Node's own parser. */
export const listenHttp = async (
  setting: Listens['setting'],
  address: string,
  serves: PlainOptions['serves'],
  listener: RequestListener,
): Promise<Listener> => {
  const server = createServer(
    {
      requestTimeout: requestTimeoutMs,
      headersTimeout: headersTimeoutMs,
      keepAliveTimeout: keepAliveTimeoutMs,
      connectionsCheckingInterval: checkingMs,
      noDelay: true,
    },
    listener,
  );
  // With a listener of its own the server lets a request be refused before its body is sent.
  server.on('checkContinue', listener);
  const toNode = server.listeners('connection');
  server.removeAllListeners('connection');
  const connections = new Set<PlainConnection>();
  server.on('connection', (socket: Socket) => {
    const forget = (): boolean => connections.delete(connection);
    const connection = new PlainConnection(socket, {
      serves,
      handOver() {
        forget();
        socket.off('close', forget);
        for (const take of toNode) take.call(server, socket);
      },
      keepAliveMs: keepAliveTimeoutMs,
      firstMs: headersTimeoutMs,
      bodyMs: requestTimeoutMs,
    });
    connections.add(connection);
    socket.once('close', forget);
  });
  sweepUntilClosed(server, checkingMs, connections);
  const bound = await bind(server, setting, address);
  return {
    setting,
    address: bound,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
        for (const connection of connections) connection.close();
      }),
    destroy() {
      server.close();
      server.closeAllConnections();
      for (const connection of connections) connection.destroy();
    },
  };
};
