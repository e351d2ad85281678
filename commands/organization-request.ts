/** What `oiq organization` asks for, as it travels to a running instance, and how it is answered: lines for people. */
import { reopenOrganization, setShards } from '../api/index.ts';
import type { Clock } from '../schemas/ports/clock.ts';
import type { Documents } from '../schemas/ports/documents.ts';
import { organizations } from '../schemas/resources/organization.ts';

export type OrganizationRequest =
  | { readonly action: 'list-organizations' }
  | { readonly action: 'reopen-organization'; readonly id: string }
  | { readonly action: 'shard-organization'; readonly id: string; readonly shards: number };

export const runOrganizationRequest = async (
  { documents, clock }: { readonly documents: Documents; readonly clock: Clock },
  request: OrganizationRequest,
  print: (line: string) => void,
): Promise<void> => {
  if (request.action === 'reopen-organization') {
    const { id, name } = await reopenOrganization({ documents, clock }, request.id);
    return print(`${id} (${name}) is reopened`);
  }
  if (request.action === 'shard-organization') {
    const { before, after } = await setShards({ documents, clock }, request.id, request.shards);
    return print(`${after.id} (${after.name}): ${before} → ${request.shards} shards; receivers follow within seconds`);
  }
  for await (const { id, name, planId, disabled, closed, shards } of documents.everywhere(organizations)) {
    const until = closed?.erased ? 'erased' : `closed, erased after ${closed?.eraseAt.slice(0, 10)}`;
    const state = closed ? until : disabled ? 'disabled' : 'open';
    print(
      [id.padEnd(36), planId.padEnd(12), state.padEnd(32), `shards ${shards}`.padEnd(10), name].join(' ').trimEnd(),
    );
  }
};
