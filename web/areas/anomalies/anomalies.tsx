/** Detected anomalies, and the detectors */
import { ScanSearch } from 'lucide';
import { formatQuantity } from '../../charts/values.ts';
import { ButtonLink } from '../../components/button.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { readParam, toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoSecond } from '../../frame/format-time.ts';
import { createTabbedView } from '../../frame/parts.tsx';
import { isPermitted } from '../../frame/rights.ts';
import { useQuery } from '../../frame/use-query.ts';
import { createListView } from '../../lists/declared-list.tsx';
import { defaultEmptyView, emptyViews } from '../../lists/empty-views.ts';
import { suggestionsCall } from '../ask/calls.ts';
import { formatSeries } from './anomaly-format.ts';
import { AnomalyPanel } from './anomaly-panel.tsx';
import { anomaliesCall, detectorsCall } from './calls.ts';
import { Detectors } from './detectors.tsx';

const AnomalyList = createListView({
  title: 'Anomalies',
  call: anomaliesCall,
  isOfProject: true,
  hasTimeRange: true,
  choices: [
    {
      name: 'state',
      label: 'Status',
      options: [
        ['', 'all'],
        ['open', 'Ongoing'],
        ['ended', 'Ended'],
      ],
    },
    {
      name: 'direction',
      label: 'Direction',
      options: [
        ['', 'any'],
        ['up', 'up'],
        ['down', 'down'],
        ['other', 'other'],
      ],
    },
  ],
  filters: ['detectorId'],
  emptyText: 'No anomalies in this range.',
  toKey: ({ id }) => id,
  columns: {
    Start: ({ begin }) => formatIsoSecond(begin),
    Series: (anomaly) => formatSeries(anomaly),
    Detector: ({ detectorName }) => detectorName,
    Change: ({ text }) => text,
    Value: ({ value, series }) => formatQuantity(value, series.unit),
    Expected: ({ expected, series }) => formatQuantity(expected ?? undefined, series.unit),
    Ended: ({ end }) => (end === null ? 'ongoing' : formatIsoSecond(end)),
    Feedback: ({ verdict }) => (verdict === null ? '' : verdict === 'true' ? 'confirmed' : 'false positive'),
  },
  numericColumns: ['Value', 'Expected'],
  ItemPanel: AnomalyPanel,
});

const { purpose: detectorsPurpose } = emptyViews['/anomalies/detectors'] ?? defaultEmptyView;

/** The list with the names of its detectors; without a detector and a selected anomaly, the next steps instead of an empty list. */
const WatchedAnomalies = () => {
  const { response } = useQuery(detectorsCall, { query: { limit: 5 } });
  // A link to an anomaly leads to the anomaly, also after the detector is deleted.
  if (response?.items.length === 0 && readParam('open') === '')
    return (
      <EmptyState
        icon={ScanSearch}
        title="No detectors yet"
        actions={
          <>
            {isPermitted(suggestionsCall) ? (
              <ButtonLink kind="primary" url={toArea('/ask/suggestions')}>
                View suggestions
              </ButtonLink>
            ) : null}
            <ButtonLink url={toArea('/anomalies/detectors', { open: 'new' })}>Create detector</ButtonLink>
          </>
        }
      >
        {detectorsPurpose}
      </EmptyState>
    );
  const names = response?.items.map(({ name }) => name) ?? [];
  return (
    <>
      {names.length === 0 ? null : (
        <p class="soft">
          Watched by {renderText(names.join(', '))}
          {response?.nextCursor === null ? '' : ' and more'}.
        </p>
      )}
      <AnomalyList />
    </>
  );
};

export const Anomalies = createTabbedView('Anomalies', [
  { name: '', title: 'Anomalies', View: WatchedAnomalies, requiredCall: anomaliesCall },
  { name: 'detectors', title: 'Detectors', View: Detectors },
]);
