/** Addresses that pass on what a server is sent and answers, and no resets: a server as tests start it ends by one (`README.md`). */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';

/** The port at which a server is found so. An answer that nobody waits for any more is read to its end here. */
export const withoutResets = async (port: number): Promise<number> => {
  const listening = createServer({ allowHalfOpen: true }, (asking) => {
    const answering = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    for (const socket of [asking, answering]) socket.setNoDelay(true).unref();
    asking.pipe(answering).pipe(asking);
    const leave = (): void => {
      answering.unpipe(asking).resume().end();
    };
    asking.once('error', leave).once('close', leave);
    const end = (): void => {
      asking.destroy();
    };
    answering.once('error', end).once('close', end);
  });
  listening.unref().listen(0, '127.0.0.1');
  await once(listening, 'listening');
  return (listening.address() as AddressInfo).port;
};
