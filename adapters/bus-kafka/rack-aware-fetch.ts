/**
 * Replicas that leaders name in place of themselves, since they lie in the rack of this process (KIP-392). A leader is asked
 * again after five minutes, and at once where the replica does not answer or answers with an error.
 */
import type { Metadata } from './cluster.ts';

/** As in Kafka's own consumers (`metadata.max.age.ms`). */
const maxAgeMs = 5 * 60_000;

/** What is read from which node. Partitions are named by a key of the caller. */
export class NearerReplicas {
  readonly #named = new Map<string, { readonly node: number; readonly until: number }>();

  /** The node from which to read a partition: the replica that was named, if it is there, else the leader (-1 for none). */
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

  /** Back to the leader; false if it was read from anyway. */
  forget(partition: string): boolean {
    return this.#named.delete(partition);
  }

  /** Back to the leaders of all that is read from this node. */
  forgetNode(node: number): void {
    for (const [partition, named] of this.#named) if (named.node === node) this.#named.delete(partition);
  }
}
