/** Detected anomalies, and the detectors */
import { shownValue } from '../../charts/values.ts';
import { partsOf } from '../../frame/parts.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { listed } from '../../lists/declared-list.tsx';
import { OpenAnomaly } from './anomaly-panel.tsx';
import { anomaliesCall } from './calls.ts';
import { Detectors } from './detectors.tsx';
import { seriesShown } from './shown.ts';

const Found = listed({
  title: 'Anomalies',
  call: anomaliesCall,
  isOfProject: true,
  isRanged: true,
  choices: [
    {
      name: 'state',
      label: 'Show',
      options: [
        ['', 'all'],
        ['open', 'Ongoing'],
        ['ended', 'Ended'],
      ],
    },
    {
      name: 'direction',
      label: 'Which went',
      options: [
        ['', 'anywhere'],
        ['up', 'up'],
        ['down', 'down'],
        ['other', 'otherwise'],
      ],
    },
  ],
  filters: ['detectorId'],
  nothing: 'No anomalies in this range.',
  keyOf: ({ id }) => id,
  columns: {
    Began: ({ begin }) => shownMoment(begin).slice(0, 19),
    Series: (anomaly) => seriesShown(anomaly),
    Detector: ({ detectorName }) => detectorName,
    What: ({ text }) => text,
    Value: ({ value, series }) => shownValue(value, series.unit),
    Expected: ({ expected, series }) => shownValue(expected ?? undefined, series.unit),
    Ended: ({ end }) => (end === null ? 'it lasts' : shownMoment(end).slice(0, 19)),
    Feedback: ({ verdict }) => (verdict === null ? '' : verdict === 'true' ? 'yes' : 'no'),
  },
  numbers: ['Value', 'Expected'],
  Open: OpenAnomaly,
});

export const Anomalies = partsOf('Anomalies', [
  { name: '', title: 'Found', View: Found },
  { name: 'detectors', title: 'Detectors', View: Detectors },
]);
