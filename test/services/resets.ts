/**
 * Proxies that forward connections without resets: a ClickHouse server of the tests ends when a connection is reset
 * (`README.md`).
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';

/** Returns the port of a proxy for a server. The proxy reads responses to their end, even if the client has gone. */
export const withoutResets = async (port: number): Promise<number> => {
  const listening = createServer({ allowHalfOpen: true }, (client) => {
    const answering = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    for (const socket of [client, answering]) socket.setNoDelay(true).unref();
    client.pipe(answering).pipe(client);
    const leave = (): void => {
      answering.unpipe(client).resume().end();
    };
    client.once('error', leave).once('close', leave);
    const end = (): void => {
      client.destroy();
    };
    answering.once('error', end).once('close', end);
  });
  listening.unref().listen(0, '127.0.0.1');
  await once(listening, 'listening');
  return (listening.address() as AddressInfo).port;
};
