/** State changes of alerts with their reasons, for all rules, one rule or one alert */
import { toArea } from '../../frame/address.ts';
import { Link } from '../../frame/link.tsx';
import { levelOf } from '../../frame/severity.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { listed } from '../../lists/declared-list.tsx';
import { historyCall } from './calls.ts';
import { formatLabels, formatValue } from './shown.ts';

export const History = listed({
  title: 'Alert history',
  call: historyCall,
  isRanged: true,
  filters: ['ruleId', 'alertId'],
  nothing: 'No alert changed its state in this range.',
  keyOf: ({ id }) => id,
  columns: {
    Time: ({ at }) => shownMoment(at),
    Rule: ({ ruleId, ruleName }) => <Link to={toArea('/alerts/rules', { rule: ruleId })}>{shownText(ruleName)}</Link>,
    Labels: ({ labels }) => formatLabels(labels),
    From: ({ from }) => from,
    To: ({ to, severity, isTest }) => (
      <span class={to === 'firing' ? `text-${levelOf(severity)}` : ''}>{isTest ? `${to}, a test` : to}</span>
    ),
    Severity: ({ severity }) => severity,
    Value: ({ value }) => formatValue(value),
    Reason: ({ reason }) => reason,
  },
  numbers: ['Value'],
});
