/** Detected anomalies, and the detectors */
import { formatQuantity } from '../../charts/values.ts';
import { createTabbedView } from '../../frame/parts.tsx';
import { formatIsoTime } from '../../frame/shown-time.ts';
import { createListView } from '../../lists/declared-list.tsx';
import { AnomalyPanel } from './anomaly-panel.tsx';
import { anomaliesCall } from './calls.ts';
import { Detectors } from './detectors.tsx';
import { formatSeries } from './shown.ts';

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
    Start: ({ begin }) => formatIsoTime(begin).slice(0, 19),
    Series: (anomaly) => formatSeries(anomaly),
    Detector: ({ detectorName }) => detectorName,
    Change: ({ text }) => text,
    Value: ({ value, series }) => formatQuantity(value, series.unit),
    Expected: ({ expected, series }) => formatQuantity(expected ?? undefined, series.unit),
    Ended: ({ end }) => (end === null ? 'ongoing' : formatIsoTime(end).slice(0, 19)),
    Feedback: ({ verdict }) => (verdict === null ? '' : verdict === 'true' ? 'confirmed' : 'false positive'),
  },
  numericColumns: ['Value', 'Expected'],
  ItemPanel: AnomalyPanel,
});

export const Anomalies = createTabbedView('Anomalies', [
  { name: '', title: 'Anomalies', View: AnomalyList },
  { name: 'detectors', title: 'Detectors', View: Detectors },
]);
