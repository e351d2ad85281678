/** The brokers of the cluster, for probes. */
import { metadataV12 } from '@platformatic/kafka';
import type { StoreMember } from '../../schemas/ports/store-members.ts';
import { Cluster, type DriverOptions, type Node } from './cluster.ts';

/** A broker that left the metadata is probed for this long: it may have failed, or have been removed for good. */
const memoryMs = 3_600_000;
const metadataEveryMs = 5000;

/** Lists brokers from the metadata, and until it is known those of the settings. Has its own connections. */
export class BrokerMembers {
  readonly #cluster: Cluster;
  readonly #bootstrapMembers: readonly StoreMember[];
  readonly #brokers = new Map<string, { readonly member: StoreMember; readonly seenAt: number }>();
  #metadataAt = Number.NEGATIVE_INFINITY;

  constructor(driver: DriverOptions) {
    this.#cluster = new Cluster(driver);
    this.#bootstrapMembers = this.#cluster.bootstrapNodes.map((node) => this.#toMember(node));
  }

  list(): readonly StoreMember[] {
    const now = performance.now();
    if (now - this.#metadataAt > metadataEveryMs) {
      this.#metadataAt = now;
      void this.#readMetadata();
    }
    for (const [name, { seenAt }] of this.#brokers) if (now - seenAt > memoryMs) this.#brokers.delete(name);
    return this.#brokers.size === 0 ? this.#bootstrapMembers : [...this.#brokers.values()].map(({ member }) => member);
  }

  close(): Promise<void> {
    return this.#cluster.close();
  }

  /** Never rejects: probes report brokers that do not respond. */
  async #readMetadata(): Promise<void> {
    const metadata = await this.#cluster.metadata([], true).catch(() => undefined);
    for (const node of metadata?.brokers.values() ?? []) {
      const member = this.#toMember(node);
      this.#brokers.set(member.name, { member, seenAt: performance.now() });
    }
  }

  #toMember(node: Node): StoreMember {
    return {
      name: `${node.host}:${node.port}`,
      probe: async () => {
        const connection = await this.#cluster.connectToNode(node);
        return metadataV12.api.async(connection, [], false, false);
      },
    };
  }
}
