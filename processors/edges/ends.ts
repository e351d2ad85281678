/** A waiting end of a call, and its saved form: names repeat, so each is stored once. */
import type { Peer } from '../../schemas/edges.ts';

/** `late`: it arrived after the watermark had passed it. */
export interface End {
  readonly projectId: string;
  readonly service: string;
  readonly environment: string;
  readonly isMessage: boolean;
  readonly startMs: number;
  readonly durationNs: number;
  readonly failed: boolean;
  readonly peer: Peer | undefined;
  readonly late: boolean;
}

/** Numbers of project, service, environment; flags; start, duration; number of the peer, -1 for none. */
export type SavedEnd = readonly [number, number, number, number, number, number, number];

export interface SavedNames {
  readonly names: readonly string[];
  readonly peers: readonly Peer[];
}

/** Assigns each value a number, in order of arrival. */
class ValueIndex<Value> {
  readonly values: Value[] = [];
  readonly #numbers = new Map<string, number>();

  getEndIndex(value: Value, key: string): number {
    const existing = this.#numbers.get(key);
    if (existing !== undefined) return existing;
    this.#numbers.set(key, this.values.length);
    return this.values.push(value) - 1;
  }
}

const flags = { isMessage: 1, failed: 2, late: 4 } as const;

export class EndWriter {
  readonly #names = new ValueIndex<string>();
  readonly #peers = new ValueIndex<Peer>();

  save({ projectId, service, environment, isMessage, failed, late, startMs, durationNs, peer }: End): SavedEnd {
    const [project, serviceIndex, environmentIndex] = [projectId, service, environment].map((name) =>
      this.#names.getEndIndex(name, name),
    ) as [number, number, number];
    const flagBits = (isMessage ? flags.isMessage : 0) | (failed ? flags.failed : 0) | (late ? flags.late : 0);
    const peerIndex =
      peer === undefined
        ? -1
        : this.#peers.getEndIndex(peer, JSON.stringify([peer.kind, peer.name, peer.system, peer.address]));
    return [project, serviceIndex, environmentIndex, flagBits, startMs, durationNs, peerIndex];
  }

  get saved(): SavedNames {
    return { names: this.#names.values, peers: this.#peers.values };
  }
}

export const readEnd = (
  { names, peers }: SavedNames,
  [projectIndex, own, environmentIndex, flagBits, startMs, durationNs, peerIndex]: SavedEnd,
): End => ({
  projectId: names[projectIndex] ?? '',
  service: names[own] ?? '',
  environment: names[environmentIndex] ?? '',
  isMessage: (flagBits & flags.isMessage) !== 0,
  startMs,
  durationNs,
  failed: (flagBits & flags.failed) !== 0,
  peer: peers[peerIndex],
  late: (flagBits & flags.late) !== 0,
});
