/** Current assignment of fingerprints to groups */
import type { Stored } from '../../schemas/ports/documents.ts';
import type { ErrorGroupState, ErrorMerge } from '../../schemas/resources/error-group.ts';

/** Stored decisions of users */
export interface Decisions {
  readonly states: readonly (ErrorGroupState & Stored)[];
  readonly merges: readonly (ErrorMerge & Stored)[];
}

/** Merges by fingerprint. A fingerprint that was never merged is its own group. */
export class Merges {
  readonly #groupOf = new Map<string, string>();
  readonly #membersOf = new Map<string, string[]>();

  constructor(merges: Decisions['merges']) {
    for (const { id, groupId } of merges) {
      if (groupId === null) continue;
      this.#groupOf.set(id, groupId);
      this.#membersOf.set(groupId, [...(this.#membersOf.get(groupId) ?? []), id]);
    }
  }

  /** Returns the group of a fingerprint. */
  groupOf(fingerprint: string): string {
    return this.#groupOf.get(fingerprint) ?? fingerprint;
  }

  /** Returns the fingerprints of a group, its own first. */
  membersOf(groupId: string): string[] {
    return [groupId, ...(this.#membersOf.get(groupId) ?? []).toSorted()];
  }

  /** Returns SQL for the group of a row, with its parameters. */
  get sql(): { readonly group: string; readonly parameters: Readonly<Record<string, readonly string[]>> } {
    if (this.#groupOf.size === 0) return { group: 'toString(fingerprint)', parameters: {} };
    return {
      group:
        'transform(toString(fingerprint), {merged:Array(String)}, {mergedInto:Array(String)}, toString(fingerprint))',
      parameters: { merged: [...this.#groupOf.keys()], mergedInto: [...this.#groupOf.values()] },
    };
  }
}
