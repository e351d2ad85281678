/** Hosts and services with and without instrumentation, and the one action for each gap */
import type { listCoverage } from '../../../api/groups/instrumentation/coverage.ts';
import { formatNumber } from '../../charts/values.ts';
import { declareCall } from '../../client/call.ts';
import { Badge, type Tone } from '../../components/badge.tsx';
import { toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { Link } from '../../frame/link.tsx';
import { createListView } from '../../lists/declared-list.tsx';

const coverageCall = declareCall<typeof listCoverage>('GET', '/api/instrumentation/coverage');

const states: Readonly<
  Record<'none' | 'sdk' | 'zero-code' | 'ebpf' | 'several', readonly [title: string, tone: Tone]>
> = {
  none: ['None', 'warning'],
  sdk: ['SDK', 'ok'],
  'zero-code': ['Zero-code', 'ok'],
  ebpf: ['eBPF', 'ok'],
  several: ['Several', 'info'],
};

const formatPrediction = ({
  canRun,
  joinsTraces,
}: {
  readonly canRun: boolean | null;
  readonly joinsTraces: string;
}): string => {
  if (canRun === false) return 'The kernel is too old for an eBPF agent.';
  const traces = joinsTraces === 'unknown' ? 'traces unknown' : `traces over ${joinsTraces}`;
  return `${canRun === null ? 'Kernel unknown' : 'Supported'}; ${traces}`;
};

export const Coverage = createListView({
  title: 'Coverage',
  call: coverageCall,
  isOfProject: true,
  hasTimeRange: true,
  search: 'Search by name',
  choices: [
    {
      name: 'kind',
      label: 'Type',
      options: [
        ['', 'all'],
        ['service', 'services'],
        ['host', 'hosts'],
      ],
    },
    {
      name: 'state',
      label: 'Instrumentation',
      options: [
        ['', 'all'],
        ['none', 'none'],
        ['several', 'several'],
        ['ebpf', 'eBPF'],
        ['zero-code', 'zero-code'],
        ['sdk', 'SDK'],
      ],
    },
  ],
  emptyText: 'No hosts and services in this range.',
  toKey: ({ kind, name }) => `${kind} ${name}`,
  columns: {
    Name: ({ name }) => <bdi>{renderText(name)}</bdi>,
    Type: ({ kind }) => (kind === 'host' ? 'Host' : 'Service'),
    Instrumentation: ({ state, reason }) => (
      <span data-tooltip={reason}>
        <Badge tone={states[state][1]}>{states[state][0]}</Badge>
      </span>
    ),
    By: ({ instrumentations }) =>
      instrumentations.length === 0
        ? '–'
        : renderText(instrumentations.map(({ title, version }) => `${title} ${version}`.trim()).join(', ')),
    Duplicates: ({ duplicatedShare }) =>
      duplicatedShare === null ? '–' : `${formatNumber(100 * duplicatedShare)} % of requests`,
    'With an eBPF agent': ({ prediction }) =>
      prediction === null ? (
        ''
      ) : (
        <span data-tooltip={[...prediction.reasons, ...prediction.missing].join('\n')}>
          {formatPrediction(prediction)}
        </span>
      ),
    Action: ({ state }) =>
      state === 'none' ? <Link url={toArea('/fleet/install', { agent: 'obi' })}>Install agent</Link> : '',
  },
  wideColumns: ['Type', 'By', 'Duplicates', 'With an eBPF agent'],
});
