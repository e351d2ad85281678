/** Binds servers to the `host:port` addresses of settings. */
import type { AddressInfo, Server } from 'node:net';

/** Starts a server. Resolves with the bound address; if binding fails, rejects with instructions for the user. */
export const bind = async (server: Server, setting: string, address: string): Promise<string> => {
  const colon = address.lastIndexOf(':');
  const host = address.slice(0, colon).replace(/^\[|\]$/g, '');
  const port = Number(address.slice(colon + 1));
  await new Promise<void>((resolve, reject) => {
    const fail = (cause: NodeJS.ErrnoException): void => {
      const reason = cause.code === 'EADDRINUSE' ? 'another program uses the address' : cause.message;
      reject(new Error(`cannot listen on ${address}: ${reason}; set another address with OIQ_${setting}`, { cause }));
    };
    server.once('error', fail);
    server.listen({ host, port }, () => {
      server.removeListener('error', fail);
      resolve();
    });
  });
  const boundAddress = server.address() as AddressInfo;
  return `${host.includes(':') ? `[${host}]` : host}:${boundAddress.port}`;
};
