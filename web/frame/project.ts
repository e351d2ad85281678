/** Which project the page shows, as the address has it. */
import { computed } from '@preact/signals';
import { inAddress } from './address.ts';

/** Empty for the whole organization. */
export const projectId = computed(() => inAddress('project'));

/** The scope as requests state it. */
export const projectScope = computed<{ readonly scope: 'account' } | { readonly projectId: string }>(() =>
  projectId.value === '' ? { scope: 'account' } : { projectId: projectId.value },
);
