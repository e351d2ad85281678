/** Ports for servers of tests. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/**
 * Test ports are below the ephemeral range, so that no outgoing connection takes one. Every process reserves a block
 * of ports, and listens on the last port of the block while it runs.
 */
const first = 11_000;
const processes = 425;
const portsEach = 40;
let offset = 0;
let base: Promise<number> | undefined;

/** Listens on a port; undefined if the port is in use. */
const listenAt = (port: number): Promise<Server | undefined> => {
  const server = createServer().listen(port, '127.0.0.1');
  return once(server, 'listening').then(
    () => server,
    () => undefined,
  );
};

const claimPorts = async (): Promise<number> => {
  for (let tried = 0; tried < processes; tried++) {
    const from = first + ((process.pid + tried) % processes) * portsEach;
    const claim = await listenAt(from + portsEach - 1);
    if (claim === undefined) continue;
    // Reject clients that expect a server here: an open connection would prevent both processes from exiting.
    claim.on('connection', (socket) => socket.destroy()).unref();
    return from;
  }
  throw new Error(`all ports from ${first} on are claimed by other processes of tests`);
};

const isFree = async (port: number): Promise<boolean> => {
  const server = await listenAt(port);
  if (server === undefined) return false;
  await new Promise((resolve) => server.close(resolve));
  return true;
};

/** Returns ports that were free a moment ago. The port after each is free, too: Kafka's controller uses it. */
export const freePorts = async (count: number): Promise<number[]> => {
  base ??= claimPorts();
  const from = await base;
  const ports: number[] = [];
  for (let tried = 0; ports.length < count; tried++) {
    if (tried > 3 * portsEach) throw new Error(`fewer than ${count} ports are free from ${from} on`);
    const port = from + (offset++ % (portsEach / 2 - 1)) * 2;
    if (!ports.includes(port) && (await isFree(port)) && (await isFree(port + 1))) ports.push(port);
  }
  return ports;
};
