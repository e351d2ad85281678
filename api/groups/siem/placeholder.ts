import { DetectionPlaceholder, detectionPlaceholders } from '../../../schemas/resources/detection-rule.ts';
import { defineResource } from '../../resources/resource.ts';

/** Values of placeholders in rules (`%admins%` with the modifier `expand`). */
export const placeholderResource = defineResource({
  noun: 'detection placeholder',
  path: '/api/siem/placeholders',
  collection: detectionPlaceholders,
  verbs: ['list', 'create', 'read', 'replace', 'delete'],
  roles: { read: 'viewer', write: 'editor' },
  entitlement: 'siem',
  fields: DetectionPlaceholder,
  example: { name: 'admins', description: 'Accounts of administrators', values: ['ann', 'svc_*'] },
  maxBodyBytes: 16_000_000,
  maxCount: 1_000,
  list: { searched: ['name', 'description'] },
});
