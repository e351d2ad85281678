import type { Filter } from '../../schemas/ports/documents.ts';
import type { Caller } from '../callers/caller.ts';

interface Owned {
  readonly visibility: 'private' | 'organization';
  readonly ownerId: string;
}

/** Who sees documents that are the organization's, or their owner's alone: as a condition on them or on their summaries, and of one of them. */
export const sharedOrOwn = {
  where: ({ actor }: Caller): Filter => ({ $or: [{ visibility: 'organization' }, { ownerId: actor.id }] }),
  to: ({ visibility, ownerId }: Owned, { actor }: Caller): boolean =>
    visibility === 'organization' || ownerId === actor.id,
};
