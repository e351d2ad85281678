/** Number of series of each metric, its growth, and where the metric is used */
import type { showCardinality } from '../../../api/groups/metrics/cardinality.ts';
import { renderKnownText } from '../../charts/render-number.tsx';
import type { ResponseBody } from '../../client/call.ts';
import { toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { projectScope } from '../../frame/project.ts';
import { timeRange } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { createListView } from '../../lists/declared-list.tsx';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import { cardinalityCall } from './calls.ts';

type MetricCardinality = ResponseBody<typeof showCardinality>['items'][number];
type MetricUses = MetricCardinality['used']['uses'];
type MetricUse = Extract<MetricUses, readonly unknown[]>[number];

const formatUseCount = (uses: MetricUses) => ('reason' in uses ? renderKnownText(uses) : uses.length);

/** Returns the URL of a document that uses a metric, by the kind of document */
const usageUrls: Readonly<Record<string, (id: string) => string>> = {
  dashboards: (id) => toArea(`/dashboards/${id}`),
  'alert rules': (id) => toArea('/alerts/rules', { rule: id }),
};

const UsageItem = ({ use: { what, id, name } }: { readonly use: MetricUse }) => {
  if (id === null) return <>{what}: private saved query</>;
  const address = usageUrls[what]?.(id);
  const title = <bdi>{renderText(name ?? id)}</bdi>;
  return (
    <>
      {what}: {address === undefined ? title : <Link url={address}>{title}</Link>}
    </>
  );
};

const MetricUsage = ({ usage: { uses, searchedIn } }: { readonly usage: MetricCardinality['used'] }) => (
  <section aria-label="Used by">
    <h3>Used by</h3>
    {'reason' in uses ? (
      <p class="soft">{renderText(uses.reason)}</p>
    ) : uses.length === 0 ? (
      <p>Not used in {searchedIn.map(({ what, documents }) => `${documents} ${what}`).join(', ')}.</p>
    ) : (
      <ul>
        {uses.map((use, index) => (
          <li key={index}>
            <UsageItem use={use} />
          </li>
        ))}
      </ul>
    )}
    <p class="hint">Queries from other tools, such as Grafana dashboards, are not included.</p>
  </section>
);

const LabelCardinality = ({ metric }: { readonly metric: string }) => {
  const { response, error } = useQuery(cardinalityCall, {
    query: { metric, ...timeRange.value, ...projectScope.value, limit: 1 },
  });
  return (
    <section aria-label="Labels">
      <h3>Labels</h3>
      <ErrorMessage error={error} />
      <table class="figures">
        <TableHeader columns={['Label', 'Values', 'Before', 'Series with label']} />
        <tbody>
          {response?.labels?.map(({ label, values, valuesBefore, series }) => (
            <tr key={label}>
              <td>
                <bdi>{renderText(label)}</bdi>
              </td>
              <td>{values}</td>
              <td>{valuesBefore}</td>
              <td>{series}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
};

export const Cardinality = createListView({
  title: 'Series',
  call: cardinalityCall,
  isOfProject: true,
  hasTimeRange: true,
  choices: [
    {
      name: 'sort',
      label: 'Sort by',
      options: [
        ['-series', 'Series'],
        ['-growth', 'Growth'],
        ['-churn', 'Churn'],
      ],
    },
  ],
  emptyText: 'No series in this range.',
  toKey: ({ metric }) => metric,
  columns: {
    Metric: ({ metric }) => metric,
    Series: ({ series }) => series,
    Growth: ({ growth }) => (growth > 0 ? `+${growth}` : growth),
    New: ({ appeared }) => appeared,
    Gone: ({ disappeared }) => disappeared,
    Uses: ({ used }) => formatUseCount(used.uses),
  },
  numericColumns: ['Series', 'Growth', 'New', 'Gone', 'Uses'],
  ItemPanel: ({
    id,
    item,
    onClose,
  }: {
    readonly id: string;
    readonly item: MetricCardinality | undefined;
    readonly onClose: () => void;
  }) => (
    <SidePanel label="Metric" title={id} onClose={onClose}>
      <ul class="links">
        <li>
          <Link url={toArea('/explore-metrics', { metric: id })}>View chart</Link>
        </li>
      </ul>
      {item === undefined ? null : (
        <>
          <Fields
            values={{
              series: item.series,
              before: item.before,
              new: item.appeared,
              gone: item.disappeared,
            }}
          />
          <MetricUsage usage={item.used} />
        </>
      )}
      <LabelCardinality metric={id} />
    </SidePanel>
  ),
});
