/** Other incidents that may be duplicates, with evidence, and merging */
import { useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import { toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { isPermitted } from '../../frame/rights.ts';
import { refresh } from '../../frame/time-range.ts';
import { type MergeSuggestion, updateIncidentCall } from './calls.ts';

const describeEvidence = ({ services, calls }: MergeSuggestion): string =>
  [
    ...(services.length === 0 ? [] : [`both affect ${services.join(', ')}`]),
    ...calls.map(
      ({ client, server, requests, errors }) =>
        `${client} calls ${server}: ${requests} ${requests === 1 ? 'request' : 'requests'}, of which ${errors} failed`,
    ),
  ].join('; ');

const MergeSuggestionItem = ({ id, suggestion }: { readonly id: string; readonly suggestion: MergeSuggestion }) => {
  const [action] = useState(() => new Action(updateIncidentCall));
  const mergeIncident = async (): Promise<void> => {
    const body = { status: 'merged', mergedInto: suggestion.incidentId } as const;
    if ((await action.run({ params: { id }, body })) !== undefined) refresh();
  };
  return (
    <li>
      <Link url={toArea('/incidents', { incident: suggestion.incidentId })}>{renderText(suggestion.title)}</Link>:{' '}
      {renderText(describeEvidence(suggestion))}{' '}
      {isPermitted(updateIncidentCall) ? (
        <button
          type="button"
          aria-label={`Merge into ${suggestion.title}`}
          disabled={action.isRunning.value}
          onClick={() => void mergeIncident()}
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
        {suggestions.map((suggestion) => (
          <MergeSuggestionItem key={suggestion.incidentId} id={id} suggestion={suggestion} />
        ))}
      </ul>
    </>
  );
