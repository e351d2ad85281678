/**
 * The servers of Redis, for probes: the configured ones, those of a cluster that the client knows, and the one that
 * Sentinel named to the client.
 */
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
  readonly isSentinel?: boolean;
  /** Whether the host is the address of a connection of the client, which need not be in the certificate. */
  readonly isResolved?: boolean;
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
    const { host, port, isResolved = false } = this.#node;
    const identityCheck = isResolved ? { checkServerIdentity: () => undefined } : {};
    const socket = this.#usesTls ? connectTls({ host, port, ...identityCheck }) : connect({ host, port });
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
  readonly #usesSentinel: boolean;
  readonly #configuredNodes: readonly Node[];
  readonly #known = new Map<string, { readonly prober: Prober; seenAt: number }>();

  constructor(client: Redis | Cluster, url: string) {
    const { kind, nodes, usesTls } = parseRedisAddress(url);
    this.#client = client;
    this.#usesTls = usesTls;
    this.#usesSentinel = kind === 'sentinel';
    this.#configuredNodes = nodes.map((node) => ({ ...node, isSentinel: this.#usesSentinel }));
  }

  list(): readonly StoreMember[] {
    const now = performance.now();
    for (const node of this.#listNodes()) {
      const name = `${node.isSentinel ? 'sentinel ' : ''}${node.host}:${node.port}`;
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

  #listNodes(): readonly Node[] {
    const client = this.#client;
    if (this.#usesSentinel) {
      // Without a connection, the servers that were used before are probed.
      const { remoteAddress, remotePort } = (client as Redis).stream ?? {};
      const isConnected = remoteAddress !== undefined && remotePort !== undefined;
      const connectedNodes = isConnected ? [{ host: remoteAddress, port: remotePort, isResolved: true }] : [];
      return [...this.#configuredNodes, ...connectedNodes];
    }
    if (!client.isCluster) return this.#configuredNodes;
    const clusterNodes = (client as Cluster)
      .nodes('all')
      .map(({ options: { host = '', port = 6379 } }) => ({ host, port }));
    return clusterNodes.length === 0 && this.#known.size === 0 ? this.#configuredNodes : clusterNodes;
  }

  close(): void {
    for (const { prober } of this.#known.values()) prober.close();
  }
}
