/** Results of a requested run, per location */
import type { Answered } from '../../client/call.ts';
import { shownText } from '../../frame/shown-text.tsx';
import type { runCheckCall } from './calls.ts';
import { formatMs, PhasesBar, StateLabel } from './shown.tsx';

export type LocationResult = Answered<typeof runCheckCall.of & object>['items'][number];

export const RunResults = ({
  of,
  nameOf: locationName,
}: {
  readonly of: readonly LocationResult[];
  /** Returns the name of a location by its id */
  readonly nameOf: (id: string) => string;
}) => (
  <div role="status">
    <ul class="links column">
      {of.map(({ location, run, reason }) => (
        <li key={location}>
          <bdi>{shownText(locationName(location))}</bdi>:{' '}
          {run === null ? (
            reason
          ) : (
            <>
              <StateLabel of={run.outcome} /> in {formatMs(run.durationMs)} <PhasesBar of={run.phases} />{' '}
              {shownText(run.message)}
            </>
          )}
        </li>
      ))}
    </ul>
  </div>
);
