/** Regressions in the time range, with links to details */

import type { showOverview } from '../../../api/groups/overview/overview.ts';
import type { ApiQuery } from '../../client/query.ts';
import { toArea } from '../../frame/address.ts';
import { toCondition } from '../../frame/conditions.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { isPermitted } from '../../frame/rights.ts';
import { renderText } from '../../frame/shown-text.tsx';
import { ScrollRegion } from '../../lists/scrolled.tsx';
import { suggestionsCall } from '../ask/calls.ts';
import type { AttentionItem } from './calls.ts';

const kindTitles: Readonly<Record<AttentionItem['kind'], string>> = {
  platform: 'Platform',
  incident: 'Open incident',
  'slo-burning': 'High error budget burn rate',
  'check-failing': 'Check failing',
  anomaly: 'Anomaly',
  detector: 'Detector without scores',
  'service-errors': 'Error rate increased',
  'slow-service': 'Latency increased',
  deployment: 'Regression after a deployment',
  'new-error': 'New error',
  'silent-host': 'Silent host',
  'full-disk': 'Full disk',
  'log-pattern': 'Log pattern increased',
};

/** Returns the URL of a view with more details; `undefined` if there is none. */
const buildDetailsUrl = ({ kind, name }: AttentionItem): string | undefined => {
  if (kind === 'service-errors') return toArea('/traces', { search: `${toCondition('service', name)} status:error` });
  if (kind === 'slow-service') return toArea('/services', { service: name });
  if (kind === 'anomaly') return toArea('/anomalies');
  if (kind === 'detector') return toArea('/anomalies/detectors');
  if (kind === 'incident') return toArea('/incidents', {});
  if (kind === 'new-error') return toArea('/logs', { search: 'severity:error' });
  return undefined;
};

const AttentionListItem = ({ item }: { readonly item: AttentionItem }) => {
  const url = buildDetailsUrl(item);
  const name = <bdi>{renderText(item.name)}</bdi>;
  return (
    <li>
      {kindTitles[item.kind]}: {url === undefined ? <b>{name}</b> : <Link url={url}>{name}</Link>}.{' '}
      {renderText(item.reason)}
    </li>
  );
};

export const Attention = ({ overviewQuery }: { readonly overviewQuery: ApiQuery<typeof showOverview> }) => {
  const { response, error } = overviewQuery.state.value;
  const attention = response?.attention;
  if (attention === undefined) return <ErrorMessage error={error} />;
  const { items, unknown } = attention;
  return (
    <ScrollRegion class="attention" label="Needs attention">
      <h2>Needs attention</h2>
      {items.length === 0 ? <p class="soft">No regressions against the previous period.</p> : null}
      <ul>
        {items.map((item) => (
          <AttentionListItem key={`${item.kind} ${item.name}`} item={item} />
        ))}
        {unknown.map(({ kind, reason }) => (
          <li key={kind} class="soft">
            {kindTitles[kind]}: unknown ({reason})
          </li>
        ))}
      </ul>
      {isPermitted(suggestionsCall) ? (
        <p>
          <Link url={toArea('/ask/suggestions')}>Suggestions</Link>
        </p>
      ) : null}
    </ScrollRegion>
  );
};
