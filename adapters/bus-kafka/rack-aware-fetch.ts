/**
 * Replicas that leaders prefer for reads because they are in the rack of this process (KIP-392). The leader is queried
 * again after five minutes, and immediately when the replica does not respond or returns an error.
 */
import type { Metadata } from './cluster.ts';

/** As in Kafka's own consumers (`metadata.max.age.ms`). */
const maxAgeMs = 5 * 60_000;

/** The read replica of each partition. Callers name partitions by their own key. */
export class PreferredReplicas {
  readonly #replicas = new Map<string, { readonly node: number; readonly expiresAt: number }>();

  /**
   * Returns the node from which to read a partition: the preferred replica if available, otherwise the leader (-1 for
   * none).
   */
  selectNode(partition: string, leader: number, { brokers }: Pick<Metadata, 'brokers'>): number {
    const replica = this.#replicas.get(partition);
    if (replica === undefined || leader < 0) return leader;
    if (replica.expiresAt > performance.now() && brokers.has(replica.node)) return replica.node;
    this.#replicas.delete(partition);
    return leader;
  }

  setPreferred(partition: string, node: number): void {
    this.#replicas.set(partition, { node, expiresAt: performance.now() + maxAgeMs });
  }

  /** Switches the partition back to its leader. Returns false if the leader was already in use. */
  clearPreferred(partition: string): boolean {
    return this.#replicas.delete(partition);
  }

  /** Switches all partitions that are read from this node back to their leaders. */
  forgetNode(node: number): void {
    for (const [partition, replica] of this.#replicas) if (replica.node === node) this.#replicas.delete(partition);
  }
}
