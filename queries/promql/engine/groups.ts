import type { Aggregation } from '../syntax/tree.ts';
import { LabelSet } from './labels.ts';

/** Assigns series to groups by the labels of an aggregation. */
export class GroupIndex {
  readonly labels: LabelSet[] = [];
  readonly #byKey = new Map<string, number>();
  readonly #grouping: readonly string[];
  readonly #without: boolean;

  constructor({ grouping, without }: Pick<Aggregation, 'grouping' | 'without'>) {
    this.#grouping = without ? [...grouping, '__name__'] : grouping;
    this.#without = without;
  }

  /** Returns the group number of a series. */
  findGroupIndex(labels: LabelSet): number {
    const groupLabels = this.#getGroupLabels(labels);
    const groupIndex = this.#byKey.get(groupLabels.key);
    if (groupIndex !== undefined) return groupIndex;
    this.#byKey.set(groupLabels.key, this.labels.length);
    this.labels.push(groupLabels);
    return this.labels.length - 1;
  }

  #getGroupLabels(labels: LabelSet): LabelSet {
    if (this.#without) return labels.without(this.#grouping);
    return this.#grouping.length === 0 ? LabelSet.empty : labels.pick(this.#grouping);
  }
}
