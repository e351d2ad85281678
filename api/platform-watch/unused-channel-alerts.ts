/** Ends the alerts of channels that are no longer used, since no later delivery can end them. */
import type { AlertTransition } from '../../schemas/alerts.ts';
import type { Clock } from '../../schemas/ports/clock.ts';
import { ConflictError, type Documents } from '../../schemas/ports/documents.ts';
import { notificationChannels } from '../../schemas/resources/notification-channel.ts';
import { channelHealths } from '../../schemas/resources/notification-delivery.ts';
import {
  createChannelAlertSubject,
  describeChannelFailure,
  platformTransition,
} from '../../subjects/alerts/platform-alerts.ts';

interface ChannelAlertPorts {
  readonly documents: Documents;
  readonly clock: Clock;
  /** Resolves when the transition is durable on the bus. */
  publish(transition: AlertTransition): Promise<void>;
}

/**
 * Ends the alert of each failing channel that was disabled or deleted. The end is published first and then stored, so
 * that it cannot be lost: a repeated publication has the same id. A channel that is enabled again starts without
 * failures.
 */
export const endUnusedChannelAlerts = async ({ documents, clock, publish }: ChannelAlertPorts): Promise<void> => {
  for await (const health of documents.findInAllTenants(channelHealths, { failingSince: { $ne: null } })) {
    const { tenantId, id, version, failingSince, lastDeliveredAt, lastError } = health;
    const tenantDocuments = documents.forTenant(tenantId);
    const channel = await tenantDocuments.collection(notificationChannels).find(id);
    if (failingSince === null || channel?.enabled === true) continue;
    const name = channel?.name ?? id;
    const error = lastError ?? '';
    await publish(
      platformTransition(
        tenantId,
        createChannelAlertSubject(id, name, error),
        { reason: describeChannelFailure(name, error), startedAt: failingSince },
        { atMs: clock.now(), reason: `the channel is ${channel === undefined ? 'deleted' : 'disabled'}` },
      ),
    );
    const healths = tenantDocuments.collection(channelHealths);
    try {
      if (channel === undefined) await healths.delete(id);
      else await healths.replace(id, { failures: 0, failingSince: null, lastDeliveredAt, lastError }, version);
    } catch (error) {
      // A concurrent delivery wrote it: the next run sees the result.
      if (!(error instanceof ConflictError)) throw error;
    }
  }
};
