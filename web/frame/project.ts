/** Selected project, stored in the URL */
import { computed, signal } from '@preact/signals';
import type { projectResource } from '../../api/groups/projects/resource.ts';
import { listOf, type ViewOf } from '../client/call.ts';
import { request } from '../client/request.ts';
import { inAddress } from './address.ts';

/** Projects of the organization, at most the first thousand */
export const projects = signal<readonly ViewOf<typeof projectResource>[]>([]);

/** Loads the projects; without a response, the page displays the entire organization. */
export const readProjects = async (): Promise<void> => {
  const call = listOf<typeof projectResource>('/api/projects');
  projects.value = await request(call, { query: { limit: 1000 } }).then(
    ({ items }) => items,
    () => [],
  );
};

/** Empty for the entire organization */
export const projectId = computed(() => inAddress('project'));

/** Scope in request parameters */
export const projectScope = computed<{ readonly scope: 'account' } | { readonly projectId: string }>(() =>
  projectId.value === '' ? { scope: 'account' } : { projectId: projectId.value },
);
