/** Selected project, stored in the URL */
import { computed, signal } from '@preact/signals';
import type { projectResource } from '../../api/groups/projects/resource.ts';
import { declareListCall, type ResourceView } from '../client/call.ts';
import { request } from '../client/request.ts';
import { readParam } from './address.ts';

/** The first 1000 projects of the organization */
export const projects = signal<readonly ResourceView<typeof projectResource>[]>([]);

/** Loads the projects. If that fails, the page offers no project select. */
export const loadProjects = async (): Promise<void> => {
  const call = declareListCall<typeof projectResource>('/api/projects');
  projects.value = await request(call, { query: { limit: 1000 } }).then(
    ({ items }) => items,
    () => [],
  );
};

/** id of the selected project; empty for the entire organization */
export const projectId = computed(() => readParam('project'));

/** Returns the id of the selected project, or of the first one. */
export const getProject = (): string => projectId.value || projects.value[0]?.id || 'default';

/** Selected project as request parameters */
export const projectScope = computed<{ readonly scope: 'account' } | { readonly projectId: string }>(() =>
  projectId.value === '' ? { scope: 'account' } : { projectId: projectId.value },
);
