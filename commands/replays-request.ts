/** What `oiq dead-letter replays` asks for, as it travels to a running instance, and how it is answered. */
import { listReplays } from '../api/index.ts';
import type { Clock } from '../schemas/ports/clock.ts';
import type { Documents } from '../schemas/ports/documents.ts';

export interface ReplaysRequest {
  readonly action: 'list-replays';
  /** All organizations when it is left out. */
  readonly tenant?: string | undefined;
  readonly limit: number;
}

export const runReplaysRequest = async (
  platform: { readonly documents: Documents; readonly clock: Clock },
  { tenant, limit }: ReplaysRequest,
  print: (line: string) => void,
): Promise<void> => {
  const replays = await listReplays(platform, tenant);
  for (const { id, startedAt, tenantId, state, dryRun, done, matched, actor, error } of replays.slice(0, limit)) {
    const progress = `${done} of ${matched}${dryRun ? ' (dry run)' : ''}`;
    print([id, startedAt, tenantId, state, progress, actor, ...(error === null ? [] : [error])].join('  '));
  }
  const shown = Math.min(limit, replays.length);
  print(`${shown} shown${shown < replays.length ? '; more exist (--limit)' : ''}`);
};
