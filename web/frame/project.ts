/** Which project the page shows, as the address has it. */
import { computed, signal } from '@preact/signals';
import type { projectResource } from '../../api/groups/projects/resource.ts';
import { listOf, type ViewOf } from '../client/call.ts';
import { request } from '../client/request.ts';
import { inAddress } from './address.ts';

/** Projects of the organization; the first thousand of them. */
export const projects = signal<readonly ViewOf<typeof projectResource>[]>([]);

/** Asks which there are; without an answer the page shows the whole organization. */
export const readProjects = async (): Promise<void> => {
  const call = listOf<typeof projectResource>('/api/projects');
  projects.value = await request(call, { query: { limit: 1000 } }).then(
    ({ items }) => items,
    () => [],
  );
};

/** Empty for the whole organization. */
export const projectId = computed(() => inAddress('project'));

/** The scope as requests state it. */
export const projectScope = computed<{ readonly scope: 'account' } | { readonly projectId: string }>(() =>
  projectId.value === '' ? { scope: 'account' } : { projectId: projectId.value },
);
