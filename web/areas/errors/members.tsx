/** Members of an error group, with actions to merge other groups and to unmerge members */

import { useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import { CheckboxGroup, TextInput } from '../../editors/inputs.tsx';
import { RemovalForm } from '../../editors/removal.tsx';
import { ActionForm } from '../../frame/action-form.tsx';
import { setParams } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoMinute } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { projectScope } from '../../frame/project.ts';
import { isPermitted } from '../../frame/rights.ts';
import { refresh, timeRange } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { type ErrorDetails, errorsCall, mergeErrorsCall, updateErrorCall } from './calls.ts';

type Member = ErrorDetails['explanation']['members'][number];

const formatComponents = ({ components }: Member): string => components.map(({ text }) => text).join(' · ');

const UnmergeButton = ({ id, member }: { readonly id: string; readonly member: Member }) => {
  const [action] = useState(() => new Action(updateErrorCall));
  return (
    <RemovalForm
      action={action}
      labels={['Unmerge', 'Unmerge permanently']}
      remove={() => action.run({ params: { id }, body: { unmerge: [member.fingerprint] } })}
      onRemoved={() => undefined}
    />
  );
};

/** Form that merges other groups in the time range into this one. */
const MergeForm = ({ error: { id, decision } }: { readonly error: ErrorDetails }) => {
  const [action] = useState(() => new Action(mergeErrorsCall));
  const [search, setSearch] = useState('');
  const [selectedIds, setSelectedIds] = useState<readonly string[]>([]);
  const { from, to } = timeRange.value;
  const { response, error } = useQuery(errorsCall, { query: { from, to, ...projectScope.value, search, limit: 20 } });
  const otherGroups = (response?.items ?? []).filter((group) => group.id !== id);
  const options = otherGroups.map((group) => [group.id, `${group.type ?? 'Error'} ${group.message}`] as const);
  // The API rejects members that were unmerged earlier; the second request confirms that they are merged again.
  const hasUnmergedMembers = action.error.value?.code === 'CONFLICT';
  const merge = async (): Promise<void> => {
    const fingerprintsToRejoin = hasUnmergedMembers ? [...selectedIds, ...decision.fingerprints].slice(0, 100) : [];
    const mergedGroup = await action.run({ body: { ids: [id, ...selectedIds], rejoin: fingerprintsToRejoin } });
    if (mergedGroup === undefined) return;
    setParams({ error: mergedGroup.id });
    refresh();
  };
  return (
    <details>
      <summary>Merge issues</summary>
      <ActionForm
        action={action}
        label={hasUnmergedMembers ? 'Merge anyway' : 'Merge selected issues'}
        onSubmit={() => (selectedIds.length === 0 ? Promise.resolve() : merge())}
      >
        <div class="form">
          <TextInput
            label="Search by type, message or culprit"
            value={search}
            problem={error?.of('search')}
            onChange={setSearch}
          />
          {error?.of('search') === undefined ? <ErrorMessage error={error} /> : null}
          <CheckboxGroup
            label="Issues in this range"
            value={selectedIds}
            options={options}
            problem={response !== undefined && options.length === 0 ? 'No other issues found.' : undefined}
            onChange={setSelectedIds}
          />
          <p class="hint">
            Past and future occurrences of the merged issues are counted in this issue. Their status is discarded.
          </p>
        </div>
      </ActionForm>
    </details>
  );
};

export const MergedIssues = ({ error }: { readonly error: ErrorDetails }) => {
  const { members } = error.explanation;
  return (
    <>
      {members.length < 2 ? null : (
        <>
          <h3>Merged issues</h3>
          <ul class="links column" aria-label="Merged issues">
            {members.map((member) => (
              <li key={member.fingerprint}>
                <bdi>{renderText(formatComponents(member))}</bdi>
                {member.mergedAt === null ? null : (
                  <>
                    <span class="soft">
                      {' '}
                      merged by {renderText(member.mergedBy ?? '')} at {formatIsoMinute(member.mergedAt)}
                    </span>
                    {isPermitted(updateErrorCall) ? <UnmergeButton id={error.id} member={member} /> : null}
                  </>
                )}
              </li>
            ))}
          </ul>
        </>
      )}
      {isPermitted(mergeErrorsCall) ? <MergeForm error={error} /> : null}
    </>
  );
};
