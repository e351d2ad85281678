/** Results of a requested run, per location */
import type { ResponseBody } from '../../client/call.ts';
import { renderText } from '../../frame/shown-text.tsx';
import type { runCheckCall } from './calls.ts';
import { formatMs, PhasesBar, StateLabel } from './shown.tsx';

export type LocationResult = ResponseBody<typeof runCheckCall.operation & object>['items'][number];

export const RunResults = ({
  results,
  getLocationName: locationName,
}: {
  readonly results: readonly LocationResult[];
  /** Returns the name of a location by its id */
  readonly getLocationName: (id: string) => string;
}) => (
  <div role="status">
    <ul class="links column">
      {results.map(({ location, run, reason }) => (
        <li key={location}>
          <bdi>{renderText(locationName(location))}</bdi>:{' '}
          {run === null ? (
            reason
          ) : (
            <>
              <StateLabel state={run.outcome} /> in {formatMs(run.durationMs)} <PhasesBar phaseDurations={run.phases} />{' '}
              {renderText(run.message)}
            </>
          )}
        </li>
      ))}
    </ul>
  </div>
);
