import { channelHealths, pageRates, pendingDeliveries } from '../../../schemas/resources/notification-delivery.ts';
import { defineGroup } from '../define-group.ts';
import { channelResource, deleteChannel } from './channel.ts';
import { listChannelDeliveries } from './deliveries.ts';
import { previewTemplates, testChannel } from './test-channel.ts';
import { listChannelTypes } from './types.ts';

export const notificationChannelsGroup = defineGroup({
  name: 'notification-channels',
  summary: 'Where notifications are sent.',
  resources: [channelResource],
  operations: [listChannelTypes, deleteChannel, testChannel, previewTemplates, listChannelDeliveries],
  collections: [pendingDeliveries, channelHealths, pageRates],
});
