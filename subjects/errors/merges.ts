/** Which fingerprints are one group today. */
import type { Stored } from '../../schemas/ports/documents.ts';
import type { ErrorGroupState, ErrorMerge } from '../../schemas/resources/error-group.ts';

/** What people decided, as it is stored. */
export interface Decisions {
  readonly states: readonly (ErrorGroupState & Stored)[];
  readonly merges: readonly (ErrorMerge & Stored)[];
}

/** Merges by fingerprint. A fingerprint that was never merged is a group of its own. */
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

  /** The group that a fingerprint is of. */
  groupOf(fingerprint: string): string {
    return this.#groupOf.get(fingerprint) ?? fingerprint;
  }

  /** Fingerprints of a group, its own first. */
  membersOf(groupId: string): string[] {
    return [groupId, ...(this.#membersOf.get(groupId) ?? []).toSorted()];
  }

  /** SQL of the group of a row, with its parameters. */
  get sql(): { readonly group: string; readonly parameters: Readonly<Record<string, readonly string[]>> } {
    if (this.#groupOf.size === 0) return { group: 'toString(fingerprint)', parameters: {} };
    return {
      group:
        'transform(toString(fingerprint), {merged:Array(String)}, {mergedInto:Array(String)}, toString(fingerprint))',
      parameters: { merged: [...this.#groupOf.keys()], mergedInto: [...this.#groupOf.values()] },
    };
  }
}
