/**
 * Replicas that leaders prefer for reads because they are in the rack of this process (KIP-392). The leader is queried
 * again after five minutes, and immediately when the replica does not answer or returns an error.
 */
import type { Metadata } from './cluster.ts';

/** As in Kafka's own consumers (`metadata.max.age.ms`). */
const maxAgeMs = 5 * 60_000;

/** The read replica of each partition. Callers name partitions by their own key. */
export class NearerReplicas {
  readonly #named = new Map<string, { readonly node: number; readonly until: number }>();

  /**
   * Returns the node from which to read a partition: the preferred replica if available, otherwise the leader (-1 for
   * none).
   */
  nodeFor(partition: string, leader: number, { brokers }: Pick<Metadata, 'brokers'>): number {
    const named = this.#named.get(partition);
    if (named === undefined || leader < 0) return leader;
    if (named.until > performance.now() && brokers.has(named.node)) return named.node;
    this.#named.delete(partition);
    return leader;
  }

  name(partition: string, node: number): void {
    this.#named.set(partition, { node, until: performance.now() + maxAgeMs });
  }

  /** Switches the partition back to its leader. Returns false if the leader was already in use. */
  forget(partition: string): boolean {
    return this.#named.delete(partition);
  }

  /** Switches all partitions that are read from this node back to their leaders. */
  forgetNode(node: number): void {
    for (const [partition, named] of this.#named) if (named.node === node) this.#named.delete(partition);
  }
}
