/** Possible causes of an alert, anomaly, incident or service regression, loaded on demand */
import { useEffect, useState } from 'preact/hooks';
import type { findRootCause } from '../../api/groups/ai/root-cause.ts';
import { type Answered, callOf, type Sent } from '../client/call.ts';
import { ApiQuery } from '../client/query.ts';
import { toArea } from '../frame/address.ts';
import { Freshness, Problem } from '../frame/freshness.tsx';
import { Link } from '../frame/link.tsx';
import { projectScope } from '../frame/project.ts';
import { isPermitted } from '../frame/rights.ts';
import { shownText } from '../frame/shown-text.tsx';
import { shownMoment } from '../frame/shown-time.ts';

const causeCall = callOf<typeof findRootCause>('POST', '/api/ai/root-cause');

type Found = Answered<typeof findRootCause>;
type Cause = Found['causes'][number];
type Symptom = Pick<
  NonNullable<Sent<typeof findRootCause>['body']>,
  'alertId' | 'anomalyId' | 'incidentId' | 'service' | 'from' | 'to'
>;

const kinds: Readonly<Record<Cause['kind'], string>> = {
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

/** Locations in the page by API path */
const places: readonly (readonly [of: RegExp, to: (id: string) => string])[] = [
  [/^\/api\/services\/([^/]+)\/deployments$/, (service) => toArea('/services', { service })],
  [/^\/api\/logs\/patterns\/([^/]+)$/, (shown) => toArea('/logs', { view: 'patterns', shown })],
  [/^\/api\/logs\/([^/]+)$/, (record) => toArea('/logs', { record })],
  [/^\/api\/errors\/([^/]+)$/, (error) => toArea('/errors', { error })],
  [/^\/api\/infrastructure\/hosts\/([^/]+)$/, (open) => toArea('/infrastructure', { open })],
];

const placeOf = (link: string): string | undefined => {
  for (const [of, to] of places) {
    const [, id] = of.exec(link) ?? [];
    if (id !== undefined) return to(decodeURIComponent(id));
  }
  return undefined;
};

const Title = ({ of: { title, link } }: { readonly of: Cause }) => {
  const to = placeOf(link);
  if (to !== undefined) return <Link to={to}>{shownText(title)}</Link>;
  return /^https?:\/\//i.test(link) ? (
    <a href={link} rel="noreferrer">
      {shownText(title)}
    </a>
  ) : (
    <b>{shownText(title)}</b>
  );
};

const Reasons = ({ title, of }: { readonly title: string; readonly of: readonly string[] }) =>
  of.length === 0 ? null : (
    <p>
      {title}: {shownText(of.join('; '))}.
    </p>
  );

const One = ({ of }: { readonly of: Cause }) => (
  <li>
    {kinds[of.kind]} at <bdi>{shownText(of.at)}</bdi>, {shownMoment(of.begin).slice(0, 19)}: <Title of={of} />{' '}
    <span class="soft">({Math.round(100 * of.score)} of 100)</span>
    <Reasons title="Evidence" of={of.evidence} />
    <Reasons title="Counterevidence" of={of.counterEvidence} />
    {of.path.length < 2 ? null : <p class="soft">Call path: {shownText(of.path.join(' → '))}</p>}
  </li>
);

const Shown = ({ of: { symptom, causes, others, reason } }: { readonly of: Found }) => (
  <>
    {symptom.degradations.length === 0 ? null : (
      <p>
        Degraded: {shownText(symptom.services.join(', '))} since {shownMoment(symptom.begin).slice(0, 19)}:{' '}
        {shownText(symptom.degradations.join('; '))}.
      </p>
    )}
    {causes.length > 0 ? (
      <ol>
        {causes.map((cause, index) => (
          // Several causes of one kind may have the same location.
          <One key={index} of={cause} />
        ))}
      </ol>
    ) : (
      <p role="status">No likely cause: {shownText(reason ?? '')}.</p>
    )}
    {others.length === 0 ? null : (
      <details>
        <summary>Other events: {others.length}</summary>
        <ul>
          {others.map((cause, index) => (
            // As above.
            <One key={index} of={cause} />
          ))}
        </ul>
      </details>
    )}
  </>
);

export const Causes = ({ of }: { readonly of: Symptom }) => {
  const [query] = useState(() => new ApiQuery(causeCall));
  useEffect(() => () => query.clear(), [JSON.stringify(of)]);
  if (!isPermitted(causeCall)) return null;
  const { answer, error, isLoading } = query.state.value;
  return (
    <section aria-label="Cause">
      <h3>Likely cause</h3>
      <p class="act">
        <button
          type="button"
          class="plain"
          disabled={isLoading}
          onClick={() => query.run({ body: { ...of, ...projectScope.peek() } })}
        >
          Find root cause
        </button>
      </p>
      <Problem error={error} />
      {answer === undefined ? null : <Shown of={answer} />}
      {answer === undefined && !isLoading ? null : <Freshness of={query.state.value} />}
    </section>
  );
};
