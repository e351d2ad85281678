/** Security events of all kinds, the newest first */

import { renderText } from '../../frame/display-text.tsx';
import { formatIsoSecond } from '../../frame/format-time.ts';
import { Link } from '../../frame/link.tsx';
import { SeverityBadge } from '../../frame/severity-badge.tsx';
import { createListView } from '../../lists/declared-list.tsx';
import { eventsCall } from './calls.ts';

const kinds = ['signal', 'threat-match', 'file-change', 'runtime-threat', 'secret', 'vulnerability'] as const;

export const Events = createListView({
  title: 'Security events',
  call: eventsCall,
  isOfProject: true,
  hasTimeRange: true,
  choices: [
    {
      name: 'kinds',
      label: 'Kind',
      options: [['', 'all'], ...kinds.map((kind) => [kind, kind.replaceAll('-', ' ')] as const)],
    },
  ],
  emptyText: 'No security events in this range.',
  toKey: ({ kind, id }) => `${kind} ${id}`,
  columns: {
    Event: ({ title, link }) => <Link url={link}>{renderText(title)}</Link>,
    Kind: ({ kind }) => <span class="no-wrap">{kind.replaceAll('-', ' ')}</span>,
    Severity: ({ severity }) => <SeverityBadge severity={severity} />,
    Entities: ({ entities }) => entities.map(({ type, value }) => `${type} ${value}`).join(', '),
    Time: ({ time }) => <span class="no-wrap">{formatIsoSecond(time)}</span>,
  },
  wideColumns: ['Kind', 'Entities', 'Time'],
});
