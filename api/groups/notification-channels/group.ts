import {
  channelHealths,
  channelOutages,
  pageRates,
  pendingDeliveries,
} from '../../../schemas/resources/notification-delivery.ts';
import { defineGroup } from '../define-group.ts';
import { channelResource, deleteChannel } from './channel.ts';
import { contactResource } from './contact.ts';
import { listChannelDeliveries } from './deliveries.ts';
import { previewTemplates, testChannel, testContact } from './test-channel.ts';
import { listChannelTypes } from './types.ts';

export const notificationChannelsGroup = defineGroup({
  name: 'notification-channels',
  summary: 'Channels for notifications, and contacts for paging people.',
  resources: [channelResource, contactResource],
  operations: [listChannelTypes, deleteChannel, testChannel, testContact, previewTemplates, listChannelDeliveries],
  collections: [pendingDeliveries, channelHealths, channelOutages, pageRates],
});
