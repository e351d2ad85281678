/** Groups of a rule in its last evaluation, each with its state, value and reason */
import { toArea } from '../../frame/address.ts';
import { Problem } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { levelOf } from '../../frame/severity.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { useQuery } from '../../frame/use-query.ts';
import { TableHeader } from '../../lists/table-header.tsx';
import { groupsCall } from './calls.ts';
import { formatLabels, formatValue } from './shown.ts';

export const Groups = ({ ruleId }: { readonly ruleId: string }) => {
  const { answer, error } = useQuery(groupsCall, { params: { id: ruleId }, query: { limit: 100 } });
  return (
    <>
      <h3>Instances</h3>
      <Problem error={error} />
      {answer === undefined ? null : answer.items.length === 0 ? (
        <p class="soft">The last evaluation found no instances.</p>
      ) : (
        <table class="figures texts">
          <TableHeader columns={['Instance', 'State', 'Value', 'Reason', 'Active since']} />
          <tbody>
            {answer.items.map(({ alertId, labels, state, severity, value, reason, since }) => (
              <tr key={alertId}>
                <td>
                  <Link to={toArea('/alerts/history', { alertId })}>
                    <bdi>{shownText(formatLabels(labels) || 'all')}</bdi>
                  </Link>
                </td>
                <td class={state === 'firing' ? `text-${levelOf(severity)}` : ''}>{state}</td>
                <td>{formatValue(value)}</td>
                <td>{shownText(reason)}</td>
                <td>{shownMoment(since)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {answer?.isCut === true ? <p class="soft">Only the first 100 are shown.</p> : null}
    </>
  );
};
