/** Other incidents that may be duplicates, with evidence, and merging */
import { useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import { toArea } from '../../frame/address.ts';
import { Problem } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { isPermitted } from '../../frame/rights.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { refresh } from '../../frame/time-range.ts';
import { changeCall, type MergeSuggestion } from './calls.ts';

const evidenceOf = ({ services, calls }: MergeSuggestion): string =>
  [
    ...(services.length === 0 ? [] : [`both affect ${services.join(', ')}`]),
    ...calls.map(
      ({ client, server, requests, errors }) =>
        `${client} calls ${server}: ${requests} ${requests === 1 ? 'request' : 'requests'}, of which ${errors} failed`,
    ),
  ].join('; ');

const Merge = ({ id, into }: { readonly id: string; readonly into: MergeSuggestion }) => {
  const [action] = useState(() => new Action(changeCall));
  const run = async (): Promise<void> => {
    const body = { status: 'merged', mergedInto: into.incidentId } as const;
    if ((await action.run({ params: { id }, body })) !== undefined) refresh();
  };
  return (
    <li>
      <Link to={toArea('/incidents', { incident: into.incidentId })}>{shownText(into.title)}</Link>:{' '}
      {shownText(evidenceOf(into))}{' '}
      {isPermitted(changeCall) ? (
        <button
          type="button"
          aria-label={`Merge into ${into.title}`}
          disabled={action.isRunning.value}
          onClick={() => void run()}
        >
          Merge incident
        </button>
      ) : null}
      <Problem error={action.error.value} />
    </li>
  );
};

export const Merges = ({
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
          <Merge key={into.incidentId} id={id} into={into} />
        ))}
      </ul>
    </>
  );
