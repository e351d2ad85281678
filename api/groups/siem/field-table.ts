import { DetectionFields, detectionFields } from '../../../schemas/resources/detection-rule.ts';
import { defineResource } from '../../resources/resource.ts';

/** Maximum number per organization: every event is compared with all tables. */
const maxTables = 50;

/** Tables that map the field names in rules to the names of fields in an organization's events. */
export const fieldTableResource = defineResource({
  noun: 'detection field table',
  path: '/api/siem/field-tables',
  collection: detectionFields,
  verbs: ['list', 'create', 'read', 'replace', 'delete'],
  roles: { read: 'viewer', write: 'editor' },
  entitlement: 'siem',
  fields: DetectionFields,
  example: {
    name: 'badge readers',
    summary: 'Doors of the office',
    rules: [{ product: 'badges' }],
    fields: { User: ['card.holder'], Door: ['reader.label'] },
    roots: ['payload'],
    sources: [{ when: [{ names: ['vendor'], values: ['acme doors'] }], is: { product: 'badges', category: 'door' } }],
  },
  maxBodyBytes: 1_000_000,
  maxCount: maxTables,
  list: { searched: ['name', 'summary'] },
});
