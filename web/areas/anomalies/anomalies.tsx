/** Detected anomalies, and the detectors */
import { shownValue } from '../../charts/values.ts';
import { partsOf } from '../../frame/parts.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { listed } from '../../lists/declared-list.tsx';
import { AnomalyPanel } from './anomaly-panel.tsx';
import { anomaliesCall } from './calls.ts';
import { Detectors } from './detectors.tsx';
import { formatSeries } from './shown.ts';

const AnomalyList = listed({
  title: 'Anomalies',
  call: anomaliesCall,
  isOfProject: true,
  isRanged: true,
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
  nothing: 'No anomalies in this range.',
  keyOf: ({ id }) => id,
  columns: {
    Start: ({ begin }) => shownMoment(begin).slice(0, 19),
    Series: (anomaly) => formatSeries(anomaly),
    Detector: ({ detectorName }) => detectorName,
    Change: ({ text }) => text,
    Value: ({ value, series }) => shownValue(value, series.unit),
    Expected: ({ expected, series }) => shownValue(expected ?? undefined, series.unit),
    Ended: ({ end }) => (end === null ? 'ongoing' : shownMoment(end).slice(0, 19)),
    Feedback: ({ verdict }) => (verdict === null ? '' : verdict === 'true' ? 'yes' : 'no'),
  },
  numbers: ['Value', 'Expected'],
  Open: AnomalyPanel,
});

export const Anomalies = partsOf('Anomalies', [
  { name: '', title: 'Anomalies', View: AnomalyList },
  { name: 'detectors', title: 'Detectors', View: Detectors },
]);
