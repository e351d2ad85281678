/** Sessions of browsers, and the page of a session */
import { formatNumber } from '../../charts/values.ts';
import { Badge } from '../../components/badge.tsx';
import { readPathName } from '../../frame/address.ts';
import { formatIsoSecond } from '../../frame/format-time.ts';
import { createListView } from '../../lists/declared-list.tsx';
import { sessionsCall } from './calls.ts';
import { BadCount, formatDevice, formatMs, SessionLink } from './session-format.tsx';
import { SessionPage } from './session-page.tsx';

const SessionList = createListView({
  title: 'Sessions',
  call: sessionsCall,
  isOfProject: true,
  hasTimeRange: true,
  search: 'kind:error browser:Firefox',
  filters: ['application', 'page', 'release', 'device', 'browser', 'os', 'country', 'userId'],
  choices: [
    {
      name: 'hasErrors',
      label: 'Errors',
      options: [
        ['', 'any'],
        ['true', 'with errors'],
        ['false', 'without errors'],
      ],
    },
    {
      name: 'hasFrustrations',
      label: 'Frustration',
      options: [
        ['', 'any'],
        ['true', 'with frustration'],
        ['false', 'without frustration'],
      ],
    },
    {
      name: 'hasReplay',
      label: 'Replay',
      options: [
        ['', 'any'],
        ['true', 'with replay'],
        ['false', 'without replay'],
      ],
    },
    {
      name: 'sort',
      label: 'Sort by',
      options: [
        ['-startedAt', 'Start'],
        ['-duration', 'Duration'],
        ['-views', 'Views'],
        ['-errors', 'Errors'],
        ['-frustrations', 'Frustrations'],
      ],
    },
  ],
  emptyText: 'No sessions in this range.',
  toKey: ({ id, application }) => `${application} ${id}`,
  columns: {
    Session: ({ id, startedAt }) => (
      <span class="no-wrap">
        <SessionLink id={id}>{formatIsoSecond(startedAt)}</SessionLink>
      </span>
    ),
    Status: ({ isActive }) => <Badge tone={isActive ? 'ok' : 'neutral'}>{isActive ? 'Active' : 'Ended'}</Badge>,
    Replay: ({ hasReplay }) => (hasReplay ? <Badge tone="info">Replay</Badge> : '–'),
    Application: ({ application }) => application,
    User: ({ userId }) => userId ?? <span class="no-wrap soft">anonymous</span>,
    Browser: formatDevice,
    Country: ({ country }) => country ?? '–',
    'Entry page': ({ entryPage }) => entryPage ?? '–',
    Duration: ({ durationMs }) => <span class="no-wrap">{formatMs(durationMs)}</span>,
    Views: ({ views }) => formatNumber(views),
    Errors: ({ errors }) => <BadCount count={errors} />,
    Frustrations: ({ frustrations }) => <BadCount count={frustrations} />,
  },
  wideColumns: ['Status', 'Replay', 'Application', 'Browser', 'Country', 'Entry page', 'Views', 'Frustrations'],
  numericColumns: ['Duration', 'Views', 'Errors', 'Frustrations'],
});

const SessionsView = () => {
  const id = readPathName(2);
  return id === '' ? <SessionList /> : <SessionPage key={id} id={id} />;
};

export const Sessions = Object.assign(SessionsView, { requiredCall: sessionsCall });
