/** Results of a requested run, per location */
import type { Answered } from '../../client/call.ts';
import { shownText } from '../../frame/shown-text.tsx';
import type { runCall } from './calls.ts';
import { Phases, StateLabel, shownMs } from './shown.tsx';

export type Result = Answered<typeof runCall.of & object>['items'][number];

export const Came = ({
  of,
  nameOf,
}: {
  readonly of: readonly Result[];
  /** Returns the name of a location by its id */
  readonly nameOf: (id: string) => string;
}) => (
  <div role="status">
    <ul class="links column">
      {of.map(({ location, run, reason }) => (
        <li key={location}>
          <bdi>{shownText(nameOf(location))}</bdi>:{' '}
          {run === null ? (
            reason
          ) : (
            <>
              <StateLabel of={run.outcome} /> in {shownMs(run.durationMs)} <Phases of={run.phases} />{' '}
              {shownText(run.message)}
            </>
          )}
        </li>
      ))}
    </ul>
  </div>
);
