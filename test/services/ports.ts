/** Ports for servers of tests. */
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below those from which systems give to outgoing connections, or one of these could come in between, and below those of
 * the shared services. Every process has some to itself, as far as their number goes.
 */
const first = 11_000;
const processes = 425;
const portsEach = 40;
const base = first + (process.pid % processes) * portsEach;
let turn = 0;

const isFree = async (port: number): Promise<boolean> => {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  await new Promise((resolve) => server.close(resolve));
  return true;
};

/** Ports that were free a moment ago, and the one behind each with it: Kafka's controller takes that. */
export const freePorts = async (count: number): Promise<number[]> => {
  const ports: number[] = [];
  for (let tried = 0; ports.length < count; tried++) {
    if (tried > 3 * portsEach) throw new Error(`fewer than ${count} ports are free from ${base} on`);
    const port = base + (turn++ % (portsEach / 2)) * 2;
    if (!ports.includes(port) && (await isFree(port)) && (await isFree(port + 1))) ports.push(port);
  }
  return ports;
};
