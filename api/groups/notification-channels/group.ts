import { defineGroup } from '../define-group.ts';
import { channelResource, deleteChannel } from './channel.ts';
import { previewTemplates, testChannel } from './test-channel.ts';
import { listChannelTypes } from './types.ts';

export const notificationChannelsGroup = defineGroup({
  name: 'notification-channels',
  summary: 'Where notifications are sent.',
  resources: [channelResource],
  operations: [listChannelTypes, deleteChannel, testChannel, previewTemplates],
  planned: [['GET /api/notification-channels/{id}/deliveries', 'viewer', 'deliveries with status and attempts']],
});
