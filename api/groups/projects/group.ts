import { defineGroup } from '../define-group.ts';
import { setNotifications, showNotifications } from './notifications.ts';
import { projectResource } from './resource.ts';
import { rotateProjectKey } from './rotate-key.ts';

export const projectsGroup = defineGroup({
  name: 'projects',
  summary: 'Projects: parts of an organization, with their own telemetry and license keys.',
  resources: [projectResource],
  operations: [showNotifications, setNotifications, rotateProjectKey],
});
