/**
 * A group with a new name continues from the positions of the former group. These include ranges that were delivered
 * but not acknowledged. A member does this for partitions that it owns and for which its group has no offset, so no other
 * member writes to them.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../schemas/ports/log.ts';
import type { Administration } from './administration.ts';
import type { Position } from './coordinator.ts';

const pollMs = 1000;

export interface TakeoverOptions {
  readonly group: string;
  readonly formerGroup: string;
  readonly administration: Pick<Administration, 'hasMembers' | 'positions'>;
  readonly log: Pick<Log, 'info' | 'warn'>;
}

export class Takeover {
  readonly #options: TakeoverOptions;
  #isWaitLogged = false;

  constructor(options: TakeoverOptions) {
    this.#options = options;
  }

  /**
   * Waits until the former group has no members, because two running groups would each consume everything. Returns
   * early when the signal aborts.
   */
  async wait(stopping: AbortSignal): Promise<void> {
    const { group, formerGroup, administration, log } = this.#options;
    while (!stopping.aborted && (await administration.hasMembers(formerGroup))) {
      if (!this.#isWaitLogged)
        log.warn({ group, former: formerGroup }, 'waiting for processes of the former version to stop');
      this.#isWaitLogged = true;
      await sleep(pollMs, undefined, { signal: stopping }).catch(() => undefined);
    }
  }

  /** Sets positions without an offset to those of the former group; `commit` stores each of them. */
  async inheritPositions(
    positions: readonly Position[],
    commit: (position: Position & { readonly offset: number }) => Promise<void>,
  ): Promise<readonly Position[]> {
    const { group, formerGroup, administration, log } = this.#options;
    const topics = [...new Set(positions.filter(({ offset }) => offset === undefined).map(({ topic }) => topic))];
    if (topics.length === 0) return positions;
    const formerPositions = await administration.positions(formerGroup, topics);
    let copiedCount = 0;
    const resultPositions: Position[] = [];
    for (const position of positions) {
      const { topic, partition } = position;
      const formerPosition = formerPositions.find(
        (position) => position.topic === topic && position.partition === partition,
      );
      if (position.offset !== undefined || formerPosition?.offset === undefined) {
        resultPositions.push(position);
        continue;
      }
      await commit({ ...formerPosition, offset: formerPosition.offset });
      resultPositions.push(formerPosition);
      copiedCount++;
    }
    if (copiedCount > 0)
      log.info(
        { group, former: formerGroup, partitions: copiedCount },
        'the group continues at the offsets of the former group',
      );
    return resultPositions;
  }
}
