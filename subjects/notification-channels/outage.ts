/**
 * Outages of destinations. Retries belong to the destination and not to a message: while it is away, one message at a
 * time probes it, and the first success ends the outage for all that wait.
 */
import { ConflictError, type Documents, type StoredMetadata } from '../../schemas/ports/documents.ts';
import { type ChannelOutage, channelOutages } from '../../schemas/resources/notification-delivery.ts';

type Reading = Pick<Documents, 'forTenant'>;

/** Returns the id of a destination: that of the channel or contact, or one for the email of an account. */
export const getDestinationId = (channelId: string, userId: string | null): string =>
  channelId === '' ? `account-email-${userId ?? ''}` : channelId;

/** Returns whether the destination may be probed: at its time, or at once after the channel was changed. */
export const isProbeDue = (
  { probeAt, updatedAt }: ChannelOutage & Pick<StoredMetadata, 'updatedAt'>,
  channelUpdatedAt: string | undefined,
  nowMs: number,
): boolean => Date.parse(probeAt) <= nowMs || (channelUpdatedAt !== undefined && channelUpdatedAt > updatedAt);

/** Records a failed attempt, and returns the outage. `findProbeMs` returns the time of the next probe. */
export const recordFailure = async (
  documents: Reading,
  {
    tenantId,
    destinationId,
    nowMs,
  }: { readonly tenantId: string; readonly destinationId: string; readonly nowMs: number },
  findProbeMs: (failures: number) => number,
): Promise<ChannelOutage & StoredMetadata> => {
  const outages = documents.forTenant(tenantId).collection(channelOutages);
  for (;;) {
    const stored = await outages.find(destinationId);
    const failures = (stored?.failures ?? 0) + 1;
    const outage = {
      since: stored?.since ?? new Date(nowMs).toISOString(),
      failures,
      probeAt: new Date(findProbeMs(failures)).toISOString(),
    };
    try {
      return stored === undefined
        ? await outages.insert({ id: destinationId, ...outage })
        : await outages.replace(destinationId, outage, stored.version);
    } catch (error) {
      // Another attempt recorded its failure first; retry.
      if (!(error instanceof ConflictError)) throw error;
    }
  }
};

/** Ends the outage of a destination, if there is one. */
export const endOutage = async (documents: Reading, tenantId: string, destinationId: string): Promise<void> => {
  await documents.forTenant(tenantId).collection(channelOutages).delete(destinationId);
};
