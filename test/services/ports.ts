/** Ports for servers of tests. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/**
 * Below those from which systems give to outgoing connections, or one of these could come in between. Every process has some to itself: it listens at the last of them while it runs.
 */
const first = 11_000;
const processes = 425;
const portsEach = 40;
let offset = 0;
let base: Promise<number> | undefined;

/** Listens at a port; `undefined` where somebody else does. */
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
    // What takes this for a server of its own is refused: a connection that waits would keep both processes from ending.
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

/** Ports that were free a moment ago, and the one behind each with it: Kafka's controller takes that. */
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
