/** An HTTP/1.1 server that does not wait for slow senders and closes politely. */
import { createServer, type RequestListener } from 'node:http';
import { bind } from './address.ts';
import type { Listener, Listens } from './receiver.ts';

/** A body of the largest size passes in this time at 0.5 MB/s. */
const requestTimeoutMs = 120_000;
const headersTimeoutMs = 15_000;
/** Longer than load balancers keep connections, so that they are the ones to close. */
const keepAliveTimeoutMs = 75_000;

export const listenHttp = async (
  setting: Listens['setting'],
  address: string,
  listener: RequestListener,
): Promise<Listener> => {
  const server = createServer(
    {
      requestTimeout: requestTimeoutMs,
      headersTimeout: headersTimeoutMs,
      keepAliveTimeout: keepAliveTimeoutMs,
      connectionsCheckingInterval: 5_000,
      noDelay: true,
    },
    listener,
  );
  // With a listener of its own the server lets a request be refused before its body is sent.
  server.on('checkContinue', listener);
  const bound = await bind(server, setting, address);
  return {
    setting,
    address: bound,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      }),
    destroy: () => server.closeAllConnections(),
  };
};
