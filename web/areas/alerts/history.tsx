/** State changes of alerts with their reasons, for all rules, one rule or one alert */

import { formatRuleName } from '../../frame/action-titles.ts';
import { toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoTime } from '../../frame/format-time.ts';
import { Link } from '../../frame/link.tsx';
import { toSeverityLevel } from '../../frame/severity.ts';
import { SeverityBadge } from '../../frame/severity-badge.tsx';
import { createListView } from '../../lists/declared-list.tsx';
import { formatAlertValue, formatLabels } from './alert-format.ts';
import { historyCall } from './calls.ts';

export const History = createListView({
  title: 'Alert history',
  call: historyCall,
  hasTimeRange: true,
  filters: ['ruleId', 'alertId'],
  emptyText: 'No alert changed its state in this range.',
  toKey: ({ id }) => id,
  columns: {
    Time: ({ at }) => formatIsoTime(at),
    Rule: ({ ruleId, ruleName }) => (
      <Link url={toArea('/alerts/rules', { rule: ruleId })}>{renderText(formatRuleName(ruleName))}</Link>
    ),
    Labels: ({ labels }) => formatLabels(labels),
    From: ({ from }) => from,
    To: ({ to, severity, isTest }) => (
      <span class={to === 'firing' ? `text-${toSeverityLevel(severity)}` : ''}>{isTest ? `${to} (test)` : to}</span>
    ),
    Severity: ({ severity }) => <SeverityBadge severity={severity} />,
    Value: (transition) => formatAlertValue(transition),
    Reason: ({ reason }) => reason,
  },
  numericColumns: ['Value'],
  wideColumns: ['Labels', 'From', 'Severity', 'Value', 'Reason'],
});
