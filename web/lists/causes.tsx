/** Likely causes of an alert, anomaly, incident or service regression, which the user requests with a button */
import { useEffect, useState } from 'preact/hooks';
import type { findRootCause } from '../../api/groups/ai/root-cause.ts';
import { type CallInput, declareCall, type ResponseBody } from '../client/call.ts';
import { ApiQuery } from '../client/query.ts';
import { renderText } from '../frame/display-text.tsx';
import { formatIsoSecond } from '../frame/format-time.ts';
import { ErrorMessage, Freshness } from '../frame/freshness.tsx';
import { Link } from '../frame/link.tsx';
import { projectScope } from '../frame/project.ts';
import { toResourcePage } from '../frame/resource-links.ts';
import { isPermitted } from '../frame/rights.ts';

export const causeCall = declareCall<typeof findRootCause>('POST', '/api/ai/root-cause');

type RootCauseResponse = ResponseBody<typeof findRootCause>;
type Cause = RootCauseResponse['causes'][number];
type Symptom = Pick<
  NonNullable<CallInput<typeof findRootCause>['body']>,
  'alertId' | 'anomalyId' | 'incidentId' | 'service' | 'from' | 'to'
>;

export const causeKindTitles: Readonly<Record<Cause['kind'], string>> = {
  deployment: 'Deployment',
  configuration: 'Configuration',
  restart: 'Restart',
  'oom-kill': 'Out of memory',
  saturation: 'Saturation',
  neighbour: 'Noisy neighbor',
  callee: 'Called service',
  error: 'New error',
  'log-pattern': 'New log pattern',
};

export const CauseTitle = ({ cause: { title, link } }: { readonly cause: Pick<Cause, 'title' | 'link'> }) => {
  const to = toResourcePage(link);
  if (to !== undefined) return <Link url={to}>{renderText(title)}</Link>;
  return /^https?:\/\//i.test(link) ? (
    <a href={link} rel="noreferrer">
      {renderText(title)}
    </a>
  ) : (
    <b>{renderText(title)}</b>
  );
};

const Reason = ({ reason: { text, link } }: { readonly reason: Cause['evidence'][number] }) => {
  const to = toResourcePage(link);
  return to === undefined ? renderText(text) : <Link url={to}>{renderText(text)}</Link>;
};

const ReasonList = ({ title, reasons }: { readonly title: string; readonly reasons: Cause['evidence'] }) =>
  reasons.length === 0 ? null : (
    <p>
      {title}:{' '}
      {reasons.map((reason, index) => (
        // Reasons have no unique key.
        <span key={index}>
          {index === 0 ? '' : '; '}
          <Reason reason={reason} />
        </span>
      ))}
      .
    </p>
  );

const CauseItem = ({ cause }: { readonly cause: Cause }) => (
  <li>
    {causeKindTitles[cause.kind]} at <bdi>{renderText(cause.at)}</bdi>, {formatIsoSecond(cause.begin)}:{' '}
    <CauseTitle cause={cause} /> <span class="soft">({Math.round(100 * cause.score)} of 100)</span>
    <ReasonList title="Evidence" reasons={cause.evidence} />
    <ReasonList title="Counterevidence" reasons={cause.counterEvidence} />
    {cause.path.length < 2 ? null : <p class="soft">Call path: {renderText(cause.path.join(' → '))}</p>}
  </li>
);

export const CauseResult = ({
  result: { symptom, causes, others, reason },
}: {
  readonly result: RootCauseResponse;
}) => (
  <>
    {symptom.degradations.length === 0 ? null : (
      <p>
        Degraded: {renderText(symptom.services.join(', '))} since {formatIsoSecond(symptom.begin)}:{' '}
        {renderText(symptom.degradations.join('; '))}.
      </p>
    )}
    {symptom.analyzedFrom === null ? null : (
      <p class="soft">
        The range was sampled. The part with the clearest increase was analyzed: {formatIsoSecond(symptom.analyzedFrom)}{' '}
        to {formatIsoSecond(symptom.analyzedTo)}.
      </p>
    )}
    {causes.length > 0 ? (
      <ol>
        {causes.map((cause, index) => (
          // Causes have no unique key.
          <CauseItem key={index} cause={cause} />
        ))}
      </ol>
    ) : (
      <p role="status">No likely cause: {renderText(reason ?? '')}.</p>
    )}
    {others.length === 0 ? null : (
      <details>
        <summary>Ruled out: {others.length}</summary>
        <ul>
          {others.map((cause, index) => (
            // Causes have no unique key.
            <CauseItem key={index} cause={cause} />
          ))}
        </ul>
      </details>
    )}
  </>
);

export const Causes = ({ symptom }: { readonly symptom: Symptom }) => {
  const [query] = useState(() => new ApiQuery(causeCall));
  useEffect(() => () => query.clear(), [JSON.stringify(symptom)]);
  if (!isPermitted(causeCall)) return null;
  const { response, error, isLoading } = query.state.value;
  return (
    <section aria-label="Cause">
      <h3>Likely cause</h3>
      <p class="act">
        <button
          type="button"
          class="plain"
          disabled={isLoading}
          onClick={() => query.run({ body: { ...symptom, ...projectScope.peek() } })}
        >
          Find root cause
        </button>
      </p>
      <ErrorMessage error={error} />
      {response === undefined ? null : <CauseResult result={response} />}
      {response === undefined && !isLoading ? null : <Freshness queryState={query.state.value} />}
    </section>
  );
};
