/** Pages: recipient, incident and contact */
import { toArea } from '../../frame/address.ts';
import { Link } from '../../frame/link.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { listed } from '../../lists/declared-list.tsx';
import { pagesCall } from './calls.ts';

export const Pages = listed({
  title: 'Pages',
  call: pagesCall,
  isRanged: true,
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
  nothing: 'No pages in this range.',
  keyOf: ({ id }) => id,
  columns: {
    User: ({ to }) => to.name,
    Time: ({ at, isAtNight }) => `${shownMoment(at).slice(0, 19)}${isAtNight ? ', at night' : ''}`,
    Contact: ({ to, contacts }) =>
      to.kind === 'channel' ? 'a channel' : contacts.length === 0 ? 'account email' : contacts.join(', '),
    Round: ({ round }) => round + 1,
    Incident: ({ incidentId }) => <Link to={toArea('/incidents', { incident: incidentId })}>the incident</Link>,
  },
  numbers: ['Round'],
});
