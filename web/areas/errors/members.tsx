/** Members of an error group: merging groups, and splitting them off */

import { useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import { SomeInput, TextInput } from '../../editors/inputs.tsx';
import { RemovalForm } from '../../editors/removal.tsx';
import { ActionForm } from '../../frame/action-form.tsx';
import { change } from '../../frame/address.ts';
import { Problem } from '../../frame/freshness.tsx';
import { projectScope } from '../../frame/project.ts';
import { isPermitted } from '../../frame/rights.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { refresh, writtenRange } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { changeCall, errorsCall, mergeCall, type OneError } from './calls.ts';

type Member = OneError['explanation']['members'][number];

const componentsText = ({ components }: Member): string => components.map(({ text }) => text).join(' · ');

const Leave = ({ id, member }: { readonly id: string; readonly member: Member }) => {
  const [action] = useState(() => new Action(changeCall));
  return (
    <RemovalForm
      action={action}
      labels={['Unmerge', 'Unmerge permanently']}
      remove={() => action.run({ params: { id }, body: { unmerge: [member.fingerprint] } })}
      onRemoved={() => undefined}
    />
  );
};

/** Other groups of the range, which can be merged into this one. */
const Merge = ({ error: { id, decision } }: { readonly error: OneError }) => {
  const [action] = useState(() => new Action(mergeCall));
  const [search, setSearch] = useState('');
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const { from, to } = writtenRange.value;
  const { answer, error } = useQuery(errorsCall, { query: { from, to, ...projectScope.value, search, limit: 20 } });
  const others = (answer?.items ?? []).filter((group) => group.id !== id);
  const options = others.map((group) => [group.id, `${group.type ?? 'Error'} ${group.message}`] as const);
  // A member that was split off permanently is merged again on the second request.
  const wasSplit = action.error.value?.code === 'CONFLICT';
  const merge = async (): Promise<void> => {
    const rejoin = wasSplit ? [...chosen, ...decision.fingerprints].slice(0, 100) : [];
    const merged = await action.run({ body: { ids: [id, ...chosen], rejoin } });
    if (merged === undefined) return;
    change({ error: merged.id });
    refresh();
  };
  return (
    <details>
      <summary>Merge issues</summary>
      <ActionForm
        action={action}
        label={wasSplit ? 'Merge anyway' : 'Merge selected issues'}
        onSubmit={() => (chosen.length === 0 ? Promise.resolve() : merge())}
      >
        <div class="form">
          <TextInput
            label="Search by type, message or culprit"
            value={search}
            problem={error?.of('search')}
            onChange={setSearch}
          />
          {error?.of('search') === undefined ? <Problem error={error} /> : null}
          <SomeInput
            label="Issues in this range"
            value={chosen}
            options={options}
            problem={answer !== undefined && options.length === 0 ? 'No other issues found.' : undefined}
            onChange={setChosen}
          />
          <p class="hint">
            Past and future occurrences of the merged issues are counted in this issue. Their status is discarded.
          </p>
        </div>
      </ActionForm>
    </details>
  );
};

export const Members = ({ error }: { readonly error: OneError }) => {
  const { members } = error.explanation;
  return (
    <>
      {members.length < 2 ? null : (
        <>
          <h3>Merged issues</h3>
          <ul class="links column" aria-label="Merged issues">
            {members.map((member) => (
              <li key={member.fingerprint}>
                <bdi>{shownText(componentsText(member))}</bdi>
                {member.mergedAt === null ? null : (
                  <>
                    <span class="soft">
                      {' '}
                      merged by {shownText(member.mergedBy ?? '')} at {shownMoment(member.mergedAt).slice(0, 16)}
                    </span>
                    {isPermitted(changeCall) ? <Leave id={error.id} member={member} /> : null}
                  </>
                )}
              </li>
            ))}
          </ul>
        </>
      )}
      {isPermitted(mergeCall) ? <Merge error={error} /> : null}
    </>
  );
};
