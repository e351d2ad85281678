/** Links from an alert to its data, its service, its runbook, and what mutes its notifications */
import type { Query } from '../../../queries/query.ts';
import { toArea } from '../../frame/address.ts';
import { toCondition } from '../../frame/conditions.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoTime } from '../../frame/format-time.ts';
import { Link } from '../../frame/link.tsx';
import { getDataLink } from '../../frame/query-links.ts';
import { toServicePage } from '../../frame/resource-links.ts';
import { useQuery } from '../../frame/use-query.ts';
import { formatMatchers } from './alert-format.ts';
import { type Alert, type Rule, silencesCall } from './calls.ts';

/** Links to what happened to the service and to the data of the rule, in the time of the alert. */
export const RelatedLinks = ({
  alert: { ruleName, labels },
  rule,
  from,
  to,
}: {
  readonly alert: Pick<Alert, 'ruleName' | 'labels'>;
  readonly rule: Rule | undefined;
  readonly from: string;
  readonly to: string;
}) => {
  const service = labels['service'] ?? labels['service.name'];
  const query = rule !== undefined && 'query' in rule.condition ? rule.condition.query : undefined;
  const dataLink = query === undefined ? undefined : getDataLink({ query: query as Query, from, to });
  const serviceLinks =
    service === undefined
      ? []
      : ([
          ['Service', toServicePage(service, { from, to })],
          ['Service logs', toArea('/logs', { search: toCondition('service', service), from, to })],
          ['Service traces', toArea('/traces', { search: toCondition('service', service), from, to })],
          ['Deployments', toServicePage(service, { tab: 'deployments', from, to })],
        ] as const);
  const links = [
    ...serviceLinks,
    ...(dataLink === undefined ? [] : [['Data of the rule', dataLink[1]] as const]),
    ...(rule === undefined ? [] : [['Rule', toArea('/alerts/rules', { rule: rule.id })] as const]),
    // The labels fill placeholders in queries of runbooks.
    ['Runbooks', toArea('/ask/runbooks', { q: ruleName, labels: JSON.stringify(labels), from, to })] as const,
  ];
  return (
    <ul class="links" aria-label="Related">
      {links.map(([title, url]) => (
        <li key={title}>
          <Link url={url}>{title}</Link>
        </li>
      ))}
    </ul>
  );
};

/** Titles of annotations that contain a URL, by the names that Prometheus and Grafana use */
const annotationTitles: Readonly<Record<string, string>> = {
  runbook_url: 'Runbook',
  runbook: 'Runbook',
  dashboard_url: 'Dashboard',
};

const isWebAddress = (text: string): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);

/** Links of the annotations, such as the runbook. */
export const AnnotationLinks = ({ annotations }: Pick<Alert, 'annotations'>) => {
  const links = Object.entries(annotations).flatMap(([name, text]) => {
    const title = annotationTitles[name];
    return title !== undefined && isWebAddress(text) ? [[title, text] as const] : [];
  });
  if (links.length === 0) return null;
  return (
    <ul class="links">
      {links.map(([title, url]) => (
        <li key={url}>
          <a href={url} target="_blank" rel="noreferrer">
            {title}
          </a>
        </li>
      ))}
    </ul>
  );
};

const MatchingSilences = ({ ids }: { readonly ids: readonly string[] }) => {
  const { response } = useQuery(silencesCall, { query: { limit: 1000 } });
  return (
    <ul>
      {ids.map((id) => {
        const silence = response?.items.find((candidate) => candidate.id === id);
        return (
          <li key={id}>
            <Link url={toArea('/alerts/silences', { silence: id })}>
              {silence === undefined ? 'Silence' : renderText(formatMatchers(silence))}
            </Link>
            {silence === undefined ? null : ` until ${formatIsoTime(silence.endsAt)}`}
          </li>
        );
      })}
    </ul>
  );
};

/** Silences and alerts that mute the notifications. */
export const Muting = ({ silencedBy, inhibitedBy }: Pick<Alert, 'silencedBy' | 'inhibitedBy'>) => {
  if (silencedBy.length + inhibitedBy.length === 0) return null;
  return (
    <section aria-label="Muted by">
      <h3>Muted by</h3>
      {silencedBy.length === 0 ? null : <MatchingSilences ids={silencedBy} />}
      {inhibitedBy.length === 0 ? null : (
        <ul>
          {inhibitedBy.map((id) => (
            <li key={id}>
              <Link url={toArea('/alerts', { alert: id })}>Firing alert that inhibits this alert</Link>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
};
