/** Unapproved file changes without an explanation, as events of the feed */

import { formatTime } from '../../queries/time.ts';
import { fileBaselines } from '../../schemas/resources/file-baseline.ts';
import type { FeedEvent } from '../events/events.ts';
import type { HistoryPage } from '../events/history-page.ts';
import { defaultWindowSeconds, type JudgedChange, type JudgingContext, readJudgedChanges } from './approval.ts';
import type { ChangeFilter } from './read-changes.ts';

interface FileEvent {
  readonly event: FeedEvent;
  readonly ms: string;
}

const toFileEvent = ({ change, judgement }: JudgedChange): FileEvent => {
  const { id, ms, path, host, action, user, process, source, project, of } = change;
  const details = { host, user, process, source, action };
  return {
    ms,
    event: {
      id,
      kind: 'file',
      severity: 'warning',
      projectId: project,
      service: of,
      environment: '',
      link: '',
      time: formatTime(BigInt(ms) * 1_000_000n),
      title: `${path} ${action}${host === '' ? '' : ` on ${host}`}`.slice(0, 256),
      text: judgement.reason.slice(0, 8192),
      tags: Object.fromEntries(
        Object.entries(details).flatMap(([name, value]) => (value === '' ? [] : [[name, value.slice(0, 512)]])),
      ),
      actor: { type: 'system', id: 'file-changes' },
      details: {
        path,
        recordId: change.record,
        baselineId: judgement.baselineId,
        before: change.before,
        after: change.after,
      },
    },
  };
};

const maxCheckedChanges = 5_000;

/**
 * Returns the newest unapproved changes after a position. `isComplete` is false if more changes may exist than were
 * checked.
 */
export const readUnapprovedChanges = async (
  { reader, tenantDocuments }: Omit<JudgingContext, 'windowMs'>,
  filter: ChangeFilter,
  { limit, ...page }: HistoryPage,
): Promise<{ readonly events: readonly FileEvent[]; readonly isComplete: boolean }> => {
  const fileEvents: FileEvent[] = [];
  // Without a baseline, no change is unapproved.
  if ((await tenantDocuments.collection(fileBaselines).count({ approvedAt: { $ne: null } })) === 0)
    return { events: fileEvents, isComplete: true };
  let checkedCount = 0;
  for await (const judgedChanges of readJudgedChanges(
    { reader, tenantDocuments, windowMs: defaultWindowSeconds * 1000 },
    filter,
    page,
  )) {
    for (const judgedChange of judgedChanges)
      if (judgedChange.judgement.verdict === 'unapproved') fileEvents.push(toFileEvent(judgedChange));
    checkedCount += judgedChanges.length;
    if (fileEvents.length >= limit) break;
    if (checkedCount >= maxCheckedChanges) return { events: fileEvents, isComplete: false };
  }
  return { events: fileEvents.slice(0, limit), isComplete: true };
};
