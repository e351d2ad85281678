/** Passes the configuration that processors follow on to their threads. */
import { UnavailableError } from '../../schemas/errors.ts';
import type { CollectionDefinition, Documents, Feed } from '../../schemas/ports/documents.ts';
import type { Processor } from './definition.ts';
import { entitlementCollections } from './entitlements.ts';
import type { DocumentChange } from './task-messages.ts';

/** Maximum age of configuration that processors act on. */
export const maxStaleMs = 5_000;

export interface Configuration {
  /** Throws `UnavailableError` while changes that the processor follows may be missing. */
  check(processor: Processor): void;
  close(): Promise<void>;
}

const listFollowedCollections = ({ follows, entitlement }: Processor): readonly CollectionDefinition<object>[] => [
  ...Object.values(follows),
  ...(entitlement === undefined ? [] : entitlementCollections),
];

/**
 * Follows the configuration of the processors. When it resolves, every existing document was passed to `onChange`;
 * later changes arrive within a second.
 */
export const followConfiguration = async (
  processors: readonly Processor[],
  documents: Pick<Documents, 'follow'>,
  onChange: (change: DocumentChange) => void,
): Promise<Configuration> => {
  const feeds = new Map<string, Feed>();
  const close = async (): Promise<void> => {
    await Promise.all([...feeds.values()].map((feed) => feed.close()));
  };
  for (const collection of processors.flatMap(listFollowedCollections)) {
    const { name } = collection;
    if (feeds.has(name)) continue;
    const forwardChange = ({ tenantId, id, document }: Omit<DocumentChange, 'collection'>): void =>
      onChange({ collection: name, tenantId, id, document });
    feeds.set(name, await documents.follow(collection, forwardChange));
  }
  return {
    check(processor) {
      for (const { name } of listFollowedCollections(processor)) {
        const staleMs = feeds.get(name)?.getStaleMs() ?? 0;
        if (staleMs > maxStaleMs)
          throw new UnavailableError(
            `processor ${processor.name} has not refreshed ${name} for ${Math.round(staleMs / 1000)} s`,
          );
      }
    },
    close,
  };
};
