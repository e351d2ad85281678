/** Risks: security signals about agents */

import { toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoSecond } from '../../frame/format-time.ts';
import { Link } from '../../frame/link.tsx';
import { SeverityBadge } from '../../frame/severity-badge.tsx';
import { createListView } from '../../lists/declared-list.tsx';
import { toSessionUrl } from './agent-format.tsx';
import { risksCall } from './calls.ts';

const RiskList = createListView({
  title: 'Risks',
  call: risksCall,
  isOfProject: true,
  hasTimeRange: true,
  choices: [
    {
      name: 'severity',
      label: 'Severity',
      options: [
        ['', 'any'],
        ['high,critical', 'high and critical'],
        ['medium,high,critical', 'medium and higher'],
      ],
    },
  ],
  emptyText: 'No risks in this range. The rules of the platform for agents raise them.',
  toKey: ({ id }) => id,
  columns: {
    Risk: ({ id, ruleTitle }) => <Link url={toArea('/detections', { open: id })}>{renderText(ruleTitle)}</Link>,
    Severity: ({ severity }) => <SeverityBadge severity={severity} />,
    State: ({ state }) => <span class="no-wrap">{state}</span>,
    Agent: ({ agent }) => <span class="no-wrap">{renderText(agent ?? '–')}</span>,
    Session: ({ sessionId, turn }) =>
      sessionId === null ? (
        '–'
      ) : (
        <Link url={toSessionUrl(sessionId, turn)}>{turn === null ? 'session' : `turn ${turn}`}</Link>
      ),
    Evidence: ({ object }) => <span class="agent-prompt">{renderText(object ?? '–')}</span>,
    Time: ({ time }) => <span class="no-wrap">{formatIsoSecond(time)}</span>,
  },
  wideColumns: ['State', 'Agent', 'Evidence', 'Time'],
});

export const Risks = Object.assign(RiskList, { requiredCall: risksCall });
