/** Results of a run: its steps with timing, request, response and assertions; and those of a requested run per location */
import { Check as CheckMark, TriangleAlert, X } from 'lucide';
import type { ResponseBody } from '../../client/call.ts';
import { Icon, type IconShape } from '../../components/icon.tsx';
import { renderText } from '../../frame/display-text.tsx';
import { RawText } from '../../lists/raw.tsx';
import { Fields } from '../../lists/side-panel.tsx';
import type { Run, runCheckCall } from './calls.ts';
import { formatMs, PhasesWaterfall, StateLabel } from './check-format.tsx';
import { formatAssertion } from './setting-kinds.ts';
import { StepPage } from './stepped-page.tsx';

export type LocationResult = ResponseBody<typeof runCheckCall.operation & object>['items'][number];
type Step = Run['steps'][number];
type StepAssertion = NonNullable<Step['assertions']>[number];

const outcomeIcons: Readonly<Record<StepAssertion['outcome'], readonly [shape: IconShape, title: string]>> = {
  passed: [CheckMark, 'Passed'],
  degraded: [TriangleAlert, 'Degraded'],
  failed: [X, 'Failed'],
};

const AssertionResult = ({ assertion }: { readonly assertion: StepAssertion }) => {
  const { outcome, found } = assertion;
  const [shape, title] = outcomeIcons[outcome];
  return (
    <li class={outcome}>
      <Icon shape={shape} />
      <span>
        <span class="sr-only">{title}: </span>
        {renderText(formatAssertion(assertion))}
        {outcome === 'passed' ? null : (
          <span class="soft"> {found === '' ? 'no value found' : <>found {renderText(found)}</>}</span>
        )}
      </span>
    </li>
  );
};

const Exchange = ({ step: { exchange, status } }: { readonly step: Step }) => {
  if (exchange === undefined) return null;
  const { method, url, protocol, headers, body } = exchange;
  const headerCount = Object.keys(headers).length;
  return (
    <>
      <p class="exchange-line">
        <b>{method}</b> <bdi>{renderText(url)}</bdi>
      </p>
      <p class="exchange-line">
        <b>{status}</b> {renderText(protocol)}
      </p>
      {headerCount === 0 ? null : (
        <details>
          <summary>Response headers ({headerCount})</summary>
          <Fields values={headers} />
        </details>
      )}
      {body === '' ? null : (
        <details>
          <summary>Response body</summary>
          <RawText label="Response body" text={body} />
        </details>
      )}
    </>
  );
};

/** One step with its timing, request, response and assertions. */
export const StepDetails = ({ step, index }: { readonly step: Step; readonly index: number }) => {
  const { name, outcome, phases, message, status, assertions = [], exchange, body, page } = step;
  return (
    <>
      <p class="step-line">
        <b>
          <bdi>{renderText(name === '' ? `Step ${index + 1}` : name)}</bdi>
        </b>{' '}
        <StateLabel state={outcome} /> {exchange === undefined ? status : null}
      </p>
      <Exchange step={step} />
      <PhasesWaterfall phaseDurations={phases} />
      {assertions.length === 0 ? (
        <p>{renderText(message)}</p>
      ) : (
        <ul class="assertion-results" aria-label="Assertions">
          {assertions.map((assertion, assertionIndex) => (
            <AssertionResult key={assertionIndex} assertion={assertion} />
          ))}
        </ul>
      )}
      {assertions.some((assertion) => assertion.outcome !== 'passed' && assertion.found === '') ? (
        <p class="soft">{renderText(message)}</p>
      ) : null}
      {body === undefined || exchange !== undefined ? null : (
        <details>
          <summary>Response body</summary>
          <RawText label="Response body" text={body} />
        </details>
      )}
      {page === undefined ? null : <StepPage page={page} />}
    </>
  );
};

export const RunResults = ({
  results,
  getLocationName,
}: {
  readonly results: readonly LocationResult[];
  /** Returns the name of a location by its id */
  readonly getLocationName: (id: string) => string;
}) => (
  <div role="status">
    <ul class="run-results">
      {results.map(({ location, run, reason }) => (
        <li key={location}>
          <b>
            <bdi>{renderText(getLocationName(location))}</bdi>
          </b>
          :{' '}
          {run === null ? (
            reason
          ) : (
            <>
              <StateLabel state={run.outcome} /> {formatMs(run.durationMs)}
              {run.attempts > 1 ? `, attempt ${run.attempts}` : ''}
              {run.steps.length === 0 ? renderText(run.message) : null}
              <ol>
                {run.steps.map((step, index) => (
                  <li key={`${index} ${step.name}`}>
                    <StepDetails step={step} index={index} />
                  </li>
                ))}
              </ol>
            </>
          )}
        </li>
      ))}
    </ul>
  </div>
);
