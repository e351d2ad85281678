import type { Operation } from '../../kernel/operation.ts';
import { setNotifications, showNotifications } from './notifications.ts';
import { projectResource } from './resource.ts';
import { rotateProjectKey } from './rotate-key.ts';

export const projectsOperations: readonly Operation[] = [
  ...projectResource.operations,
  showNotifications,
  setNotifications,
  rotateProjectKey,
];
