/** The servers of Redis, for probes: the configured ones, and those of a cluster that the client knows. */
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Cluster, Redis } from 'ioredis';
import type { StoreMember } from '../schemas/ports/store-members.ts';
import { parseRedisAddress } from '../schemas/redis-address.ts';

/** A server that left the cluster is probed for this long: it may have failed, or have been removed for good. */
const memoryMs = 3_600_000;

interface Node {
  readonly host: string;
  readonly port: number;
}

/** Any response to PING counts, also the request to log in. */
class Prober {
  readonly #node: Node;
  readonly #usesTls: boolean;
  #socket: Socket | undefined;

  constructor(node: Node, usesTls: boolean) {
    this.#node = node;
    this.#usesTls = usesTls;
  }

  probe(): Promise<void> {
    const socket = this.#socket ?? this.#connect();
    return new Promise((resolve, reject) => {
      const end = (): void => {
        socket.off('data', succeed).off('error', fail).off('close', failClosed);
      };
      const succeed = (): void => {
        end();
        resolve();
      };
      const fail = (error: Error): void => {
        end();
        reject(error);
      };
      const failClosed = (): void => fail(new Error('the connection was closed'));
      socket.once('data', succeed).once('error', fail).once('close', failClosed);
      socket.write('PING\r\n');
    });
  }

  close(): void {
    this.#socket?.destroy();
  }

  #connect(): Socket {
    const { host, port } = this.#node;
    const socket = this.#usesTls ? connectTls({ host, port }) : connect({ host, port });
    socket.setMaxListeners(0).unref();
    socket.on('error', () => undefined);
    socket.once('close', () => {
      this.#socket = undefined;
    });
    this.#socket = socket;
    return socket;
  }
}

export class RedisMembers {
  readonly #client: Redis | Cluster;
  readonly #usesTls: boolean;
  readonly #configuredNodes: readonly Node[];
  readonly #known = new Map<string, { readonly prober: Prober; seenAt: number }>();

  constructor(client: Redis | Cluster, url: string) {
    const { nodes, usesTls } = parseRedisAddress(url);
    this.#client = client;
    this.#usesTls = usesTls;
    this.#configuredNodes = nodes;
  }

  list(): readonly StoreMember[] {
    const now = performance.now();
    const clusterNodes = this.#client.isCluster
      ? (this.#client as Cluster).nodes('all').map(({ options: { host = '', port = 6379 } }) => ({ host, port }))
      : [];
    const hasConfiguredNodes = !this.#client.isCluster || this.#known.size === 0;
    for (const node of clusterNodes.length === 0 && hasConfiguredNodes ? this.#configuredNodes : clusterNodes) {
      const name = `${node.host}:${node.port}`;
      const known = this.#known.get(name);
      if (known === undefined) this.#known.set(name, { prober: new Prober(node, this.#usesTls), seenAt: now });
      else known.seenAt = now;
    }
    for (const [name, { prober, seenAt }] of this.#known)
      if (now - seenAt > memoryMs) {
        prober.close();
        this.#known.delete(name);
      }
    return Array.from(this.#known, ([name, { prober }]) => ({ name, probe: () => prober.probe() }));
  }

  close(): void {
    for (const { prober } of this.#known.values()) prober.close();
  }
}
