/** Other incidents that may be duplicates, with evidence, and merging */
import { useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import { toArea } from '../../frame/address.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { isPermitted } from '../../frame/rights.ts';
import { renderText } from '../../frame/shown-text.tsx';
import { refresh } from '../../frame/time-range.ts';
import { changeCall, type MergeSuggestion } from './calls.ts';

const describeEvidence = ({ services, calls }: MergeSuggestion): string =>
  [
    ...(services.length === 0 ? [] : [`both affect ${services.join(', ')}`]),
    ...calls.map(
      ({ client, server, requests, errors }) =>
        `${client} calls ${server}: ${requests} ${requests === 1 ? 'request' : 'requests'}, of which ${errors} failed`,
    ),
  ].join('; ');

const MergeSuggestionItem = ({ id, target }: { readonly id: string; readonly target: MergeSuggestion }) => {
  const [action] = useState(() => new Action(changeCall));
  const run = async (): Promise<void> => {
    const body = { status: 'merged', mergedInto: target.incidentId } as const;
    if ((await action.run({ params: { id }, body })) !== undefined) refresh();
  };
  return (
    <li>
      <Link url={toArea('/incidents', { incident: target.incidentId })}>{renderText(target.title)}</Link>:{' '}
      {renderText(describeEvidence(target))}{' '}
      {isPermitted(changeCall) ? (
        <button
          type="button"
          aria-label={`Merge into ${target.title}`}
          disabled={action.isRunning.value}
          onClick={() => void run()}
        >
          Merge incident
        </button>
      ) : null}
      <ErrorMessage error={action.error.value} />
    </li>
  );
};

export const PossibleDuplicates = ({
  id,
  suggestions,
}: {
  readonly id: string;
  readonly suggestions: readonly MergeSuggestion[];
}) =>
  suggestions.length === 0 ? null : (
    <>
      <h3>Possible duplicates</h3>
      <ul>
        {suggestions.map((into) => (
          <MergeSuggestionItem key={into.incidentId} id={id} target={into} />
        ))}
      </ul>
    </>
  );
