import type { Filter } from '../../schemas/ports/documents.ts';
import type { Caller } from '../callers/caller.ts';

interface OwnedDocument {
  readonly visibility: 'private' | 'organization';
  readonly ownerId: string;
}

/**
 * Visibility of documents that belong to the organization or to their owner alone: as a condition on them or their
 * summaries, and as a check of a single document.
 */
export const sharedOrOwnVisibility = {
  where: ({ actor }: Caller): Filter => ({ $or: [{ visibility: 'organization' }, { ownerId: actor.id }] }),
  to: ({ visibility, ownerId }: OwnedDocument, { actor }: Caller): boolean =>
    visibility === 'organization' || ownerId === actor.id,
};
