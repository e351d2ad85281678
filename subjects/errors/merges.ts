/** Current assignment of fingerprints to groups */
import { addToList } from '../../schemas/add-to-list.ts';
import type { StoredMetadata } from '../../schemas/ports/documents.ts';
import type { ErrorGroupState, ErrorMerge } from '../../schemas/resources/error-group.ts';

/** Stored decisions of users */
export interface ErrorDecisions {
  readonly states: readonly (ErrorGroupState & StoredMetadata)[];
  readonly merges: readonly (ErrorMerge & StoredMetadata)[];
}

/** Merges by fingerprint. A fingerprint that was never merged is its own group. */
export class FingerprintMerges {
  readonly #groupByFingerprint = new Map<string, string>();
  readonly #membersByGroup = new Map<string, string[]>();

  constructor(merges: ErrorDecisions['merges']) {
    for (const { id, groupId } of merges) {
      if (groupId === null) continue;
      this.#groupByFingerprint.set(id, groupId);
      addToList(this.#membersByGroup, groupId, id);
    }
  }

  /** Returns the group of a fingerprint. */
  getGroup(fingerprint: string): string {
    return this.#groupByFingerprint.get(fingerprint) ?? fingerprint;
  }

  /** Returns the fingerprints of a group, its own first. */
  getMembers(groupId: string): string[] {
    return [groupId, ...(this.#membersByGroup.get(groupId) ?? []).toSorted()];
  }

  /** Returns SQL for the group of a row, with its parameters. */
  get sql(): { readonly group: string; readonly parameters: Readonly<Record<string, readonly string[]>> } {
    if (this.#groupByFingerprint.size === 0) return { group: 'toString(fingerprint)', parameters: {} };
    return {
      group:
        'transform(toString(fingerprint), {merged:Array(String)}, {mergedInto:Array(String)}, toString(fingerprint))',
      parameters: { merged: [...this.#groupByFingerprint.keys()], mergedInto: [...this.#groupByFingerprint.values()] },
    };
  }
}
