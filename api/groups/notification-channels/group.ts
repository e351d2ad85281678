import { defineGroup } from '../define-group.ts';

export const notificationChannelsGroup = defineGroup({
  name: 'notification-channels',
  summary: 'Where notifications are sent.',
  planned: [
    ['GET /api/notification-channels', 'viewer', 'list, secrets masked'],
    [
      'POST /api/notification-channels',
      'editor',
      'webhook, e-mail, Slack, Teams, Discord, PagerDuty, Opsgenie, Telegram',
    ],
    ['GET /api/notification-channels/{id}', 'viewer', 'one, secrets masked'],
    ['PUT /api/notification-channels/{id}', 'editor', 'replace; a masked secret keeps its value'],
    ['DELETE /api/notification-channels/{id}', 'editor', 'delete; refused with the rules that use it'],
    ['POST /api/notification-channels/{id}/test', 'editor', 'send a test'],
    ['GET /api/notification-channels/{id}/deliveries', 'viewer', 'deliveries with status and attempts'],
    ['GET /api/notification-channels/types', 'viewer', 'types and the fields each needs'],
  ],
});
