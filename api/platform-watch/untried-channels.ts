/** Ends the alerts of channels that are tried no more, as no delivery will say that they work again. */
import type { AlertTransition } from '../../schemas/alerts.ts';
import type { Clock } from '../../schemas/ports/clock.ts';
import { ConflictError, type Documents } from '../../schemas/ports/documents.ts';
import { notificationChannels } from '../../schemas/resources/notification-channel.ts';
import { channelHealths } from '../../schemas/resources/notification-delivery.ts';
import { aboutChannel, channelReason, platformTransition } from '../../subjects/alerts/platform-alerts.ts';

interface Ports {
  readonly documents: Documents;
  readonly clock: Clock;
  /** Resolves when the transition is durable on the bus. */
  publish(transition: AlertTransition): Promise<void>;
}

/**
 * Tells of each failing channel that was disabled or deleted that its alert is over, and keeps that. Published first, then
 * kept: what is told twice is the same end. One that is enabled again begins anew.
 */
export const endUntriedChannels = async ({ documents, clock, publish }: Ports): Promise<void> => {
  for await (const health of documents.everywhere(channelHealths, { failingSince: { $ne: null } })) {
    const { tenantId, id, version, failingSince, lastDeliveredAt, lastError } = health;
    const own = documents.of(tenantId);
    const channel = await own.collection(notificationChannels).find(id);
    if (failingSince === null || channel?.enabled === true) continue;
    const name = channel?.name ?? id;
    const error = lastError ?? '';
    await publish(
      platformTransition(
        tenantId,
        aboutChannel(id, name, error),
        { reason: channelReason(name, error), startedAt: failingSince },
        { atMs: clock.now(), reason: `the channel is ${channel === undefined ? 'deleted' : 'disabled'}` },
      ),
    );
    const healths = own.collection(channelHealths);
    try {
      if (channel === undefined) await healths.delete(id);
      else await healths.replace(id, { failures: 0, failingSince: null, lastDeliveredAt, lastError }, version);
    } catch (error_) {
      // A delivery that was under way wrote: the next look sees what it left.
      if (!(error_ instanceof ConflictError)) throw error_;
    }
  }
};
