/** List of pages with their recipients, contacts and incidents */
import { toArea } from '../../frame/address.ts';
import { formatIsoSecond } from '../../frame/format-time.ts';
import { Link } from '../../frame/link.tsx';
import { createListView } from '../../lists/declared-list.tsx';
import { pagesCall } from './calls.ts';

export const Pages = createListView({
  title: 'Pages',
  call: pagesCall,
  hasTimeRange: true,
  choices: [
    {
      name: 'atNight',
      label: 'Time of day',
      options: [
        ['', 'all'],
        ['true', 'At night'],
        ['false', 'Daytime'],
      ],
    },
  ],
  emptyText: 'No pages in this range.',
  toKey: ({ id }) => id,
  columns: {
    User: ({ to }) => to.name,
    Time: ({ at, isAtNight }) => `${formatIsoSecond(at)}${isAtNight ? ' (night)' : ''}`,
    Contact: ({ to, contacts }) =>
      to.kind === 'channel' ? 'notification channel' : contacts.length === 0 ? 'account email' : contacts.join(', '),
    Round: ({ round }) => round + 1,
    Incident: ({ incidentId }) => <Link url={toArea('/incidents', { incident: incidentId })}>View incident</Link>,
  },
  wideColumns: ['Contact', 'Round', 'Incident'],
  numericColumns: ['Round'],
});
