import { defineCollection } from '../ports/documents.ts';
import { licenseKeys } from './license-key.ts';
import { licenseKeyUses } from './license-key-use.ts';
import { organizations } from './organization.ts';
import { plans } from './plan.ts';
import { processorStateChunks, processorStates } from './processor-state.ts';
import { projects } from './project.ts';
import { quotas } from './quota.ts';
import { memberships, users } from './user.ts';

/** One document says that an installation was set up; its insertion decides between two first starts at once. */
export const installation = defineCollection<{ organizationId: string }>({ name: 'installation' });

/** Collections whose indexes every start makes sure of, whichever roles it starts. */
export const firstCollections = [
  installation,
  organizations,
  plans,
  licenseKeys,
  licenseKeyUses,
  projects,
  quotas,
  users,
  memberships,
  processorStates,
  processorStateChunks,
];
