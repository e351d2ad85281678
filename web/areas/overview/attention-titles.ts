/** Titles of items that need attention, by kind */
import type { showOverview } from '../../../api/groups/overview/overview.ts';
import type { ResponseBody } from '../../client/call.ts';

export type AttentionItem = NonNullable<ResponseBody<typeof showOverview>['attention']>['items'][number];

export const attentionTitles: Readonly<Record<AttentionItem['kind'], string>> = {
  platform: 'Platform',
  incident: 'Open incident',
  'slo-burning': 'High error budget burn rate',
  'check-failing': 'Check failing',
  anomaly: 'Anomaly',
  detector: 'Detector without scores',
  'service-errors': 'Error rate increased',
  'slow-service': 'Latency increased',
  deployment: 'Regression after a deployment',
  'new-error': 'New error',
  'silent-host': 'Silent host',
  'full-disk': 'Full disk',
  'log-pattern': 'Log pattern increased',
};
