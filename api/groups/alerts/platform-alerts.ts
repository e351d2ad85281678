/** Alerts that the platform raises about itself, for every group of operations that displays them. */
import type { Documents } from '../../../schemas/ports/documents.ts';
import { notificationChannels } from '../../../schemas/resources/notification-channel.ts';
import { channelHealths } from '../../../schemas/resources/notification-delivery.ts';
import { onCallGaps } from '../../../schemas/resources/on-call-gap.ts';
import { platformAlertKinds, platformAlerts } from '../../../schemas/resources/platform-alert.ts';
import { syntheticSuspects } from '../../../schemas/resources/synthetic-notification.ts';
import {
  type ActivePlatformAlert,
  activeChannelAlerts,
  activeGapAlerts,
  activePlatformAlert,
  activeSuspectAlerts,
} from '../../../subjects/alerts/platform-alerts.ts';

/**
 * Returns the firing platform alerts of an organization. They are documents, because the components that evaluate rules
 * and store results may have failed.
 */
export const listFiringPlatformAlerts = async (
  documents: Pick<Documents, 'forTenant'>,
  tenantId: string,
  nowMs: number,
): Promise<ActivePlatformAlert[]> => {
  const tenantDocuments = documents.forTenant(tenantId);
  const [stored, failingHealths, gaps, suspects] = await Promise.all([
    tenantDocuments.collection(platformAlerts).list(),
    tenantDocuments.collection(channelHealths).list({ filter: { failingSince: { $ne: null } }, limit: 1000 }),
    tenantDocuments.collection(onCallGaps).list({ limit: 1000 }),
    tenantDocuments.collection(syntheticSuspects).list({ limit: 1000 }),
  ]);
  const channels = await Promise.all(
    failingHealths.items.map(({ id }) => tenantDocuments.collection(notificationChannels).find(id)),
  );
  return [
    ...stored.items.flatMap(({ id, ...alert }) => {
      const kind = platformAlertKinds.find((platformAlertKind) => platformAlertKind === id);
      return kind === undefined ? [] : activePlatformAlert(kind, alert, nowMs);
    }),
    ...activeChannelAlerts(
      channels.filter((channel) => channel !== undefined),
      failingHealths.items,
      nowMs,
    ),
    ...activeGapAlerts(gaps.items, nowMs),
    ...activeSuspectAlerts(suspects.items, nowMs),
  ];
};
